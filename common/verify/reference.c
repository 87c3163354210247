#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/verify/outputs.h"
#include "common/verify/verify.h"

/* ---------------------------------------------------------------------------------------------------- the store */

/* A 128-bit sum of everything that a result depends on. */
struct key {
    uint64_t low, high;
};

enum { STORE_MAX_RESULTS = 4096 };

struct result {
    struct key key;
    struct image shapes[ALGORITHM_MAX_OUTPUTS]; /* with the strides of rows without padding; data is NULL */
    size_t offset;                              /* of the first slot's samples from the store's beginning */
};

struct store {
    size_t bytes, used;
    int count;
    struct result results[STORE_MAX_RESULTS];
};

static struct store *store;

enum status reference_store_open(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (bytes < sizeof *store || memory == MAP_FAILED)
        return status_set(STATUS_NO_MEMORY, "no memory to keep reference results");
    store = memory;
    store->bytes = bytes;
    store->used = (sizeof *store + 63) / 64 * 64;
    mprotect(store, bytes, PROT_READ);
    return STATUS_OK;
}

void reference_store_close(void)
{
    if (store)
        munmap(store, store->bytes);
    store = NULL;
}

/* Two multiplications and a shift a word: the inputs are megabytes, the reference is slower by far. */
static void add_bytes(struct key *key, const void *bytes, size_t size)
{
    const char *from = bytes;

    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;

        memcpy(&word, from + i, size - i < 8 ? size - i : 8);
        key->low = (key->low ^ word) * 0x9e3779b97f4a7c15;
        key->low ^= key->low >> 29;
        key->high = (key->high + word) * 0xbf58476d1ce4e5b9;
        key->high ^= key->high >> 32;
    }
}

static struct key key_of(const struct version *serial, const struct image in[], const void *params)
{
    struct key key = {1, 2};

    add_bytes(&key, serial->source->path, strlen(serial->source->path));
    add_bytes(&key, params, serial->algorithm->params_size);
    for (int i = 0; i < serial->algorithm->input_count; i++) {
        const int shape[4] = {in[i].width, in[i].height, in[i].channels, (int)in[i].type};

        add_bytes(&key, shape, sizeof shape);
        for (int y = 0; y < in[i].height; y++)
            add_bytes(&key, image_row(&in[i], y), image_row_bytes(&in[i]));
    }
    return key;
}

/* New images with a remembered result; false when there is none, or no memory for them. */
static bool recall(struct key key, struct image out[])
{
    for (int i = 0; store && i < store->count; i++) {
        const struct result *result = &store->results[i];
        const char *from = (const char *)store + result->offset;

        if (result->key.low != key.low || result->key.high != key.high)
            continue;
        if (outputs_create_like(out, result->shapes) != STATUS_OK)
            return false;
        for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++) {
            for (int y = 0; y < out[slot].height; y++, from += image_row_bytes(&out[slot]))
                memcpy(image_row(&out[slot], y), from, image_row_bytes(&out[slot]));
        }
        return true;
    }
    return false;
}

static void remember(struct key key, const struct image out[])
{
    size_t bytes = 0;

    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        bytes += image_pixel_bytes(&out[slot]);
    if (!store || store->count == STORE_MAX_RESULTS || store->used + bytes > store->bytes ||
        mprotect(store, store->bytes, PROT_READ | PROT_WRITE) != 0)
        return;

    struct result *result = &store->results[store->count];
    char *to = (char *)store + store->used;

    *result = (struct result){.key = key, .offset = store->used};
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++) {
        result->shapes[slot] = out[slot];
        result->shapes[slot].data = NULL;
        for (int y = 0; y < out[slot].height; y++, to += image_row_bytes(&out[slot]))
            memcpy(to, image_row(&out[slot], y), image_row_bytes(&out[slot]));
    }
    store->used += (bytes + 63) / 64 * 64;
    store->count++;
    mprotect(store, store->bytes, PROT_READ);
}

/* ------------------------------------------------------------------------------------------------ the reference */

static bool is_reference(const struct version *version)
{
    return strcmp(version->source->id, "cpu/serial") == 0;
}

/* Runs `serial` on `in` with steps and a state of its own; out[] are new images. */
static enum status run_reference(const struct version *serial, const struct image in[], const void *given,
                                 struct image out[])
{
    const size_t params_size = serial->algorithm->params_size;
    void *state = calloc(1, serial->state_size ? serial->state_size : 1);
    void *params = calloc(1, params_size ? params_size : 1);
    struct image shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct key key = {0, 0};
    enum status status = STATUS_OK;

    memset(out, 0, ALGORITHM_MAX_OUTPUTS * sizeof *out);
    if (!state || !params) {
        free(state);
        free(params);
        return status_set(STATUS_NO_MEMORY, "no memory for the state of a version");
    }
    if (given)
        memcpy(params, given, params_size);
    params_keep_own_steps(serial->algorithm, serial->source->id, params);
    if (store)
        key = key_of(serial, in, params);
    if (recall(key, out))
        goto out;
    TRY(serial->algorithm->shape(in, params, shapes));
    TRY(outputs_create_like(out, shapes));
    outputs_fill(out, 0xa5);
    TRY(serial->run(state, in, out, params));
    remember(key, out);
out:
    if (serial->teardown)
        serial->teardown(state);
    free(state);
    free(params);
    if (status != STATUS_OK)
        outputs_free(out);
    return status;
}

enum status verify_reference(const struct algorithm *algorithm, const struct image in[], const void *params,
                             struct image out[])
{
    struct version *const *versions;
    size_t count;

    memset(out, 0, ALGORITHM_MAX_OUTPUTS * sizeof *out);
    registry_versions(algorithm, &versions, &count);
    for (size_t i = 0; i < count; i++)
        if (is_reference(versions[i]))
            return run_reference(versions[i], in, params, out);
    return status_set(STATUS_FAILED, "%s has no version cpu/serial to compare with", algorithm->name);
}

enum status verify_reference_of(const struct version *version, const struct image in[], const void *params,
                                struct image out[])
{
    return is_reference(version) ? run_reference(version, in, params, out)
                                 : verify_reference(version->algorithm, in, params, out);
}

enum status verify_reference_by(const struct version *trusted, const struct image in[], const void *params,
                                struct image out[])
{
    return run_reference(trusted, in, params, out);
}
