/*
 * Predicted weak scaling: products of growing extent on grids of one machine's processes, by
 * replaying schedules. No process, no device and no data.
 */
#ifndef TESSERA_PGEMM_PREDICT_H
#define TESSERA_PGEMM_PREDICT_H

#include "pgemm.h"

enum { PREDICT_GRIDS = 16, PREDICT_VALUES = 8 };

typedef struct predict_request {
  tsr_type type;
  int64_t grids[PREDICT_GRIDS][2];
  int grid_count;
  int64_t lookaheads[PREDICT_VALUES];
  int lookahead_count;
  double networks[PREDICT_VALUES]; /* GB/s; 0: as the machine says */
  int network_count;
  int64_t tile;   /* blocks in which matrices are dealt; depth and blocks of C are multiples */
  int64_t least;  /* extent to begin with */
  int64_t points; /* extents of each grid, about */
  size_t memory;  /* host memory of a process, bytes */
  bool paper;     /* cut as Herault et al. do; else by the model */
  double peak;    /* TFLOP/s of a device; 0: by the machine */
  const char *csv, *plot;
  settings settings;
} predict_request;

typedef struct predict_row {
  double network; /* GB/s */
  int grid;       /* of the request's */
  int64_t lookahead, n;
  tsr_pprediction p;
  double rate;  /* TFLOP/s of a device */
  double share; /* of the peak */
} predict_row;

int predict_run(const predict_request *request);

/* predict_rows.c */
void predict_print_head(const predict_request *request);
void predict_print(const predict_request *request, const predict_row *row);
int predict_write_csv(const predict_request *request, const predict_row *rows, int count);
int predict_write_plot(const predict_request *request, const predict_row *rows, int count);
/* For each grid, network and lookahead: the last point, and what changes at several blocks of C. */
void predict_print_summary(const predict_request *request, const predict_row *rows, int count);

#endif
