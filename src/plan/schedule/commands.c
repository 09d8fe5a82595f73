/* Commands, queues and waits. */
#include <string.h>

#include "base/alloc.h"
#include "base/queue.h"
#include "plan/schedule/schedule.h"

enum { SLOT_IN, SLOT_OUT, SLOT_COMPUTE, SLOT_ADD };

tsr_status tsr_commands_init(tsr_scheduler *s) {
  memset(s->queue_of, -1, sizeof s->queue_of);
  memset(s->peer_queue, -1, sizeof s->peer_queue);
  memset(s->lane_queue, -1, sizeof s->lane_queue);
  s->queue_limit = s->devices * (3 + s->options->streams + s->devices) + s->lanes;
  if (s->queue_limit > TSR_PLAN_QUEUES)
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    "%d devices need more queues than a plan has (%d): name fewer", s->devices,
                    TSR_PLAN_QUEUES);
  size_t n = (size_t)s->queue_limit * (size_t)s->queue_limit;
  s->seen = tsr_alloc_zero(n, sizeof *s->seen);
  if (!s->seen) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  return TSR_OK;
}

static int16_t *place_of(tsr_scheduler *s, int device, tsr_queue_role role, int index) {
  switch (role) {
    case TSR_QUEUE_IN:
      return &s->queue_of[device][SLOT_IN];
    case TSR_QUEUE_OUT:
      return &s->queue_of[device][SLOT_OUT];
    case TSR_QUEUE_ADD:
      return &s->queue_of[device][SLOT_ADD];
    case TSR_QUEUE_PEER:
      return &s->peer_queue[device][index == TSR_ANY_PEER ? device : index];
    case TSR_QUEUE_LANE:
      return &s->lane_queue[index];
    default:
      return &s->queue_of[device][SLOT_COMPUTE];
  }
}

int tsr_commands_queue(tsr_scheduler *s, int location, tsr_queue_role role, int index) {
  int16_t *place = place_of(s, location, role, index);
  if (*place < 0) {
    /* The compute queues of a device are made together, so that they are neighbours. */
    int count = role == TSR_QUEUE_COMPUTE ? s->options->streams : 1;
    *place = (int16_t)s->plan->queues;
    for (int i = 0; i < count; i++)
      s->plan->queue[s->plan->queues++] = (tsr_plan_queue){
          (int16_t)location, (uint8_t)role, (uint8_t)(role == TSR_QUEUE_COMPUTE ? i : index)};
  }
  return role == TSR_QUEUE_COMPUTE ? *place + index : *place;
}

void tsr_commands_wait(tsr_scheduler *s, int32_t command) {
  if (command < 0) return;
  int queue = s->plan->commands.items[command].queue;
  for (int i = 0; i < s->waiting_count; i++)
    if (s->waiting_queue[i] == queue) {
      if (s->waiting[i] < command) s->waiting[i] = command;
      return;
    }
  s->waiting_queue[s->waiting_count] = (int16_t)queue;
  s->waiting[s->waiting_count++] = command;
}

void tsr_commands_wait_marks(tsr_scheduler *s, int32_t marks) {
  for (int32_t i = marks; i != TSR_NOTHING; i = s->marks.items[i].next)
    tsr_commands_wait(s, s->marks.items[i].command);
}

void tsr_commands_wait_touching(tsr_scheduler *s, int32_t marks, const tsr_task_operand *o) {
  for (int32_t i = marks; i != TSR_NOTHING; i = s->marks.items[i].next)
    if (tsr_mark_touches(&s->marks.items[i], o)) tsr_commands_wait(s, s->marks.items[i].command);
}

/* Queues are in order: one wait for the latest command of a queue is enough, and none is needed
 * when an earlier command of the waiting queue waited for as much. */
int32_t tsr_commands_add(tsr_scheduler *s, tsr_command command) {
  tsr_plan *plan = s->plan;
  command.wait = (uint32_t)plan->waits.count;
  for (int i = 0; i < s->waiting_count; i++) {
    int queue = s->waiting_queue[i];
    uint32_t after = (uint32_t)s->waiting[i];
    uint32_t *seen = &s->seen[(size_t)command.queue * (size_t)s->queue_limit + (size_t)queue];
    if (queue == command.queue || *seen > after) continue;
    *seen = after + 1;
    if (!TSR_VEC_PUSH(&plan->waits, after)) return TSR_NOTHING;
    plan->commands.items[after].flags |= TSR_FLAG_EVENT;
    command.waits++;
  }
  s->waiting_count = 0;
  if (plan->commands.count >= INT32_MAX || !TSR_VEC_PUSH(&plan->commands, command))
    return TSR_NOTHING;
  int32_t index = (int32_t)plan->commands.count - 1;
  for (int i = 0; i < 3; i++)
    if (command.buffer[i] != TSR_NO_BUFFER) {
      tsr_buffer *buffer = &plan->buffers.items[command.buffer[i]];
      if (buffer->first == UINT32_MAX) buffer->first = (uint32_t)index;
      buffer->last = (uint32_t)index;
    }
  return index;
}
