/*
 * A product done by forced words (tsr_set_strategy): predicted by replay and, where there are
 * matrices for it, timed.
 */
#ifndef TESSERA_BENCH_TRIAL_H
#define TESSERA_BENCH_TRIAL_H

#include "bench_case.h"

enum { BENCH_STRATEGY = 320 };

typedef struct bench_trial {
  char strategy[BENCH_STRATEGY]; /* "": nothing is forced */
  tsr_prediction prediction;
  double measured; /* s, median of warm calls; 0: not measured */
  bool good;       /* the sampled entries are right; true when nothing was run */
} bench_trial;

/* Plans with the trial's strategy in the context and fills in the prediction; with matrices (c is
 * not NULL) also runs: warm-up calls, then as many as repeat says. */
int bench_trial_run(tsr_context *context, const bench_kind *kind, bench_shape shape,
                    const bench_case *c, int repeat, bench_trial *trial);

/* Checks the result of the trial's strategy by sampled entries; runs it once more. */
int bench_trial_check(const bench_case *c, bench_trial *trial);

/* flops/s at that time, in units of 1e12. */
double bench_tera(tsr_type type, bench_shape shape, double seconds);

/* The most square grid of so many devices: rows x cols, rows the fewer. */
void bench_grid(int devices, int *rows, int *cols);

#endif
