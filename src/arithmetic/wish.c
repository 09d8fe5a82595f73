/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "arithmetic/wish.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic/residue_lines.h"
#include "base/c_locale.h"

/* Reads a number between 0 and 1, without the ends. */
static bool read_accuracy(const char *text, double *accuracy) {
  const char *end;
  double value;
  if (!tsr_c_number(text, &end, &value) || *end != '\0' || value <= 0 || value >= 1) return false;
  *accuracy = value;
  return true;
}

/* Reads the number behind "emulated:" or "auto:". Only emulated products have a number of moduli:
 * which way is faster means something only if both promise the same. */
static bool read_number(const char *number, tsr_arithmetic_wish *arithmetic) {
  char *end;
  if (read_accuracy(number, &arithmetic->accuracy)) return true;
  if (arithmetic->kind != TSR_EMULATED || !isdigit((unsigned char)*number)) return false;
  long moduli = strtol(number, &end, 10);
  if (*end != '\0' || moduli < TSR_MODULI_LEAST || moduli > TSR_MODULI_MOST) return false;
  arithmetic->products = tsr_residues_of((int)moduli);
  return true;
}

static const char *const arithmetic_words[] = {
    [TSR_NATIVE] = "native", [TSR_EMULATED] = "emulated", [TSR_FASTER] = "auto"};

static bool read_arithmetic(const char *text, tsr_arithmetic_wish *arithmetic) {
  for (int kind = TSR_NATIVE; kind <= TSR_FASTER; kind++) {
    size_t length = strlen(arithmetic_words[kind]);
    if (strncmp(text, arithmetic_words[kind], length) != 0) continue;
    *arithmetic = (tsr_arithmetic_wish){.kind = (tsr_arithmetic_kind)kind};
    if (text[length] == '\0') return true;
    return text[length] == ':' && kind != TSR_NATIVE && read_number(text + length + 1, arithmetic);
  }
  return false;
}

tsr_status tsr_parse_arithmetic(const char *what, const char *text,
                                tsr_arithmetic_wish *arithmetic) {
  tsr_arithmetic_wish read = {.kind = TSR_NATIVE};
  if (text != NULL && !read_arithmetic(text, &read))
    return tsr_fail(
        TSR_ERR_ARGUMENT,
        "%s is \"%s\"; give native, emulated, auto, emulated:M with %d to %d moduli, or "
        "emulated:X or auto:X with an accuracy X below 1, such as 1e-10",
        what, text, TSR_MODULI_LEAST, TSR_MODULI_MOST);
  *arithmetic = read;
  return TSR_OK;
}

static void format(char *to, const char *form, ...) {
  va_list args;
  va_start(args, form);
  (void)tsr_c_format(to, TSR_ARITHMETIC_TEXT, form, args);
  va_end(args);
}

void tsr_arithmetic_print(const tsr_arithmetic_wish *arithmetic, char text[TSR_ARITHMETIC_TEXT]) {
  const char *word = arithmetic_words[arithmetic->kind];
  if (arithmetic->products != NULL)
    format(text, "%s:%d", word, arithmetic->products->number);
  else if (arithmetic->accuracy > 0)
    format(text, "%s:%.17g", word, arithmetic->accuracy);
  else
    format(text, "%s", word);
}
