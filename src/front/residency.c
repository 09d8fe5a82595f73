/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The native door: copies of the user's matrices on the devices (coherent, invalidate, release,
 * map, distribute). */
#include <inttypes.h>
#include <stdlib.h>

#include "base/flags.h"
#include "base/thread.h"
#include "call/capture.h"
#include "front/context.h"

/* ---- Arguments ------------------------------------------------------------ */

typedef tsr_stored matrix;

/* A map: blocks of mb x nb, dealt to a grid of p x q devices that begins at device `first`. */
typedef struct block_map {
  int64_t mb, nb;
  int p, q, first;
} block_map;

static tsr_status check_matrix(const matrix *x) {
  if (x->m < 0) return tsr_fail(TSR_ERR_ARGUMENT, "m is %" PRId64 "; give 0 or more", x->m);
  if (x->n < 0) return tsr_fail(TSR_ERR_ARGUMENT, "n is %" PRId64 "; give 0 or more", x->n);
  if (tsr_type_get(x->type) == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "type is %d; give one of tsr_type", (int)x->type);
  if (x->c == NULL && x->m > 0 && x->n > 0)
    return tsr_fail(TSR_ERR_ARGUMENT, "c is NULL; give the address of the matrix");
  if (x->ldc < (x->m > 1 ? x->m : 1))
    return tsr_fail(TSR_ERR_ARGUMENT, "ldc is %" PRId64 "; give at least max(1, m) = %" PRId64,
                    x->ldc, x->m > 1 ? x->m : 1);
  return TSR_OK;
}

static tsr_status check_uplo(tsr_uplo uplo) {
  if (uplo == TSR_GENERAL || uplo == TSR_LOWER || uplo == TSR_UPPER) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "uplo is %d%s; give TSR_GENERAL, TSR_LOWER or TSR_UPPER",
                  (int)uplo, tsr_flag_of_cblas((int)uplo));
}

static tsr_status check_blocks(const tsr_context *context, const block_map *to) {
  int devices = context->plans->machine->devices, p = to->p, q = to->q;
  if (to->mb < 1) return tsr_fail(TSR_ERR_ARGUMENT, "mb is %" PRId64 "; give 1 or more", to->mb);
  if (to->nb < 1) return tsr_fail(TSR_ERR_ARGUMENT, "nb is %" PRId64 "; give 1 or more", to->nb);
  if (to->first < 0 || to->first >= devices)
    return tsr_fail(TSR_ERR_ARGUMENT, "the device is %d; give one from 0 to %d", to->first,
                    devices - 1);
  if (p >= 1 && q >= 1 && (int64_t)p * q <= devices) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "p x q is %d x %d; give a grid of at most the %d devices there are", p, q,
                  devices);
}

static tsr_region region_of(const matrix *x) {
  return (tsr_region){(char *)x->c, x->m, x->n, x->ldc, tsr_type_get(x->type)->size};
}

/* *at_host: the matrix is in host memory and not empty, and the context has an engine. Only such
 * matrices have copies on devices. */
static tsr_status is_at_host(tsr_context *context, const matrix *x, bool *at_host) {
  tsr_place place;
  *at_host = false;
  if (context->engine == NULL || x->m == 0 || x->n == 0) return TSR_OK;
  TSR_TRY(context->engine->where(context->state, x->c, &place));
  *at_host = place.memory != TSR_DEVICE;
  return TSR_OK;
}

static void capture(tsr_context *context, tsr_captured_kind kind, tsr_uplo uplo, const matrix *x) {
  tsr_captured_step step = {
      .kind = kind,
      .what = {.uplo = uplo, .m = x->m, .n = x->n, .ldc = x->ldc, .type = x->type},
      .c = (void *)x->c};
  tsr_capture_note_step(context->plans, &step);
}

static void capture_map(tsr_context *context, const matrix *x, const block_map *to, bool move) {
  tsr_captured_step step = {.kind = move ? TSR_CAPTURED_DISTRIBUTE : TSR_CAPTURED_MAP,
                            .what = {.m = x->m, .n = x->n, .ldc = x->ldc, .type = x->type},
                            .c = (void *)x->c,
                            .mb = to->mb,
                            .nb = to->nb,
                            .p = to->p,
                            .q = to->q,
                            .first = to->first};
  tsr_capture_note_step(context->plans, &step);
}

/* ---- Write-back to host memory --------------------------------------------- */

/* Waits for the write-backs that this call submitted (own) and returns their first error; if others
 * is set, waits then for all jobs up to that number, whose errors tsr_sync returns. */
static tsr_status await_write_back(tsr_context *context, tsr_jobs *own, bool others,
                                   uint64_t number) {
  tsr_error error = {.status = TSR_OK};
  for (size_t i = 0; i < own->count; i++) {
    tsr_status status = tsr_calls_collect(&context->calls, own->items[i], true);
    if (status != TSR_OK && error.status == TSR_OK) tsr_error_take(status, &error);
  }
  TSR_VEC_FREE(own);
  if (others) tsr_runner_await(context->calls.runner, number);
  return error.status == TSR_OK ? TSR_OK : tsr_error_put(&error);
}

/* *behind: the calls whose results come home, and those before them, have smaller numbers. */
static tsr_status write_back(tsr_context *context, tsr_uplo uplo, const tsr_region *region,
                             bool wait, uint64_t *behind) {
  tsr_jobs own = {NULL, 0, 0};
  uint64_t number = 0;
  tsr_error refused;
  tsr_compose_begin(&context->directory);
  tsr_status status = tsr_compose_check_dropped(&context->directory);
  if (status == TSR_OK)
    status = tsr_compose_write_back(&context->directory, region, uplo, wait ? &own : NULL);
  *behind = tsr_runner_submitted(context->calls.runner);
  bool others = wait && tsr_compose_find_write_back(&context->directory, region, &number);
  tsr_compose_end(&context->directory);
  if (status != TSR_OK) tsr_error_take(status, &refused);
  tsr_status came = await_write_back(context, &own, others, number);
  return status == TSR_OK ? came : tsr_error_put(&refused);
}

/* If a device fails meanwhile, the results that were to come home are made again, and come then.
 * After waiting, the program may change what the calls have read. */
static tsr_status bring(tsr_context *context, tsr_uplo uplo, const matrix *x, bool wait,
                        bool captured) {
  bool at_host;
  TSR_TRY(is_at_host(context, x, &at_host));
  if (!at_host) return TSR_OK;
  tsr_region region = region_of(x);
  tsr_status status;
  uint64_t behind;
  do status = write_back(context, uplo, &region, wait, &behind);
  while (tsr_compose_has_losses(&context->directory, status));
  if (status == TSR_OK && wait) tsr_compose_note_event(&context->directory, behind);
  if (status == TSR_OK && captured) capture(context, TSR_CAPTURED_COHERENT, uplo, x);
  return status;
}

tsr_status tsr_context_bring(tsr_context *context, const tsr_stored *x) {
  return bring(context, TSR_GENERAL, x, true, false);
}

static tsr_status coherent(tsr_context *context, tsr_uplo uplo, const matrix *x, bool wait) {
  TSR_TRY(tsr_context_check(context));
  uplo = (tsr_uplo)tsr_flag_letter(TSR_FLAG_UPLO, (int)uplo);
  TSR_TRY(check_uplo(uplo));
  TSR_TRY(check_matrix(x));
  return bring(context, uplo, x, wait, true);
}

TSR_ENTRY(tsr_coherent_async, (context, uplo, m, n, c, ldc, type), tsr_context *context,
          tsr_uplo uplo, int64_t m, int64_t n, const void *c, int64_t ldc, tsr_type type) {
  return coherent(context, uplo, &(matrix){m, n, c, ldc, type}, false);
}

TSR_ENTRY(tsr_coherent, (context, uplo, m, n, c, ldc, type), tsr_context *context, tsr_uplo uplo,
          int64_t m, int64_t n, const void *c, int64_t ldc, tsr_type type) {
  return coherent(context, uplo, &(matrix){m, n, c, ldc, type}, true);
}

/* If a device fails meanwhile, the results are made again, as in coherent(). */
tsr_status tsr_context_bring_home(tsr_context *context) {
  tsr_directory *directory = &context->directory;
  tsr_status status;
  if (context->engine == NULL) return TSR_OK;
  do {
    tsr_compose_begin(directory);
    status = tsr_compose_check_dropped(directory);
    if (status == TSR_OK) status = tsr_compose_write_back_newer(directory);
    tsr_compose_end(directory);
  } while (tsr_compose_has_losses(directory, status));
  if (status == TSR_OK)
    capture(context, TSR_CAPTURED_HOME, TSR_GENERAL, &(matrix){0, 0, NULL, 1, TSR_D});
  return status;
}

/* Calls that failed come first: they are why results are lost. */
TSR_ENTRY(tsr_sync_home, (context), tsr_context *context) {
  tsr_error refused = {.status = TSR_OK};
  TSR_TRY(tsr_context_check(context));
  if (context->calls.runner == NULL) return TSR_OK;
  tsr_status status = tsr_context_bring_home(context);
  if (status != TSR_OK) tsr_error_take(status, &refused);
  TSR_TRY(tsr_context_await_all(context));
  return status == TSR_OK ? TSR_OK : tsr_error_put(&refused);
}

/* ---- Forgetting ----------------------------------------------------------- */

/* Drops the devices' copies of the matrix without a write-back (a copy that reaches beyond the
 * matrix is written back outside it first); and_maps: drops its mapping, too. */
static tsr_status drop(tsr_context *context, const matrix *x, bool and_maps) {
  if (context->engine == NULL || x->m == 0 || x->n == 0) return TSR_OK;
  tsr_region region = region_of(x);
  tsr_compose_begin(&context->directory);
  tsr_status status = tsr_compose_invalidate(&context->directory, &region);
  if (and_maps && status == TSR_OK) tsr_compose_unmap(&context->directory, &region);
  tsr_compose_end(&context->directory);
  return status;
}

tsr_status tsr_context_drop(tsr_context *context, const tsr_stored *x) {
  return drop(context, x, false);
}

static tsr_status forget(tsr_context *context, const matrix *x, bool and_maps) {
  TSR_TRY(check_matrix(x));
  if (context->engine == NULL || x->m == 0 || x->n == 0) return TSR_OK;
  TSR_TRY(drop(context, x, and_maps));
  capture(context, and_maps ? TSR_CAPTURED_RELEASE : TSR_CAPTURED_INVALIDATE, TSR_GENERAL, x);
  return TSR_OK;
}

TSR_ENTRY(tsr_invalidate, (context, m, n, c, ldc, type), tsr_context *context, int64_t m, int64_t n,
          const void *c, int64_t ldc, tsr_type type) {
  TSR_TRY(tsr_context_check(context));
  return forget(context, &(matrix){m, n, c, ldc, type}, false);
}

static void release_all(tsr_context *context) {
  tsr_compose_begin(&context->directory);
  tsr_compose_release(&context->directory);
  tsr_compose_unmap(&context->directory, NULL);
  tsr_compose_end(&context->directory);
  capture(context, TSR_CAPTURED_RELEASE, TSR_GENERAL, &(matrix){0, 0, NULL, 1, TSR_D});
}

TSR_ENTRY(tsr_release, (context, m, n, c, ldc, type), tsr_context *context, int64_t m, int64_t n,
          const void *c, int64_t ldc, tsr_type type) {
  TSR_TRY(tsr_context_check(context));
  if (c != NULL) return forget(context, &(matrix){m, n, c, ldc, type}, true);
  if (context->engine != NULL) release_all(context);
  return TSR_OK;
}

/* ---- Mapping -------------------------------------------------------------- */

static tsr_mapping mapping_of(const block_map *to, int devices) {
  tsr_mapping made = {
      .block_rows = to->mb, .block_cols = to->nb, .grid_rows = to->p, .grid_cols = to->q};
  for (int d = 0; d < to->p * to->q; d++) made.device[d] = (int16_t)((to->first + d) % devices);
  return made;
}

static tsr_status map(tsr_context *context, const matrix *x, const block_map *to, bool move) {
  bool at_host;
  TSR_TRY(check_matrix(x));
  TSR_TRY(is_at_host(context, x, &at_host));
  if (!at_host) return TSR_OK;
  TSR_TRY(check_blocks(context, to));
  tsr_region region = region_of(x);
  tsr_mapping mapping = mapping_of(to, context->plans->machine->devices);
  tsr_compose_begin(&context->directory);
  tsr_status status = tsr_compose_map(&context->directory, &region, &mapping, move);
  tsr_compose_end(&context->directory);
  TSR_TRY(status);
  capture_map(context, x, to, move);
  return TSR_OK;
}

static tsr_status map_1d(tsr_context *context, const matrix *x, int64_t nb, bool move) {
  TSR_TRY(tsr_context_check(context));
  int64_t rows = x->m > 0 ? x->m : 1;
  return map(context, x, &(block_map){rows, nb, 1, context->plans->machine->devices, 0}, move);
}

TSR_ENTRY(tsr_map_1d_block_cyclic, (context, m, n, c, ldc, type, nb), tsr_context *context,
          int64_t m, int64_t n, const void *c, int64_t ldc, tsr_type type, int64_t nb) {
  return map_1d(context, &(matrix){m, n, c, ldc, type}, nb, false);
}

TSR_ENTRY(tsr_map_2d_block_cyclic, (context, m, n, c, ldc, type, mb, nb, p, q),
          tsr_context *context, int64_t m, int64_t n, const void *c, int64_t ldc, tsr_type type,
          int64_t mb, int64_t nb, int p, int q) {
  TSR_TRY(tsr_context_check(context));
  return map(context, &(matrix){m, n, c, ldc, type}, &(block_map){mb, nb, p, q, 0}, false);
}

TSR_ENTRY(tsr_map_block_cyclic, (context, m, n, c, ldc, type, mb, nb, p, q, first),
          tsr_context *context, int64_t m, int64_t n, const void *c, int64_t ldc, tsr_type type,
          int64_t mb, int64_t nb, int p, int q, int first) {
  TSR_TRY(tsr_context_check(context));
  return map(context, &(matrix){m, n, c, ldc, type}, &(block_map){mb, nb, p, q, first}, false);
}

TSR_ENTRY(tsr_distribute_1d_block_cyclic_async, (context, m, n, c, ldc, type, nb),
          tsr_context *context, int64_t m, int64_t n, const void *c, int64_t ldc, tsr_type type,
          int64_t nb) {
  return map_1d(context, &(matrix){m, n, c, ldc, type}, nb, true);
}

TSR_ENTRY(tsr_distribute_2d_block_cyclic_async, (context, m, n, c, ldc, type, mb, nb, p, q),
          tsr_context *context, int64_t m, int64_t n, const void *c, int64_t ldc, tsr_type type,
          int64_t mb, int64_t nb, int p, int q) {
  TSR_TRY(tsr_context_check(context));
  return map(context, &(matrix){m, n, c, ldc, type}, &(block_map){mb, nb, p, q, 0}, true);
}

TSR_ENTRY(tsr_distribute_block_cyclic_async, (context, m, n, c, ldc, type, mb, nb, p, q, first),
          tsr_context *context, int64_t m, int64_t n, const void *c, int64_t ldc, tsr_type type,
          int64_t mb, int64_t nb, int p, int q, int first) {
  TSR_TRY(tsr_context_check(context));
  return map(context, &(matrix){m, n, c, ldc, type}, &(block_map){mb, nb, p, q, first}, true);
}

/* One block, which is all of the region. */
TSR_ENTRY(tsr_put_async, (context, m, n, c, ldc, type, device), tsr_context *context, int64_t m,
          int64_t n, const void *c, int64_t ldc, tsr_type type, int device) {
  TSR_TRY(tsr_context_check(context));
  block_map to = {m > 0 ? m : 1, n > 0 ? n : 1, 1, 1, device};
  return map(context, &(matrix){m, n, c, ldc, type}, &to, true);
}

/* ---- Where regions are ----------------------------------------------------- */

/* Where a region in host memory is. */
static tsr_status find_at_host(tsr_context *context, const matrix *x, tsr_whereabouts *found) {
  tsr_region region = region_of(x);
  tsr_compose_begin(&context->directory);
  tsr_status status = tsr_compose_where(&context->directory, &region, found);
  tsr_compose_end(&context->directory);
  return status;
}

static tsr_status find(tsr_context *context, const matrix *x, tsr_whereabouts *found) {
  tsr_place place;
  *found = (tsr_whereabouts){-1, -1, 0, true};
  if (context->engine == NULL || x->m == 0 || x->n == 0) return TSR_OK;
  TSR_TRY(context->engine->where(context->state, x->c, &place));
  if (place.memory != TSR_DEVICE) return find_at_host(context, x, found);
  *found = (tsr_whereabouts){place.device, -1, 1, true};
  return TSR_OK;
}

TSR_ENTRY(tsr_where, (context, m, n, c, ldc, type, device, part, mapped, current),
          tsr_context *context, int64_t m, int64_t n, const void *c, int64_t ldc, tsr_type type,
          int *device, double *part, int *mapped, int *current) {
  matrix x = {m, n, c, ldc, type};
  tsr_whereabouts found;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_matrix(&x));
  TSR_TRY(find(context, &x, &found));
  if (device != NULL) *device = found.device;
  if (part != NULL) *part = found.part;
  if (mapped != NULL) *mapped = found.mapped;
  if (current != NULL) *current = found.current;
  return TSR_OK;
}
