/* Pieces: what tiles are cut into on their way, and which of them are where. */
#include "blas/family.h"
#include "plan/schedule/route.h"

/* Rows and columns of the pieces of a rows x cols tile. */
static void shape(int64_t rows, int64_t cols, size_t size, int64_t bytes, int64_t *piece_rows,
                  int64_t *piece_cols) {
  int64_t room = bytes / (int64_t)size;
  if (room < 1) room = 1;
  *piece_rows = rows < room ? rows : room;
  int64_t fit = room / (rows ? rows : 1);
  if (fit < 1) fit = 1;
  int64_t parts = (cols + fit - 1) / fit;
  *piece_cols = parts > 1 ? (cols + parts - 1) / parts : cols;
}

/* An extent, or the most that a copy may have of it (0: no limit). */
static int64_t limited(int64_t extent, int64_t most) {
  return most > 0 && most < extent ? most : extent;
}

/* Cuts the rectangle of p, which is set, into pieces; most_rows and most_cols as in `limited`. */
static void cut(const tsr_scheduler *s, int matrix, int64_t most_rows, int64_t most_cols,
                tsr_piece_range *p) {
  shape(limited(p->rows, most_rows), limited(p->cols, most_cols), s->size[matrix],
        s->options->piece, &p->piece_rows, &p->piece_cols);
  p->down = (int)((p->rows + p->piece_rows - 1) / p->piece_rows);
  p->count = p->down * (int)((p->cols + p->piece_cols - 1) / p->piece_cols);
}

tsr_piece_range tsr_pieces_of(const tsr_scheduler *s, const tsr_task_operand *o) {
  const tsr_tile_grid *grid = &s->graph->grid[o->matrix];
  int i = o->tile / grid->cols.count, j = o->tile % grid->cols.count;
  tsr_piece_range p = {.row = grid->rows.at[i], .col = grid->cols.at[j]};
  p.rows = grid->rows.at[i + 1] - p.row;
  p.cols = grid->cols.at[j + 1] - p.col;
  cut(s, o->matrix, grid->piece_rows, grid->piece_cols, &p);
  p.r0 = (int)((o->row - p.row) / p.piece_rows);
  p.r1 = (int)((o->row + o->rows - p.row + p.piece_rows - 1) / p.piece_rows);
  p.c0 = (int)((o->col - p.col) / p.piece_cols);
  p.c1 = (int)((o->col + o->cols - p.col + p.piece_cols - 1) / p.piece_cols);
  return p;
}

/* The pieces of the rectangle itself, whatever the tile around it is cut into. */
tsr_piece_range tsr_pieces_alone(const tsr_scheduler *s, const tsr_task_operand *o) {
  tsr_piece_range p = {.row = o->row, .col = o->col, .rows = o->rows, .cols = o->cols};
  cut(s, o->matrix, 0, 0, &p);
  p.r1 = p.down;
  p.c1 = p.count / p.down;
  return p;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

void tsr_cargo_weigh(const tsr_scheduler *s, tsr_cargo *c) {
  size_t size = s->size[c->matrix];
  c->bytes = (double)c->rows * (double)c->cols * (double)size;
  bool whole = c->matrix < TSR_OPERANDS && s->call->operand[c->matrix].ld == c->rows;
  bool contiguous = whole && tsr_memory_ld(c->rows, size) == c->rows;
  c->segment = contiguous ? c->bytes : (double)c->rows * (double)size;
}

/* Nothing reads the other triangle of A: a copy that is several blocks high ends at, or begins
 * with, the block on the diagonal. */
static void cut_off_other_triangle(const tsr_scheduler *s, const tsr_task_operand *o,
                                   const tsr_piece_range *p, tsr_cargo *load) {
  int64_t block = s->graph->grid[o->matrix].piece_cols, row = load->row, end = row + load->rows;
  if (block <= 0 || p->row != p->col) return;
  if (s->call->uplo == TSR_LOWER)
    row = larger(row, p->row + (load->col - p->col) / block * block);
  else
    end = smaller(end, p->row + (load->col + load->cols - 1 - p->col) / block * block + block);
  if (row >= end) return; /* all of it is in that triangle */
  load->row = row;
  load->rows = end - row;
}

tsr_cargo tsr_cargo_of(const tsr_scheduler *s, const tsr_task_operand *o, const tsr_piece_range *p,
                       int r, int c) {
  tsr_cargo load = {.matrix = o->matrix, .tile = o->tile};
  load.row = p->row + r * p->piece_rows;
  load.col = p->col + c * p->piece_cols;
  load.rows = smaller(p->piece_rows, p->row + p->rows - load.row);
  load.cols = smaller(p->piece_cols, p->col + p->cols - load.col);
  if (o->matrix == TSR_A && tsr_family_of(s->call->operation) == TSR_TRIANGLE)
    cut_off_other_triangle(s, o, p, &load);
  tsr_cargo_weigh(s, &load);
  return load;
}

/* All of a tile as an operand. */
tsr_task_operand tsr_part_of_tile(int matrix, int32_t tile, tsr_rect rect) {
  return (tsr_task_operand){.row = rect.row0,
                            .col = rect.col0,
                            .rows = (int32_t)(rect.row1 - rect.row0),
                            .cols = (int32_t)(rect.col1 - rect.col0),
                            .tile = tile,
                            .matrix = (uint8_t)matrix,
                            .access = TSR_READ};
}

tsr_task_operand tsr_whole_tile(const tsr_scheduler *s, int matrix, int32_t tile) {
  const tsr_tile_grid *grid = &s->graph->grid[matrix];
  int i = tile / grid->cols.count, j = tile % grid->cols.count;
  tsr_task_operand o = {.matrix = (uint8_t)matrix, .tile = tile};
  o.row = grid->rows.at[i];
  o.col = grid->cols.at[j];
  o.rows = (int32_t)(grid->rows.at[i + 1] - o.row);
  o.cols = (int32_t)(grid->cols.at[j + 1] - o.col);
  return o;
}

/* ---- Records -------------------------------------------------------------- */

/* What the tile's room holds from the start need not come. */
static void mark_present(tsr_scheduler *s, int matrix, int32_t tile, const tsr_tile_copy *copy) {
  const tsr_room *room = tsr_rooms_of(s, copy);
  tsr_task_operand o = tsr_whole_tile(s, matrix, tile);
  tsr_piece_range p = tsr_pieces_of(s, &o);
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      tsr_cargo piece = tsr_cargo_of(s, &o, &p, r, c);
      if (tsr_rects_covers(&room->valid, tsr_cargo_rect(&piece)))
        s->pieces.items[copy->pieces + c * p.down + r].command = TSR_PRESENT;
    }
}

/* Room for the tile at the device, and a record for each of its pieces. */
bool tsr_open_copy(tsr_scheduler *s, int matrix, int32_t tile, int device, int count) {
  if (!tsr_memory_place(s, matrix, tile, device)) return false;
  tsr_tile_copy *copy = tsr_copy_of(s, matrix, tile, device);
  if (copy->pieces != TSR_NOTHING) return true;
  copy->pieces = (int32_t)s->pieces.count;
  if (!TSR_VEC_RESERVE(&s->pieces, (size_t)count)) return false;
  for (int i = 0; i < count; i++) s->pieces.items[s->pieces.count++] = (tsr_piece){TSR_NOTHING, 0};
  if (tsr_has_rooms(s, matrix)) mark_present(s, matrix, tile, copy);
  return true;
}

/* The record of a piece at a device; NULL if nothing was asked for there. */
tsr_piece *tsr_piece_at(tsr_scheduler *s, int matrix, int32_t tile, int device, int index) {
  tsr_tile_copy *copy = tsr_copy_of(s, matrix, tile, device);
  return copy->pieces == TSR_NOTHING ? NULL : &s->pieces.items[copy->pieces + index];
}

bool tsr_route_each_piece(tsr_scheduler *s, int matrix, int32_t tile, int device,
                          tsr_piece_visitor visit) {
  const tsr_tile_copy *copy = tsr_copy_of(s, matrix, tile, device);
  if (copy->pieces == TSR_NOTHING) return true;
  tsr_task_operand o = tsr_whole_tile(s, matrix, tile);
  tsr_piece_range p = tsr_pieces_of(s, &o);
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      tsr_cargo piece = tsr_cargo_of(s, &o, &p, r, c);
      if (tsr_piece_at(s, matrix, tile, device, c * p.down + r)->command == TSR_NOTHING) continue;
      if (!visit(s, copy, tsr_cargo_rect(&piece))) return false;
    }
  return true;
}

bool tsr_route_wait(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  tsr_tile_copy *copy = tsr_copy_of(s, o->matrix, o->tile, device);
  if (copy->pieces == TSR_NOTHING) return true;
  tsr_piece_range p = tsr_pieces_of(s, o);
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++)
      tsr_commands_wait(s, tsr_piece_at(s, o->matrix, o->tile, device, c * p.down + r)->command);
  return (p.r1 - p.r0) * (p.c1 - p.c0) == p.count;
}
