/*
 * stb.c: the one file that compiles the stb libraries (Debian: libstb-dev). Only the formats that image_io.h promises
 * are built in: stb's detection of TGA accepts nearly any bytes, and PNM is read by pnm.c, which reports cut files.
 */

/* stb shifts signed numbers out of their range (the JPEG writer's bit buffer, the reader's sign extension), which C
 * leaves undefined: let them wrap, as stb expects. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#else
#pragma GCC optimize("wrapv")
#endif

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include "common/stb.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
