/*
 * kernel_values.h: what a version's kernels get in place of the emulator's threadIdx and its like, in the compilation
 * that the grader watches: values. Of variables a kernel could take the address, and change them for other threads.
 */
#ifndef RUNGS_KERNEL_VALUES_H
#define RUNGS_KERNEL_VALUES_H

#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim
#define threadIdx (static_cast<uint3>(::emulated::self->index))
#define blockIdx  (static_cast<uint3>(::emulated::self->block->index))
#define blockDim  (static_cast<dim3>(::emulated::self->block->size))
#define gridDim   (static_cast<dim3>(::emulated::self->block->grid))

#endif
