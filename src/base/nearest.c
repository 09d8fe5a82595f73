/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Misspelt words: the nearest of those that are known. */
#include <stdbool.h>
#include <string.h>

#include "tessera_model.h"

/* Edits that a misspelling may have: fewer than half of the word's letters, and at most three. */
enum { LONGEST_NAME = 48, MOST_EDITS = 3 };

static int least_of_three(int a, int b, int c) {
  int least = a < b ? a : b;
  return least < c ? least : c;
}

/* Whether the letters before a and b are the same two in the other order ("LGO" and "LOG"). */
static bool are_exchanged(const char *a, const char *b) {
  return a[-1] == b[-2] && a[-2] == b[-1];
}

/* The number of edits from a to b: a letter that is added, missing or another one, or two
 * neighbours that are exchanged. b is cut at LONGEST_NAME letters, which no name exceeds. */
static int edit_distance(const char *a, const char *b) {
  int before[LONGEST_NAME + 1] = {0}, above[LONGEST_NAME + 1] = {0}, row[LONGEST_NAME + 1] = {0};
  int length = (int)strnlen(b, LONGEST_NAME);
  for (int j = 0; j <= length; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    memcpy(before, above, sizeof before);
    memcpy(above, row, sizeof above);
    row[0] = i;
    for (int j = 1; j <= length; j++) {
      row[j] = least_of_three(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && are_exchanged(a + i, b + j) && before[j - 2] + 1 < row[j])
        row[j] = before[j - 2] + 1;
    }
  }
  return row[length];
}

const char *tsr_word_nearest(const char *word, const char *const *words) {
  const char *nearest = NULL;
  int least = (int)strnlen(word, LONGEST_NAME) / 2 + 1;
  if (least > MOST_EDITS + 1) least = MOST_EDITS + 1;
  for (; *words != NULL; words++) {
    int distance = edit_distance(word, *words);
    if (distance >= least) continue;
    least = distance;
    nearest = *words;
  }
  return nearest;
}
