/*
 * text.h: text from outside (file names, command lines, results files) made plain: valid UTF-8 without control
 * characters, so that it fits into JSON and cannot steer a terminal. What is neither is spelled out, \x1b for an
 * escape.
 */
#ifndef RUNGS_TEXT_H
#define RUNGS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

bool text_is_plain(const char *text);
/* Appends as much of `more`, made plain, as fits into text[size]; never half a character. */
void text_append_plain(char *text, size_t size, const char *more);
/* A plain copy, all of it, to be freed; NULL when there is no memory. */
char *text_plain_copy(const char *text);
/* Makes what is in text[size] plain; the end may get lost. */
void text_make_plain(char *text, size_t size);

#endif
