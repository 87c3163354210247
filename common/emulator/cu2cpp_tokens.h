/*
 * cu2cpp_tokens.h: a .cu file cut into tokens, so that comments, strings and directives cannot be mistaken for code;
 * and which bracket belongs to which. Everything here works on the one file that is being translated.
 */
#ifndef RUNGS_CU2CPP_TOKENS_H
#define RUNGS_CU2CPP_TOKENS_H

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* BLANK: white space and comments; MARK: one character; MACRO: a #define up to its text, which is tokens of its own */
enum kind { BLANK, DIRECTIVE, MACRO, WORD, LITERAL, MARK };

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

static inline bool fail(int line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline bool fail(int line, const char *format, ...)
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

static inline bool is_word_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Each end_of_...() takes the start of something and returns the first character after it, NULL if it never ends. */
static inline const char *end_of_quoted(const char *p)
{
    const char quote = *p++;

    for (; *p != '\0' && *p != '\n' && *p != quote; p++)
        if (*p == '\\' && p[1] != '\0')
            p++;
    return *p == quote ? p + 1 : NULL;
}

static inline const char *end_of_raw_string(const char *quote)
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

static inline const char *end_of_line(const char *p)
{
    while (*p != '\0' && *p != '\n')
        p += p[0] == '\\' && p[1] == '\n' ? 2 : 1;
    return p;
}

static inline const char *end_of_comment(const char *p)
{
    if (p[1] == '/')
        return end_of_line(p);
    p = strstr(p + 2, "*/");
    return p == NULL ? NULL : p + 2;
}

static inline bool starts_comment(const char *p)
{
    return p[0] == '/' && (p[1] == '/' || p[1] == '*');
}

static inline const char *end_of_directive(const char *p, bool *has_launch)
{
    *has_launch = false;
    while (p != NULL && *p != '\0' && *p != '\n') {
        const char *closed = *p == '"' ? end_of_quoted(p) : NULL;

        *has_launch = *has_launch || strncmp(p, "<<<", 3) == 0;
        if (starts_comment(p))
            p = end_of_comment(p);
        else
            p = closed != NULL ? closed : p + (p[0] == '\\' && p[1] == '\n' ? 2 : 1);
    }
    return p;
}

/* The end of the macro's name, and of its parameters; NULL when this directive defines none. */
static inline const char *end_of_macro_head(const char *p)
{
    int length = 0;

    if (sscanf(p, "# define %*[A-Za-z0-9_]%n", &length) != 0 || length == 0)
        return NULL;
    return p[length] == '(' && strchr(p + length, ')') != NULL ? strchr(p + length, ')') + 1 : p + length;
}

static inline const char *end_of_number(const char *p)
{
    while (is_word_character(*p) || *p == '.' || (*p == '\'' && is_word_character(p[1])))
        p += strchr("eEpP", *p) != NULL && (p[1] == '+' || p[1] == '-') ? 2 : 1;
    return p;
}

static inline const char *end_of_word(const char *start, enum kind *kind)
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

static inline bool tokenize(const char *p)
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
            bool has_launch;

            kind = DIRECTIVE;
            if ((end = end_of_directive(p, &has_launch)) == NULL)
                return fail(line, "a comment in this directive never ends");
            if (has_launch && end_of_macro_head(p) != NULL) {
                kind = MACRO;
                end = end_of_macro_head(p);
            }
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

static inline bool is_mark(int i, char c)
{
    return i >= 0 && (size_t)i < token_count && tokens[i].kind == MARK && *tokens[i].text == c;
}

static inline bool is_word(int i, const char *word)
{
    return i >= 0 && (size_t)i < token_count && tokens[i].kind == WORD && strlen(word) == tokens[i].length &&
           memcmp(tokens[i].text, word, tokens[i].length) == 0;
}

static inline bool is_any_word(int i)
{
    return i >= 0 && (size_t)i < token_count && tokens[i].kind == WORD;
}

/* Whether the three marks from i on are c c c, with nothing between them. */
static inline bool is_triple(int i, char c)
{
    return is_mark(i, c) && is_mark(i + 1, c) && is_mark(i + 2, c);
}

static inline bool is_skipped(int i)
{
    return i >= 0 && (size_t)i < token_count && (tokens[i].kind == BLANK || tokens[i].kind == DIRECTIVE);
}

static inline int after(int i)
{
    do
        i++;
    while (is_skipped(i));
    return i;
}

static inline int before(int i)
{
    do
        i--;
    while (is_skipped(i));
    return i;
}

static inline bool is_one_of(int i, const char *marks)
{
    return i >= 0 && (size_t)i < token_count && tokens[i].kind == MARK && strchr(marks, *tokens[i].text) != NULL;
}

/* The bracket that matches the one at i, searched in the direction of step (+1, -1); NONE if there is none. */
static inline int matching(int i, int step)
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
static inline int matching_angle(int i, int step)
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

static inline void write_tokens(FILE *out, int first, int end)
{
    for (int i = first; i < end; i++)
        fwrite(tokens[i].text, 1, tokens[i].length, out);
}

#endif
