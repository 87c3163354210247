#include "common/image/samples.h"

#include <string.h>

static const struct {
    size_t size;
    enum pixel_type type;
} samples[] = {
    [FILE_U8] = {1, PIXEL_U8},   [FILE_U16] = {2, PIXEL_U16}, [FILE_I16] = {2, PIXEL_F32}, [FILE_I32] = {4, PIXEL_I32},
    [FILE_U32] = {4, PIXEL_U32}, [FILE_F32] = {4, PIXEL_F32}, [FILE_F64] = {8, PIXEL_F64},
};

size_t file_sample_size(enum file_sample sample)
{
    return samples[sample].size;
}

enum pixel_type file_sample_type(enum file_sample sample)
{
    return samples[sample].type;
}

static void swap_bytes(uint8_t *bytes, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++, bytes += size) {
        for (size_t b = 0; b < size / 2; b++) {
            const uint8_t byte = bytes[b];
            bytes[b] = bytes[size - 1 - b];
            bytes[size - 1 - b] = byte;
        }
    }
}

bool file_samples_read(FILE *stream, enum file_sample sample, bool swapped, void *to, enum pixel_type type,
                       size_t count)
{
    enum { CHUNK = 4096 };
    const size_t size = samples[sample].size;
    union {
        int16_t i16[CHUNK];
        double f64[CHUNK];
    } chunk;

    if (pixel_size(type) == size) {
        if (fread(to, size, count, stream) != count)
            return false;
        if (swapped)
            swap_bytes(to, count, size);
        return true;
    }
    for (size_t done = 0; done < count;) {
        const size_t now = count - done < CHUNK ? count - done : CHUNK;

        if (fread(&chunk, size, now, stream) != now)
            return false;
        if (swapped)
            swap_bytes((uint8_t *)&chunk, now, size);
        for (size_t i = 0; i < now; i++) {
            if (sample == FILE_I16)
                ((float *)to)[done + i] = chunk.i16[i];
            else
                ((float *)to)[done + i] = (float)chunk.f64[i];
        }
        done += now;
    }
    return true;
}
