/*
 * list.c: rungs list
 */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/cli/cli.h"
#include "common/contract/device_info.h"
#include "common/contract/sides.h"
#include "common/measure/machine.h"
#include "common/measure/tuned.h"

static const char help[] =
    "usage: rungs list [ALGO | --all] [--json]\n\n"
    "Without ALGO one line for each algorithm: its name, how many versions it has, what it does.\n\n"
    "With ALGO its inputs and outputs (the slots; `rungs run --help` says which files they take), its parameters, its\n"
    "training, and its versions in the order of the ladder: the idea of each, what came of it, how it was built and,\n"
    "where it cannot run on this machine, why.\n\n"
    "  --all     parameters and versions of every algorithm\n"
    "  --json    the same as one JSON document on stdout: of ALGO, or of every algorithm\n"
    "  --help    this text\n";

static void how(const struct version *version, const char *unavailable, char *text, size_t size)
{
    if (unavailable)
        snprintf(text, size, "cannot run here: %s", unavailable);
    else if (version_is_cuda(version) && device_is_emulated())
        snprintf(text, size, "emulated");
    else
        snprintf(text, size, "%s", version->instruction_set ? version->instruction_set : "");
}

/* Prints words behind `head`, broken so that no line passes `columns`; further lines are indented as far as the
 * head. */
static void print_wrapped(const char *head, const char *text, int columns)
{
    const int indent = (int)strlen(head);
    int at = indent;

    fputs(head, stdout);
    while (*text) {
        int length = (int)strcspn(text, " ");

        if (at > indent && at + 1 + length > columns) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            putchar(' ');
            at++;
        }
        printf("%.*s", length, text);
        at += length;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_range(const struct parameter *p)
{
    if (p->kind == PARAMETER_CHOICE) {
        for (int i = 0; p->words[i]; i++)
            printf("%s%s", i ? "|" : "", p->words[i]);
        printf(", default %s", p->words[(int)p->preset]);
    } else if (p->kind == PARAMETER_TEXT) {
        printf("text, default %s", p->words ? p->words[0] : "none");
    } else if (p->kind == PARAMETER_MODEL) {
        printf("a file, %s%s", p->words ? "default " : "no default", p->words ? p->words[0] : "");
    } else {
        printf("%.10g to %.10g", p->minimum, p->maximum);
        for (int i = 0; p->words && p->words[i]; i++)
            printf(" or %s", p->words[i]);
        if (p->preset < 0 && p->words)
            printf(", default %s", p->words[(int)(-1 - p->preset)]);
        else
            printf(", default %g", p->preset);
    }
}

enum { ID_WIDTH = 18 /* peer/opencv_python */, SUMMARY = 38 /* where summaries begin */ };

/* -p block_width=8|16|32 (default 32): the values, and what a search left in tuned.json. */
static void print_tunables(const struct version *version)
{
    for (const struct tunable *tunable = version->tunables; tunable && tunable->name; tunable++) {
        char text[512] = "", preset[128] = "";

        for (int i = 0; tunable->legal[i]; i++) {
            char one[128] = "";

            tunable_describe(tunable, tunable->legal[i], one, sizeof one);
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "|" : "", strchr(one, '=') + 1);
        }
        tunable_describe(tunable, tunable->preset, preset, sizeof preset);
        printf("%*s-p %s=%s  %s (default %s)\n", ID_WIDTH + 3, "", tunable->name, text, tunable->help,
               strchr(preset, '=') + 1);
    }
    if (tuned_note(version, NULL)) {
        char head[64];

        snprintf(head, sizeof head, "%*stuned: ", ID_WIDTH + 3, "");
        print_wrapped(head, tuned_note(version, NULL), 100);
    }
}

static void print_parameters(const struct parameter *parameters)
{
    for (const struct parameter *p = parameters; p && p->name; p++) {
        printf("  -p %s=  %s (", p->name, p->help);
        print_range(p);
        printf(")\n");
    }
}

/* "output boxes    table: label, x_min ...: meaning (the main one)". The type of an output depends on input and
 * parameters. */
static void print_slot(const struct named_slot *slot, bool input, bool is_main)
{
    char head[64], text[2048];
    size_t used;

    snprintf(head, sizeof head, "  %-6s %-8s ", input ? "input" : "output", slot->name);
    used = (size_t)snprintf(text, sizeof text, "%s%s%s", slot_kind_name(slot->kind), input ? " of " : "",
                            input ? pixel_name(slot->type) : "");
    for (int i = 0; slot->columns && slot->columns[i] && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : ": ", slot->columns[i]);
    if (slot->help && used < sizeof text)
        used += (size_t)snprintf(text + used, sizeof text - used, "; %s", slot->help);
    if (is_main && used < sizeof text)
        snprintf(text + used, sizeof text - used, " (the main one)");
    print_wrapped(head, text, 100);
}

static void print_slots(const struct algorithm *algorithm)
{
    for (int i = 0; i < algorithm->input_count; i++)
        print_slot(&algorithm->inputs[i], true, false);
    for (int i = 0; i < algorithm->output_count; i++)
        print_slot(&algorithm->outputs[i], false, i == 0 && algorithm->output_count > 1);
}

static void print_algorithm(const struct algorithm *algorithm, bool in_full)
{
    struct version *const *versions;
    size_t count;

    registry_versions(algorithm, &versions, &count);
    tuned_apply((const struct version *const *)versions, count, NULL, 0, machine_cores(), NULL, NULL, false);
    printf("%s: %s\n", algorithm->name, algorithm->summary);
    if (in_full)
        print_slots(algorithm);
    print_parameters(algorithm->parameters);
    if (in_full && algorithm->trainer) {
        printf("  training: rungs train %s %s -o MODEL\n", algorithm->name, algorithm->trainer->data_help);
        print_parameters(algorithm->trainer->parameters);
    }
    for (size_t i = 0; i < count; i++) {
        char state[512], head[64], text[2048];

        how(versions[i], version_unavailable(versions[i]), state, sizeof state);
        snprintf(head, sizeof head, "  %-*s ", ID_WIDTH, versions[i]->source->id);
        snprintf(text, sizeof text, "%s%s%s%s", versions[i]->source->idea, state[0] ? " [" : "", state,
                 state[0] ? "]" : "");
        print_wrapped(head, text, 100);
        if (versions[i]->source->result) {
            snprintf(head, sizeof head, "%*sresult: ", ID_WIDTH + 3, "");
            print_wrapped(head, versions[i]->source->result, 100);
        }
        print_tunables(versions[i]);
    }
}

/* "blur         10 cpu 16 cuda  4 peer   Gaussian blur ..." */
static void print_summary(const struct algorithm *algorithm)
{
    struct version *const *versions;
    size_t count;
    char head[128];
    int used;

    registry_versions(algorithm, &versions, &count);
    used = snprintf(head, sizeof head, "%-12s", algorithm->name);
    for (size_t i = 0, next; i < count && used < (int)sizeof head; i = next) {
        const struct side *side = side_of(versions[i]->source->id);

        for (next = i; next < count && side_of(versions[next]->source->id) == side; next++)
            ;
        used += snprintf(head + used, sizeof head - (size_t)used, "%3zu %s", next - i, side->name);
    }
    for (; used < SUMMARY && used + 1 < (int)sizeof head; used++)
        head[used] = ' ';
    head[used < (int)sizeof head ? used : (int)sizeof head - 1] = '\0';
    print_wrapped(head, algorithm->summary, 100);
}

static json_t *describe_version(const struct version *version)
{
    const char *unavailable = version_unavailable(version);
    const struct version_source *source = version->source;

    return json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:s, s:s, s:s?, s:s?, s:b, s:b, s:s?, s:s?}", "id", source->id,
                     "path", source->path, "group", source->group, "below", source->below, "problem", source->problem,
                     "idea", source->idea, "expect", source->expect, "result", source->result, "run", source->command,
                     "runs_here", !unavailable, "emulated", version_is_cuda(version) && device_is_emulated(),
                     "unavailable", unavailable, "instruction_set", version->instruction_set);
}

static json_t *describe_slots(const struct named_slot *slots, int count, bool input)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++) {
        json_t *columns = slots[i].columns ? json_array() : NULL;

        for (int c = 0; columns && slots[i].columns[c]; c++)
            json_array_append_new(columns, json_string(slots[i].columns[c]));
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s?, s:s?, s:o?}", "name", slots[i].name, "kind",
                                        slot_kind_name(slots[i].kind), "type", input ? pixel_name(slots[i].type) : NULL,
                                        "help", slots[i].help, "columns", columns));
    }
    return list;
}

static int print_json(const struct algorithm *only)
{
    json_t *list = json_array();

    for (const struct algorithm *a = registry_algorithms(); a; a = a->next) {
        struct version *const *versions;
        size_t count;
        json_t *entries;

        if (only && a != only)
            continue;
        entries = json_array();
        registry_versions(a, &versions, &count);
        for (size_t i = 0; i < count; i++)
            json_array_append_new(entries, describe_version(versions[i]));
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:b, s:o}", "name", a->name, "summary", a->summary,
                                              "inputs", describe_slots(a->inputs, a->input_count, true), "outputs",
                                              describe_slots(a->outputs, a->output_count, false), "training",
                                              a->trainer != NULL, "versions", entries));
    }
    json_t *document = json_pack("{s:o}", "algorithms", list);
    int failed = !document || json_dumpf(document, stdout, JSON_INDENT(2)) != 0;

    putchar('\n');
    json_decref(document);
    return failed ? cli_fail("cannot write the JSON list") : CLI_DONE;
}

int cli_list(int argc, char **argv)
{
    static const struct option options[] = {
        {"all", no_argument, NULL, 'a'}, {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    const struct algorithm *only = NULL;
    const struct version *version = NULL;
    bool json = false, all = false;

    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return CLI_DONE;
        }
        if (option != 'j' && option != 'a')
            return CLI_BAD_USE;
        json |= option == 'j';
        all |= option == 'a';
    }
    if (argc - optind > 1)
        return cli_fail("list takes one algorithm at most, not '%s'", argv[optind + 1]);
    if (all && optind < argc)
        return cli_fail("list takes an algorithm or --all, not both");
    if (optind < argc && cli_find(argv[optind], &only, &version) != STATUS_OK)
        return cli_fail_status();
    if (json)
        return print_json(only);
    for (const struct algorithm *a = registry_algorithms(); a; a = a->next) {
        struct version *const *versions;
        size_t count;

        registry_versions(a, &versions, &count);
        /* Some programs have one ladder alone (common/build/ladders.mk). */
        if (only ? a != only : count == 0)
            continue;
        if (only || all)
            print_algorithm(a, only != NULL);
        else
            print_summary(a);
    }
    if (!only && !all)
        printf("\n`rungs list ALGO` shows an algorithm's inputs, parameters and versions.\n");
    return CLI_DONE;
}
