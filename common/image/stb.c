/*
 * stb.c: the one file that compiles the stb libraries (Debian: libstb-dev). Of its readers those of PNG and
 * JPEG are built in: its detection of TGA accepts nearly any bytes, and BMP and PNM are read by bmp.c and pnm.c.
 */

/* stb shifts signed numbers out of their range (the JPEG writer's bit buffer, the reader's sign extension), which C
 * leaves undefined: let them wrap, as stb expects. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#else
#pragma GCC optimize("wrapv")
#endif

/* A damaged JPEG may use tables that it never defines: all zero they decode to a flat picture, while what malloc() left
 * in them leads stb's decoder out of its arrays. */
#include <stdlib.h>
#define STBI_MALLOC(size)           calloc(1, size)
#define STBI_REALLOC(pointer, size) realloc(pointer, size)
#define STBI_FREE(pointer)          free(pointer)

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include "common/image/stb.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
