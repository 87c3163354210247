/* motion's cpu/per_frame: a thread that has no memory is heard of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/motion.h"
#include "common/contract/pipeline.h"

static bool workers_fail;

#if !defined(__SANITIZE_ADDRESS__)
void *__libc_realloc(void *memory, size_t size);

/* Takes the place of libc's. */
void *realloc(void *memory, size_t size)
{
    return workers_fail && omp_in_parallel() ? NULL : __libc_realloc(memory, size);
}
#endif

static void message_of_a_worker_thread(void **unused)
{
    const struct version *version;
    struct motion_params params;
    struct image frame = {0}, moved = {0}, both[2], table = {0};
    void *state;

    (void)unused;
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* it has a realloc() of its own */
#endif
    assert_int_equal(registry_find_version(registry_find_algorithm("motion"), "cpu/per_frame", &version), STATUS_OK);
    assert_int_equal(params_parse_text(version->algorithm, "ksize=3 disk=3", &params), STATUS_OK);
    assert_int_equal(image_create(&frame, 64, 48, 3, PIXEL_U8), STATUS_OK);
    assert_int_equal(image_create(&moved, 64, 48, 3, PIXEL_U8), STATUS_OK);
    image_fill(&frame, 0);
    image_fill(&moved, 255);
    both[0] = both[1] = frame;
    assert_int_equal(version->algorithm->shape(both, &params, &table), STATUS_OK);
    assert_int_equal(image_create_like(&table, &table), STATUS_OK);
    state = calloc(1, version->state_size);
    assert_non_null(state);
    omp_set_num_threads(2);
    assert_int_equal(version->run(state, both, &table, &params), STATUS_OK);
    status_set(STATUS_FAILED, "something else");
    both[1] = moved;
    workers_fail = true;
    assert_int_equal(version->run(state, both, &table, &params), STATUS_NO_MEMORY);
    workers_fail = false;
    assert_non_null(strstr(status_message(), "no memory for"));
    assert_int_equal(version->run(state, both, &table, &params), STATUS_OK);
    version->teardown(state);
    free(state);
    image_free(&table);
    image_free(&frame);
    image_free(&moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(message_of_a_worker_thread)};

    return registry_open() != STATUS_OK ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
