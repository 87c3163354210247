/*
 * Peers in another process: one that is right is timed by its own clock; what is wrong, crashes, hangs, fails or lacks
 * its package is that row's alone. The peers stand in for blur with weights 0 256 0, which gives the image back.
 * Waits: for peers that hang, and for Python to start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/algo/blur.h"
#include "common/image/pattern.h"
#include "common/measure/bench.h"
#include "common/measure/process_peer.h"

static char folder[] = "/tmp/rungs-test-peer-XXXXXX";
static char path[128];
static double hang_seconds; /* the peer's limit; 0: the usual one */
static struct process_peer peer;
static bool numpy;

static const char *unavailable(void)
{
    return process_peer_unavailable(&peer);
}

static enum status run(void *state, const struct image in[], struct image *out, const void *params)
{
    return process_peer_run(&peer, state, in, out, params);
}

static const struct version_source source = {
    .path = "peers/blur/test.py", .algorithm = "blur", .id = "peer/test", .idea = "", .expect = ""};

static int set_up(void **unused)
{
    const char *python = getenv("RUNGS_PYTHON");
    char command[512];

    (void)unused;
    snprintf(command, sizeof command, "'%s' -c 'import numpy' 2>/dev/null", python && python[0] ? python : "python3");
    numpy = system(command) == 0;
    if (!numpy)
        printf("numpy is not here: only what needs none is tested\n");
    return registry_open() == STATUS_OK && mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **unused)
{
    (void)unused;
    return rmdir(folder);
}

/* The row of a peer whose run() has this body. */
static struct bench_row bench_peer(const char *library, const char *body)
{
    const struct algorithm *blur = registry_find_algorithm("blur");
    struct version version = {.path = source.path,
                              .algorithm_name = "blur",
                              .state_size = sizeof(struct process_peer_state),
                              .run = run,
                              .teardown = process_peer_teardown,
                              .unavailable = unavailable,
                              .uncharged = process_peer_uncharged,
                              .device_seconds = process_peer_device_seconds,
                              .source = &source,
                              .algorithm = blur};
    const struct version *versions[2] = {NULL, &version};
    struct blur_params params;
    struct bench_request request = {.algorithm = blur,
                                    .versions = versions,
                                    .version_count = 2,
                                    .params = &params,
                                    .threads = 1,
                                    .seconds = 0.2,
                                    .input = "",
                                    .command = ""};
    struct bench bench;
    struct bench_row row;

    snprintf(path, sizeof path, "%s/peer_test.py", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "import os, time\nLIBRARY, PACKAGE = '%s', 'a-package'\n\n\ndef setup(library, case):\n    assert "
            "case.params['ksize'] == 3 and case.threads == 1\n\n    def run(inputs, outputs):\n        %s\n\n    "
            "return run\n",
            library, body);
    fclose(file);
    peer = (struct process_peer){.algorithm = "blur", .path = path, .seconds = hang_seconds};
    assert_int_equal(registry_find_version(blur, "cpu/serial", &versions[0]), STATUS_OK);
    assert_int_equal(params_parse_text(blur, "ksize=3 sigma=0.1", &params), STATUS_OK);
    assert_int_equal(image_create(&request.in[0], 61, 47, 3, PIXEL_U8), STATUS_OK);
    pattern_fill(&request.in[0], PATTERN_RANDOM, 1);
    assert_int_equal(bench_run(&request, &bench), STATUS_OK);
    row = bench.rows[1];
    assert_int_equal(bench.rows[0].outcome, BENCH_TIMED);
    assert_true(bench.rows[0].kernel.count > 0);
    bench_free(&bench);
    image_free(&request.in[0]);
    unlink(path);
    return row;
}

static void expect(const char *body, enum bench_outcome outcome, const char *why)
{
    if (!numpy)
        skip();
    const struct bench_row row = bench_peer("json", body);
    if (row.outcome != outcome || !strstr(row.why, why))
        fail_msg("outcome %d, \"%s\"", row.outcome, row.why);
}

static void what_is_right_is_timed_by_its_own_clock(void **unused)
{
    (void)unused;
    if (!numpy)
        skip();
    const struct bench_row row = bench_peer("json", "outputs[0][...] = inputs[0]; time.sleep(0.005)");
    if (row.outcome != BENCH_TIMED)
        fail_msg("%s", row.why);
    assert_true(row.kernel.median >= 0.005 && row.kernel.median < 0.05);
    assert_false(row.device);
}

static void a_result_may_be_returned(void **unused)
{
    (void)unused;
    expect("return inputs[0].copy()", BENCH_TIMED, "");
}

static void what_is_wrong_fails(void **unused)
{
    (void)unused;
    expect("outputs[0][...] = inputs[0] ^ 1", BENCH_FAILED, "");
}

static void an_error_comes_back_as_text(void **unused)
{
    (void)unused;
    expect("raise ValueError('the moon is in the wrong phase')", BENCH_FAILED,
           "ValueError: the moon is in the wrong phase (peer_test.py:9)");
}

static void a_crash_is_named(void **unused)
{
    (void)unused;
    expect("os.kill(os.getpid(), 11)", BENCH_FAILED, "killed by signal 11");
}

static void an_exit_is_named(void **unused)
{
    (void)unused;
    expect("os._exit(3)", BENCH_FAILED, "ended with exit code 3");
}

static void what_hangs_is_ended(void **unused)
{
    (void)unused;
    hang_seconds = 4;
    expect("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)", BENCH_FAILED,
           "did not answer within 4 s");
    hang_seconds = 0;
}

/* A child that goes on where its parent does gives every answer twice; the second would be taken for that to the next
 * call. */
static void a_forgotten_child_is_named(void **unused)
{
    (void)unused;
    expect("outputs[0][...] = inputs[0]; os.fork()", BENCH_FAILED, "answered twice");
}

static void a_clock_that_runs_backwards_is_named(void **unused)
{
    (void)unused;
    expect("time.perf_counter = iter(range(1000, 0, -1)).__next__; outputs[0][...] = inputs[0]", BENCH_FAILED,
           "its clock says");
}

/* What a library prints, and a child that it leaves behind, are its own business. */
static void chatter_and_a_sleeping_child_do_no_harm(void **unused)
{
    (void)unused;
    expect("print('\\x00' * 5000, flush=True); os.write(1, b'{}' * 999); outputs[0][...] = inputs[0]; "
           "case.__dict__.setdefault("
           "'child', os.fork() or (time.sleep(2), os._exit(0))) if not hasattr(case, 'child') else None",
           BENCH_TIMED, "");
}

static void a_missing_package_is_a_reason(void **unused)
{
    (void)unused;
    const struct bench_row row = bench_peer("no_such_library", "pass");
    assert_int_equal(row.outcome, BENCH_SKIPPED);
    assert_non_null(strstr(row.why, "pip install"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_right_is_timed_by_its_own_clock),
        cmocka_unit_test(a_result_may_be_returned),
        cmocka_unit_test(what_is_wrong_fails),
        cmocka_unit_test(an_error_comes_back_as_text),
        cmocka_unit_test(a_crash_is_named),
        cmocka_unit_test(an_exit_is_named),
        cmocka_unit_test(what_hangs_is_ended),
        cmocka_unit_test(a_forgotten_child_is_named),
        cmocka_unit_test(a_clock_that_runs_backwards_is_named),
        cmocka_unit_test(chatter_and_a_sleeping_child_do_no_harm),
        cmocka_unit_test(a_missing_package_is_a_reason),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
