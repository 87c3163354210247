#include "common/measure/bench_sets.h"

#include <stdlib.h>
#include <string.h>

#include "common/contract/inputs.h"
#include "common/measure/bench_device.h"
#include "common/measure/machine.h"

enum {
    MAX_SETS = 256,
    MAX_SET_BYTES = 256 << 20,
    POISON = 0xA5 /* what outputs hold before a call */
};

/* ------------------------------------------------------------------------------------------------- the source */

static bool is_picture(const struct bench_source *source, int input)
{
    const enum slot_kind kind = source->algorithm->inputs[input].kind;

    return kind == SLOT_PICTURE || kind == SLOT_LABELS;
}

/* Other inputs of the same shapes, from the algorithm's maker; without them all sets have one content. */
static void make_other(struct bench_source *source, const struct input_request *made)
{
    struct input_request request = *made;

    request.seed++;
    if (inputs_make(source->algorithm, &request, source->other) != STATUS_OK)
        return;
    for (int i = 0; i < source->algorithm->input_count; i++)
        if (!image_same_shape(&source->in[i], &source->other[i])) {
            inputs_free(source->algorithm, source->other);
            return;
        }
}

enum status bench_source_open(struct bench_source *source, const struct algorithm *algorithm, const struct image in[],
                              const void *params, const struct input_request *made)
{
    enum status status = STATUS_OK;
    bool pictures = true;

    *source = (struct bench_source){.algorithm = algorithm, .params = params};
    memcpy(source->in, in, sizeof *in * (size_t)algorithm->input_count);
    TRY(algorithm->shape(in, params, source->out));
    for (int i = 0; i < algorithm->input_count; i++) {
        pictures &= is_picture(source, i);
        source->in_bytes += in[i].stride * (size_t)in[i].height;
    }
    for (int i = 0; i < algorithm->output_count; i++) {
        source->out[i].stride = image_minimal_stride(&source->out[i]);
        source->out_bytes += source->out[i].stride * (size_t)source->out[i].height;
    }
    const bool makes = algorithm->make_inputs && made;
    source->shifts = !algorithm->inputs_stay_in_place && (pictures || !makes);
    if (!source->shifts && makes)
        make_other(source, made);
out:
    return status;
}

void bench_source_close(struct bench_source *source)
{
    if (source->algorithm)
        inputs_free(source->algorithm, source->other);
    memset(source, 0, sizeof *source);
}

int bench_source_sets(const struct bench_source *source)
{
    const size_t cache = machine_last_level_cache(), bytes = source->in_bytes + source->out_bytes;
    size_t wanted = cache ? cache + cache / 2 : MAX_SET_BYTES;

    if (wanted > MAX_SET_BYTES)
        wanted = MAX_SET_BYTES;
    wanted = (wanted + bytes - 1) / bytes;
    return wanted < 2 ? 2 : wanted > MAX_SETS ? MAX_SETS : (int)wanted;
}

/* --------------------------------------------------------------------------------------------------- the sets */

/* A cyclic shift of `down` rows and `right` pixels. Inside a parallel region the rows are shared out. */
static void shift(struct image *to, const struct image *from, int down, int right)
{
    const size_t cut = (size_t)right * (size_t)from->channels * pixel_size(from->type);

#pragma omp for schedule(static) nowait
    for (int y = 0; y < from->height; y++) {
        const char *source = image_row(from, (y + down) % from->height);
        char *target = image_row(to, y);

        memcpy(target, source + cut, image_row_bytes(from) - cut);
        memcpy(target + image_row_bytes(from) - cut, source, cut);
    }
}

void bench_sets_fill(struct bench_sets *sets, int set, int of)
{
    const struct bench_source *source = sets->source;

    for (int i = 0; i < source->algorithm->input_count; i++) {
        const bool shifts = source->shifts && is_picture(source, i);
        const struct image *from = set % 2 && source->other[i].data ? &source->other[i] : &source->in[i];
        const int down = shifts ? (int)((long)set * (from->height / of + 1) % from->height) : 0;
        const int right = shifts ? (int)((long)set * (from->width / of + 1) % from->width) : 0;

        shift(&sets->in[set][i], from, down, right);
    }
}

void bench_sets_poison(struct bench_sets *sets, int set)
{
    for (int i = 0; i < sets->source->algorithm->output_count; i++)
        image_fill(&sets->out[set][i], POISON);
}

static bool has_samples(const struct image *image)
{
    return image->data && image->height > 0;
}

static void unpin(struct bench_sets *sets, int set)
{
    for (int i = 0; i < ALGORITHM_MAX_INPUTS; i++)
        if (has_samples(&sets->in[set][i]))
            bench_device_unpin(&sets->in[set][i]);
    for (int i = 0; i < ALGORITHM_MAX_OUTPUTS; i++)
        if (has_samples(&sets->out[set][i]))
            bench_device_unpin(&sets->out[set][i]);
}

enum status bench_sets_pin(struct bench_sets *sets)
{
    enum status status = STATUS_OK;

    for (; sets->pinned < sets->count; sets->pinned++) {
        const int set = sets->pinned;

        for (int i = 0; i < ALGORITHM_MAX_INPUTS; i++)
            if (has_samples(&sets->in[set][i]))
                TRY(bench_device_pin(&sets->in[set][i]));
        for (int i = 0; i < ALGORITHM_MAX_OUTPUTS; i++)
            if (has_samples(&sets->out[set][i]))
                TRY(bench_device_pin(&sets->out[set][i]));
    }
out:
    return status;
}

void bench_sets_free(struct bench_sets *sets)
{
    for (int set = 0; set < sets->pinned; set++)
        unpin(sets, set);
    for (int set = 0; set < sets->count; set++) {
        for (int i = 0; i < ALGORITHM_MAX_INPUTS && sets->in; i++)
            image_free(&sets->in[set][i]);
        for (int i = 0; i < ALGORITHM_MAX_OUTPUTS && sets->out; i++)
            image_free(&sets->out[set][i]);
    }
    free(sets->in);
    free(sets->out);
    memset(sets, 0, sizeof *sets);
}

enum status bench_sets_create(struct bench_sets *sets, const struct bench_source *source, int count, int of)
{
    const struct algorithm *algorithm = source->algorithm;
    enum status status = STATUS_OK;

    sets->source = source;
    sets->count = count;
    sets->in = calloc((size_t)count, sizeof *sets->in);
    sets->out = calloc((size_t)count, sizeof *sets->out);
    if (!sets->in || !sets->out)
        return status_set(STATUS_NO_MEMORY, "no memory for %d sets of images", count);
    for (int set = 0; set < count; set++) {
        for (int i = 0; i < algorithm->input_count; i++)
            TRY(image_create_like(&sets->in[set][i], &source->in[i]));
        for (int i = 0; i < algorithm->output_count; i++)
            if (source->out[i].width > 0)
                TRY(image_create_like(&sets->out[set][i], &source->out[i]));
    }
#pragma omp parallel
    for (int set = 0; set < count; set++) {
        bench_sets_fill(sets, set, of);
        for (int i = 0; i < algorithm->output_count; i++) {
            struct image *out = &sets->out[set][i];

#pragma omp for schedule(static) nowait
            for (int y = 0; y < out->height; y++)
                memset(image_row(out, y), POISON, image_row_bytes(out));
        }
    }
out:
    return status;
}
