/* What benchmarks are told in words: lists of shapes, of numbers of devices, of homes. */
#ifndef TESSERA_BENCH_SHAPES_H
#define TESSERA_BENCH_SHAPES_H

#include "bench_store.h"

enum { BENCH_MOST_COUNTS = 16 };

/* "4096,8192": squares. "8192x8192x1024,...": others. How many, or -1 after a message. */
int bench_parse_squares(const char *text, bench_shape *shapes, int room);
int bench_parse_shapes(const char *text, bench_shape *shapes, int room);

/* "1,2,4": numbers of devices, 1 or more each. How many, or -1 after a message. */
int bench_parse_counts(const char *text, int64_t counts[BENCH_MOST_COUNTS]);

typedef struct bench_home {
  char text[24]; /* "h,h,0" */
  home homes[3];
} bench_home;

/* "h,h,h;0,0,0". How many, or -1 after a message. */
int bench_parse_homes(const char *text, bench_home *homes, int room);

/* The home on this machine: device d is device d modulo devices. */
bench_home bench_real_home(const bench_home *asked, int devices);

#endif
