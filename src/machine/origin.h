/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Where the figures of a machine come from, in words. */
#ifndef TSR_MACHINE_ORIGIN_H
#define TSR_MACHINE_ORIGIN_H

#include "machine/machine.h"

/* "measured", "data sheet", ...; files have the same words. "": unknown. */
const char *tsr_origin_name(tsr_origin origin);
/* The origin of that name; TSR_ORIGINS: there is none. */
tsr_origin tsr_origin_find(const char *name);

/* The figure's field in files: "kernels", "links", ... */
const char *tsr_figure_key(tsr_figure figure);
/* The figure for people: "host links". */
const char *tsr_figure_name(tsr_figure figure);

/* Whether nobody has measured a figure of that origin. */
static inline bool tsr_origin_is_estimate(tsr_origin origin) {
  return origin >= TSR_ORIGIN_EXTRAPOLATED && origin < TSR_ORIGINS;
}

/* The origin of the kernels of a type. */
tsr_origin tsr_origin_of_kernels(const tsr_machine *machine, tsr_type type);

/* Whether a file has to say origins. */
bool tsr_origins_are_known(const tsr_origins *origins);

/* Gives all figures one origin. */
void tsr_origins_set(tsr_origins *origins, tsr_origin origin);

/* Appends "measured: kernels, host links; extrapolated: host memory"; nothing if all is unknown. */
void tsr_origins_print(const tsr_machine *machine, tsr_text *text);

#endif
