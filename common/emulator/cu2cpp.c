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
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum kind { BLANK, DIRECTIVE, WORD, LITERAL, MARK }; /* BLANK: white space and comments; MARK: one character */

struct token {
    enum kind kind;
    const char *text;
    size_t length;
    int line;
};

static const char *path;
static struct token *tokens;
static size_t token_count;
enum { NONE = -1 }; /* the index of no token */

static bool fail(int line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(int line, const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "%s:%d: ", path, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return false;
}

/* ------------------------------------------------------------------------------------------------- tokens */

static bool is_word_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Each end_of_...() takes the start of something and returns the first character after it, NULL if it never ends. */
static const char *end_of_quoted(const char *p)
{
    const char quote = *p++;

    for (; *p != '\0' && *p != '\n' && *p != quote; p++)
        if (*p == '\\' && p[1] != '\0')
            p++;
    return *p == quote ? p + 1 : NULL;
}

static const char *end_of_raw_string(const char *quote)
{
    char closer[20] = ")"; /* a delimiter has at most 16 characters */
    const size_t length = strcspn(quote + 1, "(");
    const char *end;

    if (length > 16 || quote[1 + length] != '(')
        return NULL;
    memcpy(closer + 1, quote + 1, length);
    strcpy(closer + 1 + length, "\"");
    end = strstr(quote + 1 + length, closer);
    return end == NULL ? NULL : end + length + 2;
}

static const char *end_of_line(const char *p)
{
    while (*p != '\0' && *p != '\n')
        p += p[0] == '\\' && p[1] == '\n' ? 2 : 1;
    return p;
}

static const char *end_of_comment(const char *p)
{
    if (p[1] == '/')
        return end_of_line(p);
    p = strstr(p + 2, "*/");
    return p == NULL ? NULL : p + 2;
}

static bool starts_comment(const char *p)
{
    return p[0] == '/' && (p[1] == '/' || p[1] == '*');
}

/* Stops at a launch, which is not translated inside a macro. */
static const char *end_of_directive(const char *p)
{
    while (p != NULL && *p != '\0' && *p != '\n' && strncmp(p, "<<<", 3) != 0) {
        const char *closed = *p == '"' ? end_of_quoted(p) : NULL;

        if (starts_comment(p))
            p = end_of_comment(p);
        else
            p = closed != NULL ? closed : p + (p[0] == '\\' && p[1] == '\n' ? 2 : 1);
    }
    return p;
}

static const char *end_of_number(const char *p)
{
    while (is_word_character(*p) || *p == '.' || (*p == '\'' && is_word_character(p[1])))
        p += strchr("eEpP", *p) != NULL && (p[1] == '+' || p[1] == '-') ? 2 : 1;
    return p;
}

static const char *end_of_word(const char *start, enum kind *kind)
{
    const char *p = start;
    size_t length;

    while (is_word_character(*p))
        p++;
    length = (size_t)(p - start);
    if ((*p != '"' && *p != '\'') || length > 3 || strspn(start, "LuU8R") != length)
        return p; /* not a prefix of a string */
    *kind = LITERAL;
    return p[-1] == 'R' && *p == '"' ? end_of_raw_string(p) : end_of_quoted(p);
}

static bool tokenize(const char *p)
{
    size_t capacity = 0;
    bool line_start = true;
    int line = 1;

    while (*p != '\0') {
        enum kind kind = MARK;
        const char *end = p + 1;

        if (isspace((unsigned char)*p) || (p[0] == '\\' && p[1] == '\n')) {
            kind = BLANK;
        } else if (starts_comment(p)) {
            kind = BLANK;
            if ((end = end_of_comment(p)) == NULL)
                return fail(line, "this comment never ends");
        } else if (*p == '#' && line_start) {
            kind = DIRECTIVE;
            if ((end = end_of_directive(p)) == NULL)
                return fail(line, "a comment in this directive never ends");
            if (*end == '<')
                return fail(line, "a kernel launch (<<<) inside a macro is not supported");
        } else if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) {
            kind = LITERAL;
            end = end_of_number(p);
        } else if (is_word_character(*p)) {
            kind = WORD;
            end = end_of_word(p, &kind);
        } else if (*p == '"' || *p == '\'') {
            kind = LITERAL;
            end = end_of_quoted(p);
        }
        if (end == NULL)
            return fail(line, "this string or character never ends");
        if (token_count == capacity) {
            struct token *grown = realloc(tokens, (capacity = 2 * capacity + 1024) * sizeof(*tokens));

            if (grown == NULL)
                return fail(line, "no memory");
            tokens = grown;
        }
        tokens[token_count++] = (struct token){kind, p, (size_t)(end - p), line};
        line_start = *p == '\n' || (line_start && kind == BLANK);
        for (; p < end; p++)
            line += *p == '\n';
    }
    return true;
}

static bool is_mark(int i, char c)
{
    return i >= 0 && (size_t)i < token_count && tokens[i].kind == MARK && *tokens[i].text == c;
}

static bool is_word(int i, const char *word)
{
    return i >= 0 && (size_t)i < token_count && tokens[i].kind == WORD && strlen(word) == tokens[i].length &&
           memcmp(tokens[i].text, word, tokens[i].length) == 0;
}

static bool is_any_word(int i)
{
    return i >= 0 && (size_t)i < token_count && tokens[i].kind == WORD;
}

/* Whether the three marks from i on are c c c, with nothing between them. */
static bool is_triple(int i, char c)
{
    return is_mark(i, c) && is_mark(i + 1, c) && is_mark(i + 2, c);
}

static bool is_skipped(int i)
{
    return i >= 0 && (size_t)i < token_count && (tokens[i].kind == BLANK || tokens[i].kind == DIRECTIVE);
}

static int after(int i)
{
    do
        i++;
    while (is_skipped(i));
    return i;
}

static int before(int i)
{
    do
        i--;
    while (is_skipped(i));
    return i;
}

static bool is_one_of(int i, const char *marks)
{
    return i >= 0 && (size_t)i < token_count && tokens[i].kind == MARK && strchr(marks, *tokens[i].text) != NULL;
}

/* The bracket that matches the one at i, searched in the direction of step (+1, -1); NONE if there is none. */
static int matching(int i, int step)
{
    const char *const openers = step > 0 ? "([{" : ")]}", *const closers = step > 0 ? ")]}" : "([{";
    char expected[256];
    int depth = 0;

    for (; i >= 0 && (size_t)i < token_count; i += step) {
        if (is_one_of(i, openers)) {
            if (depth == (int)sizeof(expected))
                return NONE;
            expected[depth++] = closers[strchr(openers, *tokens[i].text) - openers];
        } else if (is_one_of(i, closers)) {
            if (*tokens[i].text != expected[--depth])
                return NONE;
            if (depth == 0)
                return i;
        }
    }
    return NONE;
}

/* The same for the angle brackets of a template. */
static int matching_angle(int i, int step)
{
    int depth = 0;

    for (; i >= 0 && (size_t)i < token_count && !is_one_of(i, ";{}"); i += step) {
        if (is_one_of(i, step > 0 ? "([" : ")]") && (i = matching(i, step)) == NONE)
            return NONE;
        if (is_mark(i, step > 0 ? '<' : '>'))
            depth++;
        else if (is_mark(i, step > 0 ? '>' : '<') && --depth == 0)
            return i;
    }
    return NONE;
}

static void write_tokens(FILE *out, int first, int end)
{
    for (int i = first; i < end; i++)
        fwrite(tokens[i].text, 1, tokens[i].length, out);
}

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

/* Whether the declaration that starts at i is one of __shared__ variables. */
static bool starts_shared(int i)
{
    while (is_word(i, "extern") || is_word(i, "static") || is_word(i, "volatile") || is_alignment(i)) {
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
        fputs(dynamic ? "*const " : array ? "(&" : "&", out);
        write_tokens(out, name, name + 1);
        fputs(array && !dynamic ? ")" : "", out);
        for (i = i + 1; !is_one_of(i, ",;"); i++) {
            const int start = i;

            if (is_mark(i, '['))
                i = matching(i, 1);
            if (i == NONE || (!is_mark(i, ']') && !is_skipped(i)))
                return fail(line, "%s", reason);
            if (!dynamic || is_skipped(i))
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

static bool translate(FILE *out)
{
    struct edit *edits = calloc(token_count + 1, sizeof(*edits));
    bool fine = edits != NULL ? find_launches(edits) : fail(1, "no memory");
    int nesting = 0;

    fputs("#include <cuda_runtime.h>\n#line 1 \"", out);
    for (const char *p = path; *p != '\0'; p++)
        fprintf(out, strchr("\"\\", *p) != NULL ? "\\%c" : "%c", *p);
    fputs("\"\n", out);
    for (int i = 0; fine && (size_t)i < token_count;) {
        int next = i + 1;

        nesting += is_mark(i, '{') - is_mark(i, '}');
        if (edits[i].text != NULL)
            fputs(edits[i].text, out);
        if (edits[i].replaced > 0)
            next = i + edits[i].replaced;
        else if (starts_shared(i) && nesting > 0)
            fine = write_shared(out, i, &next);
        else if (starts_shared(i))
            fine = fail(tokens[i].line, "__shared__ outside of a function: declare it in the kernel");
        else if (is_word(i, "__noinline__"))
            fputs("__attribute__((noinline))", out);
        else if (!is_unroll(i))
            write_tokens(out, i, next);
        i = next;
    }
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

int main(int argc, char **argv)
{
    char *text = NULL, *result = NULL;
    size_t result_size = 0;
    FILE *out = NULL, *file = NULL;
    struct stat there;
    int status = 2;

    if (argc != 3) {
        fputs("usage: cu2cpp in.cu out.cpp\n", stderr);
        return 2;
    }
    path = argv[1];
    if ((text = read_file(path)) == NULL || (out = open_memstream(&result, &result_size)) == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        goto out;
    }
    if (!tokenize(text) || !translate(out) || fflush(out) != 0)
        goto out;
    file = fopen(argv[2], "wb");
    if (file != NULL && fwrite(result, 1, result_size, file) == result_size && fflush(file) == 0)
        status = 0;
    else
        fprintf(stderr, "%s: %s\n", argv[2], strerror(errno));
out:
    if (file != NULL)
        fclose(file);
    if (status != 0 && stat(argv[2], &there) == 0 && S_ISREG(there.st_mode)) /* not /dev/null */
        remove(argv[2]);
    if (out != NULL)
        fclose(out);
    free(result);
    free(text);
    free(tokens);
    return status;
}
