#include "common/core/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of the plain character that `c` begins with; 0 when it is a control character or no UTF-8. */
static size_t plain_length(const char *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*c;
    const size_t length = first < 0x80   ? 1
                          : first < 0xc0 ? 0
                          : first < 0xe0 ? 2
                          : first < 0xf0 ? 3
                          : first < 0xf8 ? 4
                                         : 0;
    uint32_t code = length == 1 ? first : first & (0x7fu >> length);

    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)c[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | ((unsigned char)c[i] & 0x3f);
    }
    /* C0, DEL and C1; spellings that are too long; surrogates. */
    if (length == 0 || code < ' ' || (code >= 0x7f && code < 0xa0) || code < least[length] || code > 0x10ffff ||
        (code >= 0xd800 && code < 0xe000))
        return 0;
    return length;
}

bool text_is_plain(const char *text)
{
    for (size_t length; *text; text += length) {
        length = plain_length(text);
        if (length == 0)
            return false;
    }
    return true;
}

void text_append_plain(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);

    while (*more) {
        const size_t length = plain_length(more), room = length ? length : 4;
        char spelled[5];

        if (used + room >= size)
            break;
        snprintf(spelled, sizeof spelled, "\\x%02x", (unsigned)(unsigned char)*more);
        memcpy(text + used, length ? more : spelled, room);
        used += room;
        more += length ? length : 1;
    }
    text[used] = '\0';
}

char *text_plain_copy(const char *text)
{
    const size_t size = 4 * strlen(text) + 1;
    char *copy = calloc(size, 1);

    if (copy)
        text_append_plain(copy, size, text);
    return copy;
}

void text_make_plain(char *text, size_t size)
{
    char *copy = text_is_plain(text) ? NULL : text_plain_copy(text);

    if (copy) {
        text[0] = '\0';
        text_append_plain(text, size, copy);
        free(copy);
    }
}
