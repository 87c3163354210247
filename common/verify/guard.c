#include "common/verify/guard.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/image/pattern.h"

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef UNDER_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

const uint8_t guard_poisons[2] = {0xa5, 0x5a};
const int guard_heap_bytes[2] = {0x3c, 0xc7};

enum { PAGE = 64 * 1024 }; /* the largest of aarch64 */

void guarded_free(struct guarded *guarded, const struct version_remote *remote)
{
    if (remote)
        remote->release(guarded->buffer.memory);
    else if (guarded->pages)
        munmap(guarded->pages - PAGE, guarded->mapped + 2 * PAGE);
    else
        free(guarded->buffer.memory);
    free(guarded->before);
    memset(guarded, 0, sizeof *guarded);
}

/* Pages of its own for the buffer, between two that can't be read; NULL when there are none. The buffer fills them to
 * the end on the side where its own page is to lie. */
static uint8_t *map_pages(struct guarded *guarded)
{
    const size_t bytes = (guarded->buffer.bytes + PAGE - 1) / PAGE * PAGE;
    uint8_t *const all = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED)
        return NULL;
    guarded->pages = all + PAGE;
    guarded->mapped = bytes;
    if (mprotect(guarded->pages, bytes, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    return guarded->buffer.page == VERIFY_PAGE_BEHIND ? guarded->pages + bytes - guarded->buffer.bytes : guarded->pages;
}

static struct guard_layout laid_out;

void guard_lay_out(struct guard_layout layout)
{
    laid_out = layout;
}

bool guard_has_page(void)
{
    return laid_out.page != VERIFY_NO_PAGE;
}

enum status guarded_create(struct guarded *guarded, const struct image *like, size_t apart, int slot, bool is_input,
                           const struct version_remote *remote)
{
    struct verify_buffer *buffer = &guarded->buffer;
    const int further = is_input ? laid_out.in_apart : laid_out.out_apart;

    memset(guarded, 0, sizeof *guarded);
    if (like->width == 0)
        return STATUS_OK;
    buffer->image = *like;
    buffer->image.stride = image_minimal_stride(like) + apart;
    if (laid_out.in_apart || laid_out.out_apart)
        buffer->image.stride += (size_t)(further + 2 * slot) * IMAGE_ALIGNMENT;

    /* Room for two rows too many on either side, of very long rows for 64 KiB. An odd multiple of 64: image.h promises
     * that alignment and no more. */
    const size_t rows = 2 * buffer->image.stride < 1 << 16 ? 2 * buffer->image.stride : 1 << 16;
    const size_t guard = (rows + 1024) / 128 * 128 + IMAGE_ALIGNMENT,
                 pixels = buffer->image.stride * (size_t)like->height;
    size_t before = guard, behind = guard;

#ifndef UNDER_ADDRESS_SANITIZER /* which lets nobody read what is not a pixel's */
    if (is_input && !remote)
        buffer->page = laid_out.page;
#endif
    if (buffer->page == VERIFY_PAGE_BEFORE)
        before = 0;
    buffer->bytes = before + pixels + behind;
    if (buffer->page == VERIFY_PAGE_BEHIND) /* behind what may be read of the last row */
        buffer->bytes -= behind + buffer->image.stride - image_minimal_stride(like);
    buffer->memory = remote     ? remote->allocate(buffer->bytes)
                     : is_input ? map_pages(guarded)
                                : aligned_alloc(2 * IMAGE_ALIGNMENT, (buffer->bytes + 127) / 128 * 128);
    guarded->before = malloc(buffer->bytes);
    if (!buffer->memory || !guarded->before) {
        guarded_free(guarded, remote);
        return status_set(STATUS_NO_MEMORY, "no memory to verify with an image of %dx%d pixels", like->width,
                          like->height);
    }
    buffer->image.data = buffer->memory + before;
    return STATUS_OK;
}

/* The inputs that are read-only now, and the first byte that somebody tried to write. */
static struct guarded *forbidden;
static int forbidden_count;
static uint8_t *volatile first_write;
static struct sigaction before_forbidding;

static void note_write(int signal_number, siginfo_t *info, void *context)
{
    uint8_t *const address = info->si_addr;

    (void)context;
    for (int i = 0; i < forbidden_count; i++) {
        const struct guarded *guarded = &forbidden[i];

        if (guarded->pages && address >= guarded->pages && address < guarded->pages + guarded->mapped) {
            if (!first_write)
                first_write = address;
            mprotect(guarded->pages, guarded->mapped, PROT_READ | PROT_WRITE);
            return;
        }
    }
    sigaction(signal_number, &before_forbidding, NULL); /* the instruction runs again and meets what was there before */
}

void guarded_forbid_writes(struct guarded in[], int inputs)
{
    struct sigaction action = {.sa_sigaction = note_write, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    forbidden = in;
    forbidden_count = inputs;
    first_write = NULL;
    sigaction(SIGSEGV, &action, &before_forbidding);
    for (int i = 0; i < inputs; i++)
        if (in[i].pages)
            mprotect(in[i].pages, in[i].mapped, PROT_READ);
}

bool guarded_allow_writes(struct guarded in[], int inputs, int *which, int *x, int *y)
{
    for (int i = 0; i < inputs; i++)
        if (in[i].pages)
            mprotect(in[i].pages, in[i].mapped, PROT_READ | PROT_WRITE);
    sigaction(SIGSEGV, &before_forbidding, NULL);
    forbidden_count = 0;
    for (int i = 0; i < inputs && first_write; i++) {
        const struct image *image = &in[i].buffer.image;

        if (first_write < in[i].pages || first_write >= in[i].pages + in[i].mapped)
            continue;

        const ptrdiff_t offset = first_write - (uint8_t *)image->data, stride = (ptrdiff_t)image->stride;
        const ptrdiff_t row = offset < 0 ? 0 : offset / stride < image->height ? offset / stride : image->height - 1;
        const ptrdiff_t column = (offset - row * stride) / (image->channels * (ptrdiff_t)pixel_size(image->type));

        *which = i;
        *y = (int)row;
        *x = column < 0 ? 0 : column < image->width ? (int)column : image->width - 1;
        return true;
    }
    return false;
}

void guarded_fill(const struct verify_buffer *buffer, uint64_t seed)
{
    size_t i = 0;

    for (; i + 8 <= buffer->bytes; i += 8) {
        uint64_t number = pattern_random(&seed);
        memcpy(buffer->memory + i, &number, 8);
    }
    for (; i < buffer->bytes; i++)
        buffer->memory[i] = (uint8_t)pattern_random(&seed);
}

void guarded_remember(struct guarded *guarded)
{
    if (guarded->before)
        memcpy(guarded->before, guarded->buffer.memory, guarded->buffer.bytes);
}

void verify_protect(const struct verify_buffer *buffer, void *memory, bool is_input, bool forbid)
{
#ifdef UNDER_ADDRESS_SANITIZER
    char *base = memory, *data = base + ((uint8_t *)buffer->image.data - buffer->memory);

    if (!base)
        return;
    if (!forbid) {
        ASAN_UNPOISON_MEMORY_REGION(base, buffer->bytes);
        return;
    }
    ASAN_POISON_MEMORY_REGION(base, buffer->bytes);
    for (int y = 0; y < buffer->image.height; y++)
        ASAN_UNPOISON_MEMORY_REGION(data + (size_t)y * buffer->image.stride,
                                    is_input ? image_minimal_stride(&buffer->image) : image_row_bytes(&buffer->image));
#else
    (void)buffer, (void)memory, (void)is_input, (void)forbid;
#endif
}

/* First and last byte of memory[from..to) that changed; false when none did. */
static bool changed(const struct guarded *guarded, size_t from, size_t to, size_t *first, size_t *last)
{
    const uint8_t *now = guarded->buffer.memory, *before = guarded->before;

    if (memcmp(now + from, before + from, to - from) == 0)
        return false;
    while (now[from] == before[from])
        from++;
    while (now[to - 1] == before[to - 1])
        to--;
    *first = from;
    *last = to - 1;
    return true;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

bool guarded_overrun(const struct guarded *guarded, const char *name, char *what, size_t what_size, char *cause,
                     size_t cause_size)
{
    const struct image *image = &guarded->buffer.image;

    if (!guarded->before)
        return false;

    const size_t start = (size_t)((uint8_t *)image->data - guarded->buffer.memory);
    const size_t row_bytes = image_row_bytes(image), bytes = guarded->buffer.bytes;
    const size_t rows_end = start + image->stride * (size_t)image->height, end = rows_end < bytes ? rows_end : bytes;
    size_t first = 0, last = 0, rows = 0;
    int row = -1;
    bool at_end = false;

    for (int y = 0; y < image->height; y++) {
        const size_t from = start + (size_t)y * image->stride + row_bytes;
        const size_t next = start + (size_t)(y + 1) * image->stride, to = next < end ? next : end;
        size_t row_first, row_last;

        if (from == to || !changed(guarded, from, to, &row_first, &row_last))
            continue;
        if (rows++ == 0) {
            row = y;
            first = row_first;
            last = row_last;
            /* Nearer to the next row's first pixel than to this row's last one. */
            at_end = to - last < first - from + 1;
        }
    }
    if (rows && at_end) {
        snprintf(what, what_size, "wrote %zu byte%s before the start of row %d of the %s (%zu such row%s)",
                 start + (size_t)(row + 1) * image->stride - first, plural(last - first + 1), row + 1, name, rows,
                 plural(rows));
        snprintf(cause, cause_size, "overrun: writes left of the first column, where x < 0");
    } else if (rows) {
        const size_t many = last + 1 - (start + (size_t)row * image->stride + row_bytes);

        snprintf(what, what_size, "wrote %zu byte%s past the end of row %d of the %s (%zu such row%s)", many,
                 plural(many), row, name, rows, plural(rows));
        snprintf(cause, cause_size, "overrun: writes right of the last column, into the row's padding (x >= %d)",
                 image->width);
    } else if (changed(guarded, end, bytes, &first, &last)) {
        const size_t many = last + 1 - end, too_many = (many + image->stride - 1) / image->stride;

        snprintf(what, what_size, "wrote %zu byte%s past the last row of the %s", many, plural(many), name);
        if (first - end < row_bytes || first - end >= image->stride)
            snprintf(cause, cause_size, "overrun: writes below the last row, %zu row%s too many (y >= %d)", too_many,
                     plural(too_many), image->height);
        else
            snprintf(cause, cause_size, "overrun: writes behind the last row's pixels");
    } else if (changed(guarded, 0, start, &first, &last)) {
        const size_t many = start - first;

        snprintf(what, what_size, "wrote %zu byte%s before the first row of the %s", many, plural(many), name);
        snprintf(cause, cause_size, "%s",
                 many <= image->stride - row_bytes ? "overrun: writes left of the first column, where x < 0"
                                                   : "overrun: writes above the first row, where y < 0");
    } else {
        return false;
    }
    return true;
}

bool guarded_touched(const struct guarded *guarded)
{
    return guarded->before && memcmp(guarded->buffer.memory, guarded->before, guarded->buffer.bytes) != 0;
}

bool guarded_changed(const struct guarded *guarded, int *x, int *y)
{
    const struct image *image = &guarded->buffer.image;
    const size_t start = (size_t)((uint8_t *)image->data - guarded->buffer.memory);

    for (*y = 0; *y < image->height; ++*y) {
        const size_t from = start + (size_t)*y * image->stride;
        size_t first, last;

        if (!changed(guarded, from, from + image_row_bytes(image), &first, &last))
            continue;
        *x = (int)((first - from) / ((size_t)image->channels * pixel_size(image->type)));
        return true;
    }
    return false;
}
