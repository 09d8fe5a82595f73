/*
 * A data set: points (a shape and a home each) on several numbers of devices, in as many runs as it
 * takes. Rows go to a CSV file one by one, so that a run may be stopped and taken up again.
 */
#ifndef TESSERA_BENCH_DATASET_H
#define TESSERA_BENCH_DATASET_H

#include "bench_measure.h"
#include "bench_points.h"

/* What the options say. */
typedef struct bench_dataset_words {
  const char *type, *devices, *shard;
} bench_dataset_words;

typedef struct bench_dataset {
  bench_kind kind; /* homes: those of the point at hand */
  bench_point *points;
  int point_count;
  int64_t counts[BENCH_MOST_COUNTS]; /* of devices; 0: the CPU */
  int count_count;
  int64_t shard, shards; /* of this run: points shard, shard + shards, ... */
  bench_effort effort;
  double rate_seconds, seconds; /* seconds: stop before; 0: never */
  const char *peer, *csv;
  bool resume, json;
  settings settings;
  bench_dataset_words words;

  bench_row *rows;                 /* of the points, count by count; median 0: not measured */
  int left;                        /* of this run's, when time ran out */
  double rates[BENCH_MOST_COUNTS]; /* as bench_sustained_rate, for each count */
  double begin, longest;
} bench_dataset;

/* Rows of an option table. */
#define DATASET_OPTIONS(d)                                                                          \
  {"type", 0, OPTION_TEXT, &(d)->words.type, "s|d|c|z|h|b|t", "element type (default: d)"},         \
      {"devices",           0,       OPTION_TEXT,                                                   \
       &(d)->words.devices, "N,...", "numbers of devices (default: those of 1,2,4 that are here)"}, \
      {"repeat",     0,                                                                             \
       OPTION_WHOLE, &(d)->effort.repeat,                                                           \
       "N",          "warm calls, of which the median counts (10)"},                                \
      {"peer",          0,                                                                          \
       OPTION_TEXT,     &(d)->peer,                                                                 \
       "cublasxt|none", "measure this too, in turn, when it is here (cublasxt)"},                   \
      {"peer-repeat", 0, OPTION_WHOLE, &(d)->effort.peer_repeat, "N", "calls of the peer (3)"},     \
      {"rate-seconds",                                                                              \
       0,                                                                                           \
       OPTION_NUMBER,                                                                               \
       &(d)->rate_seconds,                                                                          \
       "S",                                                                                         \
       "hold devices at work so long for the floor's rate on this data (2; 0: the machine's)"},     \
      {"csv", 0, OPTION_TEXT, &(d)->csv, "FILE", "add each result to this file as it comes"},       \
      {"resume",     0,    OPTION_FLAG,                                                             \
       &(d)->resume, NULL, "leave out what the file has; sum all of it up"},                        \
      {"shard", 0, OPTION_TEXT, &(d)->words.shard, "I/OF", "measure part I of OF parts (from 1)"},  \
      {"seconds",     0,   OPTION_NUMBER,                                                           \
       &(d)->seconds, "S", "stop in time to end within so long, between two points"},               \
      {"json", 0, OPTION_FLAG, &(d)->json, NULL, "print for programs instead of the table"},        \
      SETTINGS_ENGINE(&(d)->settings), SETTINGS_MACHINE(&(d)->settings),                            \
      SETTINGS_MEMORY(&(d)->settings)

/* Defaults, before the options are read. */
void bench_dataset_begin(bench_dataset *d);

/* What the words mean, after that. */
int bench_dataset_interpret(bench_dataset *d);

/* Measures and prints; rows that could be measured or read are in d->rows whatever it returns. The
 * points must be there; they are freed by bench_dataset_end. */
int bench_dataset_run(bench_dataset *d);
void bench_dataset_end(bench_dataset *d);

/* The row of a point on counts[count], or NULL. */
const bench_row *bench_dataset_row(const bench_dataset *d, int count, int point);

/* The rows that there are, one after the other, in memory to be freed; *count of them. */
bench_row *bench_dataset_rows(const bench_dataset *d, int *count);

/* Keeps a seeded sample of the points, in their order. */
void bench_dataset_sample(bench_dataset *d, int64_t size, uint64_t seed);

#endif
