#include "common/video/video.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/file.h"
#include "common/image/bytes.h"
#include "common/video/video_source.h"

enum { DEFAULT_CAPACITY = 4 };

/* Frame numbers go round three places: the free ones, the decoder's or the ready ones, the caller's. */
struct queue {
    int *items;
    int first, count;
};

struct video_reader {
    struct video_source source;
    struct video_options options;
    struct video_frame *frames;
    struct queue free, ready;
    int held; /* by the caller */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool stopping;
    /* Once the decoder has ended: how. */
    bool ended;
    enum status status;
    char message[1024];
};

static void push(struct queue *queue, int capacity, int item)
{
    queue->items[(queue->first + queue->count++) % capacity] = item;
}

static int pop(struct queue *queue, int capacity)
{
    const int item = queue->items[queue->first];

    queue->first = (queue->first + 1) % capacity;
    queue->count--;
    return item;
}

/* ------------------------------------------------------------------------------------------------- the decoder */

static void *decode(void *argument)
{
    struct video_reader *reader = argument;
    const int capacity = reader->options.capacity;
    enum status status = STATUS_OK;
    bool more = true;

    for (long number = 1; more; number++) {
        int index = -1;

        pthread_mutex_lock(&reader->mutex);
        while (reader->free.count == 0 && !reader->stopping)
            pthread_cond_wait(&reader->changed, &reader->mutex);
        if (!reader->stopping)
            index = pop(&reader->free, capacity);
        pthread_mutex_unlock(&reader->mutex);
        if (index < 0)
            break;

        reader->frames[index].number = number;
        status = reader->source.read(&reader->source, &reader->frames[index].image, &more);
        if (status != STATUS_OK)
            more = false;

        pthread_mutex_lock(&reader->mutex);
        push(more ? &reader->ready : &reader->free, capacity, index);
        pthread_cond_broadcast(&reader->changed);
        pthread_mutex_unlock(&reader->mutex);
    }
    pthread_mutex_lock(&reader->mutex);
    reader->ended = true;
    reader->status = status;
    if (status != STATUS_OK)
        snprintf(reader->message, sizeof reader->message, "%s", status_message());
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
    return NULL;
}

/* --------------------------------------------------------------------------------------------------- opening */

bool video_is_pattern(const char *name)
{
    return frame_pattern_fits(name) || strpbrk(name, "*?[") != NULL;
}

/* Whether a PNG has more than one picture: a chunk that says so lies before the first one's. */
static bool is_animated(FILE *stream)
{
    enum { SIGNATURE = 8, HEAD = 8, CHECKSUM = 4 };
    uint8_t head[HEAD];

    for (long at = SIGNATURE; fseek(stream, at, SEEK_SET) == 0 && fread(head, 1, HEAD, stream) == HEAD;
         at += HEAD + (long)big_32(head) + CHECKSUM) {
        if (memcmp(head + 4, "acTL", 4) == 0)
            return true;
        if (memcmp(head + 4, "IDAT", 4) == 0)
            break;
    }
    return false;
}

/* Whether the file is one picture. JPEGs that follow on each other, as a webcam sends them, do not say so at their
 * start, but no picture's name has such content then. */
static bool is_still(const struct video_source *source, FILE *stream, const char *start)
{
    const bool named = video_is_picture_name(source->name);

    if (memcmp(start, "\x89PNG", 4) == 0)
        return !is_animated(stream);
    return (memcmp(start, "\xff\xd8\xff", 3) == 0 && named) || memcmp(start, "\x93NUMPY", 6) == 0 ||
           (memcmp(start, "BM", 2) == 0 && named) ||
           (start[0] == 'P' && start[1] >= '1' && start[1] <= '6' && start[2] && strchr(" \t\r\n", start[2]));
}

/* What the first bytes of a file tell. */
static enum status open_file(struct video_source *source)
{
    enum status status = STATUS_OK;
    static const char y4m[] = "YUV4MPEG2 ";
    FILE *stream = NULL;
    uint64_t size = 0;
    char start[16] = "";
    size_t count;
    int descriptor = -1;

    TRY(file_open(source->name, &stream, &size));
    count = fread(start, 1, sizeof start - 1, stream);
    if (is_still(source, stream, start)) {
        status = status_set(STATUS_BAD_INPUT,
                            "%s: a still image, not a video; name a folder of images or a pattern (frame_%%04d.png)",
                            source->name);
        goto out;
    }
    descriptor = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0 || lseek(descriptor, 0, SEEK_SET) != 0) {
        status = status_set(STATUS_FAILED, "%s: %s", source->name, strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        goto out;
    }
    if (count >= sizeof y4m - 1 && memcmp(start, y4m, sizeof y4m - 1) == 0)
        TRY(video_open_y4m(source, descriptor, size));
    else
        TRY(video_open_ffmpeg(source, descriptor));
out:
    if (stream)
        fclose(stream);
    return status;
}

static enum status open_source(struct video_source *source, const char *name)
{
    struct stat about;

    source->name = name;
    if (strcmp(name, "-") == 0) {
        source->name = "standard input";
        if (isatty(STDIN_FILENO))
            return status_set(STATUS_BAD_INPUT,
                              "standard input is the terminal; '-' takes y4m: ffmpeg -i VIDEO -pix_fmt "
                              "yuv420p -f yuv4mpegpipe - | rungs ...");
        return video_open_y4m(source, STDIN_FILENO, 0);
    }
    if (stat(name, &about) == 0)
        return S_ISDIR(about.st_mode) ? video_open_folder(source) : open_file(source);
    if (errno == ENOENT && video_is_pattern(name))
        return video_open_pattern(source);
    return status_set(STATUS_BAD_INPUT, "%s: %s", name, *name ? strerror(errno) : "the name of the video is empty");
}

void video_each_file(const char *name, void (*take)(void *argument, const char *path), void *argument)
{
    struct stat about;

    if (stat(name, &about) != 0) {
        if (video_is_pattern(name))
            video_each_image(name, false, take, argument);
    } else if (S_ISDIR(about.st_mode)) {
        video_each_image(name, true, take, argument);
    } else {
        take(argument, name);
    }
}

static void *allocate_ordinary(size_t bytes)
{
    return aligned_alloc(IMAGE_ALIGNMENT, bytes); /* a multiple of it, since every stride is */
}

static enum status make_ring(struct video_reader *reader)
{
    const struct video_info *info = &reader->source.info;
    const int capacity = reader->options.capacity;

    reader->frames = calloc((size_t)capacity, sizeof *reader->frames);
    reader->free.items = calloc((size_t)capacity, sizeof *reader->free.items);
    reader->ready.items = calloc((size_t)capacity, sizeof *reader->ready.items);
    if (!reader->frames || !reader->free.items || !reader->ready.items)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", reader->source.name);
    for (int i = 0; i < capacity; i++) {
        struct image *image = &reader->frames[i].image;

        *image = (struct image){.width = info->width, .height = info->height, .channels = 3, .type = PIXEL_U8};
        image->stride = image_minimal_stride(image);
        image->data = reader->options.allocate(image->stride * (size_t)image->height);
        if (!image->data)
            return status_set(STATUS_NO_MEMORY, "%s: no memory for %d frames of %dx%d pixels", reader->source.name,
                              capacity, image->width, image->height);
        push(&reader->free, capacity, i);
    }
    return STATUS_OK;
}

enum status video_open(struct video_reader **result, const char *name, const struct video_options *options)
{
    enum status status = STATUS_OK;
    struct video_reader *reader = calloc(1, sizeof *reader);
    sigset_t all, before;
    int error;

    *result = NULL;
    if (!reader)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", name);
    pthread_mutex_init(&reader->mutex, NULL);
    pthread_cond_init(&reader->changed, NULL);
    reader->options = options ? *options : (struct video_options){.capacity = DEFAULT_CAPACITY};
    if (!reader->options.allocate) {
        reader->options.allocate = allocate_ordinary;
        reader->options.release = free;
    }
    reader->source.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (reader->source.wake < 0 || reader->options.capacity < 2) {
        status = status_set(STATUS_FAILED, "%s: no queue of %d frames", name, reader->options.capacity);
        goto out;
    }
    TRY(open_source(&reader->source, name));
    TRY(make_ring(reader));
    /* Signals are for the threads that were there before. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&reader->thread, NULL, decode, reader);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        status = status_set(STATUS_FAILED, "%s: no thread to decode it: %s", name, strerror(error));
    else
        reader->has_thread = true;
out:
    if (status != STATUS_OK)
        video_close(reader);
    else
        *result = reader;
    return status;
}

/* --------------------------------------------------------------------------------------------------- the caller */

const struct video_info *video_get_info(const struct video_reader *reader)
{
    return &reader->source.info;
}

enum status video_next(struct video_reader *reader, struct video_frame **frame)
{
    enum status status = STATUS_OK;

    *frame = NULL;
    pthread_mutex_lock(&reader->mutex);
    while (reader->ready.count == 0 && !reader->ended && reader->held < reader->options.capacity)
        pthread_cond_wait(&reader->changed, &reader->mutex);
    if (reader->ready.count > 0) {
        *frame = &reader->frames[pop(&reader->ready, reader->options.capacity)];
        reader->held++;
    } else if (!reader->ended) {
        status = status_set(STATUS_FAILED, "%s: all %d frames of the queue are held, none can come",
                            reader->source.name, reader->options.capacity);
    } else if (reader->status != STATUS_OK) {
        status = status_set(reader->status, "%s", reader->message);
    }
    pthread_mutex_unlock(&reader->mutex);
    return status;
}

bool video_next_is_ready(struct video_reader *reader)
{
    pthread_mutex_lock(&reader->mutex);
    const bool ready = reader->ready.count > 0 || reader->ended || reader->held == reader->options.capacity;
    pthread_mutex_unlock(&reader->mutex);
    return ready;
}

void video_give_back(struct video_reader *reader, struct video_frame *frame)
{
    pthread_mutex_lock(&reader->mutex);
    push(&reader->free, reader->options.capacity, (int)(frame - reader->frames));
    reader->held--;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
}

void video_stop(struct video_reader *reader)
{
    const uint64_t one = 1;
    const int error = errno;
    const ssize_t written = write(reader->source.wake, &one, sizeof one);

    (void)written; /* only refused when it is readable already */
    errno = error;
}

void video_close(struct video_reader *reader)
{
    if (!reader)
        return;
    if (reader->has_thread) {
        video_stop(reader);
        pthread_mutex_lock(&reader->mutex);
        reader->stopping = true;
        pthread_cond_broadcast(&reader->changed);
        pthread_mutex_unlock(&reader->mutex);
        pthread_join(reader->thread, NULL);
    }
    if (reader->source.close)
        reader->source.close(&reader->source);
    for (int i = 0; reader->frames && i < reader->options.capacity; i++)
        if (reader->frames[i].image.data)
            reader->options.release(reader->frames[i].image.data);
    if (reader->source.wake >= 0)
        close(reader->source.wake);
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->mutex);
    free(reader->frames);
    free(reader->free.items);
    free(reader->ready.items);
    free(reader);
}

bool video_has_name(const char *name)
{
    static const char *const extensions[] = {".avi", ".mp4", ".mov",  ".mkv",  ".m4v",  ".webm",
                                             ".y4m", ".mpg", ".mpeg", ".ts",   ".wmv",  ".flv",
                                             ".3gp", ".mts", ".gif",  ".apng", ".mjpg", ".mjpeg"};

    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (file_has_extension(name, extensions[i]))
            return true;
    return strcmp(name, "-") == 0 || (video_is_pattern(name) && access(name, F_OK) != 0);
}
