/*
 * The tile size of Choi, Nikolskiy and Stegailov, "Tuning of a matrix-matrix multiplication
 * algorithm for several GPUs connected by fast communication links": a closed formula, from figures
 * of the machine alone, for data that is on devices. Ours is found by replaying plans; this one is
 * there to be compared with (bench/tiles.py --model choi).
 *
 * Their figures are for elements of 4 bytes and 2 flops; here both are the type's.
 */
#ifndef TSR_PLAN_MODEL_CHOI_H
#define TSR_PLAN_MODEL_CHOI_H

#include "machine/machine.h"

/* What the formula sees of a machine: their Table 1. */
typedef struct tsr_choi_figures {
  double math;     /* BW_math: flops/s of one device, at best */
  double memory;   /* BW_mem: bytes/s of a device's memory */
  double transfer; /* BW_transfer: bytes/s of a link between two devices, the slowest */
} tsr_choi_figures;

/* Bounds that the extent of a tile, N_i, must exceed. */
typedef struct tsr_choi_bounds {
  double intense; /* equation 4: kernels are bound by arithmetic; infinite: no tile's are */
  double math;    /* equation 12: such a kernel covers the transfers */
  double memory;  /* equation 13: a kernel that is bound by memory does; may be negative */
} tsr_choi_bounds;

/* The figures of the first devices of a machine. TSR_ERR_MACHINE when it lacks one. */
tsr_status tsr_choi_read(const tsr_machine *machine, tsr_type type, int devices,
                         tsr_choi_figures *figures);

/* n: the inner extent of the products, their N. */
tsr_choi_bounds tsr_choi_limit(const tsr_choi_figures *figures, tsr_type type, int64_t n,
                               int devices);

/* The least power of two above the bounds that apply: 4 and 12, or 13 alone where even a tile of
 * extent n is bound by memory. It does not depend on n otherwise, and may exceed it. */
int64_t tsr_choi_tile(const tsr_choi_bounds *bounds, int64_t n);

#endif
