/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * First guesses at slices: k cut over the devices, for a product whose C is small beside A and B.
 * Each element of A and B then goes to one device, where panels send all of A or B to every device.
 */
#include <math.h>

#include "plan/search/search.h"

bool tsr_slices_may_help(const tsr_search *s, int devices) {
  const tsr_call *call = s->call;
  double m = (double)call->m, n = (double)call->n, k = (double)call->k;
  return s->kinds >> TSR_SLICES & 1 && s->options->tile == 0 && devices > 1 &&
         devices * m * n < k * (m + n);
}

/* How much of k one copy has: its part of the longer of A and B is as large as a copy should be. */
static int64_t k_of_a_copy(const tsr_call *call, int64_t piece) {
  double size = (double)tsr_type_get(call->type)->size;
  double longer = (double)(call->m > call->n ? call->m : call->n);
  return tsr_guess_of((double)piece / (longer * size), TSR_TUNE_SLICES_K);
}

tsr_strategy tsr_slices_guess(const tsr_search *s, int devices) {
  tsr_strategy strategy = tsr_panels_guess(s, devices);
  int64_t k = k_of_a_copy(s->call, strategy.piece);
  return (tsr_strategy){.kind = TSR_SLICES,
                        .grid_rows = 1,
                        .grid_cols = devices,
                        .home_share = tsr_panels_guess_share(s, devices, true),
                        .k_panel = k,
                        .k_panel_most = k * TSR_TUNE_SLICES_GROWTH,
                        .lazy = true,
                        .add_at_home = strategy.add_at_home,
                        .piece = strategy.piece,
                        .relay = true};
}
