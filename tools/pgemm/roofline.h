/* Measured products across processes under two roofs: what a process computes, and what the network
 * carries for it. */
#ifndef TESSERA_PGEMM_ROOFLINE_H
#define TESSERA_PGEMM_ROOFLINE_H

#include "pgemm.h"

typedef struct roofline_request {
  const char *from; /* CSV files of tessera bench pgemm, or of examples/summa.c */
  const char *plot;
  double peak;    /* GFLOP/s of a process; 0: by the machine */
  double network; /* GB/s; 0: by the machine */
  settings settings;
} roofline_request;

int roofline_run(const roofline_request *request);

#endif
