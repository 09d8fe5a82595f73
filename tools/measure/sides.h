/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sides: contexts that cases share, one for each combination of engine, devices, machine and so on,
 * each with its matrices and its peer. The first side lends its host memory to the others, so that
 * it is filled and pinned once.
 */
#ifndef TESSERA_MEASURE_SIDES_H
#define TESSERA_MEASURE_SIDES_H

#include "case.h"

enum { BENCH_SIDES = 8, BENCH_RATES = 32 };

typedef struct bench_side {
  const bench_line *line; /* the first case that it serves */
  tsr_context *context;
  bench_store store;
  const char *memory; /* the budgets that are set; NULL: the default */
  double rate;        /* flops/s that each of its devices sustains on this data; 0: not known */
  bool busy;          /* it serves a case that is being measured */
  bench_peer *peer;   /* the last case's peer; NULL: none, or it cannot be used here */
  const char *peer_name;
} bench_side;

typedef struct bench_sides {
  const bench_line *lines; /* all cases; cases of one type should follow each other */
  int count;
  double rate_seconds; /* s for which rates are measured; 0: they are not measured */
  bench_side side[BENCH_SIDES];
  struct {
    const bench_line *line;
    double rate;
  } rates[BENCH_RATES];
  int rate_count;
} bench_sides;

/* Prepares for measuring lines[first] to lines[behind - 1], which have one type: sides that serve
 * none of them free their device memory. */
void bench_sides_turn_to(bench_sides *s, int first, int behind);

/* *side: the side of lines[index], opened if it is new, with that case's budgets. The exit code. */
int bench_sides_get(bench_sides *s, int index, bench_side **side);

void bench_sides_close(bench_sides *s);

/* The line's peer on the side's devices, which the side owns; NULL: the line has none, or (after a
 * note on stderr the first time) it cannot be used here. */
bench_peer *bench_side_peer(bench_side *side, const bench_line *line);

/* The mean rate [flops/s] at which each of the line's devices computes products of its type while
 * all of them work, on full-mantissa data in device memory. They work for `seconds` s, of which the
 * second half counts. 0: it cannot be measured. */
double bench_sustained_rate(const bench_line *line, double seconds);

#endif
