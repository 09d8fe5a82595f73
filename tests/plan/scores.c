/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the planner predicts of the calls that benchmarks are made of, as CSV: a call (golden_call.h
 * says how it is written), its predicted seconds, its floor, and how many candidates were tried.
 * Predictions and candidates are the same on every computer; compare_scores.py compares two files.
 *
 *   plan_scores [full]      full: every candidate is tried, however long the search takes
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/golden_call.h"

enum { MOST_LINE = 200 };

static const char *extra = "";

static void score(const char *line) {
  golden_call call;
  tsr_plan *plan = NULL;
  char whole[MOST_LINE];
  snprintf(whole, sizeof whole, "%s%s", line, extra);
  golden_call_read(whole, &call);
  if (tsr_plan_make(call.machine, &call.call, &call.options, &plan) != TSR_OK)
    golden_wrong("%s: %s", line, tsr_message());
  printf("\"%s\",%.6g,%.6g,%d\n", line, plan->seconds, plan->floor, plan->candidates);
  tsr_plan_free(plan);
  golden_call_free(&call);
}

/* ---- The lists ------------------------------------------------------------ */

static const char *const machines[] = {"h200x1", "h200x2", "h200x4", "h200x8", "a100x8", "pairs"};
enum { MACHINES = sizeof machines / sizeof *machines };

/* Homes of devices that the machine does not have are left out. */
static bool has_homes(const char *machine, const char *homes) {
  int devices = atoi(strchr(machine, 'x') != NULL ? strchr(machine, 'x') + 1 : "8");
  for (; *homes != '\0'; homes++)
    if (*homes >= '0' && *homes <= '9' && *homes - '0' >= devices) return false;
  return true;
}

/* As bench/rates.py has them, and in mixed places. */
static void score_regular(void) {
  static const char *const homes[] = {"ppp", "000", "01p"};
  char line[MOST_LINE];
  for (int m = 0; m < MACHINES; m++)
    for (size_t h = 0; h < sizeof homes / sizeof *homes; h++)
      for (int wide = 0; wide < 2 && has_homes(machines[m], homes[h]); wide++)
        for (int64_t n = 4096; n <= 32768; n += 4096) {
          snprintf(line, sizeof line, "%s %cgemm NN %" PRId64 "x%" PRId64 "x%" PRId64 " %s beta=1",
                   machines[m], wide ? 'd' : 's', n, n, n, homes[h]);
          score(line);
        }
}

/* The other operations. */
static void score_level3(void) {
  static const struct {
    const char *call, *homes[3];
  } calls[] = {{"dtrsm LLNN", {"p-p", "0-0", "0-p"}}, {"dtrsm RUTN", {"p-p", "0-0", "p-0"}},
               {"dtrmm LLNN", {"p-p", "0-0", "0-p"}}, {"dsymm LL", {"ppp", "000", "0pp"}},
               {"dsyrk LN", {"p-p", "0-0", "0-p"}},   {"dsyr2k LN", {"ppp", "000", "01p"}},
               {"zhemm RU", {"ppp", "000", "0pp"}},   {"zherk UC", {"p-p", "0-0", "0-p"}}};
  char line[MOST_LINE];
  for (int m = 0; m < MACHINES; m++)
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
      for (int h = 0; h < 3; h++)
        for (int64_t n = 8192; n <= 16384 && has_homes(machines[m], calls[c].homes[h]); n *= 2) {
          snprintf(line, sizeof line, "%s %s %" PRId64 "x%" PRId64 " %s beta=1", machines[m],
                   calls[c].call, n, n, calls[c].homes[h]);
          score(line);
        }
}

/* A sample of what bench/irregular.py has. */
static void score_irregular(void) {
  enum { EXTENTS = 7, RATIOS = 3, HOMES = 5, POINTS = 2 * EXTENTS * RATIOS * HOMES, SAMPLE = 42 };
  static const char *const homes[HOMES] = {"ppp", "000", "32p", "pp0", "321"};
  enum { STEP = 53 }; /* without a divisor in common with POINTS */
  char line[MOST_LINE];
  for (int i = 0; i < SAMPLE; i++) {
    int at = i * STEP % POINTS, fat = at % 2, extent = at / 2 % EXTENTS,
        ratio = at / 2 / EXTENTS % RATIOS, home = at / 2 / EXTENTS / RATIOS;
    int64_t n = fat ? 16384 + 4096 * extent : 5120 + 1024 * extent;
    int64_t k = fat ? n / (4 << ratio) : n * (4 << ratio);
    snprintf(line, sizeof line, "h200x4 dgemm NN %" PRId64 "x%" PRId64 "x%" PRId64 " %s beta=1", n,
             n, k, homes[home]);
    score(line);
  }
}

int main(int argc, char **argv) {
  if (argc > 2 || (argc == 2 && strcmp(argv[1], "full") != 0)) {
    fprintf(stderr, "usage: %s [full]\nTESSERA_SOURCE_DIR is the folder of the sources.\n",
            argv[0]);
    return 2;
  }
  if (argc == 2) extra = " full";
  printf("call,seconds,floor,candidates\n");
  score_regular();
  score_level3();
  score_irregular();
  return 0;
}
