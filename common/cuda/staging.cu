#include "common/cuda/staging.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <atomic>

#include "common/cuda/device.h"
#include "common/cuda/stream_copy.h"

enum {
    BAND_BYTES = 1 << 20, /* at least: a smaller band is sooner through the bus than it is enqueued */
    PIECES = 32,          /* of a band: what a thread copies before it looks for more */
    MOST_THREADS = 12     /* of the host: more fill its memory so that the bus waits for it */
};

/* Rows of an image, and where they lie in page-locked memory, as far apart as on the device; NULL: the host's image is
 * page-locked itself, and its rows are copied without a detour. */
struct band {
    const struct image *device, *host;
    int first, end;
    char *locked;
};

/* What goes in one direction. */
struct plan {
    struct staging_images images;
    bool direct[ALGORITHM_MAX_OUTPUTS]; /* images that are page-locked themselves */
    size_t pixel_bytes, locked_bytes;   /* of all images; of those that are not, on the device */
    struct band bands[STAGING_BANDS];
    int count;
};

/* A call. The threads take pieces of bands in their order, whoever is free. The calling thread alone calls CUDA. */
struct traffic {
    const struct staging *staging;
    const struct plan *up, *down; /* either may be empty */
    staging_launch *launch;       /* NULL: uploads and downloads have nothing to do with each other */
    void *call;
    cudaStream_t stream, back;
    std::atomic<int> next_up, copied[STAGING_BANDS]; /* the next piece to be copied, and how many of each band are */
    std::atomic<int> arrived, next_down; /* bands that are back in page-locked memory; the next piece of them */
    int sent, fetched;                   /* bands of either direction that are on a stream */
    int threads;                         /* of the host, that copy */
    enum status status;
};

static bool is_page_locked(const void *memory)
{
    struct cudaPointerAttributes attributes;

    if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess)
        return attributes.type == cudaMemoryTypeHost;
    cudaGetLastError(); /* what old drivers say of ordinary memory */
    return false;
}

static enum status measure(struct plan *plan, const struct image device[], const struct image host[], int count)
{
    *plan = {};
    plan->images = {device, host, count};
    for (int i = 0; i < count; i++) {
        if (host[i].width == 0)
            continue;
        if (!image_same_shape(&device[i], &host[i]))
            return status_set(STATUS_FAILED, "staging: images of different shapes, %dx%dx%d and %dx%dx%d",
                              host[i].width, host[i].height, host[i].channels, device[i].width, device[i].height,
                              device[i].channels);
        plan->direct[i] = is_page_locked(host[i].data);
        plan->pixel_bytes += image_pixel_bytes(&host[i]);
        plan->locked_bytes += plan->direct[i] ? 0 : device[i].stride * (size_t)device[i].height;
    }
    return STATUS_OK;
}

/* Makes page-locked memory of so many bytes, and the events, unless there is as much. */
static enum status reserve(struct staging *staging, size_t bytes)
{
    enum status status = STATUS_OK;

    if (staging->sent && bytes <= staging->bytes)
        return STATUS_OK;
    staging_free(staging);
    phase_begin(PHASE_ALLOCATE, bytes);
    CUDA_TRY(cudaEventCreateWithFlags(&staging->sent, cudaEventDisableTiming));
    for (cudaEvent_t &event : staging->arrived)
        CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    if (bytes > 0)
        CUDA_TRY(cudaMallocHost(&staging->locked, bytes));
    staging->bytes = bytes;
out:
    if (status != STATUS_OK)
        staging_free(staging);
    return status;
}

/* Adds the band of image i that begins at row `first`; the image's rows begin at *locked. */
static void add_band(struct plan *plan, int i, int first, int rows, char *locked)
{
    const struct image *device = &plan->images.device[i], *host = &plan->images.host[i];

    plan->bands[plan->count++] = {device, host, first, std::min(first + rows, host->height),
                                  plan->direct[i] ? NULL : locked + (size_t)first * device->stride};
}

/* The bands of the first image, then those of the second... */
static void cut_by_images(struct plan *plan, char *locked)
{
    const size_t most = std::max(plan->locked_bytes / STAGING_MORE, (size_t)BAND_BYTES);

    for (int i = 0; i < plan->images.count; i++) {
        const struct image *device = &plan->images.device[i];
        const size_t bytes = plan->direct[i] ? 0 : device->stride * (size_t)device->height, bands = bytes / most + 1;
        const int height = plan->images.host[i].height, rows = (int)((height + bands - 1) / bands);

        for (int first = 0; plan->images.host[i].width > 0 && first < height; first += rows)
            add_band(plan, i, first, rows, locked);
        locked += plan->images.host[i].width > 0 ? bytes : 0;
    }
}

/* The first band of each image, then the second of each... */
static void cut_by_rows(struct plan *plan, char *locked, int rows)
{
    for (int first = 0; first < plan->images.host->height; first += rows) {
        char *place = locked;

        for (int i = 0; i < plan->images.count; i++) {
            add_band(plan, i, first, rows, place);
            place += plan->direct[i] ? 0 : plan->images.device[i].stride * (size_t)plan->images.device[i].height;
        }
    }
}

/* Copies one of a band's PIECES between the host's image and page-locked memory. */
static void copy_piece(const struct band *band, int piece, bool upload)
{
    const int rows = band->end - band->first;
    const int first = (int)((int64_t)rows * piece / PIECES), end = (int)((int64_t)rows * (piece + 1) / PIECES);
    const size_t bytes = image_row_bytes(band->host), apart = band->device->stride, host_apart = band->host->stride;
    char *const host = (char *)image_row(band->host, band->first + first);
    char *const locked = band->locked + first * apart;

    if (!band->locked)
        return;
    if (upload)
        stream_copy(locked, apart, host, host_apart, bytes, end - first);
    else
        stream_copy(host, host_apart, locked, apart, bytes, end - first);
}

/* Page-locked memory as one piece, with what lies between its rows; another image row by row. */
static cudaError_t enqueue_band(const struct band *band, cudaMemcpyKind kind, cudaStream_t stream)
{
    const bool upload = kind == cudaMemcpyHostToDevice;
    const size_t rows = band->end - band->first, apart = band->device->stride;
    void *const device = image_row(band->device, band->first);
    void *const host = band->locked ? band->locked : image_row(band->host, band->first);
    void *const to = upload ? device : host, *const from = upload ? host : device;

    if (band->locked)
        return cudaMemcpyAsync(to, from, rows * apart, kind, stream);
    return cudaMemcpy2DAsync(to, upload ? apart : band->host->stride, from, upload ? band->host->stride : apart,
                             image_row_bytes(band->host), rows, kind, stream);
}

static enum status fetch_bands(struct traffic *traffic, int count)
{
    enum status status = STATUS_OK;

    for (; count > 0; count--, traffic->fetched++) {
        CUDA_TRY(enqueue_band(&traffic->down->bands[traffic->fetched], cudaMemcpyDeviceToHost, traffic->back));
        CUDA_TRY(cudaEventRecord(traffic->staging->arrived[traffic->fetched], traffic->back));
    }
out:
    return status;
}

/* The same rows of all inputs are on their way: these rows of the outputs are computed and fetched. */
static enum status launch_rows(struct traffic *traffic)
{
    const struct band *rows = &traffic->down->bands[traffic->fetched];
    enum status status = STATUS_OK;

    CUDA_TRY(cudaEventRecord(traffic->staging->sent, traffic->stream));
    CUDA_TRY(cudaStreamWaitEvent(traffic->back, traffic->staging->sent, 0));
    TRY(traffic->launch(traffic->call, rows->first, rows->end, traffic->back));
    TRY(fetch_bands(traffic, traffic->down->images.count));
out:
    return status;
}

/* What the calling thread does between two pieces: sends bands that are complete, and sees which are back. */
static void advance(struct traffic *traffic)
{
    enum status status = STATUS_OK;

    while (traffic->sent < traffic->up->count && traffic->copied[traffic->sent] == PIECES) {
        CUDA_TRY(enqueue_band(&traffic->up->bands[traffic->sent++], cudaMemcpyHostToDevice, traffic->stream));
        if (traffic->launch && traffic->sent % traffic->up->images.count == 0)
            TRY(launch_rows(traffic));
    }
    while (traffic->arrived < traffic->fetched) {
        const cudaError_t error = cudaEventQuery(traffic->staging->arrived[traffic->arrived]);
        if (error == cudaErrorNotReady) {
            cudaGetLastError(); /* else the next launch would report it */
            break;
        }
        CUDA_TRY(error);
        traffic->arrived++;
    }
out:
    if (status != STATUS_OK) { /* all threads come to an end */
        traffic->status = status;
        traffic->sent = traffic->up->count;
        traffic->fetched = traffic->arrived = traffic->down->count;
    }
}

/* The next piece before `end`, or -1. */
static int take(std::atomic<int> *next, int end)
{
    int piece = *next;

    while (piece < end && !next->compare_exchange_weak(piece, piece + 1))
        ;
    return piece < end ? piece : -1;
}

static void copy_pieces(struct traffic *traffic, bool calls)
{
    const int up = traffic->up->count * PIECES, down = traffic->down->count * PIECES;

    while (traffic->next_up < up || traffic->next_down < down || (calls && traffic->sent < traffic->up->count)) {
        int piece;

        if (calls)
            advance(traffic);
        if ((piece = take(&traffic->next_down, traffic->arrived * PIECES)) >= 0) {
            copy_piece(&traffic->down->bands[piece / PIECES], piece % PIECES, false);
        } else if ((piece = take(&traffic->next_up, up)) >= 0) {
            copy_piece(&traffic->up->bands[piece / PIECES], piece % PIECES, true);
            traffic->copied[piece / PIECES]++;
        } else {
            sched_yield();
        }
    }
}

/* Returns when all has left the host's inputs and all is in its outputs. */
static enum status run_traffic(struct traffic *traffic)
{
    const size_t bytes = traffic->up->locked_bytes + traffic->down->locked_bytes;
    /* A small image is copied before other threads are awake. All others have the same number: a team of another size
     * than the last one makes the OpenMP library start threads anew (hough: 2.6 ms a call in place of 0.2). */
    traffic->threads = bytes < BAND_BYTES ? 1 : std::min(omp_get_max_threads(), (int)MOST_THREADS);

#pragma omp parallel num_threads(traffic->threads)
    copy_pieces(traffic, omp_get_thread_num() == 0);
    return traffic->status;
}

/* What a failure leaves on the streams still reads or writes *locked. */
static void end_stream(cudaStream_t stream)
{
    cudaStreamSynchronize(stream);
    cudaGetLastError(); /* the first error is the one that is told */
}

enum status staging_upload(struct staging *staging, const struct image device[], const struct image host[], int count,
                           cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct plan up, down = {};
    struct traffic traffic = {.staging = staging, .up = &up, .down = &down, .stream = stream};

    if (staging->sent)
        CUDA_TRY(cudaEventSynchronize(staging->sent)); /* then *locked is free */
    TRY(measure(&up, device, host, count));
    TRY(reserve(staging, up.locked_bytes));
    cut_by_images(&up, staging->locked);
    phase_begin(PHASE_UPLOAD, up.pixel_bytes);
    TRY(run_traffic(&traffic));
    CUDA_TRY(cudaEventRecord(staging->sent, stream));
out:
    if (status != STATUS_OK)
        end_stream(stream);
    phase_begin(PHASE_OTHER, 0);
    return status;
}

enum status staging_download(struct staging *staging, const struct image host[], const struct image device[], int count,
                             cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct plan up = {}, down;
    struct traffic traffic = {.staging = staging, .up = &up, .down = &down, .back = stream};

    TRY(measure(&down, device, host, count));
    TRY(reserve(staging, down.locked_bytes));
    cut_by_images(&down, staging->locked);
    phase_begin(PHASE_DOWNLOAD, down.pixel_bytes);
    TRY(fetch_bands(&traffic, down.count));
    if (down.count > 0) /* a kernel may take long: the other threads are not woken before it ends */
        CUDA_TRY(cudaEventSynchronize(staging->arrived[0]));
    TRY(run_traffic(&traffic));
out:
    if (status != STATUS_OK)
        end_stream(stream);
    phase_begin(PHASE_OTHER, 0);
    return status;
}

enum status staging_by_rows(struct staging *staging, struct staging_images in, struct staging_images out,
                            staging_launch *launch, void *call, cudaStream_t stream, cudaStream_t back)
{
    enum status status = STATUS_OK;
    struct plan up, down;
    struct traffic traffic = {
        .staging = staging, .up = &up, .down = &down, .launch = launch, .call = call, .stream = stream, .back = back};
    const int most = STAGING_MORE / std::max(in.count, out.count), height = in.host->height;
    int bands, rows;

    TRY(measure(&up, in.device, in.host, in.count));
    TRY(measure(&down, out.device, out.host, out.count));
    TRY(reserve(staging, up.locked_bytes + down.locked_bytes));
    bands = std::clamp((int)(std::max(up.pixel_bytes, down.pixel_bytes) / BAND_BYTES), 1, most);
    rows = (height + bands - 1) / bands;
    cut_by_rows(&up, staging->locked, rows);
    cut_by_rows(&down, staging->locked + up.locked_bytes, rows);
    phase_begin(PHASE_OTHER, 0);
    phase_count(PHASE_UPLOAD, up.pixel_bytes); /* they go on beside each other, so the time is no phase's */
    phase_count(PHASE_DOWNLOAD, down.pixel_bytes);
    TRY(run_traffic(&traffic));
out:
    if (status != STATUS_OK) {
        end_stream(stream);
        end_stream(back);
    }
    phase_begin(PHASE_OTHER, 0);
    return status;
}

void staging_free(struct staging *staging)
{
    if (staging->sent) {
        cudaEventSynchronize(staging->sent);
        cudaEventDestroy(staging->sent);
    }
    for (cudaEvent_t event : staging->arrived)
        if (event)
            cudaEventDestroy(event);
    if (staging->locked)
        cudaFreeHost(staging->locked);
    *staging = {};
}
