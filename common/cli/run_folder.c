/*
 * run_folder.c: rungs run on a folder of pictures: one picture is computed at a time, with all that the version has, or
 * as many as the version has under way (queue.h), while other threads read the next ones and write those that are done.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli/apart.h"
#include "common/cli/apply.h"
#include "common/cli/slot_file.h"
#include "common/contract/device_info.h"
#include "common/core/progress.h"

enum stage { WAITING, LOADED, BROKEN, UNDER_WAY, COMPUTED, WRITTEN };

/* One picture on its way. */
struct item {
    char *in, *out;
    enum stage stage;
    struct image picture, fitted[ALGORITHM_MAX_INPUTS], results[ALGORITHM_MAX_OUTPUTS];
    char message[1024]; /* BROKEN: why */
};

struct folder_run {
    const struct folder_job *job;
    const struct algorithm *algorithm;
    struct item *items;
    size_t count;
    bool exists;          /* the folder for the results did before */
    pthread_mutex_t lock; /* of all that follows, and of the items' stages */
    pthread_cond_t changed;
    size_t depth;                 /* pictures that may be under way */
    size_t next_load, next_write; /* items before these were taken by a thread */
    size_t computed;              /* items before this one are through main's hands */
    size_t in_memory, most_in_memory;
    size_t written;
    bool ended; /* no further item gets computed */
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    interrupted = number;
}

/* ------------------------------------------------------------------------------------------------ the list */

static bool is_read(const char *name)
{
    static const char *const extensions[] = {".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm", ".npy"};

    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (name[0] != '.' && file_has_extension(name, extensions[i]))
            return true;
    return false;
}

static enum status add_item(struct folder_run *run, const char *name, const char *extension)
{
    const struct folder_job *job = run->job;
    const char *slash_in = job->in[strlen(job->in) - 1] == '/' ? "" : "/";
    const char *slash_out = job->out[strlen(job->out) - 1] == '/' ? "" : "/";
    const int stem = (int)(strrchr(name, '.') - name);
    struct item *item = &run->items[run->count];
    struct stat about;

    if (asprintf(&item->in, "%s%s%s", job->in, slash_in, name) < 0) {
        item->in = NULL;
        return status_set(STATUS_NO_MEMORY, "%s: no memory", job->in);
    }
    if (stat(item->in, &about) == 0 && S_ISDIR(about.st_mode)) {
        free(item->in);
        item->in = NULL;
        return STATUS_OK;
    }
    run->count++;
    if (asprintf(&item->out, "%s%s%.*s%s", job->out, slash_out, stem, name, extension) < 0) {
        item->out = NULL;
        return status_set(STATUS_NO_MEMORY, "%s: no memory", job->in);
    }
    return STATUS_OK;
}

static int by_output(const void *a, const void *b)
{
    const struct item *const *one = a, *const *other = b;

    return strcmp((*one)->out, (*other)->out);
}

/* Two pictures with one name for their results, or a result in the place of a picture. */
static enum status check_names(const struct folder_run *run)
{
    enum status status = STATUS_OK;
    const struct item **sorted = malloc(run->count * sizeof *sorted);
    struct apart apart = {0};

    if (!sorted)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", run->job->in);
    for (size_t i = 0; i < run->count; i++)
        sorted[i] = &run->items[i];
    qsort(sorted, run->count, sizeof *sorted, by_output);
    for (size_t i = 1; i < run->count && status == STATUS_OK; i++)
        if (strcmp(sorted[i - 1]->out, sorted[i]->out) == 0)
            status = status_set(STATUS_BAD_INPUT, "%s and %s would both be written to %s", sorted[i - 1]->in,
                                sorted[i]->in, sorted[i]->out);
    free(sorted);
    for (size_t i = 0; i < run->count && status == STATUS_OK; i++) {
        apart_input(&apart, APART_FILE, run->items[i].in);
        apart_output(&apart, APART_FILE, run->items[i].out);
    }
    if (status == STATUS_OK) {
        apart_settings(&apart, run->algorithm, run->job->settings);
        status = apart_check(&apart);
    }
    return status;
}

static enum status list_pictures(struct folder_run *run)
{
    enum status status = STATUS_OK;
    struct dirent **entries = NULL;
    const int found = scandir(run->job->in, &entries, NULL, alphasort);
    const struct named_slot *slot = &run->algorithm->outputs[run->job->slot];
    char extension[16];

    if (found < 0)
        return status_set(STATUS_BAD_INPUT, "%s: %s", run->job->in, strerror(errno));
    if (run->job->format)
        snprintf(extension, sizeof extension, ".%s", run->job->format);
    else
        snprintf(extension, sizeof extension, "%s", slot_extension(slot));
    if (slot_check_form(slot, extension) != STATUS_OK) {
        status = status_set(STATUS_BAD_INPUT, "--format %s", status_message() + 1); /* without the point */
        goto out;
    }
    run->items = calloc((size_t)found + 1, sizeof *run->items);
    if (!run->items) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", run->job->in);
        goto out;
    }
    for (int i = 0; i < found; i++)
        if (is_read(entries[i]->d_name))
            TRY(add_item(run, entries[i]->d_name, extension));
    if (run->count == 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: no pictures in this folder", run->job->in);
        goto out;
    }
    TRY(check_names(run));
out:
    for (int i = 0; i < found; i++)
        free(entries[i]);
    free(entries);
    return status;
}

/* Whether the results may go there; *exists: the folder is there already. */
static enum status check_folder(const struct folder_run *run, bool *exists)
{
    struct stat about;
    const char *path = run->job->out;

    *exists = stat(path, &about) == 0;
    if (!*path)
        return status_set(STATUS_BAD_INPUT, "the name of the output folder is empty");
    if (!*exists && slot_check_form(&run->algorithm->outputs[run->job->slot], path) == STATUS_OK)
        return status_set(STATUS_BAD_INPUT,
                          "%s: a folder, so what comes of it goes to a folder, too: -o OUT/ --format %s", run->job->in,
                          strrchr(path, '.') + 1);
    if (*exists && !S_ISDIR(about.st_mode))
        return status_set(STATUS_BAD_INPUT, "%s: not a folder; what comes of a folder goes to a folder", path);
    if (*exists && access(path, W_OK | X_OK) != 0)
        return status_set(STATUS_BAD_INPUT, "cannot write in folder %s: %s", path, strerror(errno));
    return STATUS_OK;
}

/* ------------------------------------------------------------------------------------------------- one picture */

static void release(const struct folder_run *run, struct item *item)
{
    application_unfit(run->job->application, &item->picture, item->fitted);
    memset(item->fitted, 0, sizeof item->fitted);
    image_free(&item->picture);
    application_free(run->job->application, item->results);
}

static enum status begin(struct folder_run *run, struct item *item)
{
    enum status status = STATUS_OK;
    struct application *application = run->job->application;

    TRY(application_fit(application, item->in, &item->picture, item->fitted));
    TRY(application_shape(application, item->in, item->fitted, item->results));
    if (item->results[run->job->slot].width == 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: with these parameters there is no output '%s'", item->in,
                            run->algorithm->outputs[run->job->slot].name);
        goto out;
    }
    TRY(slot_check_shape(&run->algorithm->outputs[run->job->slot], &item->results[run->job->slot], item->out));
    status = application_create(application, item->results);
    if (status == STATUS_OK)
        status = application_submit(application, item->fitted, item->results);
    if (status != STATUS_OK)
        status_set(status, "%s: %s", item->in, status_message());
out:
    return status;
}

static enum status write_item(struct folder_run *run, struct item *item)
{
    enum status status = STATUS_OK;
    struct output_file file = {0};

    TRY(file_create(&file, item->out));
    TRY(slot_encode(&file, run->algorithm, run->job->slot, &item->picture, item->results,
                    run->job->application->params));
    TRY(file_commit(&file));
out:
    file_discard(&file);
    return status;
}

/* --------------------------------------------------------------------------------------------- many pictures */

/* With the lock held. Says once what became of a picture that gives no result. */
static void report(struct item *item)
{
    progress_clear();
    cli_fail("%s", item->message);
}

/* With the lock held, which it opens while it works. False when there is nothing to be written now. */
static bool write_next(struct folder_run *run)
{
    enum status status;
    struct item *item;

    while (run->next_write < run->computed && run->items[run->next_write].stage != COMPUTED)
        run->next_write++;
    if (run->next_write == run->computed)
        return false;
    item = &run->items[run->next_write++];
    pthread_mutex_unlock(&run->lock);
    status = write_item(run, item);
    if (status != STATUS_OK)
        snprintf(item->message, sizeof item->message, "%s", status_message());
    release(run, item);
    pthread_mutex_lock(&run->lock);
    item->stage = status == STATUS_OK ? WRITTEN : BROKEN;
    run->written += status == STATUS_OK;
    run->in_memory--;
    if (status != STATUS_OK)
        report(item);
    return true;
}

/* The same for reading. */
static bool load_next(struct folder_run *run)
{
    enum status status;
    struct item *item;

    if (run->ended || run->next_load == run->count || run->in_memory >= run->most_in_memory)
        return false;
    item = &run->items[run->next_load++];
    run->in_memory++;
    pthread_mutex_unlock(&run->lock);
    status = slot_load(&item->picture, &run->algorithm->inputs[0], item->in, NULL);
    if (status != STATUS_OK)
        snprintf(item->message, sizeof item->message, "%s", status_message());
    pthread_mutex_lock(&run->lock);
    item->stage = status == STATUS_OK ? LOADED : BROKEN;
    run->in_memory -= status != STATUS_OK;
    return true;
}

static void *serve_files(void *run_erased)
{
    struct folder_run *run = run_erased;

    pthread_mutex_lock(&run->lock);
    for (;;) {
        if (write_next(run) || load_next(run))
            pthread_cond_broadcast(&run->changed);
        else if (run->ended)
            break;
        else
            pthread_cond_wait(&run->changed, &run->lock);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/* With the lock held, which it opens while it works: the item's next stage, that of its beginning or of its end. */
static void advance(struct folder_run *run, struct item *item)
{
    const bool begins = item->stage == LOADED;
    enum status status;

    pthread_mutex_unlock(&run->lock);
    status = begins ? begin(run, item) : application_receive(run->job->application, item->fitted, item->results);
    if (status != STATUS_OK) {
        if (begins)
            snprintf(item->message, sizeof item->message, "%s", status_message());
        else
            snprintf(item->message, sizeof item->message, "%s: %s", item->in, status_message());
        release(run, item);
    }
    pthread_mutex_lock(&run->lock);
    item->stage = status != STATUS_OK ? BROKEN : begins ? UNDER_WAY : COMPUTED;
    run->in_memory -= status != STATUS_OK;
    pthread_cond_broadcast(&run->changed); /* there is room in memory */
}

/* In the order of the list, in this thread: the version's own threads, and a GPU's context, are used from here alone. A
 * picture that is not loaded yet is not waited for while another one is under way. */
static void compute_all(struct folder_run *run)
{
    size_t begun = 0;

    pthread_mutex_lock(&run->lock);
    for (size_t i = 0; i < run->count && (!interrupted || i < begun); i++) {
        while (begun < run->count && begun - i < run->depth && !interrupted &&
               (begun == i || run->items[begun].stage != WAITING)) {
            struct item *item = &run->items[begun++];

            while (item->stage == WAITING)
                pthread_cond_wait(&run->changed, &run->lock);
            progress("picture %zu of %zu: %s", begun, run->count, item->in);
            if (item->stage == LOADED)
                advance(run, item);
        }
        if (i == begun)
            break;
        if (run->items[i].stage == UNDER_WAY)
            advance(run, &run->items[i]);
        if (run->items[i].stage == BROKEN)
            report(&run->items[i]);
        run->computed = i + 1;
        pthread_cond_broadcast(&run->changed);
    }
    run->ended = true;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
}

static enum status run_all(struct folder_run *run)
{
    pthread_t *threads = calloc((size_t)run->job->jobs, sizeof *threads);
    int started = 0;

    if (!threads)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", run->job->in);
    run->depth = (size_t)application_depth(run->job->application);
    run->most_in_memory = 2 * (size_t)run->job->jobs + 1 + run->depth;
    while (started < run->job->jobs && pthread_create(&threads[started], NULL, serve_files, run) == 0)
        started++;
    if (started > 0)
        compute_all(run);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return started > 0 ? STATUS_OK : status_set(STATUS_FAILED, "%s: no thread could be started", run->job->in);
}

int cli_run_folder(const struct folder_job *job)
{
    struct folder_run run = {.job = job,
                             .algorithm = job->application->algorithm,
                             .lock = PTHREAD_MUTEX_INITIALIZER,
                             .changed = PTHREAD_COND_INITIALIZER};
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART | SA_RESETHAND}, before;
    enum status status = STATUS_OK;
    int exit_status = CLI_BAD_USE;
    const char *note;
    size_t bad;

    sigemptyset(&action.sa_mask);
    if (file_is_same(job->in, job->out))
        return cli_fail("%s: the results would go among the pictures; name another folder", job->out);
    TRY(check_folder(&run, &run.exists));
    TRY(list_pictures(&run));
    if (!run.exists && mkdir(job->out, 0777) != 0) {
        status = status_set(STATUS_BAD_INPUT, "cannot make folder %s: %s", job->out, strerror(errno));
        goto out;
    }
    sigaction(SIGINT, &action, &before);
    progress_start();
    status = run_all(&run);
    progress_clear();
    sigaction(SIGINT, &before, NULL);
    if (!run.exists && run.written == 0)
        rmdir(job->out);
    TRY(status);
    note = application_note(job->application);
    if (note)
        cli_fail("%s", note);
    bad = run.computed - run.written;
    printf("%s:%s%s  %s -> %s: %zu picture%s", run.algorithm->name, job->application->version->source->id,
           version_is_cuda(job->application->version) && device_is_emulated() ? " (emulated)" : "", job->in, job->out,
           run.written, run.written == 1 ? "" : "s");
    if (bad)
        printf(", %zu left out", bad);
    putchar('\n');
    if (interrupted)
        cli_fail("interrupted: %zu of %zu pictures are in %s", run.written, run.count, job->out);
    exit_status = interrupted ? CLI_INTERRUPTED : bad ? CLI_CHECK_FAILED : CLI_DONE;
out:
    if (status != STATUS_OK)
        cli_fail_status();
    for (size_t i = 0; run.items && i < run.count; i++) {
        release(&run, &run.items[i]);
        free(run.items[i].in);
        free(run.items[i].out);
    }
    free(run.items);
    return exit_status;
}
