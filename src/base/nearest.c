/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Misspelt words: the nearest of those that are known. */
#include <string.h>

#include "tessera_model.h"

/* Edits that a misspelling may have: fewer than half of the word's letters, and at most three. */
enum { LONGEST_NAME = 48, MOST_EDITS = 3 };

static int least_of_three(int a, int b, int c) {
  int least = a < b ? a : b;
  return least < c ? least : c;
}

/* The number of edits from a to b. b is cut at LONGEST_NAME letters, which no name exceeds. */
static int edit_distance(const char *a, const char *b) {
  int row[LONGEST_NAME + 1];
  int length = (int)strnlen(b, LONGEST_NAME);
  for (int j = 0; j <= length; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= length; j++) {
      int above = row[j];
      row[j] = least_of_three(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
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
