/*
 * test_textures.cu: texture objects: the programming guide's formula of filtering, addresses beyond the borders, and
 * what is refused.
 */
#include <texture_indirect_functions.h>

#include "common/emulator/tests/units/emulator_test.h"

enum { WIDTH = 5, HEIGHT = 3, PITCH = 64, FETCHES = 8 };

struct places {
    float x[FETCHES], y[FETCHES];
};

static __global__ void fetch_floats(cudaTextureObject_t texture, struct places places, float *to)
{
    to[threadIdx.x] = tex2D<float>(texture, places.x[threadIdx.x], places.y[threadIdx.x]);
}

static __global__ void fetch_bytes(cudaTextureObject_t texture, struct places places, float *to)
{
    to[threadIdx.x] = tex2D<unsigned char>(texture, places.x[threadIdx.x], places.y[threadIdx.x]);
}

/* Texel (i, j) of both textures. */
static int value_at(int i, int j)
{
    return 40 * j + 7 * i * i;
}

template <class T> static cudaResourceDesc make_resource()
{
    unsigned char host[HEIGHT * PITCH] = {};
    cudaResourceDesc resource = {};

    for (int j = 0; j < HEIGHT; j++)
        for (int i = 0; i < WIDTH; i++)
            ((T *)(host + j * PITCH))[i] = (T)value_at(i, j);
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<T>();
    resource.res.pitch2D.width = WIDTH;
    resource.res.pitch2D.height = HEIGHT;
    resource.res.pitch2D.pitchInBytes = PITCH;
    assert_int_equal(cudaMalloc(&resource.res.pitch2D.devPtr, sizeof host), cudaSuccess);
    assert_int_equal(cudaMemcpy(resource.res.pitch2D.devPtr, host, sizeof host, cudaMemcpyHostToDevice), cudaSuccess);
    return resource;
}

/* Compares what a kernel fetches at these places with `expected`, to the bit. */
static void expect(const cudaResourceDesc &resource, const cudaTextureDesc &description, bool bytes,
                   const struct places &places, const float expected[FETCHES])
{
    cudaTextureObject_t texture = 0;
    float *device = NULL, found[FETCHES];

    assert_int_equal(cudaCreateTextureObject(&texture, &resource, &description, NULL), cudaSuccess);
    assert_int_equal(cudaMalloc(&device, sizeof found), cudaSuccess);
    if (bytes)
        fetch_bytes<<<1, FETCHES>>>(texture, places, device);
    else
        fetch_floats<<<1, FETCHES>>>(texture, places, device);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(cudaMemcpy(found, device, sizeof found, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < FETCHES; i++)
        if (found[i] != expected[i])
            fail_msg("(%g, %g): %.9g in place of %.9g", (double)places.x[i], (double)places.y[i], (double)found[i],
                     (double)expected[i]);
    assert_int_equal(cudaFree(device), cudaSuccess);
    assert_int_equal(cudaDestroyTextureObject(texture), cudaSuccess);
}

/* A point is the texel whose square it lies in: floor of both coordinates. */
static void test_points(void **)
{
    const cudaResourceDesc resource = make_resource<unsigned char>();
    const struct places places = {{0, 0.99f, 1, 4.5f, 2.5f, -3, 7, 3.999f}, {0, 0.5f, 2.5f, 1, 1.999f, 1, 2, -9}};
    const float clamped[FETCHES] = {0, 0, 87, 152, 68, 40, 192, 63},
                bordered[FETCHES] = {0, 0, 87, 152, 68, 51, 51, 51};
    cudaTextureDesc description = {};

    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    expect(resource, description, true, places, clamped);
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeBorder;
    description.borderColor[0] = 0.2f;
    expect(resource, description, true, places, bordered);
    cudaFree(resource.res.pitch2D.devPtr);
}

/* Worked out by hand from the guide's formula: T(i, j) = 40 j + 7 i^2, centres at halves. */
static void test_filter(void **)
{
    const cudaResourceDesc resource = make_resource<float>();
    /* A centre; halfway along x, y, both; weights of 64 / 256 and 192 / 256; a weight of 1/1024, which becomes 0, and
     * one of 255.9 / 256, which becomes 1; beyond the border. */
    const struct places places = {{1.5f, 2, 1.5f, 2, 2.75f, 1.5f + 1.0f / 1024, 1.5f + 0.9996f, -1},
                                  {1.5f, 1.5f, 2, 2, 1.25f, 0.5f, 0.5f, 1.5f}};
    const float clamped[FETCHES] = {47, 57.5f, 67, 77.5f, 28 + 0.25f * 35 + 30, 7, 28, 40};
    const float bordered[FETCHES] = {47, 57.5f, 67, 77.5f, 28 + 0.25f * 35 + 30, 7, 28, 0};
    cudaTextureDesc description = {};

    description.filterMode = cudaFilterModeLinear;
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    expect(resource, description, false, places, clamped);
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeBorder;
    expect(resource, description, false, places, bordered);
    cudaFree(resource.res.pitch2D.devPtr);
}

/* Bytes as 0 to 1: box sums of a 2 x 2 cell are four times the mean at its corner. */
static void test_normalized(void **)
{
    const cudaResourceDesc resource = make_resource<unsigned char>();
    const struct places places = {{0.5f, 1, 2, 3, 4, 1.5f, 4.5f, 9}, {0.5f, 1, 1, 2, 2, 1, 2.5f, 9}};
    cudaTextureDesc description = {};
    float expected[FETCHES];

    description.readMode = cudaReadModeNormalizedFloat;
    description.filterMode = cudaFilterModeLinear;
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    for (int k = 0; k < FETCHES; k++) {
        const int i = (int)floorf(places.x[k] - 0.5f), j = (int)floorf(places.y[k] - 0.5f);
        const float a = places.x[k] - 0.5f - (float)i, b = places.y[k] - 0.5f - (float)j;
        const auto at = [](int u, int v) { return (float)value_at(u < 4 ? u : 4, v < 2 ? v : 2) / 255; };

        expected[k] = (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) +
                      a * b * at(i + 1, j + 1);
    }
    expect(resource, description, false, places, expected);
    cudaFree(resource.res.pitch2D.devPtr);
}

static void test_what_is_refused(void **)
{
    const cudaResourceDesc resource = make_resource<unsigned char>();
    cudaTextureObject_t texture = 0;
    cudaResourceDesc wrong = resource;
    cudaTextureDesc description = {};
    const struct places places = {};
    float *device = NULL;

    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    wrong.res.pitch2D.pitchInBytes = WIDTH;
    assert_int_equal(cudaCreateTextureObject(&texture, &wrong, &description, NULL), cudaErrorInvalidValue);
    wrong = resource;
    wrong.res.pitch2D.devPtr = (char *)resource.res.pitch2D.devPtr + 1;
    assert_int_equal(cudaCreateTextureObject(&texture, &wrong, &description, NULL), cudaErrorInvalidValue);
    wrong = resource;
    wrong.resType = cudaResourceTypeArray;
    assert_int_equal(cudaCreateTextureObject(&texture, &wrong, &description, NULL), cudaErrorInvalidValue);
    description.filterMode = cudaFilterModeLinear;
    assert_int_equal(cudaCreateTextureObject(&texture, &resource, &description, NULL), cudaErrorInvalidValue);
    description.filterMode = cudaFilterModePoint;
    description.addressMode[1] = cudaAddressModeWrap;
    assert_int_equal(cudaCreateTextureObject(&texture, &resource, &description, NULL), cudaErrorInvalidValue);
    description.addressMode[1] = cudaAddressModeClamp;
    assert_int_equal(cudaDestroyTextureObject(17), cudaErrorInvalidValue);
    cudaGetLastError();
    assert_int_equal(cudaCreateTextureObject(&texture, &resource, &description, NULL), cudaSuccess);
    assert_int_equal(cudaMalloc(&device, FETCHES * sizeof *device), cudaSuccess);
    assert_int_equal(cudaDestroyTextureObject(texture), cudaSuccess);
    fetch_bytes<<<1, FETCHES>>>(texture, places,
                                device); /* of an object that is gone: ends the device, so it comes last */
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_normalized),
        cmocka_unit_test(test_what_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
