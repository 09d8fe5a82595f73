/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Commands: adds commands, buffers and queues to a plan, and to each command its waits.
 *
 * Callers collect the waits of a command, then add the command. A queue is made when a command
 * first needs it.
 *
 * Invariant: a command waits only for commands that come before it in the plan. Queues are in
 * order: once a command of queue a has waited for a command of queue b, later commands of a need
 * not wait for that command or for earlier ones of b. seen[a][b] is the index of the latest such
 * command of b, plus 1; 0: none. The collected waits have at most one command of each queue.
 */
#ifndef TSR_PLAN_SCHEDULE_COMMANDS_H
#define TSR_PLAN_SCHEDULE_COMMANDS_H

#include "base/queue.h"
#include "plan/schedule/problem.h"

typedef struct tsr_commands {
  tsr_plan *plan;                      /* borrowed */
  const tsr_problem *problem;          /* borrowed */
  int staging_queues;                  /* of each ring */
  int next_staging[TSR_MACHINE_NODES]; /* by ring */
  /* Numbers of the queues in the plan; -1: not made yet. */
  int16_t queue_of[TSR_MACHINE_DEVICES][4]; /* by role: IN, OUT, COMPUTE (the first one), ADD */
  int16_t peer_queue[TSR_MACHINE_DEVICES][TSR_MACHINE_DEVICES]; /* [sender][receiver] */
  int16_t staging_queue[TSR_PLAN_QUEUES];
  int queue_limit;                  /* most queues that the plan can have */
  uint32_t *seen;                   /* [a * queue_limit + b] */
  int32_t waiting[TSR_PLAN_QUEUES]; /* the collected waits: commands, and the queue of each */
  int16_t waiting_queue[TSR_PLAN_QUEUES];
  int waiting_count;
} tsr_commands;

/* The plan must be empty. TSR_ERR_MEMORY; TSR_ERR_UNSUPPORTED: the machine needs more queues than a
 * plan has. */
tsr_status tsr_commands_init(tsr_commands *c, const tsr_problem *problem, tsr_plan *plan);
void tsr_commands_free(tsr_commands *c);

/* The number in the plan of a location's queue, made if need be. index: PEER: the receiver or
 * TSR_ANY_PEER; STAGING: the staging queue; 0 for other roles. */
int tsr_commands_queue(tsr_commands *c, int location, tsr_queue_role role, int index);

/* The number of the next staging queue of the ring at a node, which is a location; its copies take
 * its queues in turn. */
int tsr_commands_next_staging(tsr_commands *c, int node);

/* The queue that a command is on. */
static inline int tsr_commands_queue_of(const tsr_commands *c, int32_t command) {
  return c->plan->commands.items[command].queue;
}

/* Makes the next command wait for this one; a negative index adds no wait. */
static inline void tsr_commands_wait(tsr_commands *c, int32_t command) {
  if (command < 0) return;
  int queue = tsr_commands_queue_of(c, command);
  for (int i = 0; i < c->waiting_count; i++)
    if (c->waiting_queue[i] == queue) {
      if (c->waiting[i] < command) c->waiting[i] = command;
      return;
    }
  c->waiting_queue[c->waiting_count] = (int16_t)queue;
  c->waiting[c->waiting_count++] = command;
}

/* Adds the command to its queue with the collected waits. Returns its index; TSR_NOTHING: no host
 * memory. */
int32_t tsr_commands_add(tsr_commands *c, tsr_command command);

/* Adds a buffer that no command uses yet. Returns its index; TSR_NOTHING: no host memory. */
int32_t tsr_commands_add_buffer(tsr_commands *c, tsr_buffer buffer);

#endif
