#include "common/image/idx.h"

#include <string.h>

#include "common/core/file.h"
#include "common/image/samples.h"

enum { PREAMBLE = 4, MAX_DIMENSIONS = 3 };

bool idx_is_file(const char *path)
{
    FILE *stream = NULL;
    uint64_t size = 0;
    uint8_t preamble[PREAMBLE];
    bool is;

    if (file_open(path, &stream, &size) != STATUS_OK)
        return false;
    is = fread(preamble, 1, PREAMBLE, stream) == PREAMBLE && preamble[0] == 0 && preamble[1] == 0 && preamble[2] >= 8 &&
         preamble[2] <= 14;
    fclose(stream);
    return is;
}

static bool find_sample(uint8_t code, enum file_sample *sample)
{
    static const struct {
        uint8_t code;
        enum file_sample sample;
    } known[] = {{0x08, FILE_U8}, {0x0b, FILE_I16}, {0x0c, FILE_I32}, {0x0d, FILE_F32}, {0x0e, FILE_F64}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].code == code) {
            *sample = known[i].sample;
            return true;
        }
    }
    return false;
}

/* Fills the three sizes, those that the file does not have with 1. */
static enum status read_shape(FILE *stream, int dimensions, uint64_t shape[MAX_DIMENSIONS], const char *path)
{
    for (int i = 0; i < MAX_DIMENSIONS; i++) {
        uint8_t bytes[4] = {0, 0, 0, 1};

        if (i < dimensions && fread(bytes, 1, sizeof bytes, stream) != sizeof bytes)
            return status_set(STATUS_BAD_INPUT, "%s: cut short in its IDX header", path);
        shape[i] = (uint64_t)bytes[0] << 24 | (uint64_t)bytes[1] << 16 | (uint64_t)bytes[2] << 8 | bytes[3];
    }
    if (shape[0] < 1 || shape[1] < 1 || shape[2] < 1 || shape[0] > ARRAY_MAX_SIDE || shape[2] > ARRAY_MAX_SIDE ||
        shape[1] > ARRAY_MAX_SIDE / shape[2])
        return status_set(STATUS_BAD_INPUT,
                          "%s: IDX shape %llu x %llu x %llu: must be at least 1, rows and their samples at most 2^30",
                          path, (unsigned long long)shape[0], (unsigned long long)shape[1],
                          (unsigned long long)shape[2]);
    return STATUS_OK;
}

enum status idx_load(struct image *array, const char *path)
{
    enum status status = STATUS_OK;
    FILE *stream = NULL;
    uint64_t size = 0, expected, shape[MAX_DIMENSIONS];
    uint8_t preamble[PREAMBLE];
    enum file_sample sample = FILE_U8;
    const bool swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

    memset(array, 0, sizeof *array);
    TRY(file_open(path, &stream, &size));
    if (fread(preamble, 1, PREAMBLE, stream) != PREAMBLE || preamble[0] != 0 || preamble[1] != 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: not an IDX file", path);
        goto out;
    }
    if (!find_sample(preamble[2], &sample)) {
        status = status_set(STATUS_BAD_INPUT, "%s: IDX type 0x%02x: only u8, i16, i32, f32 and f64 are read", path,
                            preamble[2]);
        goto out;
    }
    if (preamble[3] < 1 || preamble[3] > MAX_DIMENSIONS) {
        status = status_set(STATUS_BAD_INPUT, "%s: an IDX file of %d dimensions; 1 to 3 are read", path, preamble[3]);
        goto out;
    }
    TRY(read_shape(stream, preamble[3], shape, path));
    /* At most 2^30 rows of 2^30 samples of 2^3 bytes: no overflow. */
    expected = PREAMBLE + 4 * (uint64_t)preamble[3] + shape[0] * shape[1] * shape[2] * file_sample_size(sample);
    if (size != expected) {
        status = status_set(STATUS_BAD_INPUT, "%s: %s: %llu bytes where its header says %llu", path,
                            size < expected ? "cut short" : "too long", (unsigned long long)size,
                            (unsigned long long)expected);
        goto out;
    }
    status = array_create(array, (int)shape[1], (int)shape[0], (int)shape[2], file_sample_type(sample));
    if (status != STATUS_OK) {
        status_set(status, "%s: %s", path, status_message());
        goto out;
    }
    for (int y = 0; y < array->height; y++) {
        if (!file_samples_read(stream, sample, swapped, image_row(array, y), array->type, shape[1] * shape[2])) {
            status = status_set(STATUS_BAD_INPUT, "%s: cannot be read to its end", path);
            goto out;
        }
    }
out:
    if (stream)
        fclose(stream);
    if (status != STATUS_OK)
        image_free(array);
    return status;
}
