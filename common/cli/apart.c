#include "common/cli/apart.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/video/video.h"
#include "common/video/video_writer.h"

/* One file: that of these numbers; or, where there is none yet, the one of this name in the folder of these numbers. */
struct apart_file {
    char *shown;
    dev_t device;
    ino_t number;
    const char *base; /* in `shown`; NULL = the file exists */
};

static void add(struct apart *apart, struct apart_file **files, size_t *count, const char *shown,
                const struct stat *about, bool exists)
{
    struct apart_file *more;
    char *name;

    if ((*count & (*count - 1)) == 0) { /* full: 0, 1, 2, 4 ... */
        more = realloc(*files, (*count ? 2 * *count : 1) * sizeof *more);
        if (!more) {
            apart->no_memory = true;
            return;
        }
        *files = more;
    }
    name = strdup(shown);
    if (!name) {
        apart->no_memory = true;
        return;
    }
    (*files)[(*count)++] = (struct apart_file){.shown = name,
                                               .device = about->st_dev,
                                               .number = about->st_ino,
                                               .base = exists               ? NULL
                                                       : strrchr(name, '/') ? strrchr(name, '/') + 1
                                                                            : name};
}

static void add_input(void *erased, const char *path)
{
    struct apart *apart = erased;
    struct stat about;

    if (stat(path, &about) == 0 && !S_ISDIR(about.st_mode))
        add(apart, &apart->inputs, &apart->input_count, path, &about, true);
}

/* As a name in its folder. */
static void add_name(struct apart *apart, struct apart_file **files, size_t *count, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    struct stat about;

    if (!folder)
        apart->no_memory = true;
    else if (stat(folder, &about) == 0)
        add(apart, files, count, path, &about, false);
    free(folder);
}

static void add_output(void *erased, const char *path)
{
    struct apart *apart = erased;
    struct stat about;

    if (stat(path, &about) == 0)
        add(apart, &apart->outputs, &apart->output_count, path, &about, true);
    else
        add_name(apart, &apart->outputs, &apart->output_count, path);
}

/* nftw() hands nothing through. */
static _Thread_local struct apart *walked;

static int add_walked(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)place;
    if (kind == FTW_F)
        add(walked, &walked->inputs, &walked->input_count, path, about, true);
    return 0;
}

void apart_input(struct apart *apart, enum apart_kind kind, const char *name)
{
    enum { FOLDERS_OPEN = 16 };
    struct stat about;

    if (!name || !*name)
        return;
    switch (kind) {
    case APART_FILE:
        add_input(apart, name);
        break;
    case APART_VIDEO:
        if (strcmp(name, "-") != 0)
            video_each_file(name, add_input, apart);
        else if (fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode))
            add(apart, &apart->inputs, &apart->input_count, "standard input", &about, true);
        break;
    case APART_TREE:
        walked = apart;
        nftw(name, add_walked, FOLDERS_OPEN, 0);
        break;
    }
}

void apart_output(struct apart *apart, enum apart_kind kind, const char *name)
{
    if (!name || !*name)
        return;
    if (kind == APART_VIDEO) {
        video_writer_each_file(name, add_output, apart);
        add_name(apart, &apart->videos, &apart->video_count, name);
    } else {
        add_output(apart, name);
    }
}

void apart_settings(struct apart *apart, const struct algorithm *algorithm, const struct cli_list_option *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        const char *equals = strchr(settings->items[i], '=');

        apart_input(apart, APART_FILE, equals ? equals + 1 : NULL);
    }
    for (const struct parameter *p = algorithm->parameters; p && p->name; p++)
        if (p->kind == PARAMETER_MODEL && p->words && !params_assigned(settings->items, settings->count, p->name))
            apart_input(apart, APART_FILE, p->words[0]);
}

static int compare(const void *a, const void *b)
{
    const struct apart_file *x = a, *y = b;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->base ? x->base : "", y->base ? y->base : "");
}

static void free_all(struct apart_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(files[i].shown);
    free(files);
}

void apart_free(struct apart *apart)
{
    free_all(apart->inputs, apart->input_count);
    free_all(apart->outputs, apart->output_count);
    free_all(apart->videos, apart->video_count);
    *apart = (struct apart){0};
}

/* The names that a pattern stands for are known once its video has ended. */
static enum status check_patterns(const struct apart *apart)
{
    for (size_t i = 1; i < apart->video_count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct apart_file *one = &apart->videos[k], *other = &apart->videos[i];

            if (one->device == other->device && one->number == other->number &&
                video_writer_meet(one->base, other->base))
                return status_set(STATUS_BAD_INPUT, "%s and %s could name one file, named twice for output", one->shown,
                                  other->shown);
        }
    return STATUS_OK;
}

enum status apart_check(struct apart *apart)
{
    enum status status =
        apart->no_memory ? status_set(STATUS_NO_MEMORY, "no memory for the names of files") : STATUS_OK;

    if (apart->output_count > 0)
        qsort(apart->outputs, apart->output_count, sizeof *apart->outputs, compare);
    for (size_t i = 1; i < apart->output_count && status == STATUS_OK; i++)
        if (compare(&apart->outputs[i - 1], &apart->outputs[i]) == 0)
            status = status_set(STATUS_BAD_INPUT, "%s and %s are the same file, named twice for output",
                                apart->outputs[i - 1].shown, apart->outputs[i].shown);
    if (status == STATUS_OK)
        status = check_patterns(apart);
    for (size_t i = 0; i < apart->input_count && status == STATUS_OK && apart->output_count > 0; i++) {
        const struct apart_file *found =
            bsearch(&apart->inputs[i], apart->outputs, apart->output_count, sizeof *apart->outputs, compare);

        if (found)
            status =
                status_set(STATUS_BAD_INPUT, "%s: the same file as the input %s", found->shown, apart->inputs[i].shown);
    }
    apart_free(apart);
    return status;
}
