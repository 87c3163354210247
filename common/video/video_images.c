/*
 * video_images.c: pictures in files as the frames of a video: a folder, a numbered pattern, a glob.
 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/file.h"
#include "common/image/image_io.h"
#include "common/video/video_source.h"

struct entry {
    char *path;
    long number; /* in a pattern */
};

struct images {
    struct entry *entries;
    size_t count, capacity, next;
    struct image first; /* loaded to learn the size, until it is read */
};

bool video_is_picture_name(const char *name)
{
    static const char *const extensions[] = {".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm"};

    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (file_has_extension(name, extensions[i]))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------- numbered patterns */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Finds %d or %0Nd in the last part of the path, which must hold no other %; gives N (0 for %d) and the end of it. */
static const char *find_number(const char *path, int *digits, const char **end)
{
    const char *percent = strchr(last_part(path), '%');
    const char *c = percent ? percent + 1 : NULL;

    *digits = 0;
    if (!percent || strchr(c, '%'))
        return NULL;
    if (*c == '0' && c[1] >= '1' && c[1] <= '9') {
        *digits = c[1] - '0';
        c += 2;
    }
    if (*c != 'd')
        return NULL;
    *end = c + 1;
    return percent;
}

bool frame_pattern_fits(const char *path)
{
    return strchr(last_part(path), '%') != NULL;
}

enum status frame_pattern_parse(struct frame_pattern *pattern, const char *path)
{
    const char *end, *percent;

    memset(pattern, 0, sizeof *pattern);
    percent = find_number(path, &pattern->digits, &end);
    if (!percent)
        return status_set(STATUS_BAD_INPUT, "%s: a pattern holds one number, as %%d or %%04d (frame_%%04d.png)", path);
    pattern->before = strndup(path, (size_t)(percent - path));
    pattern->after = strdup(end);
    if (!pattern->before || !pattern->after) {
        frame_pattern_free(pattern);
        return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    }
    return STATUS_OK;
}

void frame_pattern_free(struct frame_pattern *pattern)
{
    free(pattern->before);
    free(pattern->after);
    memset(pattern, 0, sizeof *pattern);
}

char *frame_pattern_name(const struct frame_pattern *pattern, long number)
{
    char *name;

    return asprintf(&name, "%s%0*ld%s", pattern->before, pattern->digits, number, pattern->after) < 0 ? NULL : name;
}

/* The number in a file's path; -1 when the path is not of the pattern. */
static long number_in(const struct frame_pattern *pattern, const char *path)
{
    const size_t length = strlen(path), before = strlen(pattern->before), after = strlen(pattern->after);
    long number = 0;
    char *same;
    bool fits;

    if (length <= before + after || length - before - after > 9 || strncmp(path, pattern->before, before) != 0 ||
        strcmp(path + length - after, pattern->after) != 0)
        return -1;
    for (const char *c = path + before; c < path + length - after; c++) {
        if (*c < '0' || *c > '9')
            return -1;
        number = 10 * number + (*c - '0');
    }
    /* Zeros in front only as the pattern has them. */
    same = frame_pattern_name(pattern, number);
    fits = same && strcmp(same, path) == 0;
    free(same);
    return fits ? number : -1;
}

/* ------------------------------------------------------------------------------------------------------ listing */

static enum status add(struct images *images, const char *path, long number)
{
    if (images->count == images->capacity) {
        const size_t capacity = images->capacity ? 2 * images->capacity : 256;
        struct entry *entries = realloc(images->entries, capacity * sizeof *entries);

        if (!entries)
            return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
        images->entries = entries;
        images->capacity = capacity;
    }
    images->entries[images->count] = (struct entry){.path = strdup(path), .number = number};
    if (!images->entries[images->count].path)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    images->count++;
    return STATUS_OK;
}

/* Adds the files of a folder whose paths, as prefix + name, fit the pattern, or, without one, that are pictures. */
static enum status add_from_folder(struct images *images, const char *name, const char *folder, const char *prefix,
                                   const struct frame_pattern *pattern)
{
    enum status status = STATUS_OK;
    DIR *directory = opendir(folder);
    char *path = NULL;

    if (!directory)
        return status_set(STATUS_BAD_INPUT, "%s: %s", name, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(directory));) {
        long number = 0;

        free(path);
        if (asprintf(&path, "%s%s", prefix, entry->d_name) < 0) {
            path = NULL;
            status = status_set(STATUS_NO_MEMORY, "%s: no memory", name);
            goto out;
        }
        if (pattern)
            number = number_in(pattern, path);
        else if (entry->d_name[0] == '.' || !video_is_picture_name(entry->d_name))
            number = -1;
        if (number >= 0)
            TRY(add(images, path, number));
    }
out:
    free(path);
    closedir(directory);
    return status;
}

static int by_number(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Numbers within names by their value: 2.png before 10.png, and frame_09 before frame_010, which strverscmp() takes for
 * a fraction. Of names that differ in zeros alone the one with fewer of them comes first. */
static int natural_order(const char *a, const char *b)
{
    int zeros = 0; /* the first difference of zeros in front */

    while (*a && *b) {
        const char *a_zeros = a, *b_zeros = b;
        size_t a_digits = 0, b_digits = 0;
        int order;

        if (!is_digit(*a) || !is_digit(*b)) {
            if (*a != *b)
                break;
            a++;
            b++;
            continue;
        }
        a += strspn(a, "0");
        b += strspn(b, "0");
        if (zeros == 0)
            zeros = (a - a_zeros > b - b_zeros) - (a - a_zeros < b - b_zeros);
        while (is_digit(a[a_digits]))
            a_digits++;
        while (is_digit(b[b_digits]))
            b_digits++;
        order = a_digits != b_digits ? (a_digits > b_digits ? 1 : -1) : strncmp(a, b, a_digits);
        if (order != 0)
            return order;
        a += a_digits;
        b += b_digits;
    }
    if (*a != *b)
        return (unsigned char)*a > (unsigned char)*b ? 1 : -1;
    return zeros;
}

static int by_name(const void *a, const void *b)
{
    return natural_order(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

static void sort(struct images *images, int (*order)(const void *a, const void *b))
{
    if (images->count > 0)
        qsort(images->entries, images->count, sizeof *images->entries, order);
}

static enum status add_from_pattern(struct images *images, const char *name)
{
    enum status status = STATUS_OK;
    struct frame_pattern pattern = {0};
    const size_t folder_length = (size_t)(last_part(name) - name);
    char *prefix = strndup(name, folder_length);

    if (!prefix)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", name);
    TRY(frame_pattern_parse(&pattern, name));
    TRY(add_from_folder(images, name, folder_length ? prefix : ".", prefix, &pattern));
    sort(images, by_number);
out:
    frame_pattern_free(&pattern);
    free(prefix);
    return status;
}

static enum status add_from_glob(struct images *images, const char *name)
{
    enum status status = STATUS_OK;
    glob_t found = {0};
    const int failure = glob(name, 0, NULL, &found);

    if (failure && failure != GLOB_NOMATCH) {
        status = status_set(STATUS_BAD_INPUT, "%s: the folder cannot be read", name);
        goto out;
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        TRY(add(images, found.gl_pathv[i], 0));
    sort(images, by_name);
out:
    globfree(&found);
    return status;
}

/* All pictures of a folder. */
static enum status add_all(struct images *images, const char *name)
{
    enum status status = STATUS_OK;
    const char *slash = name[strlen(name) - 1] == '/' ? "" : "/";
    char *prefix = NULL;

    if (asprintf(&prefix, "%s%s", name, slash) < 0)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", name);
    status = add_from_folder(images, name, name, prefix, NULL);
    free(prefix);
    return status;
}

static void free_entries(struct images *images)
{
    for (size_t i = 0; i < images->count; i++)
        free(images->entries[i].path);
    free(images->entries);
}

void video_each_image(const char *name, bool folder, void (*take)(void *argument, const char *path), void *argument)
{
    struct images images = {0};

    /* What cannot be listed cannot be opened either, and whoever opens it says why. */
    if (folder)
        add_all(&images, name);
    else if (frame_pattern_fits(name))
        add_from_pattern(&images, name);
    else
        add_from_glob(&images, name);
    for (size_t i = 0; i < images.count; i++)
        take(argument, images.entries[i].path);
    free_entries(&images);
}

/* ------------------------------------------------------------------------------------------------------ reading */

static enum status load(struct image *image, const char *path)
{
    enum status status = image_load(image, path, 3);

    if (status == STATUS_OK && image->type != PIXEL_U8) {
        status = status_set(STATUS_BAD_INPUT, "%s: samples of %s; the frames of a video have 8 bits", path,
                            pixel_name(image->type));
        image_free(image);
    }
    return status;
}

static enum status read_image(struct video_source *source, struct image *frame, bool *more)
{
    enum status status = STATUS_OK;
    struct images *images = source->state;
    struct pollfd wake = {.fd = source->wake, .events = POLLIN};
    struct image image = images->first;
    const char *path;

    images->first = (struct image){0};
    *more = images->next < images->count && poll(&wake, 1, 0) == 0;
    if (!*more)
        goto out;
    path = images->entries[images->next++].path;
    if (!image.data)
        TRY(load(&image, path));
    if (image.width != frame->width || image.height != frame->height) {
        status = status_set(STATUS_BAD_INPUT, "%s: %dx%d pixels, but %s has %dx%d; all frames must have one size", path,
                            image.width, image.height, images->entries[0].path, frame->width, frame->height);
        goto out;
    }
    image_copy(frame, &image);
out:
    image_free(&image);
    return status;
}

static void close_images(struct video_source *source)
{
    struct images *images = source->state;

    free_entries(images);
    image_free(&images->first);
    free(images);
    source->state = NULL;
}

static enum status start(struct video_source *source)
{
    source->state = calloc(1, sizeof(struct images));
    if (!source->state)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", source->name);
    source->read = read_image;
    source->close = close_images;
    return STATUS_OK;
}

/* The size of the first is the video's. */
static enum status finish(struct video_source *source)
{
    enum status status = STATUS_OK;
    struct images *images = source->state;

    TRY(load(&images->first, images->entries[0].path));
    TRY(video_check_size(images->entries[0].path, images->first.width, images->first.height));
    source->info.width = images->first.width;
    source->info.height = images->first.height;
    source->info.frames = (long)images->count;
    video_set_rate(&source->info, 0, 0);
out:
    return status;
}

enum status video_open_folder(struct video_source *source)
{
    enum status status = STATUS_OK;
    struct images *images;

    TRY(start(source));
    images = source->state;
    TRY(add_all(images, source->name));
    if (images->count == 0) {
        status =
            status_set(STATUS_BAD_INPUT, "%s: no images in this folder (.png, .jpg, .bmp, .pgm, .ppm)", source->name);
        goto out;
    }
    sort(images, by_name);
    TRY(finish(source));
out:
    return status;
}

enum status video_open_pattern(struct video_source *source)
{
    enum status status = STATUS_OK;
    struct images *images;

    TRY(start(source));
    images = source->state;
    TRY(frame_pattern_fits(source->name) ? add_from_pattern(images, source->name)
                                         : add_from_glob(images, source->name));
    if (images->count == 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: no file fits this pattern", source->name);
        goto out;
    }
    TRY(finish(source));
out:
    return status;
}
