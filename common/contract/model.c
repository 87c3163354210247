#include "common/contract/model.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct loaded {
    struct model model;
    model_loader load;
    struct stat file; /* when it was read */
    struct loaded *next;
};

static struct loaded *all;

static bool unchanged(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

enum status model_open(struct model *model, const char *path, model_loader load)
{
    enum status status = STATUS_OK;
    struct loaded *entry = NULL;
    void *data = NULL;
    struct stat file;

    memset(model, 0, sizeof *model);
    if (strlen(path) >= MODEL_PATH_SIZE)
        return status_set(STATUS_BAD_INPUT, "the path of a model has more than %d characters", MODEL_PATH_SIZE - 1);
    if (stat(path, &file) != 0)
        memset(&file, 0, sizeof file); /* the loader says what is the matter with it */
    for (entry = all; entry; entry = entry->next) {
        if (strcmp(entry->model.path, path) == 0 && entry->load == load && unchanged(&entry->file, &file)) {
            *model = entry->model;
            return STATUS_OK;
        }
    }

    entry = calloc(1, sizeof *entry);
    if (!entry)
        return status_set(STATUS_NO_MEMORY, "no memory for a model");
    TRY(load(path, &data, &entry->model.size));
    if (entry->model.size == 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: a model without content", path);
        goto out;
    }
    entry->model.data = aligned_alloc(64, (entry->model.size + 63) / 64 * 64);
    if (!entry->model.data) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory for its %zu bytes", path, entry->model.size);
        goto out;
    }
    memcpy((void *)entry->model.data, data, entry->model.size);
    snprintf(entry->model.path, sizeof entry->model.path, "%s", path);
    entry->load = load;
    entry->file = file;
    entry->next = all;
    all = entry;
    *model = entry->model;
    entry = NULL;
out:
    free(data);
    free(entry);
    return status;
}

void model_close_all(void)
{
    while (all) {
        struct loaded *entry = all;

        all = entry->next;
        free((void *)entry->model.data);
        free(entry);
    }
}
