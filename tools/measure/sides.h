/*
 * Contexts for cases, one for each way of opening one (engine, devices, machine and so on), with
 * the matrices that are in use there. The first one lends its host memory to the others, so that it
 * is filled and pinned once.
 */
#ifndef TESSERA_MEASURE_SIDES_H
#define TESSERA_MEASURE_SIDES_H

#include "case.h"

enum { BENCH_SIDES = 8, BENCH_RATES = 32 };

typedef struct bench_side {
  const bench_line *line; /* the first one of those that it serves */
  tsr_context *context;
  bench_store store;
  const char *memory; /* the budget that is set; NULL: none */
  double rate;        /* flops/s that each of its devices sustains on this data; 0: not known */
  bool busy;          /* it serves a case at hand */
  bench_peer *peer;   /* that was asked for last; NULL: none, or it cannot be used here */
  const char *peer_name;
} bench_side;

typedef struct bench_sides {
  const bench_line *lines; /* all cases; those of one type follow one another */
  int count;
  double rate_seconds; /* devices are held at work for so long; 0: rates are not measured */
  bench_side side[BENCH_SIDES];
  struct {
    const bench_line *line;
    double rate;
  } rates[BENCH_RATES];
  int rate_count;
} bench_sides;

/* The cases at hand are lines[first] up to behind, of one type: sides that serve none of them make
 * room. */
void bench_sides_turn_to(bench_sides *s, int first, int behind);

/* The side of lines[index], opened when it is new, with the line's budget. */
int bench_sides_get(bench_sides *s, int index, bench_side **side);

void bench_sides_close(bench_sides *s);

/* The peer that the line asks for, for the side's devices; NULL, with a note the first time, when
 * there is none. */
bench_peer *bench_side_peer(bench_side *side, const bench_line *line);

/* flops/s at which each of the line's devices does products of its type while all of them work, on
 * full-mantissa data of its own: for so many seconds, of which the second half counts. The mean; 0
 * when it cannot be told. */
double bench_sustained_rate(const bench_line *line, double seconds);

#endif
