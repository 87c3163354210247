/* common/cuda/staging.h on images of many shapes, on late streams: what is read before it has come is wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include <setjmp.h>

#include <cmocka.h>
}

#include <string.h>

#include "common/cuda/device.h"
#include "common/cuda/staging.h"
#ifdef RUNGS_EMULATED
#include "common/emulator/emulator.h"
#endif

enum { MOST = 3, PADDING = 0xA5 };

/* Images of a call: of the host with `apart` bytes between rows, before and after, and of the device. */
struct images {
    struct image in[MOST], out[MOST], device[MOST];
    int count;
};

static struct image host_image(int width, int height, int channels, enum pixel_type type, size_t apart, bool locked)
{
    struct image image = {width, height, channels, type, 0, NULL};

    image.stride = image_row_bytes(&image) + apart;
    if (locked)
        assert_int_equal(cudaMallocHost(&image.data, image.stride * (size_t)height), cudaSuccess);
    else
        image.data = malloc(image.stride * (size_t)height);
    assert_non_null(image.data);
    memset(image.data, PADDING, image.stride * (size_t)height);
    return image;
}

static void add(struct images *images, int width, int height, int channels, enum pixel_type type, size_t apart,
                bool locked)
{
    const int i = images->count++;
    const struct image *in = &images->in[i];

    images->in[i] = host_image(width, height, channels, type, apart, locked);
    images->out[i] = host_image(width, height, channels, type, apart ? apart + 3 : 0, locked);
    for (int y = 0; y < height; y++)
        for (size_t x = 0; x < image_row_bytes(in); x++)
            ((uint8_t *)image_row(in, y))[x] = (uint8_t)(x * 7 + (size_t)y * 31 + (x * (size_t)y >> 8) + (size_t)i);
    assert_int_equal(device_image_create(&images->device[i], in), STATUS_OK);
}

/* Every pixel has come back and nothing else was written. */
static void expect_all(const struct images *images)
{
    for (int i = 0; i < images->count; i++) {
        const struct image *in = &images->in[i], *out = &images->out[i];
        const size_t bytes = image_row_bytes(in);

        for (int y = 0; y < in->height && in->width > 0; y++) {
            assert_memory_equal(image_row(out, y), image_row(in, y), bytes);
            for (size_t x = bytes; x < out->stride; x++)
                assert_int_equal(((uint8_t *)image_row(out, y))[x], PADDING);
        }
    }
}

static void release(struct images *images, bool locked)
{
    for (int i = 0; i < images->count; i++) {
        for (void *memory : {images->in[i].data, images->out[i].data})
            if (locked)
                cudaFreeHost(memory);
            else
                free(memory);
        device_image_free(&images->device[i]);
    }
    *images = {};
}

static void there_and_back(struct staging *staging, struct images *images, cudaStream_t stream)
{
    for (int i = 0; i < images->count; i++)
        image_fill(&images->out[i], 0x5A);
    assert_int_equal(staging_upload(staging, images->device, images->in, images->count, stream), STATUS_OK);
    assert_int_equal(staging_download(staging, images->out, images->device, images->count, stream), STATUS_OK);
    expect_all(images);
}

static cudaStream_t make_stream(void)
{
    cudaStream_t stream = NULL;

    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    return stream;
}

/* Larger and smaller than before with one staging, whose memory grows and never shrinks. */
static void test_shapes(void **)
{
    static const struct {
        int width, height, channels;
        enum pixel_type type;
        size_t apart;
    } shapes[] = {{1, 1, 1, PIXEL_U8, 0},     {1, 70000, 1, PIXEL_U8, 5},     {3000001, 1, 1, PIXEL_U8, 0},
                  {640, 480, 3, PIXEL_U8, 0}, {1921, 1083, 1, PIXEL_F32, 64}, {1024, 4096, 1, PIXEL_U8, 0},
                  {7, 5, 1, PIXEL_F64, 8},    {33, 100003, 1, PIXEL_U16, 2}};
    struct staging staging = {};
    const cudaStream_t stream = make_stream();
    size_t most = 0;

    for (const auto &shape : shapes) {
        struct images images = {};

        add(&images, shape.width, shape.height, shape.channels, shape.type, shape.apart, false);
        there_and_back(&staging, &images, stream);
        assert_true(staging.bytes >= most && staging.bytes >= images.device->stride * (size_t)shape.height);
        most = staging.bytes;
        release(&images, false);
    }
    staging_free(&staging);
    assert_null(staging.locked);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

static void test_several_images(void **)
{
    struct staging staging = {};
    struct images images = {};
    const cudaStream_t stream = make_stream();

    add(&images, 2001, 999, 1, PIXEL_U8, 0, false);
    add(&images, 500, 4001, 1, PIXEL_I32, 12, false);
    add(&images, 3, 1, 1, PIXEL_F32, 0, false);
    there_and_back(&staging, &images, stream);
    for (int i = 0; i < images.count; i++) /* another call's pixels */
        memset(image_row(&images.in[i], images.in[i].height / 2), 0x11, image_row_bytes(&images.in[i]));
    there_and_back(&staging, &images, stream);
    images.in[1].width = images.device[1].width = images.out[1].width = 0; /* not there */
    there_and_back(&staging, &images, stream);
    release(&images, false);
    staging_free(&staging);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

/* No page-locked memory of our own is needed then, and the first call finds none. */
static void test_page_locked_caller(void **)
{
    struct staging staging = {};
    struct images images = {};
    const cudaStream_t stream = make_stream();

    add(&images, 1500, 1400, 1, PIXEL_U8, 0, true);
    add(&images, 15, 14, 1, PIXEL_U8, 30, true);
    there_and_back(&staging, &images, stream);
    assert_null(staging.locked);
    release(&images, true);
    staging_free(&staging);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

/* Two uploads of different pixels: the second waits until the first has left the page-locked memory. */
static void test_uploads_in_a_row(void **)
{
    struct staging staging = {};
    struct images first = {}, second = {};
    const cudaStream_t stream = make_stream();

    add(&first, 1800, 1700, 1, PIXEL_U8, 0, false);
    add(&second, 1700, 1800, 1, PIXEL_U8, 0, false);
    assert_int_equal(staging_upload(&staging, first.device, first.in, 1, stream), STATUS_OK);
    assert_int_equal(staging_upload(&staging, second.device, second.in, 1, stream), STATUS_OK);
    assert_int_equal(staging_download(&staging, first.out, first.device, 1, stream), STATUS_OK);
    assert_int_equal(staging_download(&staging, second.out, second.device, 1, stream), STATUS_OK);
    expect_all(&first);
    expect_all(&second);
    release(&first, false);
    release(&second, false);
    staging_free(&staging);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

/* A failure is told, and the next call is right. */
static void test_goes_on_after_a_failure(void **)
{
    struct staging staging = {};
    struct images images = {};
    const cudaStream_t stream = make_stream();
    struct image device;

    add(&images, 1800, 1700, 1, PIXEL_U8, 0, false);
    device = images.device[0];
    device.width--;
    assert_int_equal(staging_upload(&staging, &device, images.in, 1, stream), STATUS_FAILED);
    device = images.device[0];
    device.data = images.in[0].data; /* no memory of the device */
    assert_int_equal(staging_upload(&staging, &device, images.in, 1, stream), STATUS_FAILED);
    assert_int_equal(staging_download(&staging, images.out, &device, 1, stream), STATUS_FAILED);
    there_and_back(&staging, &images, stream);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    release(&images, false);
    staging_free(&staging);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

/* Copies rows on the device. */
struct call {
    const struct images *images;
    const struct image *result;
    int rows;
    bool fails;
};

static enum status launch(void *pointer, int first, int end, cudaStream_t stream)
{
    struct call *call = (struct call *)pointer;
    enum status status = STATUS_OK;

    if (call->fails && first > 0)
        return status_set(STATUS_FAILED, "told to fail");
    for (int i = 0; i < call->images->count; i++)
        CUDA_TRY(cudaMemcpyAsync(image_row(&call->result[i], first), image_row(&call->images->device[i], first),
                                 (end - first) * call->result[i].stride, cudaMemcpyDeviceToDevice, stream));
    call->rows += end - first;
out:
    return status;
}

static void test_by_rows(void **)
{
    for (int kind = 0; kind < 4; kind++) {
        const bool locked = kind == 1;
        struct staging staging = {};
        struct images images = {};
        struct image result[MOST] = {};
        const cudaStream_t stream = make_stream(), back = make_stream();
        const int height = kind == 2 ? 1 : kind == 3 ? 17 : 1733;
        struct call call = {&images, result, 0, false};

        add(&images, 2001, height, 3, PIXEL_U8, 0, locked);
        add(&images, kind == 3 ? 400001 : 500, height, 1, PIXEL_I32, 12, locked);
        for (int i = 0; i < images.count; i++)
            assert_int_equal(device_image_create(&result[i], &images.in[i]), STATUS_OK);
        for (int time = 0; time < 3; time++) {
            call.fails = time == 1 && height > 17;
            call.rows = 0;
            for (int i = 0; i < images.count; i++)
                image_fill(&images.out[i], 0x5A);
            assert_int_equal(staging_by_rows(&staging, {images.device, images.in, images.count},
                                             {result, images.out, images.count}, launch, &call, stream, back),
                             call.fails ? STATUS_FAILED : STATUS_OK);
            if (call.fails)
                continue;
            assert_int_equal(call.rows, height);
            expect_all(&images);
        }
        for (int i = 0; i < images.count; i++)
            device_image_free(&result[i]);
        release(&images, locked);
        staging_free(&staging);
        for (const cudaStream_t its : {stream, back})
            assert_int_equal(cudaStreamDestroy(its), cudaSuccess);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_several_images),
        cmocka_unit_test(test_page_locked_caller),
        cmocka_unit_test(test_uploads_in_a_row),
        cmocka_unit_test(test_goes_on_after_a_failure),
        cmocka_unit_test(test_by_rows),
    };

#ifdef RUNGS_EMULATED
    emulator_configure(2, true, EMULATOR_LACKS_NOTHING);
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
