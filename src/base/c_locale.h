/*
 * Text and numbers as in the C locale: the program may have chosen one whose decimal point is a
 * comma.
 */
#ifndef TSR_BASE_C_LOCALE_H
#define TSR_BASE_C_LOCALE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* A function whose argument f is a format, for the arguments from a on. */
#if defined(__GNUC__)
#define TSR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define TSR_PRINTF(f, a)
#endif

/* vsnprintf. */
int tsr_c_format(char *to, size_t room, const char *format, va_list args);

/* strtod of a number that is finite and decimal. *end is behind it, or at text when there is none.
 */
bool tsr_c_number(const char *text, const char **end, double *value);

#endif
