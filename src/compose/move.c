/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Moves matrices between host and devices: write-back, invalidation, and copies to mapped devices.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "call/retry.h"
#include "compose/inside.h"
#include "compose/tuning.h"
#include "plan/schedule/moves.h"
#include "run/place.h"

/* ---- Moving --------------------------------------------------------------- */

typedef struct movement {
  tsr_directory *directory;
  tsr_request *request;
  const tsr_binding *binding;
  const tsr_found *found;
  tsr_job **job;
} movement;

static tsr_status try_move(void *movement_, tsr_shortage *shortage) {
  movement *m = movement_;
  const tsr_plan *plan;
  int short_of = -1;
  TSR_TRY(tsr_compose_find_plan(m->directory, m->request, m->found, &plan));
  tsr_status status =
      tsr_compose_submit(m->directory, plan, m->binding, m->found, &short_of, m->job);
  tsr_shortage_note(shortage, plan, short_of);
  tsr_plan_unref(plan);
  return status;
}

/* If memory for staging is short, plans again with a smaller ring. */
static tsr_status move_found(movement *m) {
  tsr_trial trial = {.call = m,
                     .attempt = try_move,
                     .plans = m->directory->plans,
                     .most_shrinks = TSR_TUNE_STAGING_SHRINKS,
                     .staging_only = true};
  return tsr_retry(&trial);
}

/* What of a region moves. */
typedef struct extract {
  tsr_uplo triangle; /* of a square: the kind of the triangles on its diagonal that move, too */
  bool alone;        /* only these triangles do */
  bool whole;        /* those, too, whose squares are valid as a whole */
} extract;

/* Moves a region by a plan of request's kind, in which it is operand A or C of a call without
 * kernels. *job is NULL if a write-back has nothing to do. */
static tsr_status move_region(tsr_directory *directory, tsr_request *request, int matrix,
                              const tsr_region *region, extract of, tsr_job **job) {
  tsr_operand operand = {
      .rows = region->rows, .cols = region->cols, .ld = region->ld, .location = directory->devices};
  tsr_call call = tsr_moves_call(matrix, &operand, region->size);
  tsr_use use[TSR_OPERANDS] = {
      {TSR_READ_ONLY, TSR_GENERAL}, {TSR_READ_ONLY, TSR_GENERAL}, {TSR_MOVED, of.triangle}};
  tsr_binding binding = {.base = {NULL}};
  tsr_region regions[TSR_OPERANDS] = {{0}};
  tsr_found found;
  binding.base[matrix] = region->base;
  regions[matrix] = *region;
  request->call = &call;
  *job = NULL;
  if (of.triangle != TSR_GENERAL) tsr_moves_triangle(of.triangle, &call);
  TSR_TRY(tsr_place_operand(directory->calls->pinner, directory->devices, call.type, "matrix",
                            region->base, &call.operand[matrix]));
  tsr_plans_interleave(directory->plans, &call.operand[matrix]);
  TSR_TRY(tsr_store_look(directory->store, regions, use, &found));
  if (of.alone) tsr_found_keep_triangles(&found, of.whole);
  tsr_status status = TSR_OK;
  if (request->kind != TSR_REQUEST_WRITE_BACK || tsr_found_has_newer(&found))
    status = move_found(&(movement){directory, request, &binding, &found, job});
  tsr_found_free(&found);
  return status;
}

/* ---- Write-back ------------------------------------------------------------ */

/* A write-back: of all parts of a region, or of those in its triangle uplo. */
typedef struct write_back {
  tsr_directory *directory;
  tsr_uplo uplo;
  bool wait;     /* until it is complete */
  bool evicts;   /* the caller forgets what is written */
  tsr_jobs *own; /* takes the jobs, for the caller to collect; NULL: tsr_sync collects them */
} write_back;

static tsr_status end_job(const write_back *w, tsr_job *job) {
  if (w->wait) return tsr_calls_collect(w->directory->calls, job, false);
  if (w->own == NULL) {
    tsr_calls_keep(w->directory->calls, job);
    return TSR_OK;
  }
  return TSR_VEC_PUSH(w->own, job) ? TSR_OK : tsr_calls_collect(w->directory->calls, job, false);
}

/* Submits the write-back of an extract of the region's newer parts in aligned entries. If a
 * triangle is asked for, it is of the extract's kind. */
static tsr_status submit_extract(const write_back *w, const tsr_region *region, extract of) {
  tsr_request request = {.kind = TSR_REQUEST_WRITE_BACK, .uplo = w->uplo};
  tsr_job *job;
  TSR_TRY(move_region(w->directory, &request, TSR_C_, region, of, &job));
  if (job == NULL) return TSR_OK;
  uint64_t number = tsr_job_number(job);
  tsr_compose_note_write_back(w->directory, region, job);
  tsr_journal_entry entry = {.kind = TSR_JOURNAL_HOME,
                             .region[TSR_C_] = *region,
                             .number = number,
                             .uplo = w->uplo,
                             .evicts = w->evicts,
                             .straight = tsr_job_is_straight(job)};
  tsr_compose_journal(w->directory, &entry);
  tsr_compose_stamp(w->directory, region, 1);
  return end_job(w, job);
}

/* The same with all rectangles, and of triangles those of this kind on the region's diagonal. */
static tsr_status submit_write_back(const write_back *w, const tsr_region *region,
                                    tsr_uplo triangle) {
  return submit_extract(w, region, (extract){.triangle = triangle});
}

/* Writes back all triangles with everything that is newer in their squares. A plan has triangles of
 * one kind on one diagonal: so each diagonal has a plan of its own. */
static tsr_status write_back_triangles(const write_back *w, const tsr_region *region) {
  const tsr_use use = {TSR_MOVED, TSR_GENERAL};
  for (;;) {
    tsr_region square;
    tsr_uplo is;
    TSR_TRY(tsr_store_triangle(w->directory->store, region, &use, &square, &is));
    if (square.base == NULL) return TSR_OK;
    TSR_TRY(submit_write_back(w, &square, is));
  }
}

/* Writes back all newer parts of the region in aligned entries. */
static tsr_status write_back_all(const write_back *w, const tsr_region *region) {
  tsr_runner *runner = w->directory->calls->runner;
  uint64_t from = tsr_runner_submitted(runner);
  TSR_TRY(write_back_triangles(w, region));
  TSR_TRY(submit_write_back(w, region, TSR_GENERAL));
  uint64_t next = tsr_runner_submitted(runner);
  /* A copy that a device writes without a staging thread may be wrong if an earlier job failed. */
  tsr_compose_journal_region(w->directory, TSR_JOURNAL_COVER, region, from, next - 1, true);
  return TSR_OK;
}

/* The same in a triangle of a square region, and nothing beside it. Triangles of another kind, or
 * on another diagonal, are cut to their parts in it, each with a plan of its own. */
static tsr_status write_back_triangle(const write_back *w, const tsr_region *square) {
  for (;;) {
    write_back one = *w;
    tsr_region part;
    TSR_TRY(tsr_store_other_triangle(w->directory->store, square, w->uplo, &part, &one.uplo));
    if (part.base == NULL) return submit_write_back(w, square, w->uplo);
    TSR_TRY(submit_write_back(&one, &part, one.uplo));
  }
}

/* A triangle of a region that is not square goes on in the rows below its square, or in the columns
 * right of it. */
static tsr_status write_back_aligned(const write_back *w, const tsr_region *region) {
  int64_t rows = region->rows, cols = region->cols, order = rows < cols ? rows : cols;
  tsr_rect square = {0, 0, order, order};
  tsr_rect rest =
      w->uplo == TSR_LOWER ? (tsr_rect){order, 0, rows, order} : (tsr_rect){0, order, order, cols};
  if (w->uplo == TSR_GENERAL) return write_back_all(w, region);
  write_back beside = *w;
  tsr_region part = tsr_region_part(region, square), other = tsr_region_part(region, rest);
  beside.uplo = TSR_GENERAL;
  TSR_TRY(write_back_triangle(w, &part));
  return tsr_rect_empty(rest) ? TSR_OK : write_back_all(&beside, &other);
}

/* What is cut off a triangle stays; the small ones go home together, all of one diagonal at a time.
 */
tsr_status tsr_compose_settle_triangles(tsr_directory *directory, const tsr_region *region,
                                        const tsr_use *use) {
  write_back w = {.directory = directory, .uplo = TSR_GENERAL, .evicts = true};
  TSR_TRY(tsr_store_cut_triangles(directory->store, region, use));
  for (;;) {
    tsr_region square;
    extract of = {.alone = true};
    TSR_TRY(tsr_store_triangle(directory->store, region, use, &square, &of.triangle));
    if (square.base == NULL) return TSR_OK;
    of.whole = use->as == TSR_CHANGED && use->uplo != TSR_GENERAL && square.base != region->base;
    TSR_TRY(submit_extract(&w, &square, of));
  }
}

tsr_status tsr_compose_write_back_aligned(tsr_directory *directory, const tsr_region *region,
                                          tsr_uplo uplo, bool wait) {
  return write_back_aligned(&(write_back){directory, uplo, wait, !wait, NULL}, region);
}

static tsr_status write_back_crossing(const write_back *w, const tsr_region *region) {
  tsr_region part;
  while (tsr_store_crossing(w->directory->store, region, &part))
    TSR_TRY(write_back_aligned(w, &part));
  return TSR_OK;
}

tsr_status tsr_compose_write_back_crossing(tsr_directory *directory, const tsr_region *region,
                                           bool wait) {
  return write_back_crossing(&(write_back){directory, TSR_GENERAL, wait, !wait, NULL}, region);
}

tsr_status tsr_compose_write_back(tsr_directory *directory, const tsr_region *region, tsr_uplo uplo,
                                  tsr_jobs *own) {
  if (directory->store == NULL) return TSR_OK;
  TSR_TRY(tsr_compose_check(directory, region, 1));
  TSR_TRY(write_back_crossing(&(write_back){directory, TSR_GENERAL, false, false, own}, region));
  return write_back_aligned(&(write_back){directory, uplo, false, false, own}, region);
}

tsr_status tsr_compose_write_back_newer(tsr_directory *directory) {
  tsr_region region;
  while (directory->store != NULL && tsr_store_newer_region(directory->store, &region))
    TSR_TRY(tsr_compose_write_back(directory, &region, TSR_GENERAL, NULL));
  return TSR_OK;
}

/* ---- Invalidation ---------------------------------------------------------- */

/* Copies the region's columns to packed (save), or back. */
static void copy_columns(const tsr_region *region, char *packed, bool save) {
  size_t length = (size_t)region->rows * region->size;
  for (int64_t j = 0; j < region->cols; j++, packed += length) {
    char *column = tsr_region_address(region, 0, j);
    memcpy(save ? packed : column, save ? column : packed, length);
  }
}

/* Writes the entries that cross the region back. They are written by whole columns, which would
 * overwrite the host's changes in the region: the region is saved before, when no job uses it any
 * more, and restored afterwards. */
static tsr_status write_back_around(tsr_directory *directory, const tsr_region *region) {
  size_t bytes = (size_t)region->rows * (size_t)region->cols * region->size;
  char *aside = tsr_alloc(bytes);
  if (aside == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory to save %zu bytes of a matrix", bytes);
  tsr_runner_drain(directory->calls->runner);
  copy_columns(region, aside, true);
  tsr_status status = tsr_compose_write_back_crossing(directory, region, true);
  copy_columns(region, aside, false);
  tsr_dealloc(aside);
  return status;
}

tsr_status tsr_compose_invalidate(tsr_directory *directory, const tsr_region *region) {
  tsr_region part;
  if (directory->store == NULL) return TSR_OK;
  if (tsr_store_crossing(directory->store, region, &part))
    TSR_TRY(write_back_around(directory, region));
  TSR_TRY(tsr_compose_forget(directory, region));
  tsr_compose_journal_region(directory, TSR_JOURNAL_CHANGED, region, 0, 0, false);
  return TSR_OK;
}

/* ---- Copies to mapped devices ----------------------------------------------- */

typedef struct distribution {
  tsr_directory *directory;
  const tsr_region *region;
  tsr_request request;
} distribution;

static tsr_status try_distribution(void *distribution_, tsr_shortage *shortage) {
  distribution *x = distribution_;
  tsr_job *job;
  tsr_status status = move_region(x->directory, &x->request, TSR_A, x->region,
                                  (extract){.triangle = TSR_GENERAL}, &job);
  shortage->any = status == TSR_ERR_MEMORY;
  if (status == TSR_OK && job != NULL) tsr_calls_keep(x->directory->calls, job);
  return status;
}

/* Halves the memory that the plan may use, because free pieces may each be too small for a block
 * although their sum is not. */
static tsr_status ask_for_half(void *distribution_, const tsr_shortage *shortage, bool *helped) {
  enum { MOST_HALVINGS = 3 };
  distribution *x = distribution_;
  (void)shortage;
  *helped = x->request.halvings < MOST_HALVINGS;
  if (*helped) x->request.halvings++;
  return TSR_OK;
}

/* Copies as much of the region to its devices as memory suffices for, which may be nothing. */
static tsr_status distribute(tsr_directory *directory, const tsr_region *region,
                             const tsr_mapping *mapping) {
  distribution x = {directory, region, {.kind = TSR_REQUEST_DISTRIBUTE, .mapping = mapping}};
  tsr_trial trial = {.call = &x, .attempt = try_distribution, .relieve = ask_for_half};
  tsr_status status = tsr_retry(&trial);
  if (status != TSR_ERR_MEMORY) return status;
  tsr_log(TSR_LOG_INFO, "no block of the matrix was copied to devices: %s", tsr_message());
  return TSR_OK;
}

static tsr_status move_to(tsr_directory *directory, const tsr_region *region,
                          const tsr_mapping *mapping) {
  const tsr_use read = {TSR_READ_ONLY, TSR_GENERAL};
  TSR_TRY(tsr_compose_open(directory));
  TSR_TRY(tsr_compose_check(directory, region, 1));
  TSR_TRY(tsr_compose_write_back_crossing(directory, region, false));
  TSR_TRY(tsr_compose_settle_triangles(directory, region, &read));
  TSR_TRY(distribute(directory, region, mapping));
  tsr_compose_stamp(directory, region, 1);
  return TSR_OK;
}

tsr_status tsr_compose_map(tsr_directory *directory, const tsr_region *region,
                           const tsr_mapping *mapping, bool move) {
  if (!TSR_VEC_RESERVE(&directory->mapped, 1))
    return tsr_fail(TSR_ERR_MEMORY, "no host memory to note a mapping");
  if (move) TSR_TRY(move_to(directory, region, mapping));
  tsr_compose_unmap(directory, region);
  directory->mapped.items[directory->mapped.count++] = (tsr_mapped){*region, *mapping};
  return TSR_OK;
}
