/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/plan/knobs.h"
#include "cluster/tuning.h"

/* ---- Whether the search tries a value ---------------------------------------- */

static bool depth_is_free(const tsr_pproblem *p, const tsr_pstrategy *at, int64_t value) {
  (void)at;
  return p->grid->wishes.depth == 0 &&
         (value == TSR_DEPTH_LEAST || value / 2 < p->arranged->distribution.k_a.extent);
}

static bool lookahead_is_free(const tsr_pproblem *p, const tsr_pstrategy *at, int64_t value) {
  (void)at;
  return p->grid->wishes.lookahead == 0 &&
         (value <= TSR_HOST_LOOKAHEAD_MOST || !tsr_pproblem_uses_host(p));
}

static bool first_is_free(const tsr_pproblem *p, const tsr_pstrategy *at, int64_t value) {
  return p->grid->wishes.depth == 0 && value < at->depth;
}

/* The write-back of C takes long enough to be worth hiding. */
static bool write_back_matters(const tsr_pproblem *p, const tsr_pstrategy *at, int64_t value) {
  (void)at, (void)value;
  return p->write_back > TSR_TUNE_WRITE_BACK_MATTERS * p->best;
}

static bool blocks_are_equal(const tsr_pproblem *p, const tsr_pstrategy *at, int64_t value) {
  return !tsr_pstrategy_leads(at) && (value == 1 || write_back_matters(p, at, value));
}

static bool blocks_are_free(const tsr_pproblem *p, const tsr_pstrategy *at, int64_t value) {
  const int64_t *wish = p->grid->wishes.block;
  return wish[0] == 0 && wish[1] == 0 && (value == TSR_EIGHTHS || write_back_matters(p, at, value));
}

static bool blocks_differ(const tsr_pproblem *p, const tsr_pstrategy *at, int64_t value) {
  (void)p, (void)value;
  return tsr_pstrategy_leads(at);
}

/* ---- The table --------------------------------------------------------------- */

#define FIELD(name) offsetof(tsr_pstrategy, name)

static const char *const no_yes[] = {"no", "yes", NULL};

static const tsr_pknob table[] = {
    {.name = "depth",
     .unit = "elements",
     .says = "Indices of k in a panel, at most; d of Herault et al.",
     .field = FIELD(depth),
     .change = TSR_CHANGE_WALK,
     .value = {256, 512, 1024, 2048, 4096, 8192, -1},
     .worth = depth_is_free},
    {.name = "first",
     .unit = "elements",
     .says = "Indices of k in the first panels, if fewer; each next round is twice as deep, up to "
             "depth; 0: depth.",
     .field = FIELD(first),
     .change = TSR_CHANGE_WALK,
     .value = {128, 256, 512, 1024, 0, -1},
     .worth = first_is_free},
    {.name = "lookahead",
     .unit = "panels",
     .says = "Panels on their way while one is multiplied; l of Herault et al.",
     .field = FIELD(lookahead),
     .change = TSR_CHANGE_WALK,
     .value = {1, 2, 3, 4, 16, -1},
     .worth = lookahead_is_free},
    {.name = "together",
     .says =
         "Devices have memory for two blocks of C, so that one is written back while the next is "
         "computed.",
     .field = FIELD(together),
     .words = no_yes,
     .change = TSR_CHANGE_OTHER},
    {.name = "blocks",
     .unit = "blocks",
     .says =
         "Blocks of C of a process, at least; more if the devices lack memory for larger blocks.",
     .field = FIELD(blocks),
     .change = TSR_CHANGE_WALK,
     .value = {1, 2, 4, 8, -1},
     .worth = blocks_are_equal},
    {.name = "leading.rows",
     .unit = "eighths",
     .says =
         "The part of a process's rows of C in the first row of blocks; 8: blocks are about equal.",
     .field = FIELD(leading[0]),
     .change = TSR_CHANGE_SCAN,
     .value = {3, 4, 5, 8, -1},
     .worth = blocks_are_free},
    {.name = "leading.columns",
     .unit = "eighths",
     .says =
         "The part of a process's columns of C in the first column of blocks; 8: blocks are about "
         "equal.",
     .field = FIELD(leading[1]),
     .change = TSR_CHANGE_SCAN,
     .value = {3, 4, 5, 8, -1},
     .worth = blocks_are_free},
    {.name = "later",
     .unit = "blocks",
     .says = "Rows or columns of blocks into which the rest of C is cut.",
     .field = FIELD(later),
     .change = TSR_CHANGE_WALK,
     .value = {1, 2, 4, -1},
     .worth = blocks_differ},
    {.name = "keep",
     .says =
         "Panels that other blocks of C need again stay in slots, as far as there is memory for "
         "them.",
     .field = FIELD(keep),
     .words = no_yes,
     .change = TSR_CHANGE_OTHER},
};

const tsr_pknob *tsr_pknobs(int *count) {
  *count = (int)(sizeof table / sizeof *table);
  return table;
}
