/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/run/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/plan/schedule.h"

void tsr_grid_trace_add(tsr_grid_trace *t, const tsr_trace_event *event) {
  if (t->keeping) (void)TSR_VEC_PUSH(&t->events, *event);
}

/* ---- A grid's events --------------------------------------------------------- */

static void add_name(const char *what, int process, int thread, const char *before,
                     const char *name, tsr_text *text) {
  tsr_text_add(text,
               "{\"ph\":\"M\",\"name\":\"%s_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":"
               "\"%s%s\"}},\n",
               what, process, thread, before, name);
}

static void add_tracks(int process, const char *name, tsr_text *text) {
  add_name("process", process, 0, name, "messages", text);
  add_name("thread", process, TSR_TRACK_PACK, "", "packing", text);
  add_name("thread", process, TSR_TRACK_MOVE, "", "redistribution", text);
}

static bool is_used(const tsr_grid_trace *t, int track) {
  for (size_t i = 0; i < t->events.count; i++)
    if (t->events.items[i].track == track) return true;
  return false;
}

static void add_queue(const tsr_grid_trace *t, int process, int queue, tsr_text *text) {
  char name[32] = "pieces across";
  if (!is_used(t, TSR_TRACK_PIECES + queue)) return;
  if (queue != TSR_FABRIC_ACROSS)
    snprintf(name, sizeof name, "pieces up, way %d", queue - TSR_FABRIC_UP);
  add_name("thread", process, TSR_TRACK_PIECES + queue, "", name, text);
}

static void add_slot(const tsr_grid_trace *t, int process, int slot, tsr_text *text) {
  char name[40];
  if (!is_used(t, TSR_TRACK_SLOTS + slot)) return;
  snprintf(name, sizeof name, "panels of %c, slot %d", slot < TSR_SLOTS_MOST ? 'A' : 'B',
           slot % TSR_SLOTS_MOST);
  add_name("thread", process, TSR_TRACK_SLOTS + slot, "", name, text);
}

void tsr_grid_trace_write(const tsr_grid_trace *t, int process, const char *name, tsr_text *text) {
  add_tracks(process, name, text);
  for (int queue = 0; queue < TSR_FABRIC_QUEUES; queue++) add_queue(t, process, queue, text);
  for (int slot = 0; slot < 2 * TSR_SLOTS_MOST; slot++) add_slot(t, process, slot, text);
  for (size_t i = 0; i < t->events.count; i++) {
    const tsr_trace_event *e = &t->events.items[i];
    tsr_text_add(text,
                 "{\"ph\":\"X\",\"name\":\"panel %d\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,"
                 "\"dur\":%.3f,\"args\":{\"block\":%d}},\n",
                 (int)e->panel, process, e->track, 1e6 * (e->begin - t->zero),
                 1e6 * (e->end - e->begin), (int)e->block);
  }
}

/* ---- A context's events -------------------------------------------------------- */

/* Appends a line, which is one event, with `add` added to its "pid" and, if it names a process,
 * with `name` put before that name. */
static void adopt_line(const char *line, size_t length, int add, const char *name, tsr_text *text) {
  static const char pid[] = "\"pid\":", of_name[] = "\"args\":{\"name\":\"";
  const char *end = line + length, *at = strstr(line, pid);
  bool names_process =
      strstr(line, "\"process_name\"") != NULL && strstr(line, "\"process_name\"") < end;
  if (at == NULL || at >= end) return;
  at += sizeof pid - 1;
  char *behind;
  long process = strtol(at, &behind, 10);
  tsr_text_add(text, "%.*s%ld", (int)(at - line), line, process + add);
  const char *rest = names_process ? strstr(behind, of_name) : NULL;
  if (rest != NULL && rest < end) {
    rest += sizeof of_name - 1;
    tsr_text_add(text, "%.*s%s", (int)(rest - behind), behind, name);
  } else {
    rest = behind;
  }
  if (end > rest && end[-1] == ',') end--;
  tsr_text_add(text, "%.*s,\n", (int)(end - rest), rest);
}

void tsr_grid_trace_adopt(const char *from, int add, const char *name, tsr_text *text) {
  for (const char *line = from, *next; *line != '\0'; line = next) {
    size_t length = strcspn(line, "\n");
    next = line + length + (line[length] == '\n');
    if (strncmp(line, "{\"ph\"", 5) == 0) adopt_line(line, length, add, name, text);
  }
}
