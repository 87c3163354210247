/*
 * cu2cpp.c: turns a .cu file into C++ that runs in the emulator.        cu2cpp cuda/blur/v1.2_tiled.cu out.cpp
 *
 *     blur<15><<<grid, block>>>(in, out);    EMULATED_KERNEL(blur<15>)(grid, block)(in, out);
 *     __shared__ int tile[32][33], last;     int (&tile)[32][33] = EMULATED_SHARED(tile), &last =
 *     EMULATED_SHARED(last);
 *     extern __shared__ int sums[];          int *const sums = EMULATED_DYNAMIC_SHARED;
 *     #pragma unroll, __noinline__           nothing, a GNU attribute (a macro of that name would break libstdc++)
 *
 * The macros are in include/emulated_core.h. All else is copied and stays in its line, so that __FILE__, compilers and
 * debuggers speak of the .cu file. The file is cut into tokens once, so that comments, strings and directives cannot be
 * mistaken for code. Exit status 0, or 2 with "file:line: reason" on stderr and no output file.
 */
#include <errno.h>
#include <sys/stat.h>

#include "common/emulator/cu2cpp_program.h"
#include "common/emulator/cu2cpp_tokens.h"

/* ------------------------------------------------------------------------------------------------- launches */

static bool is_keyword(int i)
{
    static const char *const keywords[] = {"if", "else", "for", "while", "do", "switch", "return"};

    for (size_t k = 0; k < sizeof(keywords) / sizeof(*keywords); k++)
        if (is_word(i, keywords[k]))
            return true;
    return false;
}

/* The first token of the expression before the <<< at `angles`: ns::kernel<T>, table[k], its->kernel, (pick ? a : b).
 * Goes back from link to link: a word may follow :: or . or ->, and these and each bracket want an operand before
 * them. */
static int kernel_start(int angles)
{
    int start = angles;

    while (start != NONE) {
        const int i = before(start);

        if (!is_any_word(start)) {
            if (is_any_word(i) && !is_keyword(i))
                start = i;
            else if (is_one_of(i, ")]") && (start == angles || !is_keyword(before(matching(i, -1)))))
                start = matching(i, -1);
            else if (is_mark(i, '>'))
                start = matching_angle(i, -1);
            else
                return start == angles ? NONE : start;
        } else if (is_mark(i, '.')) {
            start = i;
        } else if ((is_mark(i, ':') && is_mark(i - 1, ':')) || (is_mark(i, '>') && is_mark(i - 1, '-'))) {
            start = i - 1;
        } else {
            return start;
        }
    }
    return NONE;
}

/* The >>> that closes the launch whose configuration starts at i. Each < may open a template's arguments, so that in
 * k<<<f<g<h<1>>>(), 32>>> the first >>> is not it; it may also be "less than", so that a lone one needs no >. */
static int launch_end(int i)
{
    int angles = 0;

    for (; (size_t)i < token_count && !is_one_of(i, ";)]}"); i++) {
        int run = 0;

        if (is_one_of(i, "([{") && (i = matching(i, 1)) == NONE)
            return NONE;
        angles += is_mark(i, '<');
        while (is_mark(i + run, '>'))
            run++;
        if (run > 0 && is_mark(i - 1, '-')) /* -> */
            continue;
        if (run >= 3 && is_mark(after(i + run - 1), '(') && !(run == 3 && angles >= 3))
            return i + run - 3;
        angles -= run < angles ? run : angles;
        i += run > 0 ? run - 1 : 0;
    }
    return NONE;
}

/* -------------------------------------------------------------------------------------------- shared memory */

static bool is_alignment(int i)
{
    return (is_word(i, "__align__") || is_word(i, "alignas")) && is_mark(after(i), '(');
}

/* Whether the declaration that starts at i is one of __shared__ variables; the word may stand behind the type. */
static bool starts_shared(int i)
{
    const bool starts = is_one_of(before(i), ";{}") || before(i) == NONE;

    while (is_word(i, "extern") || is_word(i, "static") || is_word(i, "volatile") || is_alignment(i) ||
           (starts && is_any_word(i) && !is_keyword(i) && !is_word(i, "__shared__"))) {
        i = is_alignment(i) ? matching(after(i), 1) : i;
        if (i == NONE)
            return false;
        i = after(i);
    }
    return is_word(i, "__shared__");
}

/* Writes the declaration of shared variables that starts at `first`; *next gets its semicolon. */
static bool write_shared(FILE *out, int first, int *next)
{
    const char *const reason = "cannot read this __shared__ declaration (wanted: type name[size]..., no initial value)";
    const int line = tokens[first].line;
    bool dynamic = false, array;
    int i, name;

    /* The type, up to the name: the word that [ , ; or = follows. */
    for (i = first; !is_any_word(i) || is_word(i, "__shared__") || !is_one_of(after(i), "[,;="); i++) {
        const int start = i;

        if (is_alignment(i))
            i = matching(after(i), 1); /* the emulator aligns all to 256 bytes */
        else if (is_mark(i, '<'))
            i = matching_angle(i, 1);
        if (i == NONE || (size_t)i >= token_count || is_one_of(i, ";{}="))
            return fail(line, "%s", reason);
        dynamic = dynamic || is_word(i, "extern");
        if (!is_alignment(start) && !is_word(i, "extern") && !is_word(i, "static") && !is_word(i, "__shared__"))
            write_tokens(out, start, i + 1);
    }
    for (;;) { /* at the name of a declarator */
        array = is_mark(after(name = i), '[');
        if (dynamic && array) /* the first size is not known; a pointer to what the others say */
            array = (i = matching(after(i), 1)) != NONE && is_mark(after(i), '[');
        if (i == NONE)
            return fail(line, "%s", reason);
        fputs(dynamic ? array ? "(*const " : "*const " : array ? "(&" : "&", out);
        write_tokens(out, name, name + 1);
        fputs(array ? ")" : "", out);
        for (int k = name + 1; dynamic && is_skipped(k); k++)
            write_tokens(out, k, k + 1);
        for (i = i + 1; !is_one_of(i, ",;"); i++) {
            const int start = i;

            if (is_mark(i, '['))
                i = matching(i, 1);
            if (i == NONE || (!is_mark(i, ']') && !is_skipped(i)))
                return fail(line, "%s", reason);
            write_tokens(out, start, i + 1);
        }
        fprintf(out, dynamic ? " = EMULATED_DYNAMIC_SHARED" : " = EMULATED_SHARED(%.*s)", (int)tokens[name].length,
                tokens[name].text);
        if (is_mark(*next = i, ';'))
            return true;
        while (is_mark(i, ',') || is_mark(i, '*') || is_skipped(i))
            i++;
        write_tokens(out, *next, i);
        if (!is_any_word(i))
            return fail(line, "%s", reason);
    }
}

/* ------------------------------------------------------------------------------------------------- the file */

static bool is_unroll(int i)
{
    int end = 0;

    return tokens[i].kind == DIRECTIVE && sscanf(tokens[i].text, "# pragma unroll%n", &end) == 0 && end > 0;
}

/* Finds each launch and what to write before its kernel and in place of <<< and >>>: edits[token], with the edit's
 * length in tokens. */
struct edit {
    const char *text;
    int replaced;
};

static bool find_launches(struct edit *edits)
{
    for (int i = 0; (size_t)i < token_count; i++) {
        int start, end;

        if (!is_triple(i, '<') || is_word(before(i), "operator"))
            continue;
        start = kernel_start(i);
        end = launch_end(i + 3);
        if (start == NONE)
            return fail(tokens[i].line, "no kernel before this <<<");
        if (end == NONE)
            return fail(tokens[i].line, "this <<< has no >>> followed by '(', or brackets between do not match");
        if (matching(after(end + 2), 1) == NONE)
            return fail(tokens[i].line, "the '(' after this launch's >>> is never closed");
        edits[start] = (struct edit){"EMULATED_KERNEL(", 0};
        edits[i] = (struct edit){")(", 3};
        edits[end] = (struct edit){")", 3};
        i = end + 2;
    }
    return true;
}

/* cudaLaunchKernel((void *)kernel, ...): without the cast, the kernel's parameters are known. */
static void find_casts(struct edit *edits)
{
    for (int i = 0; (size_t)i < token_count; i++) {
        const int open = after(after(i)), word = is_word(after(open), "const") ? after(after(open)) : after(open);

        if ((is_word(i, "cudaLaunchKernel") || is_word(i, "cudaLaunchCooperativeKernel")) && is_mark(after(i), '(') &&
            is_mark(open, '(') && is_word(word, "void") && is_mark(after(word), '*') &&
            is_mark(after(after(word)), ')'))
            edits[open] = (struct edit){"", after(after(word)) + 1 - open};
    }
}

/* Goes on in line `line` of this file. */
static void write_line(FILE *out, int line)
{
    fprintf(out, "#line %d \"", line);
    for (const char *p = path; *p != '\0'; p++)
        fprintf(out, strchr("\"\\", *p) != NULL ? "\\%c" : "%c", *p);
    fputs("\"\n", out);
}

/* A declaration of shared variables outside of functions becomes a function for each: cu2cpp_program.h. */
static bool write_outer_shared(FILE *out, int first, int *next)
{
    const int count = outer_count;

    for (int i = first; (size_t)i < token_count && !is_mark(i, ';'); i++) {
        struct outer_variable *const made = &outer[outer_count];

        if (!is_any_word(i) || is_word(i, "__shared__") || !is_one_of(after(i), "[,;"))
            continue;
        if (outer_count == MOST_OUTER || tokens[i].length >= sizeof(made->name))
            return fail(tokens[i].line, "too many __shared__ variables outside of functions, or too long a name");
        snprintf(made->name, sizeof(made->name), "%.*s", (int)tokens[i].length, tokens[i].text);
        made->dynamic = is_in(first, i, "extern");
        outer_count++;
        while (is_mark(after(i), '['))
            if ((i = matching(after(i), 1)) == NONE)
                return fail(tokens[first].line, "brackets do not match");
    }
    for (int k = count; k < outer_count; k++) {
        fprintf(out, "static inline auto %semulated_shared_%s() { ", outer[k].dynamic ? "*" : "&", outer[k].name);
        if (!write_shared(out, first, next))
            return false;
        fprintf(out, "; return %s; }\n", outer[k].name);
    }
    fputc('\n', out);
    write_line(out, tokens[*next].line);
    ++*next; /* the semicolon */
    return true;
}

static bool translate_file(const char *in, const char *target, bool is_header);

/* An #include in a program: of a local header its translation, of a library that is not there an error. */
static bool write_include(FILE *out, int i)
{
    char name[PATH_MAX];
    bool quoted;
    char *source;

    if (header_folder == NULL || !is_include(i, name, &quoted) || (source = find_header(name, quoted)) == NULL) {
        for (int k = 0; k < UNSUPPORTED && header_folder != NULL && is_include(i, name, &quoted); k++)
            if (begins_with_one_of(name, unsupported[k].headers))
                return fprintf(out, "#error %s (%s) is not supported by cu", unsupported[k].what, name) > 0;
        write_tokens(out, i, i + 1);
        return true;
    }
    for (int k = 0; k < header_count; k++)
        if (strcmp(headers[k].source, source) == 0) {
            fprintf(out, "#include \"%s\"", headers[k].target);
            free(source);
            return true;
        }
    if (header_count == MOST_HEADERS)
        return fail(tokens[i].line, "more than %d headers", (int)MOST_HEADERS);

    struct header *const made = &headers[header_count++];

    made->source = source;
    if (asprintf(&made->target, "%s/%d_%s", header_folder, header_count,
                 strrchr(source, '/') != NULL ? strrchr(source, '/') + 1 : source) < 0)
        return fail(tokens[i].line, "no memory");
    fprintf(out, "#include \"%s\"", made->target);
    return translate_file(source, made->target, true);
}

/* What a function of a program needs at its begin, and at its end: the rest of the file is compiled as for a device. */
static void write_begin(FILE *out, const struct function *f)
{
    if (header_folder != NULL && asks_for_arch(f)) {
        fputs("\n#undef __CUDA_ARCH__\n", out);
        write_line(out, tokens[f->open].line);
    }
    write_outer_references(out, f);
}

static void write_end(FILE *out, const struct function *f)
{
    if (header_folder != NULL && asks_for_arch(f)) {
        fputs("\n#define __CUDA_ARCH__ 900\n", out);
        write_line(out, tokens[f->close].line);
    }
}

static bool translate(FILE *out, bool is_header)
{
    struct edit *edits = calloc(token_count + 1, sizeof(*edits));
    int function_count, f = 0;
    struct function *const functions = find_functions(&function_count);
    bool fine = edits != NULL && functions != NULL ? find_launches(edits) : fail(1, "no memory");
    int nesting = 0, spaces = 0; /* open braces, and those of them that are a namespace's */

    if (fine)
        find_casts(edits);
    if (!is_header)
        fputs("#include <cuda_runtime.h>\n", out);
    write_line(out, 1);
    for (int i = 0; fine && (size_t)i < token_count;) {
        const bool inside = f < function_count && i > functions[f].open;
        int next = i + 1;

        nesting += is_mark(i, '{') - is_mark(i, '}');
        spaces = opens_namespace(i) ? spaces + 1 : spaces > nesting ? nesting : spaces;
        if (f < function_count && i == functions[f].close)
            write_end(out, &functions[f++]);
        if (edits[i].text != NULL)
            fputs(edits[i].text, out);
        if (edits[i].replaced > 0)
            next = i + edits[i].replaced;
        else if (starts_shared(i))
            fine = inside || nesting > spaces ? write_shared(out, i, &next) : write_outer_shared(out, i, &next);
        else if (is_word(i, "__noinline__"))
            fputs("__attribute__((noinline))", out);
        else if (inside && functions[f].device && is_assembly(i))
            fputs("_Pragma(\"GCC error \\\"inline PTX is not supported by cu\\\"\") asm", out);
        else if (tokens[i].kind == DIRECTIVE && !is_unroll(i))
            fine = write_include(out, i);
        else if (tokens[i].kind != DIRECTIVE)
            write_tokens(out, i, next);
        if (f < function_count && i == functions[f].open)
            write_begin(out, &functions[f]);
        i = next;
    }
    free(functions);
    free(edits);
    return fine;
}

/* The whole file, 0-terminated; NULL with errno set. */
static char *read_file(const char *name)
{
    FILE *in = fopen(name, "rb");
    char *text = NULL;
    size_t size = 0;

    if (in != NULL) {
        if (getdelim(&text, &size, '\0', in) < 0) {
            free(text);
            text = ferror(in) ? NULL : calloc(1, 1);
        }
        fclose(in);
    }
    return text;
}

static bool translate_file(const char *in, const char *target, bool is_header)
{
    const char *const old_path = path;
    struct token *const old_tokens = tokens;
    const size_t old_count = token_count;
    char *text = NULL, *result = NULL;
    size_t result_size = 0;
    FILE *out = NULL, *file = NULL;
    struct stat there;
    bool fine = false;

    path = in;
    tokens = NULL;
    token_count = 0;
    if ((text = read_file(path)) == NULL || (out = open_memstream(&result, &result_size)) == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        goto out;
    }
    if (!tokenize(text) || !translate(out, is_header) || fflush(out) != 0)
        goto out;
    file = fopen(target, "wb");
    fine = file != NULL && fwrite(result, 1, result_size, file) == result_size && fflush(file) == 0;
    if (!fine)
        fprintf(stderr, "%s: %s\n", target, strerror(errno));
out:
    if (file != NULL)
        fclose(file);
    if (!fine && stat(target, &there) == 0 && S_ISREG(there.st_mode)) /* not /dev/null */
        remove(target);
    if (out != NULL)
        fclose(out);
    free(result);
    free(text);
    free(tokens);
    path = old_path;
    tokens = old_tokens;
    token_count = old_count;
    return fine;
}

int main(int argc, char **argv)
{
    int i = 1;

    if (argc == 2 && strcmp(argv[1], "--unsupported") == 0) {
        print_unsupported();
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], "--program") == 0) {
        header_folder = argv[2];
        include_folders = (const char **)argv + 3;
        include_count = argc - 5;
        i = argc - 2;
    }
    if (argc - i != 2 || include_count < 0) {
        fputs("usage: cu2cpp [--program FOLDER-FOR-HEADERS [INCLUDE-FOLDER]...] in.cu out.cpp\n", stderr);
        return 2;
    }
    return translate_file(argv[i], argv[i + 1], false) ? 0 : 2;
}
