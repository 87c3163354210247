#include <stdlib.h>
#include <string.h>

#include "common/contract/inputs.h"
#include "common/image/pattern.h"
#include "common/lab/judge_images.h"
#include "common/lab/timing.h"
#include "common/remote/stand_in.h"
#include "common/verify/outputs.h"
#include "common/verify/scene.h"

static const size_t SET_BYTES = (size_t)256 << 20;

static void shift_row(const struct image *from, int source, struct image *to, int target, int right)
{
    const size_t cut = (size_t)right * (size_t)from->channels * pixel_size(from->type);
    const char *row = image_row(from, source);
    char *shifted = image_row(to, target);

    memcpy(shifted, row + cut, image_row_bytes(from) - cut);
    memcpy(shifted + image_row_bytes(from) - cut, row, cut);
}

static int below(struct timing *timing, int limit)
{
    return (int)(pattern_random(&timing->random) % (uint64_t)limit);
}

/* Changes bytes of a row by lot: those bits of each that `mask` has. */
static void change_row(struct timing *timing, void *row, size_t bytes, uint64_t mask)
{
    for (size_t at = 0; at < bytes; at += sizeof mask) {
        const size_t left = bytes - at < sizeof mask ? bytes - at : sizeof mask;
        uint64_t word = 0;

        memcpy(&word, (char *)row + at, left);
        word ^= pattern_random(&timing->random) & mask;
        memcpy((char *)row + at, &word, left);
    }
}

/* New inputs, which have nothing of any before: who keeps results of earlier calls finds no use for them. Pictures are
 * noise, eight samples a draw, because there is one to be made for each call that is timed. */
enum status timing_renew(struct timing *timing, struct image to[])
{
    const struct algorithm *algorithm = timing->algorithm;
    struct image made[ALGORITHM_MAX_INPUTS] = {{0}};
    enum status status = STATUS_OK;

    if (algorithm->make_inputs || timing->base[0].type != PIXEL_U8)
        TRY(judge_make(algorithm, timing->arguments->shape, pattern_random(&timing->random), timing->params, made));
    for (int i = 0; i < algorithm->input_count; i++)
        if (made[i].data)
            image_copy(&to[i], &made[i]);
        else
            for (int y = 0; y < to[i].height; y++)
                change_row(timing, image_row(&to[i], y), image_row_bytes(&to[i]), UINT64_MAX);
out:
    inputs_free(algorithm, made);
    return status;
}

/* A new video: scenes in another place, in which the two lowest bits of each sample are drawn by lot, so that no frame
 * is a shift of any before. Its first frame is the empty scene, for a background. */
void timing_renew_video(struct timing *timing, struct image (*to)[ALGORITHM_MAX_INPUTS])
{
    const struct image *scene = &timing->scenes[0];
    const int down = below(timing, scene->height), right = below(timing, scene->width);
    const int begin = below(timing, timing->frames - 1);

    for (int frame = 0; frame < timing->frames; frame++) {
        const int side = scene->width < 64 || scene->height < 64 ? 1 : 16 + below(timing, 32);
        const int left = below(timing, scene->width - side), top = below(timing, scene->height - side);

        if (frame > 0)
            scene = &timing->scenes[1 + (begin + frame) % (timing->frames - 1)];
        for (int y = 0; y < scene->height; y++) {
            shift_row(scene, (y + down) % scene->height, &to[frame][0], y, right);
            change_row(timing, image_row(&to[frame][0], y), image_row_bytes(scene), 0x0303030303030303);
        }
        for (int y = top; frame > 0 && y < top + side; y++) {
            uint8_t *row = image_row(&to[frame][0], y);

            for (int x = left * scene->channels; x < (left + side) * scene->channels; x++)
                row[x] = (uint8_t)(255 - row[x]);
        }
    }
}

enum status timing_prepare(struct timing *timing)
{
    const struct judge_arguments *arguments = timing->arguments;
    const struct algorithm *algorithm = timing->algorithm;
    enum status status = STATUS_OK;
    size_t bytes = 0;

    TRY(judge_make(algorithm, arguments->shape, timing->random, timing->params, timing->base));
    TRY(algorithm->shape(timing->base, timing->params, timing->shapes));
    for (int i = 0; i < algorithm->input_count; i++)
        bytes += timing->base[i].stride * (size_t)timing->base[i].height;
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        bytes += image_pixel_bytes(&timing->shapes[slot]);
    timing->pictures = !algorithm->inputs_stay_in_place;
    for (int i = 0; i < algorithm->input_count; i++)
        timing->pictures = timing->pictures &&
                           (algorithm->inputs[i].kind == SLOT_PICTURE || algorithm->inputs[i].kind == SLOT_LABELS) &&
                           timing->base[i].width == timing->base[0].width &&
                           timing->base[i].height == timing->base[0].height;
    timing->inputs = algorithm->input_count;
    timing->sets = (int)(SET_BYTES / bytes);
    timing->sets = arguments->kernel || timing->sets < 2 ? 2 : timing->sets > 8 ? 8 : timing->sets;
    if (algorithm->video) {
        timing->inputs = 1;
        timing->sets = timing->frames = arguments->frames;
        for (int i = 0; i < timing->frames; i++) {
            TRY(image_create_like(&timing->scenes[i], &timing->base[0]));
            scene_frame(&timing->scenes[i], i == 0 ? 0 : 5 * i);
        }
    }
    for (int set = 0; set < (timing->frames ? timing->frames : 1); set++)
        for (int i = 0; i < timing->inputs; i++)
            TRY(image_create_like(&timing->fresh[set][i], &timing->base[i]));
    for (int set = 0; set < timing->sets; set++)
        TRY(outputs_create_like(timing->kept[set], timing->shapes));
    TRY(outputs_create_like(timing->late, timing->shapes));
out:
    return status;
}

/* All frames of a video side by side, where the pipeline wants them. */
static enum status place_video(struct timing *timing, struct runner *runner)
{
    struct channel *channel = remote_channel(runner->remote);
    const struct image *like = &timing->scenes[0];
    const size_t bytes = (image_minimal_stride(like) * (size_t)like->height + 127) / 128 * 128;
    const struct image room = {(int)bytes, timing->frames, 1, PIXEL_U8, bytes, NULL};
    const int depth = channel->depth;
    enum status status = STATUS_OK;
    struct image all;

    TRY(remote_check_depth(depth));
    TRY(judge_place(runner->remote, &all, &room));
    for (int frame = 0; frame < timing->frames; frame++) {
        runner->in[frame][0] = *like;
        runner->in[frame][0].stride = image_minimal_stride(like);
        runner->in[frame][0].data = image_row(&all, frame);
    }
    runner->depth = depth < 1 ? 1 : depth > timing->frames ? timing->frames : depth;
    channel->in[0] = all;
    TRY(remote_call(runner->remote, CHANNEL_PIN, NULL));
out:
    return status;
}

enum status timing_start(struct timing *timing, int which, const struct remote_options *options)
{
    struct runner *runner = &timing->runners[which];
    enum status status = STATUS_OK;

    TRY(remote_start(options, &runner->remote));
    TRY(judge_place_params(runner->remote, timing->algorithm, timing->params));
    memcpy(runner->params, remote_channel(runner->remote)->params, sizeof runner->params);
    if (timing->frames)
        TRY(place_video(timing, runner));
    for (int set = 0; set < timing->sets; set++) {
        for (int i = 0; i < timing->inputs && !timing->frames; i++)
            TRY(judge_place(runner->remote, &runner->in[set][i], &timing->base[i]));
        TRY(judge_place_outputs(runner->remote, runner->out[set], timing->shapes));
    }
out:
    return status;
}

void timing_free(struct timing *timing)
{
    for (int which = 0; which < 2; which++)
        remote_stop(timing->runners[which].remote);
    inputs_free(timing->algorithm, timing->base);
    for (int set = 0; set < TIMING_MAX_SETS; set++) {
        outputs_free(timing->kept[set]);
        image_free(&timing->scenes[set]);
        for (int i = 0; i < ALGORITHM_MAX_INPUTS; i++)
            image_free(&timing->fresh[set][i]);
    }
    outputs_free(timing->late);
    free(timing->params);
}
