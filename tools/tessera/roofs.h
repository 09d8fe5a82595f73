/* What a machine's rates allow at most, for roofline charts; from the machine as it is printed. */
#ifndef TESSERA_ROOFS_H
#define TESSERA_ROOFS_H

#include "tool.h"

typedef struct roofs {
  int devices;
  double kernels; /* flops/s that all devices sustain */
  double memory;  /* bytes/s of all devices' memories */
  double host;    /* bytes/s between host memory and all devices alike, 3 in for each out (what
                     C = A B + C moves when it is square) */
  double fabric;  /* bytes/s that leave and enter device 0, when it is home to a square product that
                     all devices share; 0: one device, or no links */
} roofs;

/* The roofs of the first so many devices; more than there are is an error. */
int roofs_find(tsr_context *context, tsr_type type, int devices, roofs *found);

/* The share of C that the other devices do, and the least share of A and of B that they touch. */
double roofs_others_output(int devices);
double roofs_others_input(int devices);

#endif
