/*
 * cu2cpp_program.h: what whole programs need of the translator besides launches and shared memory: which functions
 * run on the device, variables of shared memory outside of functions, local headers, and libraries that are refused by
 * name.
 */
#ifndef RUNGS_CU2CPP_PROGRAM_H
#define RUNGS_CU2CPP_PROGRAM_H

#include <limits.h>
#include <unistd.h>

#include "common/emulator/cu2cpp_tokens.h"

/* What the emulator does not have. A header is refused where it is included; a name where the compiler does not know it
 * (cu.sh). Both are beginnings: "curand" is curand.h, curand_kernel.h and curandCreateGenerator(). */
struct unsupported {
    const char *what, *headers, *names; /* beginnings, with blanks between */
};
static const struct unsupported unsupported[] = {
    {"cuBLAS", "", "cublas CUBLAS_"},
    {"cuRAND", "curand", "curand CURAND_"},
    {"cuFFT", "cufft", "cufft CUFFT_"},
    {"cuSPARSE", "cusparse", "cusparse CUSPARSE_"},
    {"cuSOLVER", "cusolver", "cusolver CUSOLVER_"},
    {"cuDNN", "cudnn", "cudnn CUDNN_"},
    {"NPP", "npp", "npp NPP_"},
    {"NCCL", "nccl", "nccl NCCL"},
    {"CUTLASS", "cutlass/ cute/", "cutlass cute"},
    {"Thrust", "thrust/", "thrust"},
    {"CUB", "cub/", "cub"},
    {"libcu++", "cuda/ nv/target", ""},
    {"run-time compilation (NVRTC)", "nvrtc", "nvrtc"},
    {"the driver API", "cudaProfiler.h", "cuInit cuDevice cuCtx cuModule cuMem cuLaunch cuGetError"},
    {"OpenGL", "GL/ GLFW/ cuda_gl_interop.h", "cudaGL cudaGraphicsGL"},
    {"MPI", "mpi.h", "MPI_"},
};
enum { UNSUPPORTED = sizeof(unsupported) / sizeof(*unsupported) };

/* Whether the text, not 0-terminated, has one of these beginnings. */
static inline bool begins_with_one_of(const char *text, const char *beginnings)
{
    for (const char *p = beginnings; *p != '\0'; p += strspn(p, " ")) {
        const size_t length = strcspn(p, " ");

        if (strncmp(text, p, length) == 0)
            return true;
        p += length;
    }
    return false;
}

/* For cu.sh and the documents: a line for each, its fields parted by tabs, - for none. */
static inline void print_unsupported(void)
{
    for (int i = 0; i < UNSUPPORTED; i++)
        printf("%s\t%s\t%s\n", unsupported[i].what, *unsupported[i].headers != '\0' ? unsupported[i].headers : "-",
               *unsupported[i].names != '\0' ? unsupported[i].names : "-");
}

/* ------------------------------------------------------------------------------------------------- functions */

struct function {
    int head, open, close; /* the first token of its declaration, and its braces */
    bool device, host;     /* it says __device__ or __global__; it says __host__ */
};

static inline bool is_in(int first, int end, const char *word)
{
    for (int i = first; i < end; i++)
        if (is_word(i, word))
            return true;
    return false;
}

/* Whether the brace at `open`, outside of functions, opens the body of one: f() { and f() const noexcept { */
static inline bool opens_function(int open)
{
    int i = before(open);

    while (is_word(i, "const") || is_word(i, "noexcept") || is_word(i, "override") || is_word(i, "final"))
        i = before(i);
    return is_mark(i, ')');
}

/* namespace a {, namespace {, extern "C" { */
static inline bool opens_namespace(int i)
{
    const int last = before(i);

    return is_mark(i, '{') && last != NONE &&
           (is_word(last, "namespace") || is_word(before(last), "namespace") || tokens[last].kind == LITERAL);
}

/* All functions of the file in their order; *count of them, to be freed. */
static inline struct function *find_functions(int *count)
{
    struct function *found = calloc(token_count + 1, sizeof(*found));

    *count = 0;
    for (int i = 0; found != NULL && (size_t)i < token_count; i++) {
        struct function *const f = &found[*count];

        if (!is_mark(i, '{') || !opens_function(i))
            continue;
        f->open = i;
        f->close = matching(i, 1);
        if (f->close == NONE)
            continue;
        for (f->head = i; f->head > 0 && !is_one_of(f->head - 1, ";{}") && tokens[f->head - 1].kind != MACRO;)
            f->head--;
        f->host = is_in(f->head, i, "__host__");
        f->device = is_in(f->head, i, "__device__") || is_in(f->head, i, "__global__");
        i = f->close;
        ++*count;
    }
    return found;
}

/* asm(...), asm volatile(...) */
static inline bool is_assembly(int i)
{
    return (is_word(i, "asm") || is_word(i, "__asm__")) &&
           (is_mark(after(i), '(') || is_word(after(i), "volatile") || is_word(after(i), "__volatile__"));
}

/* Whether it runs on the host, where __CUDA_ARCH__ is not defined, and its text asks. */
static inline bool asks_for_arch(const struct function *f)
{
    for (int i = f->open; i < f->close; i++)
        if (is_word(i, "__CUDA_ARCH__") ||
            (tokens[i].kind == DIRECTIVE && memmem(tokens[i].text, tokens[i].length, "__CUDA_ARCH__", 13) != NULL))
            return !f->device || f->host;
    return false;
}

/* -------------------------------------------------------------------------- shared variables outside of functions */

/* Each is behind a function, which what runs on the device calls for a reference of the same name. */
struct outer_variable {
    char name[64];
    bool dynamic;
};
enum { MOST_OUTER = 64 };
static struct outer_variable outer[MOST_OUTER];
static int outer_count;

static inline void write_outer_references(FILE *out, const struct function *f)
{
    for (int i = 0; f->device && i < outer_count; i++)
        if (is_in(f->open, f->close, outer[i].name) && !is_in(f->head, f->open, outer[i].name))
            fprintf(out, " auto %s%s = emulated_shared_%s();", outer[i].dynamic ? "*const " : "&", outer[i].name,
                    outer[i].name);
}

/* ------------------------------------------------------------------------------------------------- headers */

/* Of a program: where its translated headers go, and where local ones are looked for (-I). */
static const char *header_folder;
static const char **include_folders;
static int include_count;

/* Translated so far, or being translated. */
struct header {
    char *source, *target;
};
enum { MOST_HEADERS = 1000 };
static struct header headers[MOST_HEADERS];
static int header_count;

/* The file that `#include "name"` in the current one means, for `quoted` beside it first; NULL when there is none. To
 * be freed. */
static inline char *find_header(const char *name, bool quoted)
{
    char candidate[2 * PATH_MAX];
    const char *const slash = strrchr(path, '/');

    for (int i = quoted ? -1 : 0; i < include_count; i++) {
        if (i < 0)
            snprintf(candidate, sizeof(candidate), "%.*s%s", slash != NULL ? (int)(slash + 1 - path) : 0, path, name);
        else
            snprintf(candidate, sizeof(candidate), "%s/%s", include_folders[i], name);
        if (access(candidate, R_OK) == 0)
            return realpath(candidate, NULL);
    }
    return NULL;
}

/* The name in an #include directive, into name[PATH_MAX]; false for other directives and an #include of a macro. */
static inline bool is_include(int i, char *name, bool *quoted)
{
    char opener = '\0', text[PATH_MAX] = "";

    if (tokens[i].kind != DIRECTIVE || tokens[i].length >= sizeof(text))
        return false;
    memcpy(text, tokens[i].text, tokens[i].length);
    if (sscanf(text, "# include %c%[^>\"\n]", &opener, name) != 2)
        return false;
    *quoted = opener == '"';
    return opener == '"' || opener == '<';
}

#endif
