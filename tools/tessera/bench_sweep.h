/* Cases of one or more kinds over shapes and numbers of devices: measured, printed and written. */
#ifndef TESSERA_BENCH_SWEEP_H
#define TESSERA_BENCH_SWEEP_H

#include "bench_measure.h"
#include "bench_shapes.h"

enum { BENCH_MOST_SHAPES = 64 };

typedef struct bench_sweep {
  bench_kind kinds[TSR_OPERATION_COUNT]; /* of one type */
  int kind_count;
  bench_shape shapes[BENCH_MOST_SHAPES];
  int shape_count;
  int64_t counts[BENCH_MOST_COUNTS]; /* of devices; 0: as the model says */
  int count_count;
  bench_effort effort;
  double rate_seconds;
  const char *home, *peer, *csv, *plot, *timeline; /* peer NULL: none */
  bool json, named;                                /* rows begin with the operation's name */
  settings settings;
} bench_sweep;

/* Rows of an option table; devices is the address of the text. */
#define BENCH_SWEEP_HOME(s)                                             \
  {                                                                     \
    "home", 0, OPTION_TEXT, &(s)->home, "h,h,h",                        \
        "where A,B,C are: h pinned host, u pageable host, 0.. a device" \
  }
#define BENCH_SWEEP_DEVICES(devices) \
  { "devices", 0, OPTION_TEXT, devices, "N,...", "numbers of devices (default: by model)" }
#define BENCH_SWEEP_REPEAT(s)                            \
  {                                                      \
    "repeat", 0, OPTION_WHOLE, &(s)->effort.repeat, "N", \
        "warm calls, of which the median counts (10)"    \
  }
#define BENCH_SWEEP_RATE(s)                                                                    \
  {                                                                                            \
    "rate-seconds", 0, OPTION_NUMBER, &(s)->rate_seconds, "S",                                 \
        "hold devices at work so long for the floor's rate on this data (2; 0: the machine's)" \
  }
#define BENCH_SWEEP_CSV(s) \
  { "csv", 0, OPTION_TEXT, &(s)->csv, "FILE", "write the results as CSV" }
#define BENCH_SWEEP_PLOT(s) \
  { "plot", 0, OPTION_TEXT, &(s)->plot, "FILE.svg", "draw them" }
#define BENCH_SWEEP_TIMELINE(s)                                           \
  {                                                                       \
    "timeline", 0, OPTION_TEXT, &(s)->timeline, "FILE.json",              \
        "what one more call of the last case did over time, for Perfetto" \
  }
#define BENCH_SWEEP_JSON(s) \
  { "json", 0, OPTION_FLAG, &(s)->json, NULL, "print for programs instead of the table" }

/* What is used when it is not said. */
void bench_sweep_begin(bench_sweep *s);

/* Reads homes and numbers of devices (NULL: as the model says); checks what was asked for. */
int bench_sweep_interpret(bench_sweep *s, const char *devices);

int bench_sweep_run(const bench_sweep *s);

#endif
