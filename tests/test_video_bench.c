/* video_bench.h: what is timed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <time.h>

#include "common/algo/motion.h"
#include "common/contract/pipeline.h"
#include "common/measure/video_bench.h"
#include "common/trace/phase.h"

enum { FRAMES = 3, ROUND_MS = 100 };

static const struct version *serial;
static struct pipeline late_pipeline;
static bool pretend_device;

/* The parent of this process must not know: it would have the version verified by the emulator. */
static enum status start_late(void *state, const struct image *first, const void *params)
{
    late_pipeline.on_device = pretend_device;
    return serial->pipeline->start(state, first, params);
}

/* cpu/serial, but the first frame of a process takes longer than a round of the bench may: as on a GPU, where it
 * creates the context. */
static enum status submit_late(void *state, const struct image *frame)
{
    static bool called;
    const struct timespec delay = {.tv_nsec = 1500000L * ROUND_MS};

    if (!called)
        nanosleep(&delay, NULL);
    called = true;
    return serial->pipeline->submit(state, frame);
}

static void first_frame_is_not_timed(void **unused)
{
    struct version late = *serial;
    struct version_source source = *serial->source;
    const struct version *versions[] = {serial, &late};
    struct image frames[FRAMES] = {0};
    struct motion_params params;
    struct video_bench bench;
    struct video_bench_request request = {.algorithm = serial->algorithm,
                                          .versions = versions,
                                          .version_count = 2,
                                          .frames = frames,
                                          .frame_count = FRAMES,
                                          .first = frames,
                                          .params = &params,
                                          .threads = 1,
                                          .seconds = 1e-3 * ROUND_MS * VIDEO_BENCH_ROUNDS};

    (void)unused;
    for (int i = 0; i < FRAMES; i++) {
        assert_int_equal(image_create(&frames[i], 32, 24, 3, PIXEL_U8), STATUS_OK);
        image_fill(&frames[i], (uint8_t)(80 * i));
    }
    assert_int_equal(params_parse_text(serial->algorithm, "ksize=3 disk=3", &params), STATUS_OK);
    source.id = "cpu/late";
    late.source = &source;
    late_pipeline = *serial->pipeline;
    late_pipeline.start = start_late;
    late_pipeline.submit = submit_late;
    late.pipeline = &late_pipeline;
    pretend_device = true;
    assert_int_equal(video_bench_run(&request, &bench), STATUS_OK);
    assert_int_equal(bench.rows[1].outcome, VIDEO_TIMED);
    assert_int_equal(bench.rows[1].verified, FRAMES);
    /* Three rounds of 20 ms samples, of frames of some 0.1 ms. */
    assert_true(bench.rows[1].time.count > VIDEO_BENCH_ROUNDS);
    assert_true(bench.rows[1].time.q3 < 0.02);
    assert_true(bench.rows[1].timed_frames > 3 * FRAMES * VIDEO_BENCH_ROUNDS);
    video_bench_free(&bench);

    /* On a CPU a version that takes all its time for its first frames is still measured. */
    pretend_device = false;
    assert_int_equal(video_bench_run(&request, &bench), STATUS_OK);
    assert_true(bench.rows[1].time.count >= 1);
    video_bench_free(&bench);
    for (int i = 0; i < FRAMES; i++)
        image_free(&frames[i]);
}

static bool first_submit;

static enum status start_device(void *state, const struct image *first, const void *params)
{
    late_pipeline.on_device = true;
    first_submit = true;
    return serial->pipeline->start(state, first, params);
}

/* As a version that allocates with the first frame, and downloads a row for each box of a frame. */
static enum status receive_device(void *state, struct image *table)
{
    const enum status status = serial->pipeline->receive(state, table);

    if (first_submit)
        phase_count(PHASE_ALLOCATE, 1000);
    first_submit = false;
    phase_count(PHASE_DOWNLOAD, 32 + 32 * (size_t) * (const int32_t *)image_row(table, 0));
    return status;
}

/* The first frame has no box and the second one has: its larger download is none of the start's. */
static void traffic_of_start_and_frame(void **unused)
{
    struct version device = *serial;
    struct version_source source = *serial->source;
    const struct version *versions[] = {serial, &device};
    struct image frames[2] = {0};
    struct motion_params params;
    struct video_bench bench;
    struct video_bench_request request = {.algorithm = serial->algorithm,
                                          .versions = versions,
                                          .version_count = 2,
                                          .frames = frames,
                                          .frame_count = 2,
                                          .first = frames,
                                          .params = &params,
                                          .threads = 1,
                                          .seconds = 0.01};

    (void)unused;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(image_create(&frames[i], 32, 24, 3, PIXEL_U8), STATUS_OK);
        image_fill(&frames[i], (uint8_t)(80 * i));
    }
    assert_int_equal(params_parse_text(serial->algorithm, "ksize=3 disk=3", &params), STATUS_OK);
    source.id = "cpu/device";
    device.source = &source;
    late_pipeline = *serial->pipeline;
    late_pipeline.start = start_device;
    late_pipeline.receive = receive_device;
    device.pipeline = &late_pipeline;
    assert_int_equal(video_bench_run(&request, &bench), STATUS_OK);
    assert_true(bench.rows[1].has_traffic);
    assert_int_equal(bench.rows[1].launch.bytes[PHASE_ALLOCATE], 1000);
    assert_int_equal(bench.rows[1].launch.calls[PHASE_ALLOCATE], 1);
    assert_int_equal(bench.rows[1].launch.bytes[PHASE_DOWNLOAD], 0);
    assert_int_equal(bench.rows[1].launch.calls[PHASE_DOWNLOAD], 0);
    assert_int_equal(bench.rows[1].frame.bytes[PHASE_DOWNLOAD], 64);
    video_bench_free(&bench);
    for (int i = 0; i < 2; i++)
        image_free(&frames[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_frame_is_not_timed),
                                       cmocka_unit_test(traffic_of_start_and_frame)};
    const struct algorithm *motion;

    if (registry_open() != STATUS_OK || !(motion = registry_find_algorithm("motion")) ||
        registry_find_version(motion, "cpu/serial", &serial) != STATUS_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
