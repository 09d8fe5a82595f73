/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/golden.h"

static bool explain(const char *program) {
  fprintf(stderr,
          "usage: %s [--write | --long | --scores | --list] [PART OF A NAME]\n"
          "Compares plans with their files in tests/plan/golden.\n"
          "  --write   write the files anew\n"
          "  --long    print the long forms, and what the digests are of, a command a line\n"
          "            (of two commits side by side: golden_between.py)\n"
          "  --scores  print the predicted times as CSV (compare_scores.py compares two)\n"
          "  --list    print the names of the cases\n"
          "TESSERA_SOURCE_DIR is the folder of the sources, else the one that this runs in.\n",
          program);
  return false;
}

bool golden_interpret(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    if (strcmp(word, "--write") == 0)
      golden_asked.mode = GOLDEN_WRITE;
    else if (strcmp(word, "--long") == 0)
      golden_asked.mode = GOLDEN_LONG;
    else if (strcmp(word, "--scores") == 0)
      golden_asked.mode = GOLDEN_SCORES;
    else if (strcmp(word, "--list") == 0)
      golden_asked.mode = GOLDEN_LIST;
    else if (*word == '-' || golden_asked.only != NULL)
      return explain(argv[0]);
    else
      golden_asked.only = word;
  }
  return true;
}
