/* Of NVIDIA's run-time a part that programs ask for by its name: all of it is in cuda_runtime.h. */
#ifndef EMULATED_DEVICE_ATOMIC_FUNCTIONS_H
#define EMULATED_DEVICE_ATOMIC_FUNCTIONS_H
#include <cuda_runtime.h>
#endif
