/*
 * emulator_test.h: what the tests of the emulator share. They are .cu files: translated by cu2cpp, compiled as C++, and
 * linked with the emulator and cmocka (test_emulator.sh).
 */
#ifndef RUNGS_EMULATOR_TEST_H
#define RUNGS_EMULATOR_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include <setjmp.h>

#include <cmocka.h>
}

#include "common/emulator/emulator.h"
#include "common/emulator/fiber.h" /* EMULATED_ASAN */

/* A device array of Count elements and its copy on the host. */
template <class T, size_t Count> struct mirrored {
    T *device;
    T host[Count];

    mirrored()
    {
        assert_int_equal(cudaMalloc(&device, sizeof(host)), cudaSuccess);
        memset(host, 0, sizeof(host));
        upload();
    }
    ~mirrored()
    {
        if (cudaFree(device) != cudaSuccess)
            cudaGetLastError(); /* a reset has freed it */
    }
    void upload()
    {
        assert_int_equal(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice), cudaSuccess);
    }
    /* After a launch that must have worked. */
    void download()
    {
        assert_string_equal(cudaGetErrorString(cudaGetLastError()), "no error");
        assert_int_equal(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost), cudaSuccess);
    }
};

/* The message of a call or launch that must have failed with this error; forgets the error, also a lasting one. */
static inline const char *message_of(cudaError_t expected)
{
    const cudaError_t error = cudaGetLastError();

    cudaDeviceReset();
    assert_string_equal(cudaGetErrorName(error), cudaGetErrorName(expected));
    return cudaGetErrorString(error);
}

#endif
