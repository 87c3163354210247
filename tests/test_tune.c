/*
 * The search by what it must never do: time a point that is wrong, lose others to a point that crashes, call a point
 * that cannot be run slow, keep what only noise preferred; and what it keeps, given back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/algo/blur.h"
#include "common/image/pattern.h"
#include "common/measure/machine.h"
#include "common/measure/tuned.h"
#include "common/output/tune_report.h"

static const struct algorithm *blur;
static const struct version *serial;
static char folder[] = "/tmp/rungs-test-tune-XXXXXX", kept_path[64];

static int set_up(void **unused)
{
    (void)unused;
    if (registry_open() != STATUS_OK || !mkdtemp(folder))
        return -1;
    snprintf(kept_path, sizeof kept_path, "%s/tuned.json", folder);
    setenv("RUNGS_TUNED", kept_path, 1);
    blur = registry_find_algorithm("blur");
    return blur && registry_find_version(blur, "cpu/serial", &serial) == STATUS_OK ? 0 : -1;
}

static int tear_down(void **unused)
{
    (void)unused;
    return rmdir(folder);
}

/* ------------------------------------------------------------------------------------- a version made for the tests */

enum { WRONG = 4, CRASHES = 5, SLEEPS_UP_TO = 3 };

/* Sleeps 1 ms for each of the pause, and 1 ms more for the odd kind. */
static int pause_length = 2, kind = 1;
static const int pauses[] = {1, 2, 3, 4, 5, 0}, kinds[] = {1, 2, 0};
static const char *const kind_words[] = {"odd", "even"};
static struct tunable tunables[] = {
    {"pause", &pause_length, pauses, "how long", NULL, 2}, {"kind", &kind, kinds, "which", kind_words, 1}, {0}};

static enum status pausing(void *state, const struct image in[], struct image *out, const void *params)
{
    const struct timespec time = {.tv_nsec = 1000000L * (pause_length + (kind == 1))};
    const enum status status = serial->run(state, in, out, params);

    if (pause_length <= SLEEPS_UP_TO)
        nanosleep(&time, NULL);
    if (pause_length == WRONG)
        *(uint8_t *)out->data ^= 1;
    if (pause_length == CRASHES) {
        signal(SIGSEGV, SIG_DFL); /* cmocka's handler came along into the child */
        raise(SIGSEGV);
    }
    return status;
}

/* Even goes with pauses of 1 to 3 only. */
static const char *illegal(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return kind == 2 && pause_length > SLEEPS_UP_TO ? "even and long" : NULL;
}

static const struct version_source source = {
    .path = "assignments/1.c", .algorithm = "blur", .id = "student/one", .idea = "", .expect = ""};

static struct version made(void)
{
    return (struct version){.path = source.path,
                            .algorithm_name = "blur",
                            .state_size = 1,
                            .run = pausing,
                            .tunables = tunables,
                            .illegal = illegal,
                            .source = &source,
                            .algorithm = blur};
}

struct search {
    struct version version;
    struct blur_params params;
    struct tune_request request;
    struct tune tune;
};

static enum status search(struct search *search, const char *assignment, const int *threads, int thread_count)
{
    static const char *assignments[1];

    memset(search, 0, sizeof *search);
    pause_length = 2;
    kind = 1;
    assignments[0] = assignment;
    search->version = made();
    assert_int_equal(params_parse_text(blur, "ksize=3", &search->params), STATUS_OK);
    search->request = (struct tune_request){.algorithm = blur,
                                            .version = &search->version,
                                            .params = &search->params,
                                            .assignments = assignments,
                                            .assignment_count = assignment != NULL,
                                            .threads = threads,
                                            .thread_count = thread_count,
                                            .seconds = 0.06,
                                            .input = "made & <tested>",
                                            .command = "test"};
    assert_int_equal(image_create(&search->request.in[0], 61, 47, 1, PIXEL_U8), STATUS_OK);
    pattern_fill(&search->request.in[0], PATTERN_RANDOM, 1);
    return tune_run(&search->request, &search->tune);
}

static void done(struct search *search)
{
    tune_free(&search->tune);
    image_free(&search->request.in[0]);
}

/* ------------------------------------------------------------------------------------------------------ the tests */

static const int one[] = {1};

static void every_point_gets_what_it_deserves(void **unused)
{
    struct search found;

    (void)unused;
    assert_int_equal(search(&found, NULL, one, 1), STATUS_OK);
    assert_int_equal(found.tune.axis_count, 3);
    assert_int_equal(found.tune.point_count, 10);
    for (size_t n = 0; n < found.tune.point_count; n++) {
        const struct tune_point *point = &found.tune.points[n];
        const int pause = pauses[point->at[0]], even = point->at[1];

        if (even && pause > SLEEPS_UP_TO) {
            assert_int_equal(point->outcome, TUNE_ILLEGAL);
            assert_string_equal(point->why, "even and long");
        } else if (pause == WRONG || pause == CRASHES) {
            assert_int_equal(point->outcome, TUNE_FAILED);
            assert_true(pause == WRONG || strstr(point->why, "SIGSEGV"));
        } else {
            assert_int_equal(point->outcome, TUNE_TIMED);
            assert_true(point->time.median > 1e-3 * (pause + !even));
        }
        assert_true(point->outcome == TUNE_TIMED || point->time.count == 0);
        assert_true(point->preset == (pause == 2 && !even));
    }
    assert_int_equal(found.tune.timed, 6);
    assert_int_equal(found.tune.failed, 2);
    assert_int_equal(found.tune.illegal, 2);
    /* By what was measured: on a busy machine a pause of 1 ms may last longer than one of 2. */
    for (size_t n = 0; n < found.tune.point_count; n++) {
        const struct tune_point *point = &found.tune.points[n];
        const bool timed = point->outcome == TUNE_TIMED;

        assert_true(!timed || point->time.median >= found.tune.best->time.median);
        assert_true(point->like_best == (timed && !statistics_differ(&point->time, &found.tune.best->time)));
        assert_true(!point->preset || point == found.tune.preset);
    }
    assert_int_equal(found.tune.best->outcome, TUNE_TIMED);
    assert_true(found.tune.best->like_best);
    assert_int_equal(pause_length, 2); /* the search leaves no trace in this process */
    assert_int_equal(kind, 1);
    done(&found);
}

static void a_given_value_stays(void **unused)
{
    struct search found;

    (void)unused;
    assert_int_equal(search(&found, "pause=2", one, 1), STATUS_OK);
    assert_int_equal(found.tune.point_count, 2);
    for (size_t n = 0; n < 2; n++)
        assert_int_equal(found.tune.axes[0].values[found.tune.points[n].at[0]], 2);
    done(&found);
}

static void threads_are_an_axis_and_a_key(void **unused)
{
    static const int threads[] = {1, 2};
    struct search found;
    struct tuned_entry entries[4];

    (void)unused;
    assert_int_equal(search(&found, "pause=2", threads, 2), STATUS_OK);
    assert_int_equal(found.tune.point_count, 4);
    assert_int_equal(tune_kept(&found.tune, entries, 4), 2);
    assert_int_equal(entries[0].threads, 1);
    assert_int_equal(entries[1].threads, 2);
    done(&found);
}

/* Medians 1.0 and 0.9 with quartiles that overlap: the default stays. Without overlap the best is kept. */
static void noise_does_not_beat_the_default(void **unused)
{
    struct search found;
    struct tuned_entry entry;

    (void)unused;
    assert_int_equal(search(&found, NULL, one, 1), STATUS_OK);
    struct tune_point *best = &found.tune.points[0], *preset = (struct tune_point *)found.tune.preset;
    while (pauses[best->at[0]] != 1 || best->at[1] != 1)
        best++;
    found.tune.best = best; /* whatever else the machine did meanwhile */
    preset->time = (struct statistics){.median = 1.0, .q1 = 0.95, .q3 = 1.05, .count = 20};
    best->time = (struct statistics){.median = 1e-4, .q1 = 0.5e-4, .q3 = 0.96, .count = 20};
    assert_int_equal(tune_kept(&found.tune, &entry, 1), 1);
    assert_int_equal(entry.values[0], 2);
    assert_int_equal(entry.values[1], 1);
    best->time.q3 = 0.94;
    assert_int_equal(tune_kept(&found.tune, &entry, 1), 1);
    assert_int_equal(entry.values[0], 1);
    assert_int_equal(entry.values[1], 2);
    assert_true(entry.preset_median == 1.0);
    done(&found);
}

static struct tuned_entry entry_for(const struct version *version, int threads, int pause, int which)
{
    struct tuned_entry entry = {.version = version, .threads = threads, .values = {pause, which}, .date = "2026-01-31"};

    machine_cpu_name(entry.processor, sizeof entry.processor);
    return entry;
}

static void what_is_kept_is_used(void **unused)
{
    const struct version version = made(), *const list[] = {&version};
    static const char *const given[] = {"pause=3"};
    struct tuned_entry entries[2] = {entry_for(&version, 1, 3, 2), entry_for(&version, 2, 1, 1)};
    bool used;

    (void)unused;
    assert_int_equal(tuned_keep(entries, 2), STATUS_OK);
    entries[0].values[0] = 1; /* takes the place of its predecessor */
    assert_int_equal(tuned_keep(entries, 1), STATUS_OK);

    pause_length = 2, kind = 1;
    tuned_apply(list, 1, NULL, 0, 7, NULL, NULL, true); /* other threads */
    assert_int_equal(pause_length, 2);
    assert_null(tuned_note(&version, NULL));
    tuned_apply(list, 1, given, 1, 1, NULL, NULL, true); /* -p names one: the other stays too */
    assert_int_equal(kind, 1);
    tuned_apply(list, 1, NULL, 0, 1, NULL, NULL, true);
    assert_int_equal(pause_length, 1);
    assert_int_equal(kind, 2);
    assert_string_equal(tuned_note(&version, &used), "pause=1 kind=even, as tuned on 2026-01-31 (tuned.json)");
    assert_true(used);
    unlink(kept_path);
}

static void what_no_longer_fits_is_not_used(void **unused)
{
    const struct version version = made(), *const list[] = {&version};
    const struct tuned_entry entry = entry_for(&version, 1, 4, 2);
    struct image in = {0};
    bool used;

    (void)unused;
    assert_int_equal(tuned_keep(&entry, 1), STATUS_OK);
    pause_length = 3, kind = 2;
    tuned_apply(list, 1, NULL, 0, 1, &in, NULL, true);
    assert_int_equal(pause_length, 2);
    assert_int_equal(kind, 1);
    assert_non_null(strstr(tuned_note(&version, &used), "not legal here"));
    assert_false(used);

    FILE *file = fopen(kept_path, "w");
    fprintf(file,
            "{\"schema\": \"rungs-tuned\", \"version\": 1, \"entries\": [{\"algorithm\": \"blur\", \"version\": "
            "\"student/one\", \"processor\": \"%s\", \"threads\": 1, \"values\": {\"pause\": 17, \"kind\": \"odd\"}}]}",
            entry.processor);
    fclose(file);
    tuned_apply(list, 1, NULL, 0, 1, NULL, NULL, true);
    assert_int_equal(pause_length, 2);
    assert_non_null(strstr(tuned_note(&version, &used), "17 is none of 1, 2, 3, 4, 5"));
    assert_false(used);

    file = fopen(kept_path, "w");
    fputs("{\"schema\": ", file);
    fclose(file);
    tuned_apply(list, 1, NULL, 0, 1, NULL, NULL, true);
    assert_non_null(strstr(tuned_note(&version, &used), "not valid JSON"));
    assert_false(used);
    assert_int_equal(tuned_check(), STATUS_BAD_INPUT);
    assert_int_equal(tuned_keep(&entry, 1), STATUS_BAD_INPUT); /* not overwritten either */
    unlink(kept_path);
}

static void the_files_say_what_was_found(void **unused)
{
    struct search found;
    struct output_file written;
    char path[96];
    json_t *document;

    (void)unused;
    assert_int_equal(search(&found, NULL, one, 1), STATUS_OK);
    snprintf(path, sizeof path, "%s/tune.json", folder);
    assert_int_equal(file_create(&written, path), STATUS_OK);
    assert_int_equal(results_write_tune_json(&found.tune, &written), STATUS_OK);
    document = json_load_file(path, 0, NULL);
    unlink(path);
    assert_string_equal(json_string_value(json_object_get(document, "schema")), "rungs-results");
    assert_string_equal(json_string_value(json_object_get(document, "kind")), "tune");
    const json_t *points = json_object_get(document, "points");
    assert_int_equal(json_array_size(points), 10);
    const json_t *first = json_array_get(points, 0), *illegal_one = json_array_get(points, 7);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(first, "values"), "pause")), 1);
    assert_string_equal(json_string_value(json_object_get(json_object_get(first, "values"), "kind")), "odd");
    assert_true(json_is_true(json_object_get(first, "verified")));
    assert_string_equal(json_string_value(json_object_get(illegal_one, "outcome")), "illegal");
    assert_true(json_is_null(json_object_get(illegal_one, "time")));
    json_decref(document);

    snprintf(path, sizeof path, "%s/tune.svg", folder);
    assert_int_equal(file_create(&written, path), STATUS_OK);
    assert_int_equal(tune_write_svg(&found.tune, &written), STATUS_OK);
    char text[32768];
    FILE *file = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    assert_non_null(strstr(text, ">illegal<"));
    assert_non_null(strstr(text, ">wrong<"));
    assert_non_null(strstr(text, ">best<"));
    assert_non_null(strstr(text, "</svg>\n"));
    done(&found);
}

static void what_cannot_be_tuned_is_refused(void **unused)
{
    struct version version = made();

    (void)unused;
    assert_int_equal(tune_possible(serial), STATUS_BAD_INPUT);
    assert_non_null(strstr(status_message(), "nothing to tune"));
    assert_int_equal(tune_possible(&version), STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_gets_what_it_deserves),
        cmocka_unit_test(a_given_value_stays),
        cmocka_unit_test(threads_are_an_axis_and_a_key),
        cmocka_unit_test(noise_does_not_beat_the_default),
        cmocka_unit_test(what_is_kept_is_used),
        cmocka_unit_test(what_no_longer_fits_is_not_used),
        cmocka_unit_test(the_files_say_what_was_found),
        cmocka_unit_test(what_cannot_be_tuned_is_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
