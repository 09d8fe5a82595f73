/* Points of data sets: a shape, and where the operands are. */
#ifndef TESSERA_BENCH_POINTS_H
#define TESSERA_BENCH_POINTS_H

#include "bench_shapes.h"

enum { BENCH_MOST_HOMES = 16 };

/* Extents of the regular data set when none are named, and placements. */
#define BENCH_REGULAR_N "4096,8192,12288,16384,20480,24576,28672,32768"
#define BENCH_REGULAR_HOMES "h,h,h;0,0,0"

/* Of the irregular one (Anastasiadis et al., "Uncut-GEMMs", section IV-E). */
#define BENCH_FAT "16384,20480,24576,28672,32768,36864,40960"
#define BENCH_THIN "5120,6144,7168,8192,9216,10240,11264"
#define BENCH_RATIO "4,8,16"
#define BENCH_IRREGULAR_HOMES "h,h,h;0,0,0;3,2,h;h,h,0;3,2,1"

typedef struct bench_point {
  bench_shape shape;
  bench_home asked;
} bench_point;

typedef struct bench_points {
  bench_point *items; /* to be freed */
  int count;
  bench_home home[BENCH_MOST_HOMES];
  int home_count;
} bench_points;

/* What the options of the irregular set say. */
typedef struct bench_irregular_words {
  const char *fat, *thin, *ratio;
} bench_irregular_words;

/* Squares of the extents n, home by home; an exit code. */
int bench_points_squares(const char *n, const char *homes, bench_points *points);

/* Products with M = N and a K that is so many times smaller (fat), or larger (thin), home by home,
 * first all that are fat. */
int bench_points_irregular(const bench_irregular_words *words, const char *homes,
                           bench_points *points);

#endif
