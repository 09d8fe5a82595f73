/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * First guesses at bands, the algorithm of Choi, Nikolskiy and Stegailov ("Tuning of a
 * matrix-matrix multiplication algorithm for several GPUs connected by fast communication links"):
 * a device owns bands of rows of A, bands of columns of B go to all devices, and each pair of bands
 * makes one square tile of C in one kernel over all of k. C is added at its home at the end.
 */
#include "base/least.h"
#include "plan/model/choi.h"
#include "plan/search/search.h"

/* The extent of tiles by the paper's formula; by the shape alone if the machine lacks a rate that
 * the formula needs. At most m / devices, so that each device has a band of A. */
static int64_t guess_tile(const tsr_search *s, int devices) {
  const tsr_call *call = s->call;
  tsr_choi_figures figures;
  int64_t fixed = tsr_search_fixed_tile(s), tile = tsr_search_tile_by_shape(call);
  if (fixed > 0) return fixed;
  if (tsr_choi_read(s->machine, call->type, devices, &figures)) {
    tsr_choi_bounds bounds = tsr_choi_limit(&figures, call->type, call->k, devices);
    tile = tsr_choi_tile(&bounds, call->k);
  }
  int64_t most = tsr_least((call->m + devices - 1) / devices, call->n);
  return most > 0 ? tsr_least(tile, most) : tile;
}

bool tsr_bands_may_help(const tsr_search *s, int devices) {
  bool on_devices = true;
  if (tsr_call_has_form(s->call)) return s->kinds >> TSR_BANDS & 1;
  for (int x = 0; x < TSR_OPERANDS; x++)
    on_devices &= tsr_is_device(s->machine, s->call->operand[x].location);
  return on_devices && devices > 1 && s->kinds >> TSR_BANDS & 1;
}

tsr_strategy tsr_bands_guess(const tsr_search *s, int devices) {
  tsr_strategy strategy = {.kind = TSR_BANDS,
                           .grid_rows = devices,
                           .grid_cols = 1,
                           .tile = guess_tile(s, devices),
                           .lookahead = 200, /* percent: a band arrives while the one before is
                                                multiplied, in the memory of the one before that */
                           .serpentine = true,
                           .piece = TSR_TUNE_TILE_PIECE,
                           .relay = true};
  if (tsr_call_has_form(s->call) && tsr_line_bands_guess(s, devices, &strategy)) return strategy;
  tsr_panels_set_lazy(s, &strategy);
  return strategy;
}
