/* How a case is measured: cold and warm calls, a peer in turn, and the floor at this run's rate. */
#ifndef TESSERA_BENCH_MEASURE_H
#define TESSERA_BENCH_MEASURE_H

#include "bench_rows.h"

enum { BENCH_MOST_REPEATS = 1000 };

typedef struct bench_effort {
  int64_t repeat;      /* warm calls, of which the median counts */
  int64_t peer_repeat; /* calls of the peer */
} bench_effort;

/* The rate, flops/s, at which each of so many devices (the first ones; 0: one) does this kind's
 * kernels while all of them work, on this data: for so many seconds, of which the second half
 * counts. The mean; 0 when it cannot be told. Contexts of its own. */
double bench_sustained_rate(const bench_kind *kind, const settings *given, int devices,
                            double seconds);

/* Says so: "kernels on this data: 52.1 TFLOP/s, held by each of 4 devices for 2 s". */
void bench_print_rate(double rate, int devices, double seconds);

/* Measures into a row whose type, shape, home and devices are set. peer may be NULL; rate may be
 * 0. Checks the result. */
int bench_measure(const bench_effort *effort, const bench_case *c, const char *peer_name,
                  peer_library *peer, double rate, bench_row *row);

/* What calls have done over time since tsr_timeline_begin, for Perfetto. */
int bench_write_timeline(tsr_context *context, const char *path);

/* Fills what the context's last plan says; the floor is that for kernels of the rate (0: the
 * machine's). */
void bench_fill_prediction(tsr_context *context, double rate, bench_row *row);

#endif
