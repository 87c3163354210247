/*
 * nvidia_names.h: the names by which NVIDIA's headers know that they have been read. Samples ask for __DRIVER_TYPES_H__
 * before they define what they check errors with; and the toolkit's own headers, where a machine has them, stay out.
 */
#ifndef EMULATED_NVIDIA_NAMES_H
#define EMULATED_NVIDIA_NAMES_H

#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __DRIVER_FUNCTIONS_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_HPP__
#define __BUILTIN_TYPES_H__
#define __DEVICE_TYPES_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __CHANNEL_DESCRIPTOR_H__
#define __TEXTURE_TYPES_H__
#define __SURFACE_TYPES_H__
#define __LIBRARY_TYPES_H__
#define __COMMON_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__
#define __HOST_DEFINES_H__
#define __HOST_CONFIG_H__

#endif
