/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "pgemm.h"

#include <stdlib.h>
#include <string.h>

bool is_first(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

int all_agree(int code) {
  int worst;
  MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

int parse_pair(const char *name, const char *text, int64_t pair[2]) {
  long long rows, cols;
  int used = 0;
  if (sscanf(text, "%lldx%lld%n", &rows, &cols, &used) != 2 || text[used] || rows < 1 || cols < 1)
    return tool_usage("%s %s: must be two extents, such as 2x3", name, text);
  pair[0] = rows;
  pair[1] = cols;
  return TOOL_OK;
}

static int read_blocks(const cut_options *o, int64_t blocks[2]) {
  blocks[0] = blocks[1] = 0;
  return o->blocks ? parse_pair("--blocks", o->blocks, blocks) : TOOL_OK;
}

bool cut_is_paper(const cut_options *o) {
  return o->cut && strcmp(o->cut, "paper") == 0;
}

void cut_square_grid(int processes, int shape[2]) {
  shape[0] = 1;
  for (int rows = 1; rows * rows <= processes; rows++)
    if (processes % rows == 0) shape[0] = rows;
  shape[1] = processes / shape[0];
}

int cut_check(const cut_options *o) {
  int64_t unused[2];
  if (o->cut && !cut_is_paper(o) && strcmp(o->cut, "model") != 0)
    return tool_usage("--cut %s: must be model or paper", o->cut);
  if (cut_is_paper(o) && (o->depth > 0 || o->blocks))
    return tool_usage("--%s: does nothing with --cut paper; leave one of them out",
                      o->depth > 0 ? "depth" : "blocks");
  if (o->up < 0 || o->down < 0) return tool_usage("--up, --down: must be 0 GB/s or more");
  if (o->down > 0 && o->up == 0) return tool_usage("--down: give --up, too");
  return read_blocks(o, unused);
}

int cut_apply(const cut_options *o, tsr_grid *grid) {
  int64_t blocks[2];
  static const double latency = 2e-6;
  int code = read_blocks(o, blocks);
  if (!code) code = tool_status(tsr_grid_set_panels(grid, o->depth, (int)o->lookahead));
  if (!code) code = tool_status(tsr_grid_set_blocks(grid, blocks[0], blocks[1]));
  if (!code && o->cut)
    code = tool_status(tsr_grid_set_cut(grid, cut_is_paper(o) ? TSR_CUT_PARSEC : TSR_CUT_MODEL));
  if (!code && o->up > 0)
    code = tool_status(tsr_grid_imagine_transport(grid, 1e9 * o->up, 1e9 * o->down));
  if (code || o->network == 0) return code;
  return tool_status(tsr_grid_set_network(grid, 1e9 * o->network, latency));
}

static int64_t parts(int64_t extent, int64_t part) {
  return extent / part + (extent % part != 0);
}

void cut_warn(const cut_options *o, const int64_t extents[3], const int64_t grid[2]) {
  /* Planning 556,278 blocks of C takes about a minute (--grid 6x6 --blocks 40x50 for 200,000). */
  const double many = 5e5;
  int64_t blocks[2], own[2];
  if (!o->blocks || read_blocks(o, blocks) != TOOL_OK) return;
  for (int i = 0; i < 2; i++) own[i] = parts(extents[i], grid[i]);
  double products = (double)parts(own[0], blocks[0]) * (double)parts(own[1], blocks[1]) *
                    (o->depth > 0 ? (double)parts(extents[2], o->depth) : 1);
  if (products <= many) return;
  tool_note(
      "--blocks %s: C's blocks are to have %lld x %lld elements, which makes %.0f products or more "
      "for a process to plan. If you mean that many blocks: --blocks %lldx%lld",
      o->blocks, (long long)blocks[0], (long long)blocks[1], products,
      (long long)parts(own[0], blocks[0]), (long long)parts(own[1], blocks[1]));
}

/* Whether TESSERA_TRANSPORT leaves the choice of transport to the library. */
static bool is_transport_automatic(void) {
  const char *text = getenv("TESSERA_TRANSPORT");
  return text == NULL || strcmp(text, "auto") == 0;
}

static bool has_gpus(tsr_context *context) {
  tsr_context_facts facts;
  return tsr_context_describe(context, &facts) == TSR_OK && strcmp(facts.engine, "host") != 0 &&
         strcmp(facts.engine, "cpu") != 0;
}

void tell_detour(tsr_context *context, const tsr_grid *grid) {
  int rows, cols;
  if (tsr_grid_place(grid, &rows, &cols, NULL, NULL) != TSR_OK || rows * cols == 1 ||
      strcmp(tsr_grid_transport(grid), "mpi") != 0 || !is_transport_automatic() ||
      !has_gpus(context))
    return;
  tool_note("panels travel by MPI through host memory; TESSERA_LOG=info prints the reason");
}
