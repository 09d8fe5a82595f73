/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Formatting and parsing as in the C locale. The program may have chosen a locale whose decimal
 * point is a comma.
 */
#ifndef TSR_BASE_C_LOCALE_H
#define TSR_BASE_C_LOCALE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Lets the compiler check the calls of a function like printf: parameter f is the format, parameter
 * a the first value. */
#if defined(__GNUC__)
#define TSR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define TSR_PRINTF(f, a)
#endif

/* As vsnprintf, in the C locale. When it fails, `to` becomes the empty string. */
int tsr_c_format(char *to, size_t room, const char *format, va_list args);

/* Reads the finite decimal number that text begins with. *end: the character after the number.
 * False: text does not begin with such a number; *end is text, and *value stays as it was. */
bool tsr_c_number(const char *text, const char **end, double *value);

#endif
