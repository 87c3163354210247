/*
 * c_alone.h: what comes before a student's .c file. What copies in instructions that the compiler puts in the place of
 * a call is no access that anybody sees (common/remote/races.c): the C library's functions are called, and the
 * compiler's own names of them do not compile. Debian's own gcc takes them as they are, Ubuntu's defines
 * _FORTIFY_SOURCE, whose headers name them: it is undefined for this file.
 */
#ifndef RUNGS_C_ALONE_H
#define RUNGS_C_ALONE_H

#include <sched.h> /* whose macros name one */

#pragma GCC poison __builtin_memcpy __builtin_memmove __builtin_memset __builtin_mempcpy __builtin_bcopy __builtin_bzero
#pragma GCC poison __builtin___memcpy_chk __builtin___memmove_chk __builtin___memset_chk __builtin___mempcpy_chk
#pragma GCC poison __builtin_strcpy __builtin_strncpy __builtin_stpcpy __builtin_stpncpy __builtin_strcat              \
    __builtin_strncat

#endif
