#include "common/core/allocations.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------ who allocates what, and keeps it
 * The C library's functions stand behind these, which the whole program calls: they note what is allocated while
 * somebody wants to know. Under a sanitizer it has functions of its own. */

enum { FRAMES = 12, NOTES = 4096 };

struct note {
    void *memory;
    size_t bytes;
    void *caller, *frames[FRAMES];
    int count;
};

static struct note notes[NOTES];
static volatile bool noting;
static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool inside; /* backtrace() may allocate */

void allocations_note(void *memory, size_t bytes, void *caller);
void allocations_forget(void *memory);

static struct note *find_note(const void *memory)
{
    size_t place = (uintptr_t)memory / 16 % NOTES;

    for (size_t i = 0; i < NOTES; i++, place = (place + 1) % NOTES)
        if (notes[place].memory == memory)
            return &notes[place];
    return NULL;
}

void allocations_note(void *memory, size_t bytes, void *caller)
{
    if (!noting || inside || !memory)
        return;
    inside = true;
    pthread_mutex_lock(&notes_lock);
    for (size_t i = 0, place = (uintptr_t)memory / 16 % NOTES; i < NOTES; i++, place = (place + 1) % NOTES)
        if (!notes[place].memory) {
            notes[place].memory = memory;
            notes[place].bytes = bytes;
            notes[place].caller = caller;
            notes[place].count = backtrace(notes[place].frames, FRAMES);
            break;
        }
    pthread_mutex_unlock(&notes_lock);
    inside = false;
}

void allocations_forget(void *memory)
{
    if (!noting || inside || !memory)
        return;
    pthread_mutex_lock(&notes_lock);
    struct note *const note = find_note(memory);
    if (note)
        note->memory = NULL;
    pthread_mutex_unlock(&notes_lock);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HAS_OWN_HEAP 1
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef HAS_OWN_HEAP
#endif
#endif
#endif

#ifdef HAS_OWN_HEAP
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *memory);

void *malloc(size_t bytes)
{
    void *const memory = __libc_malloc(bytes);

    allocations_note(memory, bytes, __builtin_return_address(0));
    return memory;
}

void *calloc(size_t count, size_t bytes)
{
    void *const memory = __libc_calloc(count, bytes);

    allocations_note(memory, count * bytes, __builtin_return_address(0));
    return memory;
}

/* Weak: tests/test_motion.c has one that fails. */
__attribute__((weak)) void *realloc(void *memory, size_t bytes)
{
    allocations_forget(memory);
    memory = __libc_realloc(memory, bytes);
    allocations_note(memory, bytes, __builtin_return_address(0));
    return memory;
}

void *memalign(size_t alignment, size_t bytes)
{
    void *const memory = __libc_memalign(alignment, bytes);

    allocations_note(memory, bytes, __builtin_return_address(0));
    return memory;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *const memory = __libc_memalign(alignment, bytes);

    allocations_note(memory, bytes, __builtin_return_address(0));
    return memory;
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    void *const found = __libc_memalign(alignment, bytes);

    allocations_note(found, bytes, __builtin_return_address(0));
    if (!found)
        return ENOMEM;
    *memory = found;
    return 0;
}

void free(void *memory)
{
    allocations_forget(memory);
    __libc_free(memory);
}
#endif

void allocations_begin(void)
{
    void *frames[FRAMES];

    backtrace(frames, FRAMES); /* which loads a library at its first call */
    memset(notes, 0, sizeof notes);
    noting = true;
}

/* What the dynamic linker keeps for a thread goes when its stack does, and the C library keeps stacks for later. */
static bool is_of_thread(const struct note *note)
{
    Dl_info module;

    return dladdr(note->caller, &module) && strstr(module.dli_fname, "/ld-");
}

/* What stands between a version and the heap, by what is in the functions' names. */
static bool stands_between(const char *function)
{
    static const char *const names[] = {"alloc", "memalign",    "allocations", "emulated", "cudaMalloc", "device_",
                                        "step_", "run_watched", "session_",    "verify_",  NULL};

    for (const char *const *name = names; *name; name++)
        if (strstr(function, *name))
            return true;
    return false;
}

/* Whether something is left of what was noted. " at cpu/blur/1_omp.c:24" is where the largest part of it was allocated,
 * " by setup()" where the program has no lines (EXTRA=-g gives it some), "" when that is not known. */
bool allocations_end(char *text, size_t size)
{
    const struct note *largest = NULL;
    Dl_info program, module;
    char command[64 + 24 * FRAMES], function[256], line[512], by[300] = "";

    noting = false;
    text[0] = '\0';
    for (size_t i = 0; i < NOTES; i++)
        if (notes[i].memory && !is_of_thread(&notes[i]) && (!largest || notes[i].bytes > largest->bytes))
            largest = &notes[i];
    if (!largest)
        return false;
    snprintf(command, sizeof command, "addr2line -Cf -e /proc/%d/exe", (int)getpid());
    dladdr(notes, &program);
    for (int i = 0; i < largest->count; i++)
        if (dladdr(largest->frames[i], &module) && module.dli_fbase == program.dli_fbase)
            snprintf(command + strlen(command), sizeof command - strlen(command), " 0x%zx",
                     (size_t)((char *)largest->frames[i] - (char *)program.dli_fbase) - 1);
    strncat(command, " 2>/dev/null", sizeof command - strlen(command) - 1);

    FILE *const answer = popen(command, "r");

    /* From the innermost function out: what all versions share, and the emulator, are of no interest. */
    while (answer && fgets(function, sizeof function, answer) && fgets(line, sizeof line, answer)) {
        line[strcspn(line, " \n")] = '\0';
        function[strcspn(function, "(.\n")] = '\0';
        if (!by[0] && function[0] != '?' && !stands_between(function))
            snprintf(by, sizeof by, " by %s()", function);
        if (text[0] || strchr(line, '?') || strstr(line, "common/"))
            continue;
        const char *name = line;
        for (const char *const *top = (const char *const[]){"/cpu/", "/cuda/", "/tests/", "/assignments/", NULL}; *top;
             top++)
            if (strstr(line, *top))
                name = strstr(line, *top) + 1;
        snprintf(text, size, " at %.280s", name);
    }
    if (answer)
        pclose(answer);
    if (!text[0])
        snprintf(text, size, "%s", by);
    return true;
}
