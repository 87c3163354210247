/*
 * texture_indirect_functions.h: the emulator's textures: texture objects on pitched device memory
 * (cudaResourceTypePitch2D) of one channel, unsigned char or float, with coordinates in texels; addresses clamped or
 * bordered, samples of points or bilinear. nvcc has a header of this name, and includes it by itself.
 *
 * With filtering, as the CUDA C++ Programming Guide defines it (Texture Fetching): texel (i, j) has its centre at (i +
 * 0.5, j + 0.5),
 *
 *     xB = x - 0.5    i = floor(xB)    a = frac(xB), rounded to a multiple of 1/256; y, j, b likewise
 *     tex(x, y) = (1-a)(1-b) T[i,j] + a (1-b) T[i+1,j] + (1-a) b T[i,j+1] + a b T[i+1,j+1]
 *
 * in float. How a device rounds the sum is not said, so kernels that must give the same bits everywhere sample points.
 */
#ifndef EMULATED_TEXTURE_INDIRECT_FUNCTIONS_H
#define EMULATED_TEXTURE_INDIRECT_FUNCTIONS_H

#include <cuda_runtime.h>
#include <math.h>
#include <type_traits>

typedef unsigned long long cudaTextureObject_t;

enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone
};
enum cudaResourceType {
    cudaResourceTypeArray,
    cudaResourceTypeMipmappedArray,
    cudaResourceTypeLinear,
    cudaResourceTypePitch2D
};

struct cudaChannelFormatDesc {
    int x, y, z, w; /* bits of a channel */
    enum cudaChannelFormatKind f;
};

template <class T> cudaChannelFormatDesc cudaCreateChannelDesc()
{
    static_assert(std::is_same_v<T, unsigned char> || std::is_same_v<T, float>,
                  "the emulator has textures of unsigned char and of float");
    return {8 * (int)sizeof(T), 0, 0, 0,
            std::is_same_v<T, float> ? cudaChannelFormatKindFloat : cudaChannelFormatKindUnsigned};
}

struct cudaResourceDesc {
    enum cudaResourceType resType;
    struct {
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};

struct cudaTextureDesc {
    enum cudaTextureAddressMode addressMode[3];
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
};

struct cudaResourceViewDesc;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *description, const struct cudaResourceViewDesc *view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);

namespace emulated
{

struct texture {
    cudaResourceDesc resource;
    cudaTextureDesc description;
};

/* The texture of an object; ends the launch when there is none, or when what it gives is no float and not of this
 * kind. */
const texture &texture_of(cudaTextureObject_t object, bool as_float);

/* Texel i, j, or what is there instead of it: the nearest one, or the border. */
template <class T> T texel(const texture &its, int i, int j)
{
    const auto &memory = its.resource.res.pitch2D;
    const int width = (int)memory.width, height = (int)memory.height;
    const bool border[2] = {its.description.addressMode[0] == cudaAddressModeBorder,
                            its.description.addressMode[1] == cudaAddressModeBorder};

    if ((border[0] && (i < 0 || i >= width)) || (border[1] && (j < 0 || j >= height)))
        return (T)(std::is_same_v<T, float> ? its.description.borderColor[0] : 255 * its.description.borderColor[0]);
    i = i < 0 ? 0 : i < width ? i : width - 1;
    j = j < 0 ? 0 : j < height ? j : height - 1;
    return ((const T *)((const char *)memory.devPtr + (size_t)j * memory.pitchInBytes))[i];
}

inline float float_texel(const texture &its, int i, int j)
{
    return its.description.readMode == cudaReadModeNormalizedFloat ? (float)texel<unsigned char>(its, i, j) / 255
                                                                   : texel<float>(its, i, j);
}

} /* namespace emulated */

template <class T> T tex2D(cudaTextureObject_t object, float x, float y)
{
    static_assert(std::is_same_v<T, unsigned char> || std::is_same_v<T, float>,
                  "the emulator has textures of unsigned char and of float");
    const emulated::texture &its = emulated::texture_of(object, std::is_same_v<T, float>);

    if constexpr (std::is_same_v<T, unsigned char>) {
        return emulated::texel<T>(its, (int)floorf(x), (int)floorf(y));
    } else {
        if (its.description.filterMode == cudaFilterModePoint)
            return emulated::float_texel(its, (int)floorf(x), (int)floorf(y));
        const float left = floorf(x - 0.5f), top = floorf(y - 0.5f);
        const float a = floorf((x - 0.5f - left) * 256 + 0.5f) / 256, b = floorf((y - 0.5f - top) * 256 + 0.5f) / 256;
        const int i = (int)left, j = (int)top;

        return (1 - a) * (1 - b) * emulated::float_texel(its, i, j) +
               a * (1 - b) * emulated::float_texel(its, i + 1, j) + (1 - a) * b * emulated::float_texel(its, i, j + 1) +
               a * b * emulated::float_texel(its, i + 1, j + 1);
    }
}

#endif
