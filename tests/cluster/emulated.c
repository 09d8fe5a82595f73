/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory of emulated devices is host memory, so uploads are copies and broadcasts go by MPI. An
 * operation is executed some time after it is asked for, in the order of its queue, and only while
 * events are queried. So a read that comes too early finds other data, and uploads by one way
 * overtake those by another.
 */
#include "emulated.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/transport/fabric.h"

enum { ROOM = 4096 };

typedef struct order {
  tsr_panel_part part; /* UP */
  char *panel;
  const void *relay; /* onward and down: the source */
  void *memory;      /* onward and down: the destination; across: the memory */
  size_t bytes;
  int root, group;
  long number; /* among all operations */
  bool fails;
} order;

typedef struct queue {
  order orders[ROOM];
  long asked, done;
  long event[TSR_FABRIC_EVENTS]; /* `asked` when the event was recorded */
  bool unrecorded[TSR_FABRIC_EVENTS];
  int delay;           /* queries before the next operation is executed */
  MPI_Request request; /* of the next operation, a broadcast, if begun */
  bool begun;
  bool fails_onward; /* the next copy from the relay buffer fails */
} queue;

struct tsr_fabric_state {
  queue queue[TSR_FABRIC_QUEUES];
  const void *relay[TSR_FABRIC_WAYS];
  int ways;
  MPI_Comm comm[TSR_FABRIC_GROUPS];
  uint64_t numbers;
  long asked;
  bool failed;
};

static struct {
  long countdown, carried;
  int later, shared, unrecorded;
  long left;
} fault;

static struct {
  long onward, overtaken;
  int most; /* 0: any */
} way_count;

void emulated_fail_at(long n, int later) {
  fault.countdown = n;
  fault.later = later;
}

long emulated_carried(void) {
  return fault.carried;
}

void emulated_lose_events(int lose) {
  fault.unrecorded = lose;
}

long emulated_left(void) {
  return fault.left;
}

void emulated_share_device(int shared) {
  fault.shared = shared;
}

void emulated_limit_ways(int most) {
  way_count.most = most;
}

long emulated_onward(void) {
  return way_count.onward;
}

long emulated_overtaken(void) {
  return way_count.overtaken;
}

static int draw(tsr_fabric_state *s, int most) {
  s->numbers = s->numbers * 6364136223846793005u + 1442695040888963407u;
  return (int)((s->numbers >> 33) % (uint64_t)(most + 1));
}

/* ---- Opening ------------------------------------------------------------------- */

static tsr_status open_emulated(const void *memory, tsr_fabric_state **state,
                                char identity[TSR_FABRIC_IDENTITY]) {
  tsr_fabric_state *s = calloc(1, sizeof *s);
  if (s == NULL || memory == NULL) return tsr_fail(TSR_ERR_MEMORY, "the test has no memory");
  for (int i = 0; i < TSR_FABRIC_GROUPS; i++) s->comm[i] = MPI_COMM_NULL;
  s->numbers = (uint64_t)getpid();
  s->ways = 1;
  snprintf(identity, TSR_FABRIC_IDENTITY, "EMULATED-%ld", fault.shared ? 0L : (long)getpid());
  *state = s;
  return TSR_OK;
}

static void close_emulated(tsr_fabric_state *s) {
  int ended = 0;
  MPI_Finalized(&ended);
  for (int i = 0; i < TSR_FABRIC_GROUPS && !ended; i++)
    if (s->comm[i] != MPI_COMM_NULL) MPI_Comm_free(&s->comm[i]);
  for (int i = 0; i < TSR_FABRIC_QUEUES; i++) fault.left += s->queue[i].asked - s->queue[i].done;
  free(s);
}

static tsr_status open_way(tsr_fabric_state *s, int way, const void *relay) {
  if (way != s->ways || way >= TSR_FABRIC_WAYS || relay == NULL)
    return tsr_fail(TSR_ERR_INTERNAL, "way %d is not the next", way);
  if (way == way_count.most) return tsr_fail(TSR_ERR_UNSUPPORTED, "the test wants no more ways");
  s->relay[s->ways++] = relay;
  return TSR_OK;
}

static tsr_status name_group(unsigned char name[TSR_FABRIC_NAME]) {
  memset(name, 42, TSR_FABRIC_NAME);
  return TSR_OK;
}

static tsr_status join(tsr_fabric_state *s, int group, const tsr_fabric_group *what) {
  for (int i = 0; i < TSR_FABRIC_NAME; i++)
    if (what->name[i] != 42) return tsr_fail(TSR_ERR_INTERNAL, "the name is not the group's");
  MPI_Comm_dup(*(const MPI_Comm *)what->comm, &s->comm[group]);
  return TSR_OK;
}

static void leave(tsr_fabric_state *s, int group) {
  (void)s, (void)group; /* broadcasts end by themselves: all processes have begun them */
}

/* Answers at random, to test both ways of uploading. */
static bool is_pinned(tsr_fabric_state *s, const void *begin, size_t bytes) {
  return begin != NULL && bytes > 0 && draw(s, 1) == 0;
}

/* ---- Asking --------------------------------------------------------------------- */

static tsr_status refuse(tsr_fabric_state *s) {
  s->failed = true;
  return tsr_fail(TSR_ERR_DEVICE, "the test lets the device fail");
}

static tsr_status append(tsr_fabric_state *s, int which, order what) {
  queue *q = &s->queue[which];
  if (q->asked - q->done == ROOM)
    return tsr_fail(TSR_ERR_INTERNAL, "the test has no memory for more operations");
  what.number = s->asked++;
  q->orders[q->asked++ % ROOM] = what;
  return TSR_OK;
}

static bool fails_now(void) {
  fault.carried++;
  return fault.countdown > 0 && --fault.countdown == 0;
}

/* If an upload by a relay buffer is to fail later, its first or its second copy fails, at random.
 */
static tsr_status up(tsr_fabric_state *s, int way, char *panel, const tsr_panel_part *part) {
  queue *q = &s->queue[TSR_FABRIC_UP + way];
  bool fails = fails_now();
  if (way >= s->ways) return tsr_fail(TSR_ERR_INTERNAL, "way %d is not open", way);
  if (s->failed || (fails && !fault.later)) return refuse(s);
  if (fails && way > 0 && draw(s, 1) == 0) q->fails_onward = true;
  return append(s, TSR_FABRIC_UP + way,
                (order){.part = *part, .panel = panel, .fails = fails && !q->fails_onward});
}

/* Not counted as an operation that may fail: which pieces take a relay buffer varies. */
static tsr_status onward(tsr_fabric_state *s, int way, void *to, const void *relay, size_t bytes) {
  queue *q = &s->queue[TSR_FABRIC_UP + way];
  if (way < 1 || way >= s->ways || relay != s->relay[way])
    return tsr_fail(TSR_ERR_INTERNAL, "this is not the relay buffer of way %d", way);
  if (s->failed) return refuse(s);
  bool fails = q->fails_onward;
  q->fails_onward = false;
  way_count.onward++;
  return append(s, TSR_FABRIC_UP + way,
                (order){.memory = to, .relay = relay, .bytes = bytes, .fails = fails});
}

static tsr_status down(tsr_fabric_state *s, int way, void *to, const void *from, size_t bytes) {
  bool fails = fails_now();
  if (way >= s->ways) return tsr_fail(TSR_ERR_INTERNAL, "way %d is not open", way);
  if (s->failed || (fails && !fault.later)) return refuse(s);
  return append(s, TSR_FABRIC_UP + way,
                (order){.memory = to, .relay = from, .bytes = bytes, .fails = fails});
}

static tsr_status across(tsr_fabric_state *s, int group, void *memory, size_t bytes, int root) {
  bool fails = fails_now();
  return append(
      s, TSR_FABRIC_ACROSS,
      (order){.memory = memory, .bytes = bytes, .root = root, .group = group, .fails = fails});
}

static void record(tsr_fabric_state *s, int which, int number) {
  queue *q = &s->queue[which];
  q->unrecorded[number] = fault.unrecorded && draw(s, 1) == 0;
  q->event[number] = q->asked;
}

/* ---- Doing ---------------------------------------------------------------------- */

static void copy(const order *o) {
  const tsr_panel_part *p = &o->part;
  if (o->relay != NULL) memcpy(o->memory, o->relay, o->bytes);
  for (size_t i = 0; i < p->height; i++)
    memcpy(o->panel + p->to + i * p->to_pitch, p->from + i * p->from_pitch, p->width);
}

static bool has_crossed(tsr_fabric_state *s, queue *q, const order *o) {
  int flag = 0;
  if (!q->begun)
    MPI_Ibcast(o->memory, (int)o->bytes, MPI_BYTE, o->root, s->comm[o->group], &q->request);
  q->begun = true;
  MPI_Test(&q->request, &flag, MPI_STATUS_IGNORE);
  return flag != 0;
}

/* Whether an upload that was asked for earlier is still in the queue of another way. */
static bool overtakes(const tsr_fabric_state *s, const order *o) {
  for (int way = 0; way < s->ways; way++) {
    const queue *q = &s->queue[TSR_FABRIC_UP + way];
    if (q->asked > q->done && q->orders[q->done % ROOM].number < o->number) return true;
  }
  return false;
}

static void do_next(tsr_fabric_state *s, int which) {
  queue *q = &s->queue[which];
  const order *o = &q->orders[q->done % ROOM];
  if (q->asked == q->done || q->delay-- > 0) return;
  if (which == TSR_FABRIC_ACROSS && !has_crossed(s, q, o)) return;
  if (which != TSR_FABRIC_ACROSS) copy(o);
  if (which != TSR_FABRIC_ACROSS && overtakes(s, o)) way_count.overtaken++;
  s->failed = s->failed || o->fails;
  q->begun = false;
  q->done++;
  q->delay = draw(s, 3) == 0 ? draw(s, 20) : 0;
}

static tsr_status query(tsr_fabric_state *s, int which, int number, bool *complete) {
  for (int i = 0; i < TSR_FABRIC_UP + s->ways; i++) do_next(s, i);
  const queue *q = &s->queue[which];
  *complete = q->done >= (q->unrecorded[number] ? q->asked : q->event[number]);
  if (!s->failed || !*complete) return TSR_OK;
  return tsr_fail(TSR_ERR_DEVICE, "the test lets the device fail");
}

static const tsr_fabric emulated = {
    .name = "emulated",
    .piece = 512,
    .narrowest = 32,
    .sample = 2048,
    .open = open_emulated,
    .close = close_emulated,
    .open_way = open_way,
    .name_group = name_group,
    .join = join,
    .leave = leave,
    .is_pinned = is_pinned,
    .up = up,
    .onward = onward,
    .down = down,
    .across = across,
    .record = record,
    .query = query,
};

tsr_status tsr_fabric_find(const tsr_context_facts *facts, const tsr_fabric **fabric) {
  if (strcmp(facts->engine, "host") != 0)
    return tsr_fail(TSR_ERR_UNSUPPORTED, "the engine is %s, which the test has no fabric for",
                    facts->engine);
  *fabric = &emulated;
  return TSR_OK;
}
