/*
 * stb.h: the stb headers with the settings that every file using them must share.
 */
#ifndef RUNGS_STB_H
#define RUNGS_STB_H

#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_WRITE_NO_STDIO
#if defined(__ARM_NEON)
#define STBI_NEON
#endif

/* With version 2 of the resizer came a new name and a new interface; Debian 12 has only the old one. */
#if __has_include(<stb/stb_image_resize2.h>)
#define RUNGS_STB_RESIZE2 1
#else
#define RUNGS_STB_RESIZE2 0
#endif

#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#if RUNGS_STB_RESIZE2
#include <stb/stb_image_resize2.h>
#else
#include <stb/stb_image_resize.h>
#endif

#endif
