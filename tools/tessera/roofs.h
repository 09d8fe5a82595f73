/* What a machine's rates allow at most, for roofline charts; from the machine as it is printed. */
#ifndef TESSERA_ROOFS_H
#define TESSERA_ROOFS_H

#include "tool.h"

/* A machine as it was printed. */
typedef struct roofs_machine roofs_machine;

int roofs_open(tsr_context *context, roofs_machine **machine);
void roofs_close(roofs_machine *machine);

int roofs_devices(const roofs_machine *machine);

typedef struct roofs {
  int devices;
  double kernels; /* flops/s that all devices sustain */
  double memory;  /* bytes/s of all devices' memories */
  double host;    /* roofs_host_rate of what a square C = A B + C moves: 3 in for each out */
  double fabric;  /* bytes/s that device 0 sends to the others alike; 0: one device, or no links */
} roofs;

/* The roofs of the first so many devices; more than there are is an error. */
int roofs_find(const roofs_machine *machine, tsr_type type, int devices, roofs *found);

/* Bytes/s between host memory and all devices alike, in both directions together, when in is the
 * share of those that go to the devices. */
double roofs_host_rate(const roofs_machine *machine, int devices, double in);

#endif
