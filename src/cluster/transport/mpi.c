/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The transport by MPI, through host memory. A panel is broadcast in pieces, each by a non-blocking
 * broadcast, so that pieces are on their way while the root packs the next ones.
 */
#include "base/alloc.h"
#include "cluster/layout/pack.h"
#include "cluster/transport/transport.h"
#include "cluster/tuning.h"

enum { PIECES = 64 }; /* of a panel, at most */

typedef struct message {
  int pieces;
  size_t bytes; /* over the network; 0: the panel stays on this process */
  bool root;
  MPI_Request request[PIECES];
} message;

typedef struct state {
  tsr_grid *grid;
  message message[TSR_TRANSPORT_MESSAGES];
} state;

static tsr_status open_mpi(tsr_grid *grid, void **opened) {
  state *s = tsr_alloc_zero(1, sizeof *s);
  tsr_status status =
      s != NULL ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for the messages of a grid");
  status = tsr_agree(&grid->all, NULL, status);
  if (status == TSR_OK) {
    s->grid = grid;
    *opened = s;
    return TSR_OK;
  }
  tsr_dealloc(s);
  return status;
}

static void close_mpi(void *opened) {
  tsr_dealloc(opened);
}

/* Slots are in pinned memory if the context has devices (tsr_malloc). */
static tsr_status allocate(void *opened, size_t bytes, void **slot) {
  state *s = opened;
  return tsr_malloc(s->grid->context, TSR_HOST, bytes, slot);
}

static void release(void *opened, void *slot) {
  state *s = opened;
  tsr_free(s->grid->context, slot);
}

/* The lines of a piece. The same on all processes, since they follow from the panel's extents
 * alone. */
static int64_t piece_of(const tsr_broadcast *what) {
  int64_t line = (int64_t)what->line, least = (TSR_TUNE_MPI_PIECE + line - 1) / line;
  int64_t even = (what->lines + PIECES - 1) / PIECES;
  return even > least ? even : least;
}

typedef struct packing {
  const tsr_broadcast *what;
  int64_t at; /* the first line of the piece */
} packing;

/* Packs lines at .. at+count-1 of a piece into the slot (tsr_pack_work). */
static void pack_part(void *argument, int64_t at, int64_t count) {
  const packing *p = argument;
  int64_t first = p->at + at;
  tsr_panel_parts_pack(&p->what->parts, p->what->line, first, count,
                       (char *)p->what->slot + first * (int64_t)p->what->line);
}

static bool goes_along_row(const tsr_broadcast *what) {
  return what->operand == TSR_SUMMA_A;
}

static bool is_root(const state *s, const tsr_broadcast *what) {
  return what->root == s->grid->me[goes_along_row(what) ? 1 : 0];
}

/* Packs a piece at the root, and begins its broadcast. */
static tsr_status begin_piece(state *s, const tsr_broadcast *what, int64_t at, int64_t count,
                              MPI_Request *request) {
  size_t bytes = (size_t)count * what->line;
  packing part = {what, at};
  if (is_root(s, what)) tsr_packers_run(s->grid->packers, pack_part, &part, count, bytes);
  char *from = (char *)what->slot + at * (int64_t)what->line;
  int code = MPI_Ibcast(from, (int)bytes, MPI_BYTE, what->root,
                        goes_along_row(what) ? s->grid->row : s->grid->col, request);
  return tsr_mpi_check(code, "MPI_Ibcast");
}

static tsr_status begin(void *opened, int number, const tsr_broadcast *what) {
  state *s = opened;
  message *m = &s->message[number];
  tsr_status status = TSR_OK;
  int64_t piece = piece_of(what);
  bool alone = s->grid->extent[goes_along_row(what) ? 1 : 0] == 1;
  m->pieces = 0;
  m->bytes = alone ? 0 : (size_t)what->lines * what->line;
  m->root = is_root(s, what);
  for (int64_t at = 0; at < what->lines; at += piece) {
    MPI_Request *request = &m->request[m->pieces++];
    int64_t count = what->lines - at < piece ? what->lines - at : piece;
    *request = MPI_REQUEST_NULL;
    tsr_status begun = begin_piece(s, what, at, count, request);
    if (status == TSR_OK) status = begun;
  }
  return status;
}

static tsr_status test(void *opened, int number, tsr_message_state *at) {
  state *s = opened;
  message *m = &s->message[number];
  MPI_Status ignored[PIECES];
  int flag = 1;
  int code = MPI_Testall(m->pieces, m->request, &flag, ignored);
  *at = flag != 0 || code != MPI_SUCCESS ? TSR_MESSAGE_COMPLETE : TSR_MESSAGE_UNDER_WAY;
  if (flag != 0 && code == MPI_SUCCESS)
    tsr_traffic_add(m->root ? &s->grid->counted.sent : &s->grid->counted.received, m->bytes);
  return tsr_mpi_check(code, "MPI_Testall");
}

const tsr_transport tsr_transport_mpi = {
    .name = "mpi",
    .open = open_mpi,
    .close = close_mpi,
    .allocate = allocate,
    .release = release,
    .begin = begin,
    .test = test,
};
