/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/c_locale.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t c_locale(void) {
  static _Atomic(locale_t) kept;
  locale_t locale = atomic_load(&kept);
  if (locale != (locale_t)0) return locale;
  locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  atomic_store(&kept, locale);
  return locale;
}

int tsr_c_format(char *to, size_t room, const char *format, va_list args) {
  locale_t ours = c_locale(), users = uselocale(ours);
  int length = vsnprintf(to, room, format, args);
  uselocale(users);
  if (length < 0 && room > 0) to[0] = '\0';
  return length;
}

bool tsr_c_number(const char *text, const char **end, double *value) {
  *end = text;
  const char *digits = *text == '-' ? text + 1 : text;
  if (*digits == '.') digits++;
  /* strtod would also take "inf", "nan", blanks, a plus sign and hexadecimal numbers. */
  if (*digits < '0' || *digits > '9' || (digits[0] == '0' && (digits[1] | 32) == 'x')) return false;
  char *behind;
  double number = strtod_l(text, &behind, c_locale());
  if (behind == text || number - number != 0) return false;
  *end = behind;
  *value = number;
  return true;
}
