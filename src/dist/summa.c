#include "dist/summa.h"

#include "base/types.h"

/* ---- What fits ------------------------------------------------------------ */

/* Both directions go over the grid as they do in an ordinary matrix. */
static bool is_straight(const tsr_grid *grid, const tsr_view *x) {
  return x->weight[0] == grid->extent[1] && x->weight[1] == 1 && x->stride[0] == 1 && !x->conjugate;
}

bool tsr_summa_fits_a(const tsr_grid *grid, const tsr_view *a, const tsr_view *c) {
  return is_straight(grid, a) && tsr_axis_agrees(&a->axis[0], &c->axis[0]);
}

bool tsr_summa_fits_b(const tsr_grid *grid, const tsr_view *b, const tsr_view *c) {
  return is_straight(grid, b) && tsr_axis_agrees(&b->axis[1], &c->axis[1]);
}

/* ---- Memory --------------------------------------------------------------- */

/* The same everywhere, since all send messages of the same extents. */
static int64_t choose_depth(const tsr_summa *s) {
  int64_t rows = tsr_axis_most(&s->c.axis[0]), cols = tsr_axis_most(&s->c.axis[1]);
  int64_t most = TSR_MESSAGE_MOST / (int64_t)s->c.size / (rows > cols ? rows : cols);
  int64_t depth = s->grid->depth > 0 ? s->grid->depth : TSR_PANEL_DEPTH;
  if (depth > most) depth = most;
  return depth > 0 ? depth : 1;
}

static int64_t deepest(const tsr_panels *panels) {
  int64_t depth = 0;
  for (size_t t = 0; t < panels->count; t++)
    if (panels->items[t].depth > depth) depth = panels->items[t].depth;
  return depth;
}

/* Pinned where there are devices. */
static tsr_status allocate_slots(tsr_summa *s) {
  size_t size = s->c.size, depth = (size_t)deepest(&s->panels);
  size_t wanted = (size_t)s->grid->lookahead + 1;
  s->slots = (int)(wanted < s->panels.count ? wanted : s->panels.count);
  for (int i = 0; i < s->slots; i++) {
    tsr_summa_slot *slot = &s->slot[i];
    TSR_TRY(
        tsr_malloc(s->grid->context, TSR_HOST, size * depth * (size_t)s->rows, (void **)&slot->a));
    TSR_TRY(
        tsr_malloc(s->grid->context, TSR_HOST, size * depth * (size_t)s->cols, (void **)&slot->b));
  }
  return TSR_OK;
}

static const void *one_of(tsr_type type) {
  static const float s[2] = {1, 0};
  static const double d[2] = {1, 0};
  return type == TSR_S || type == TSR_C ? (const void *)s : (const void *)d;
}

tsr_status tsr_summa_create(const tsr_grid *grid, tsr_type type, const void *alpha,
                            const tsr_view *a, const tsr_view *b, const void *beta,
                            const tsr_view *c, tsr_summa *s) {
  *s = (tsr_summa){.grid = grid,
                   .type = type,
                   .alpha = alpha,
                   .beta = beta,
                   .one = one_of(type),
                   .a = *a,
                   .b = *b,
                   .c = *c};
  s->rows = tsr_view_local(c, 0);
  s->cols = tsr_view_local(c, 1);
  s->ldc = c->stride[1];
  tsr_status status = tsr_panels_make(&a->axis[1], &b->axis[0], choose_depth(s), &s->panels);
  if (status == TSR_OK) status = allocate_slots(s);
  if (status != TSR_OK) tsr_summa_destroy(s);
  return status;
}

void tsr_summa_destroy(tsr_summa *s) {
  for (int i = 0; i < s->slots; i++) {
    tsr_free(s->grid->context, s->slot[i].a);
    tsr_free(s->grid->context, s->slot[i].b);
  }
  s->slots = 0;
  tsr_panels_free(&s->panels);
}

/* ---- Messages ------------------------------------------------------------- */

static void note(tsr_summa *s, tsr_status status) {
  if (status == TSR_OK || s->status != TSR_OK) return;
  s->status = status;
  tsr_error_take(status, &s->error);
}

static tsr_summa_slot *slot_of(tsr_summa *s, size_t t) {
  return &s->slot[t % (size_t)s->slots];
}

/* Gathers the own part of a panel: of A (direction 1 is k) rows x depth, of B (direction 0 is k)
 * depth x cols, without gaps. */
static void gather(const tsr_summa *s, const tsr_panel *panel, int k, char *to) {
  const tsr_view *x = k == 1 ? &s->a : &s->b;
  int64_t other = k == 1 ? s->rows : s->cols;
  int64_t packed[2] = {1, k == 1 ? s->rows : panel->depth}, done = 0;
  tsr_span span = {panel->at, 0};
  while (done < panel->depth && tsr_axis_common(&s->a.axis[1], panel->col, &s->b.axis[0],
                                                panel->row, s->a.axis[1].extent, &span)) {
    int64_t length = span.end - span.at;
    if (length > panel->depth - done) length = panel->depth - done;
    int64_t extent[2] = {k == 1 ? other : length, k == 1 ? length : other};
    int64_t local = tsr_axis_before(&x->axis[k], x->me[k], span.at);
    tsr_block_copy(x->size, extent, x->base + local * x->stride[k] * (int64_t)x->size, x->stride,
                   to + done * packed[k] * (int64_t)x->size, packed);
    done += length;
    span.at = span.end;
  }
}

/* Sends or receives the panel of one matrix; count elements. */
static void begin_one(tsr_summa *s, const tsr_panel *panel, int k, int64_t count, char *buffer,
                      MPI_Request *request) {
  const int *me = s->grid->me;
  int root = k == 1 ? panel->col : panel->row;
  *request = MPI_REQUEST_NULL;
  if (count == 0) return; /* for the whole row, or column, of the grid */
  if (root == (k == 1 ? me[1] : me[0])) gather(s, panel, k, buffer);
  int code = MPI_Ibcast(buffer, (int)(count * (int64_t)s->c.size), MPI_BYTE, root,
                        k == 1 ? s->grid->row : s->grid->col, request);
  note(s, tsr_mpi_check(code, "MPI_Ibcast"));
}

static void begin_panel(tsr_summa *s, size_t t) {
  if (t >= s->panels.count) return;
  const tsr_panel *panel = &s->panels.items[t];
  tsr_summa_slot *slot = slot_of(s, t);
  begin_one(s, panel, 1, s->rows * panel->depth, slot->a, &slot->request[0]);
  begin_one(s, panel, 0, panel->depth * s->cols, slot->b, &slot->request[1]);
}

static void await_panel(tsr_summa *s, size_t t) {
  MPI_Status status[2];
  int code = MPI_Waitall(2, slot_of(s, t)->request, status);
  note(s, tsr_mpi_check(code, "MPI_Waitall"));
}

/* ---- Products ------------------------------------------------------------- */

static bool has_devices(const tsr_summa *s) {
  return tsr_device_count(s->grid->context) > 0;
}

static bool has_part(const tsr_summa *s) {
  return s->rows > 0 && s->cols > 0;
}

/* What devices keep of a slot's former panels does not count any more. */
static tsr_status renew(const tsr_summa *s, const tsr_summa_slot *slot, int64_t depth) {
  tsr_context *context = s->grid->context;
  if (!has_devices(s)) return TSR_OK;
  TSR_TRY(tsr_invalidate(context, s->rows, depth, slot->a, s->rows, s->type));
  return tsr_invalidate(context, depth, s->cols, slot->b, depth, s->type);
}

static tsr_status multiply(tsr_summa *s, size_t t) {
  const tsr_summa_slot *slot = slot_of(s, t);
  int64_t depth = s->panels.items[t].depth;
  TSR_TRY(renew(s, slot, depth));
  return tsr_gemm_async(s->grid->context, s->type, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS,
                        s->rows, s->cols, depth, s->alpha, slot->a, s->rows, slot->b, depth,
                        t == 0 ? s->beta : s->one, s->c.base, s->ldc);
}

/* Until the product before is done its slot cannot take the next panel. That one is packed and sent
 * while the devices work at this one. */
static void step(tsr_summa *s, size_t t) {
  await_panel(s, t);
  if (s->status == TSR_OK && has_part(s)) note(s, tsr_sync(s->grid->context));
  if (s->status == TSR_OK && has_part(s)) note(s, multiply(s, t));
  if (t > 0) begin_panel(s, t + (size_t)s->slots - 1);
}

/* C comes home, and devices forget it. */
static tsr_status finish(tsr_summa *s) {
  tsr_context *context = s->grid->context;
  tsr_status status = tsr_sync(context);
  if (!has_devices(s) || !has_part(s)) return status;
  if (status == TSR_OK)
    status = tsr_coherent(context, TSR_GENERAL, s->rows, s->cols, s->c.base, s->ldc, s->type);
  if (status == TSR_OK) status = tsr_sync(context);
  tsr_error error;
  if (status != TSR_OK) tsr_error_take(status, &error);
  tsr_status released = tsr_release(context, s->rows, s->cols, s->c.base, s->ldc, s->type);
  return status != TSR_OK ? tsr_error_put(&error) : released;
}

tsr_status tsr_summa_run(tsr_summa *s) {
  for (size_t t = 0; t < (size_t)s->slots; t++) begin_panel(s, t);
  for (size_t t = 0; t < s->panels.count; t++) step(s, t);
  note(s, finish(s));
  return s->status == TSR_OK ? TSR_OK : tsr_error_put(&s->error);
}
