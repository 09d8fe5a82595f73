/* Carrying messages from device to device, a little with each call. */
#include "cluster/transport_device.h"

#include <string.h>

#include "base/clock.h"
#include "cluster/tuning.h"

/* ---- Failing ---------------------------------------------------------------- */

static void fail(tsr_device_transport *t, tsr_status status) {
  if (status == TSR_OK || t->failed) return;
  t->failed = true;
  tsr_error_take(status, &t->error);
}

/* What has failed here is told once. */
static tsr_status tell(tsr_device_transport *t) {
  if (!t->failed || t->told) return TSR_OK;
  t->told = true;
  return tsr_error_put(&t->error);
}

/* Nobody sends to this group any more: all of it know. */
static void lose_group(tsr_device_transport *t, int group) {
  t->group[group].failed = true;
  if (t->group[group].joined) t->fabric->leave(t->carrier, group);
  t->group[group].joined = false;
  for (int i = 0; i < t->count; i++) {
    tsr_device_message *m = &t->message[t->order[i]];
    if (m->what.operand == group) m->lost = true;
  }
}

/* ---- What is under way -------------------------------------------------------- */

/* How far pieces of a message get ahead of each other: so many bits has `ahead`. */
enum { AHEAD = 64 };

static bool is_full(const tsr_device_ring *ring, int most) {
  return ring->begun - ring->passed >= most;
}

static int mark_of(int64_t piece) {
  return (int)(piece % TSR_FABRIC_MARKS);
}

/* Marks what has just been asked for as a piece of a message. */
static void push(tsr_device_transport *t, int queue, int number, int64_t piece) {
  tsr_device_ring *ring = &t->ring[queue];
  int mark = mark_of(ring->begun++);
  ring->message[mark] = number;
  ring->begin[mark] = tsr_now();
  ring->piece[mark] = piece;
  t->fabric->mark(t->carrier, queue, mark);
}

/* A piece that has passed. */
typedef struct passage {
  int message;
  int64_t piece;
} passage;

/* The oldest piece, when that has passed. */
static bool pop(tsr_device_transport *t, int queue, passage *over) {
  tsr_device_ring *ring = &t->ring[queue];
  bool passed = false;
  if (ring->begun == ring->passed) return false;
  int mark = mark_of(ring->passed);
  fail(t, t->fabric->passed(t->carrier, queue, mark, &passed));
  if (!passed) return false;
  ring->passed++;
  const tsr_broadcast *what = &t->message[ring->message[mark]].what;
  tsr_grid_trace_add(&t->grid->trace,
                     &(tsr_trace_event){TSR_TRACK_PIECES + queue, what->panel, what->block,
                                        ring->begin[mark], tsr_now()});
  *over = (passage){ring->message[mark], ring->piece[mark]};
  return true;
}

static bool is_alone(const tsr_device_transport *t, const tsr_device_message *m) {
  return t->group[m->what.operand].size == 1;
}

static int64_t lines_at(const tsr_device_message *m, int64_t piece) {
  int64_t left = m->what.lines - piece * m->lines;
  return left < m->lines ? left : m->lines;
}

/* Ways differ in how fast they are. */
static void note_risen(tsr_device_message *m, int64_t piece) {
  m->ahead |= (uint64_t)1 << (piece - m->risen);
  for (; (m->ahead & 1) != 0; m->ahead >>= 1) m->risen++;
}

static void take_risen(tsr_device_transport *t, int way) {
  passage over;
  while (pop(t, TSR_FABRIC_UP + way, &over)) {
    tsr_device_message *m = &t->message[over.message];
    note_risen(m, over.piece);
    if (is_alone(t, m)) m->sent = m->arrived = m->risen;
  }
}

static void take_passed(tsr_device_transport *t) {
  passage over;
  for (int way = 0; way < t->ways; way++) take_risen(t, way);
  while (pop(t, TSR_FABRIC_ACROSS, &over)) t->message[over.message].arrived++;
}

/* ---- Up ----------------------------------------------------------------------- */

/* A piece by a way. */
typedef struct raising {
  tsr_device_transport *transport;
  tsr_device_message *message;
  int way;
  int64_t at, lines; /* of the piece in the panel */
} raising;

static size_t begin_of(const raising *r) {
  return (size_t)r->at * r->message->what.line;
}

static size_t bytes_of(const raising *r) {
  return (size_t)r->lines * r->message->what.line;
}

static void raise_part(void *user, const tsr_part *part) {
  const raising *r = user;
  fail(r->transport,
       tsr_device_raise(r->transport, r->way, r->message->what.slot, begin_of(r), part));
}

typedef struct packing {
  const tsr_device_message *message;
  int64_t at; /* the first line of the piece */
  char *to;
} packing;

static void pack_lines(void *argument, int64_t at, int64_t count) {
  const packing *p = argument;
  const tsr_broadcast *what = &p->message->what;
  tsr_parts_pack(&what->parts, what->line, p->at + at, count, p->to + (size_t)at * what->line);
}

/* Chunks of a way, which are no more than its marks. A queue never holds more pieces than that, so
 * that a chunk is free when its turn comes. */
static int chunks_of_way(const tsr_device_transport *t) {
  return TSR_FABRIC_MARKS / t->ways;
}

static char *next_chunk(const tsr_device_transport *t, int way) {
  int own = chunks_of_way(t);
  return t->chunk[way * own + (int)(t->ring[TSR_FABRIC_UP + way].begun % own)];
}

static void raise_packed(raising *r) {
  tsr_device_transport *t = r->transport;
  char *chunk = next_chunk(t, r->way);
  size_t bytes = bytes_of(r);
  packing p = {r->message, r->at, chunk};
  tsr_packers_run(t->grid->packers, pack_lines, &p, r->lines, bytes);
  raise_part(r, &(tsr_part){.from = chunk,
                            .from_pitch = bytes,
                            .to = begin_of(r),
                            .to_pitch = bytes,
                            .width = bytes,
                            .height = 1});
}

static void raise_piece(tsr_device_transport *t, int number, int way) {
  tsr_device_message *m = &t->message[number];
  raising r = {t, m, way, m->raised * m->lines, lines_at(m, m->raised)};
  if (m->direct)
    m->what.parts.visit_lines(m->what.parts.panel, r.at, r.lines, raise_part, &r);
  else
    raise_packed(&r);
  fail(t, tsr_device_step_on(t, way, m->what.slot, begin_of(&r), bytes_of(&r)));
  push(t, TSR_FABRIC_UP + way, number, m->raised++);
}

/* The way that has its turn, of those with room; -1: none has. A line that is longer than a piece
 * finds no room on a stepping stone. */
static int next_way(tsr_device_transport *t, const tsr_device_message *m) {
  int most = m->direct ? TSR_TUNE_RISING : chunks_of_way(t);
  int ways = m->what.line > t->fabric->piece ? 1 : t->ways;
  if (m->raised - m->risen >= AHEAD) return -1;
  for (int i = 0; i < ways; i++) {
    int way = (t->next_way + i) % ways;
    if (is_full(&t->ring[TSR_FABRIC_UP + way], most)) continue;
    t->next_way = (way + 1) % t->ways;
    return way;
  }
  return -1;
}

static int next_to_raise(const tsr_device_transport *t) {
  for (int i = 0; i < t->count; i++) {
    const tsr_device_message *m = &t->message[t->order[i]];
    if (m->root && !m->lost && m->raised < m->pieces) return t->order[i];
  }
  return -1;
}

/* At most one piece is packed at a time: there is other work that waits for whoever calls. */
static void raise(tsr_device_transport *t) {
  bool packed = false;
  for (int i; !packed && !t->failed && (i = next_to_raise(t)) >= 0;) {
    int way = next_way(t, &t->message[i]);
    if (way < 0) return;
    packed = !t->message[i].direct;
    raise_piece(t, i, way);
  }
}

/* ---- Across ------------------------------------------------------------------- */

static int next_to_send(const tsr_device_transport *t) {
  for (int i = 0; i < t->count; i++) {
    const tsr_device_message *m = &t->message[t->order[i]];
    if (!m->lost && !is_alone(t, m) && m->sent < m->pieces) return t->order[i];
  }
  return -1;
}

/* Whether the group has met; then all its processes know whether one of them has failed. */
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

/* One that has failed here has begun the meeting of the piece with that, or will begin the next. */
static void send_piece(tsr_device_transport *t, int number) {
  tsr_device_message *m = &t->message[number];
  int64_t at = m->sent * m->lines;
  size_t bytes = (size_t)lines_at(m, m->sent) * m->what.line;
  char *memory = (char *)m->what.slot + (size_t)at * m->what.line;
  fail(t, t->fabric->across(t->carrier, m->what.operand, memory, bytes, m->what.root));
  push(t, TSR_FABRIC_ACROSS, number, m->sent++);
}

static bool is_ready(const tsr_device_transport *t, const tsr_device_message *m) {
  return t->failed || !m->root || m->risen > m->sent;
}

static void send(tsr_device_transport *t) {
  for (int i; (i = next_to_send(t)) >= 0;) {
    tsr_device_message *m = &t->message[i];
    if (!is_ready(t, m) || is_full(&t->ring[TSR_FABRIC_ACROSS], TSR_FABRIC_MARKS)) return;
    if (!meet(t, t->group[m->what.operand].comm)) return;
    if (t->all)
      lose_group(t, m->what.operand);
    else
      send_piece(t, i);
  }
}

/* ---- Messages ------------------------------------------------------------------ */

static void go_on(tsr_device_transport *t) {
  take_passed(t);
  raise(t);
  send(t);
  for (int i = 0; i < t->count && t->failed; i++) { /* nobody else needs to know of these */
    tsr_device_message *m = &t->message[t->order[i]];
    if (is_alone(t, m)) m->lost = true;
  }
}

/* Of the parts of a panel: which memory they span, and how short their runs are. */
typedef struct survey {
  uintptr_t begin, end;
  size_t shortest;
} survey;

static void look_at(void *user, const tsr_part *part) {
  survey *s = user;
  uintptr_t begin = (uintptr_t)part->from;
  uintptr_t end = begin + (part->height - 1) * part->from_pitch + part->width;
  bool even = part->from_pitch == part->width && part->to_pitch == part->width;
  size_t run = even ? part->width * part->height : part->width;
  if (begin < s->begin) s->begin = begin;
  if (end > s->end) s->end = end;
  if (run < s->shortest) s->shortest = run;
}

/* A line that is longer than a piece goes as it is, whatever memory it is in. */
static bool goes_straight(const tsr_device_transport *t, const tsr_broadcast *what) {
  survey s = {UINTPTR_MAX, 0, SIZE_MAX};
  if (what->line > t->fabric->piece) return true;
  what->parts.visit_lines(what->parts.panel, 0, what->lines, look_at, &s);
  return s.shortest >= t->fabric->narrowest &&
         t->fabric->is_pinned(t->carrier, (const void *)s.begin, s.end - s.begin);
}

/* The same for all, since it follows from the panel alone. */
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
  if (m->root && !m->lost) m->direct = goes_straight(t, what);
  t->order[t->count++] = number;
  t->told = false; /* whoever asks now has not been told */
  go_on(t);
  return tell(t);
}

static bool is_over(const tsr_device_message *m) {
  if (m->lost) return m->risen == m->raised && m->arrived == m->sent;
  return m->arrived == m->pieces && m->risen == m->raised;
}

static void forget(tsr_device_transport *t, int number) {
  int kept = 0;
  for (int i = 0; i < t->count; i++)
    if (t->order[i] != number) t->order[kept++] = t->order[i];
  t->count = kept;
}

tsr_status tsr_device_test(void *opened, int number, tsr_message_state *at) {
  tsr_device_transport *t = opened;
  const tsr_device_message *m = &t->message[number];
  if (number == t->order[0]) go_on(t); /* once for all of them */
  *at = TSR_MESSAGE_UNDER_WAY;
  if (is_over(m)) {
    *at = m->lost ? TSR_MESSAGE_LOST : TSR_MESSAGE_COMPLETE;
    forget(t, number);
  }
  return tell(t);
}
