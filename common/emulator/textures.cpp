/*
 * textures.cpp: texture objects (include/texture_indirect_functions.h): what they may be of, and which of them live.
 */
#include <mutex>
#include <set>
#include <stdint.h>

#include "common/emulator/runtime_internal.h"
#include "texture_indirect_functions.h"

namespace emulated
{

/* Of base addresses, as of allocations, and of pitches: a device asks for as much. */
enum { BASE_ALIGNMENT = 256, PITCH_ALIGNMENT = 32 };

static std::mutex textures_mutex;
static std::set<const texture *> *textures =
    new std::set<const texture *>; /* never destroyed: kernels may run at the end */

static bool is_alive(cudaTextureObject_t object)
{
    const std::lock_guard<std::mutex> lock(textures_mutex);

    return textures->count((const texture *)(uintptr_t)object) != 0;
}

const texture &texture_of(cudaTextureObject_t object, bool as_float)
{
    const texture *const its = (const texture *)(uintptr_t)object;

    if (!is_alive(object))
        fault("tex2D() of a texture object that does not exist");
    const bool is_float = its->description.readMode == cudaReadModeNormalizedFloat ||
                          its->resource.res.pitch2D.desc.f == cudaChannelFormatKindFloat;
    if (is_float != as_float)
        fault("tex2D() as %s of a texture that gives %s", as_float ? "float" : "unsigned char",
              is_float ? "float" : "unsigned char");
    return *its;
}

/* What is wrong with a texture object, or NULL. */
static const char *fault_of(const cudaResourceDesc &resource, const cudaTextureDesc &description)
{
    const auto &memory = resource.res.pitch2D;
    const bool is_float = memory.desc.f == cudaChannelFormatKindFloat && memory.desc.x == 32;
    const bool is_byte = memory.desc.f == cudaChannelFormatKindUnsigned && memory.desc.x == 8;
    const size_t texel_bytes = is_float ? 4 : 1;

    if (resource.resType != cudaResourceTypePitch2D)
        return "the emulator has textures on pitched memory only (cudaResourceTypePitch2D)";
    if ((!is_float && !is_byte) || memory.desc.y || memory.desc.z || memory.desc.w)
        return "the emulator has textures of one channel, unsigned char or float";
    if (!memory.devPtr || (uintptr_t)memory.devPtr % BASE_ALIGNMENT != 0)
        return "the memory does not begin at a multiple of 256 bytes";
    if (memory.pitchInBytes % PITCH_ALIGNMENT != 0 || memory.pitchInBytes < memory.width * texel_bytes)
        return "the pitch is no multiple of 32 bytes, or less than a row";
    if (memory.width < 1 || memory.height < 1 || memory.width > 131072 || memory.height > 65000)
        return "more than 131072x65000 texels, or none";
    if (description.normalizedCoords || description.sRGB)
        return "the emulator has textures with coordinates in texels only, and without sRGB";
    for (int axis = 0; axis < 2; axis++)
        if (description.addressMode[axis] != cudaAddressModeClamp &&
            description.addressMode[axis] != cudaAddressModeBorder)
            return "addresses in texels are clamped or bordered";
    if (description.readMode == cudaReadModeNormalizedFloat && !is_byte)
        return "a texture of float has nothing to normalize";
    if (description.filterMode == cudaFilterModeLinear && is_byte &&
        description.readMode != cudaReadModeNormalizedFloat)
        return "only what is read as float can be filtered";
    return nullptr;
}

} /* namespace emulated */

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *description, const struct cudaResourceViewDesc *view)
{
    using namespace emulated;

    if (texture == nullptr || resource == nullptr || description == nullptr)
        return set_error(cudaErrorInvalidValue, "cudaCreateTextureObject: a NULL pointer");
    const char *const why = view ? "the emulator has no views of resources" : fault_of(*resource, *description);

    if (why != nullptr)
        return set_error(cudaErrorInvalidValue, "cudaCreateTextureObject: %s", why);
    const emulated::texture *const made = new emulated::texture{*resource, *description};
    const std::lock_guard<std::mutex> lock(textures_mutex);

    textures->insert(made);
    *texture = (uintptr_t)made;
    return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    using namespace emulated;
    const texture *const its = (const texture *)(uintptr_t)object;
    const std::lock_guard<std::mutex> lock(textures_mutex);

    if (object != 0 && textures->erase(its) == 0)
        return set_error(cudaErrorInvalidValue, "cudaDestroyTextureObject: no texture object");
    delete its;
    return cudaSuccess;
}
