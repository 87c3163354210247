#include "common/verify/verify.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cuda/device.h"

/* A buffer's copy on the device: all of it, guards included. */
struct device_copy {
    void *allocated;
    uint8_t *memory; /* in it */
    void *page;      /* of an input in the emulator: one that can't be read, as the host's buffer has it */
    struct image image;
    void *
        pixels; /* of an input: page-locked, without padding, so that a copy from here waits for its turn on a stream */
};

/* What inputs hold before launch(), and all memory before it is freed, which does not clear it. */
enum { GARBAGE = 0x77 };

/* About a millisecond. */
static __global__ void hold_kernel()
{
    const long long begin = clock64();

    while (clock64() - begin < 1500000)
        continue;
}

static enum status copy_up(struct device_copy *copy, const struct verify_buffer *buffer, bool is_input)
{
    const size_t offset = (size_t)((uint8_t *)buffer->image.data - buffer->memory);
    const size_t page = device_is_emulated() && buffer->page ? (size_t)sysconf(_SC_PAGESIZE) : 0;
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMalloc(&copy->allocated, buffer->bytes + 2 * page));
    copy->memory = (uint8_t *)copy->allocated;
    if (page) {
        const size_t first = buffer->page == VERIFY_PAGE_BEHIND ? buffer->bytes : 0;
        uint8_t *const bad = (uint8_t *)(((uintptr_t)copy->memory + first + page - 1) / page * page);

        copy->memory = first ? bad - buffer->bytes : bad + page;
        if (mprotect(bad, page, PROT_NONE) == 0)
            copy->page = bad;
    }
    CUDA_TRY(cudaMemcpy(copy->memory, buffer->memory, buffer->bytes, cudaMemcpyHostToDevice));
    copy->image = buffer->image;
    copy->image.data = copy->memory + offset;
    if (device_is_emulated())
        verify_protect(buffer, copy->memory, is_input, true);
out:
    return status;
}

/* Keeps the pixels of an input on the host and leaves garbage in their place. */
static enum status withhold(struct device_copy *copy, const struct image *host)
{
    const size_t row_bytes = image_row_bytes(host);
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMallocHost(&copy->pixels, row_bytes * host->height));
    for (int y = 0; y < host->height; y++)
        memcpy((uint8_t *)copy->pixels + row_bytes * y, image_row(host, y), row_bytes);
    CUDA_TRY(cudaMemset2D(copy->image.data, copy->image.stride, GARBAGE, row_bytes, host->height));
out:
    return status;
}

static enum status deliver(const struct device_copy *copy, cudaStream_t stream)
{
    const size_t row_bytes = image_row_bytes(&copy->image);
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemcpy2DAsync(copy->image.data, copy->image.stride, copy->pixels, row_bytes, row_bytes,
                               copy->image.height, cudaMemcpyHostToDevice, stream));
out:
    return status;
}

static void release(struct device_copy *copy, size_t bytes)
{
    if (copy->page)
        mprotect(copy->page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE);
    if (copy->memory)
        cudaMemset(copy->memory, GARBAGE, bytes);
    cudaFree(copy->allocated);
    cudaFreeHost(copy->pixels);
}

static enum status copy_back(const struct device_copy *copy, struct verify_buffer *buffer, bool is_input)
{
    enum status status = STATUS_OK;

    if (device_is_emulated())
        verify_protect(buffer, copy->memory, is_input, false);
    CUDA_TRY(cudaMemcpy(buffer->memory, copy->memory, buffer->bytes, cudaMemcpyDeviceToHost));
out:
    return status;
}

/* Copies of `like` and launches between those of the picture that counts: another picture, and results nobody reads. */
struct company {
    struct device_copy in[ALGORITHM_MAX_INPUTS], out[ALGORITHM_MAX_OUTPUTS];
    struct image images[ALGORITHM_MAX_INPUTS], results[ALGORITHM_MAX_OUTPUTS];
};

static enum status make_company(struct company *company, const struct image other[], const struct verify_buffer in[],
                                int inputs, const struct verify_buffer out[], int outputs)
{
    enum status status = STATUS_OK;

    for (int i = 0; i < inputs; i++) {
        TRY(copy_up(&company->in[i], &in[i], true));
        TRY(withhold(&company->in[i], &other[i]));
        company->images[i] = company->in[i].image;
    }
    for (int i = 0; i < outputs; i++) {
        if (!out[i].memory)
            continue;
        TRY(copy_up(&company->out[i], &out[i], false));
        company->results[i] = company->out[i].image;
    }
out:
    return status;
}

static void free_company(struct company *company, const struct verify_buffer in[], int inputs,
                         const struct verify_buffer out[], int outputs)
{
    for (int i = 0; i < inputs; i++) {
        if (company->in[i].memory && device_is_emulated())
            verify_protect(&in[i], company->in[i].memory, true, false);
        release(&company->in[i], in[i].bytes);
    }
    for (int i = 0; i < outputs; i++) {
        if (company->out[i].memory && device_is_emulated())
            verify_protect(&out[i], company->out[i].memory, false, false);
        release(&company->out[i], out[i].bytes);
    }
}

enum status verify_launch(const struct version *version, void *state, struct verify_buffer in[], int inputs,
                          struct verify_buffer out[], int outputs, const void *params, int launches,
                          enum verify_waits waits, const struct image other[])
{
    struct device_copy device_in[ALGORITHM_MAX_INPUTS] = {}, device_out[ALGORITHM_MAX_OUTPUTS] = {};
    struct image images[ALGORITHM_MAX_INPUTS] = {}, results[ALGORITHM_MAX_OUTPUTS] = {};
    struct company company = {};
    cudaStream_t stream = NULL;
    const bool early = waits == WAITS_FOR_ALL;
    enum status status = STATUS_OK;

    for (int i = 0; i < inputs; i++) {
        TRY(copy_up(&device_in[i], &in[i], true));
        if (!early)
            TRY(withhold(&device_in[i], &in[i].image));
        images[i] = device_in[i].image;
    }
    for (int i = 0; i < outputs; i++) {
        if (!out[i].memory)
            continue;
        TRY(copy_up(&device_out[i], &out[i], false));
        results[i] = device_out[i].image;
    }
    if (other)
        TRY(make_company(&company, other, in, inputs, out, outputs));
    /* A copy from pageable memory may return before its last bytes are on the device. */
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(version->setup(state, images, params));
    if (waits != WAITS_FOR_NOTHING)
        CUDA_TRY(cudaDeviceSynchronize());

    /* A stream that does not wait for the default one: work that setup() leaves there, or that launch() puts elsewhere,
     * comes too late. */
    CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (!device_is_emulated()) /* the emulator puts off what is on a stream (emulator.h, RUNGS_EMULATOR_LATE) */
        hold_kernel<<<1, 1, 0, stream>>>();
    for (int i = 0; i < inputs && !early; i++)
        TRY(deliver(&device_in[i], stream));
    for (int i = 0; i < inputs && other; i++)
        TRY(deliver(&company.in[i], stream));
    if (other)
        TRY(version->launch(state, company.images, company.results, params, stream));
    for (int i = 0; i < launches; i++)
        TRY(version->launch(state, images, results, params, stream));
    if (other)
        TRY(version->launch(state, company.images, company.results, params, stream));
    CUDA_TRY(early ? cudaDeviceSynchronize() : cudaStreamSynchronize(stream));

    for (int i = 0; i < inputs; i++)
        TRY(copy_back(&device_in[i], &in[i], true));
    for (int i = 0; i < outputs; i++)
        if (out[i].memory)
            TRY(copy_back(&device_out[i], &out[i], false));
out:
    if (stream) {
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
    }
    for (int i = 0; i < inputs; i++)
        release(&device_in[i], in[i].bytes);
    for (int i = 0; i < outputs; i++)
        release(&device_out[i], out[i].bytes);
    free_company(&company, in, inputs, out, outputs);
    return status;
}
