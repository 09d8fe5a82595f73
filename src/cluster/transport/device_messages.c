/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The messages of the transport from device to device. Each call of begin or test progresses all
 * messages a little, without waiting. */
#include "cluster/transport/device.h"

#include <string.h>

#include "base/clock.h"
#include "cluster/tuning.h"

/* ---- Failing ---------------------------------------------------------------- */

/* Notes the first failure of this process. */
static void fail(tsr_device_transport *t, tsr_status status) {
  if (status == TSR_OK || t->failed) return;
  t->failed = true;
  tsr_error_take(status, &t->error);
}

/* The first failure of this process, if it was not returned before; else TSR_OK. */
static tsr_status report_once(tsr_device_transport *t) {
  if (!t->failed || t->told) return TSR_OK;
  t->told = true;
  return tsr_error_put(&t->error);
}

/* Leaves a group in which a process has failed, and gives its messages up as lost. All processes of
 * the group do so after the same meeting. */
static void lose_group(tsr_device_transport *t, int group) {
  t->group[group].failed = true;
  if (t->group[group].joined) t->fabric->leave(t->carrier, group);
  t->group[group].joined = false;
  for (int i = 0; i < t->count; i++) {
    tsr_device_message *m = &t->message[t->order[i]];
    if (m->what.operand == group) m->lost = true;
  }
}

/* ---- Pieces under way ------------------------------------------------------------ */

/* Pieces of a message whose uploads may be under way at once: the bits of out_of_order. */
enum { OUT_OF_ORDER_MOST = 64 };

static bool is_full(const tsr_device_ring *ring, int most) {
  return ring->begun - ring->complete >= most;
}

static int event_of(int64_t piece) {
  return (int)(piece % TSR_FABRIC_EVENTS);
}

/* Records an event after a piece of a message, whose operations were just put into the queue. */
static void push(tsr_device_transport *t, int queue, int number, int64_t piece) {
  tsr_device_ring *ring = &t->ring[queue];
  int event = event_of(ring->begun++);
  ring->message[event] = number;
  ring->begin[event] = tsr_now();
  ring->piece[event] = piece;
  t->fabric->record(t->carrier, queue, event);
}

/* A piece whose event is complete. */
typedef struct completion {
  int message;
  int64_t piece;
} completion;

/* Takes the oldest piece out of a queue's ring if its event is complete. False: it is not, or the
 * ring is empty. */
static bool pop(tsr_device_transport *t, int queue, completion *over) {
  tsr_device_ring *ring = &t->ring[queue];
  bool complete = false;
  if (ring->begun == ring->complete) return false;
  int event = event_of(ring->complete);
  fail(t, t->fabric->query(t->carrier, queue, event, &complete));
  if (!complete) return false;
  ring->complete++;
  const tsr_broadcast *what = &t->message[ring->message[event]].what;
  tsr_grid_trace_add(&t->grid->trace,
                     &(tsr_trace_event){TSR_TRACK_PIECES + queue, what->panel, what->block,
                                        ring->begin[event], tsr_now()});
  *over = (completion){ring->message[event], ring->piece[event]};
  return true;
}

/* Whether a message stays on this process: its panel is uploaded but not broadcast. */
static bool is_alone(const tsr_device_transport *t, const tsr_device_message *m) {
  return t->group[m->what.operand].size == 1;
}

/* The number of lines of a piece. */
static int64_t lines_at(const tsr_device_message *m, int64_t piece) {
  int64_t left = m->what.lines - piece * m->lines;
  return left < m->lines ? left : m->lines;
}

/* Notes that a piece's upload is complete. Ways differ in speed, so pieces complete out of order.
 */
static void note_uploaded(tsr_device_message *m, int64_t piece) {
  m->out_of_order |= (uint64_t)1 << (piece - m->uploaded);
  for (; (m->out_of_order & 1) != 0; m->out_of_order >>= 1) m->uploaded++;
}

static size_t piece_bytes(const tsr_device_message *m, int64_t piece) {
  return (size_t)lines_at(m, piece) * m->what.line;
}

/* Takes the complete uploads of a way. */
static void take_uploaded(tsr_device_transport *t, int way) {
  completion over;
  while (pop(t, TSR_FABRIC_UP + way, &over)) {
    tsr_device_message *m = &t->message[over.message];
    note_uploaded(m, over.piece);
    tsr_traffic_add(&t->grid->counted.uploaded, piece_bytes(m, over.piece));
    if (is_alone(t, m)) m->sent = m->arrived = m->uploaded;
  }
}

/* Takes the complete broadcasts. */
static void take_arrived(tsr_device_transport *t) {
  tsr_traffic_sums *counted = &t->grid->counted;
  completion over;
  while (pop(t, TSR_FABRIC_ACROSS, &over)) {
    tsr_device_message *m = &t->message[over.message];
    m->arrived++;
    tsr_traffic_add(m->root ? &counted->sent : &counted->received, piece_bytes(m, over.piece));
  }
}

static void take_completed(tsr_device_transport *t) {
  for (int way = 0; way < t->ways; way++) take_uploaded(t, way);
  take_arrived(t);
}

/* ---- Uploads ------------------------------------------------------------------ */

/* The upload of a piece by a way. */
typedef struct upload {
  tsr_device_transport *transport;
  tsr_device_message *message;
  int way;
  int64_t at, lines; /* the first line of the piece in the panel, and how many */
} upload;

static size_t begin_of(const upload *r) {
  return (size_t)r->at * r->message->what.line;
}

static size_t bytes_of(const upload *r) {
  return (size_t)r->lines * r->message->what.line;
}

static void upload_part(void *user, const tsr_panel_part *part) {
  const upload *r = user;
  fail(r->transport,
       tsr_device_upload(r->transport, r->way, r->message->what.slot, begin_of(r), part));
}

typedef struct packing {
  const tsr_device_message *message;
  int64_t at; /* the first line of the piece */
  char *to;
} packing;

static void pack_lines(void *argument, int64_t at, int64_t count) {
  const packing *p = argument;
  const tsr_broadcast *what = &p->message->what;
  tsr_panel_parts_pack(&what->parts, what->line, p->at + at, count,
                       p->to + (size_t)at * what->line);
}

/* The pinned buffers of each way. A way's queue never has more packed pieces than that (next_way),
 * so a buffer is free when its turn comes. */
static int buffers_of_way(const tsr_device_transport *t) {
  return TSR_FABRIC_EVENTS / t->ways;
}

static char *next_buffer(const tsr_device_transport *t, int way) {
  int own = buffers_of_way(t);
  return t->buffer[way * own + (int)(t->ring[TSR_FABRIC_UP + way].begun % own)];
}

/* Packs a piece into a pinned buffer and uploads it from there. */
static void upload_packed(upload *r) {
  tsr_device_transport *t = r->transport;
  char *buffer = next_buffer(t, r->way);
  size_t bytes = bytes_of(r);
  packing p = {r->message, r->at, buffer};
  tsr_packers_run(t->grid->packers, pack_lines, &p, r->lines, bytes);
  upload_part(r, &(tsr_panel_part){.from = buffer,
                                   .from_pitch = bytes,
                                   .to = begin_of(r),
                                   .to_pitch = bytes,
                                   .width = bytes,
                                   .height = 1});
}

/* Begins the upload of the next piece of a message. */
static void upload_piece(tsr_device_transport *t, int number, int way) {
  tsr_device_message *m = &t->message[number];
  upload r = {t, m, way, m->upload_begun * m->lines, lines_at(m, m->upload_begun)};
  if (m->direct)
    m->what.parts.visit_lines(m->what.parts.panel, r.at, r.lines, upload_part, &r);
  else
    upload_packed(&r);
  fail(t, tsr_device_forward(t, way, m->what.slot, begin_of(&r), bytes_of(&r)));
  push(t, TSR_FABRIC_UP + way, number, m->upload_begun++);
}

/* The way whose turn it is, among those that may take another piece; -1: none may. A line that is
 * longer than a piece does not fit a relay buffer and takes way 0. */
static int next_way(tsr_device_transport *t, const tsr_device_message *m) {
  int most = m->direct ? TSR_TUNE_UPLOADS : buffers_of_way(t);
  int ways = m->what.line > t->fabric->piece ? 1 : t->ways;
  if (m->upload_begun - m->uploaded >= OUT_OF_ORDER_MOST) return -1;
  for (int i = 0; i < ways; i++) {
    int way = (t->next_way + i) % ways;
    if (is_full(&t->ring[TSR_FABRIC_UP + way], most)) continue;
    t->next_way = (way + 1) % t->ways;
    return way;
  }
  return -1;
}

/* The first message with pieces to upload; -1: none. */
static int next_to_upload(const tsr_device_transport *t) {
  for (int i = 0; i < t->count; i++) {
    const tsr_device_message *m = &t->message[t->order[i]];
    if (m->root && !m->lost && m->upload_begun < m->pieces) return t->order[i];
  }
  return -1;
}

/* Begins uploads. At most one piece is packed in a call, because the calling thread has other work
 * to progress. */
static void upload_pieces(tsr_device_transport *t) {
  bool packed = false;
  for (int i; !packed && !t->failed && (i = next_to_upload(t)) >= 0;) {
    int way = next_way(t, &t->message[i]);
    if (way < 0) return;
    packed = !t->message[i].direct;
    upload_piece(t, i, way);
  }
}

/* ---- Broadcasts --------------------------------------------------------------- */

/* The first message with pieces to broadcast; -1: none. */

static int next_to_send(const tsr_device_transport *t) {
  for (int i = 0; i < t->count; i++) {
    const tsr_device_message *m = &t->message[t->order[i]];
    if (!m->lost && !is_alone(t, m) && m->sent < m->pieces) return t->order[i];
  }
  return -1;
}

/* Whether the group has met for the next piece; t->all then says whether any of its processes has
 * failed. If MPI fails, that counts as a meeting after a failure. */
static bool meet(tsr_device_transport *t, MPI_Comm comm) {
  int met = 0, code = MPI_SUCCESS;
  if (t->meeting == MPI_REQUEST_NULL) {
    t->mine = t->failed, t->all = 0;
    code = MPI_Iallreduce(&t->mine, &t->all, 1, MPI_INT, MPI_MAX, comm, &t->meeting);
    fail(t, tsr_mpi_check(code, "MPI_Iallreduce"));
  }
  if (code == MPI_SUCCESS) {
    code = MPI_Test(&t->meeting, &met, MPI_STATUS_IGNORE);
    fail(t, tsr_mpi_check(code, "MPI_Test"));
  }
  if (code == MPI_SUCCESS) return met != 0;
  t->meeting = MPI_REQUEST_NULL;
  t->all = 1;
  return true;
}

/* Begins the broadcast of the next piece of a message. If it fails here, the next meeting says so.
 */
static void send_piece(tsr_device_transport *t, int number) {
  tsr_device_message *m = &t->message[number];
  int64_t at = m->sent * m->lines;
  size_t bytes = (size_t)lines_at(m, m->sent) * m->what.line;
  char *memory = (char *)m->what.slot + (size_t)at * m->what.line;
  fail(t, t->fabric->across(t->carrier, m->what.operand, memory, bytes, m->what.root));
  push(t, TSR_FABRIC_ACROSS, number, m->sent++);
}

/* Whether this process may meet for the next piece: at the root, once the piece is uploaded. A
 * process that has failed may at once, to say so. */
static bool is_ready(const tsr_device_transport *t, const tsr_device_message *m) {
  return t->failed || !m->root || m->uploaded > m->sent;
}

/* Meets and broadcasts, in the order of the messages, as far as possible without waiting. */
static void send(tsr_device_transport *t) {
  for (int i; (i = next_to_send(t)) >= 0;) {
    tsr_device_message *m = &t->message[i];
    if (!is_ready(t, m) || is_full(&t->ring[TSR_FABRIC_ACROSS], TSR_FABRIC_EVENTS)) return;
    if (!meet(t, t->group[m->what.operand].comm)) return;
    if (t->all)
      lose_group(t, m->what.operand);
    else
      send_piece(t, i);
  }
}

/* ---- Messages ------------------------------------------------------------------ */

static void go_on(tsr_device_transport *t) {
  take_completed(t);
  upload_pieces(t);
  send(t);
  /* After a failure, messages within this process are lost, too; no other process needs to know. */
  for (int i = 0; i < t->count && t->failed; i++) {
    tsr_device_message *m = &t->message[t->order[i]];
    if (is_alone(t, m)) m->lost = true;
  }
}

/* The parts of a panel: the memory that they span, and the bytes of the shortest run. */
typedef struct survey {
  uintptr_t begin, end;
  size_t shortest;
} survey;

static void look_at(void *user, const tsr_panel_part *part) {
  survey *s = user;
  uintptr_t begin = (uintptr_t)part->from;
  uintptr_t end = begin + (part->height - 1) * part->from_pitch + part->width;
  bool even = part->from_pitch == part->width && part->to_pitch == part->width;
  size_t run = even ? part->width * part->height : part->width;
  if (begin < s->begin) s->begin = begin;
  if (end > s->end) s->end = end;
  if (run < s->shortest) s->shortest = run;
}

/* Whether a panel is uploaded straight from the matrix: its runs are long and its memory is pinned,
 * or a line is longer than a piece, so that no buffer has room for it. */
static bool is_direct(const tsr_device_transport *t, const tsr_broadcast *what) {
  survey s = {UINTPTR_MAX, 0, SIZE_MAX};
  if (what->line > t->fabric->piece) return true;
  what->parts.visit_lines(what->parts.panel, 0, what->lines, look_at, &s);
  return s.shortest >= t->fabric->narrowest &&
         t->fabric->is_pinned(t->carrier, (const void *)s.begin, s.end - s.begin);
}

/* The same on all processes, since it follows from the panel's extents alone. */
static int64_t lines_of_piece(const tsr_device_transport *t, const tsr_broadcast *what) {
  int64_t lines = (int64_t)(t->fabric->piece / what->line);
  return lines < 1 ? 1 : lines > what->lines ? what->lines : lines;
}

tsr_status tsr_device_begin(void *opened, int number, const tsr_broadcast *what) {
  tsr_device_transport *t = opened;
  tsr_device_message *m = &t->message[number];
  const tsr_device_group *group = &t->group[what->operand];
  int64_t lines = lines_of_piece(t, what);
  *m = (tsr_device_message){.what = *what,
                            .root = what->root == group->rank,
                            .lost = group->failed,
                            .lines = lines,
                            .pieces = (what->lines + lines - 1) / lines};
  if (m->root && !m->lost) m->direct = is_direct(t, what);
  t->order[t->count++] = number;
  t->told = false; /* this caller may be another product, which has to learn of the failure, too */
  go_on(t);
  return report_once(t);
}

/* Whether no operation on a message's memory is left. */
static bool is_over(const tsr_device_message *m) {
  if (m->lost) return m->uploaded == m->upload_begun && m->arrived == m->sent;
  return m->arrived == m->pieces && m->uploaded == m->upload_begun;
}

static void remove_message(tsr_device_transport *t, int number) {
  int kept = 0;
  for (int i = 0; i < t->count; i++)
    if (t->order[i] != number) t->order[kept++] = t->order[i];
  t->count = kept;
}

tsr_status tsr_device_test(void *opened, int number, tsr_message_state *at) {
  tsr_device_transport *t = opened;
  const tsr_device_message *m = &t->message[number];
  if (number == t->order[0]) go_on(t); /* once per round of tests, as it progresses all messages */
  *at = TSR_MESSAGE_UNDER_WAY;
  if (is_over(m)) {
    *at = m->lost ? TSR_MESSAGE_LOST : TSR_MESSAGE_COMPLETE;
    remove_message(t, number);
  }
  return report_once(t);
}
