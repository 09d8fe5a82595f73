/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Plans are accepted; a plan that is spoiled in one place is refused, with the message expected.
 */
#ifndef TEST_MISTAKES_H
#define TEST_MISTAKES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/small_plans.h"

static inline void accept(tsr_plan *plan) {
  tsr_machine *machine = small_machine();
  size_t budgets[TSR_MACHINE_DEVICES] = {4096, 4096};
  if (tsr_plan_verify(plan, machine, budgets) != TSR_OK) fail_msg("%s", tsr_message());
  assert_int_equal(tsr_plan_verify(plan, NULL, NULL), TSR_OK);
  free(machine);
  plan_release(plan);
}

static inline void reject_with(tsr_plan *plan, const char *message) {
  plan_finish(plan);
  assert_int_equal(tsr_plan_verify(plan, NULL, NULL), TSR_ERR_CHECK);
  if (strstr(tsr_message(), message) == NULL)
    fail_msg("the message is \"%s\", not \"%s\"", tsr_message(), message);
  plan_release(plan);
}

/* What a mistake changes. */
typedef enum target { COMMAND, FIRST_WAIT, BUFFER, OPERAND, PLAN } target;

typedef struct field {
  target of;
  size_t offset, size;
} field;

#define FIELD(of, type, member) \
  { of, offsetof(type, member), sizeof(((type *)0)->member) }
#define OF_COMMAND(member) FIELD(COMMAND, tsr_command, member)
#define OF_BUFFER(member) FIELD(BUFFER, tsr_buffer, member)
#define OF_OPERAND(member) FIELD(OPERAND, tsr_operand, member)
#define OF_PLAN(member) FIELD(PLAN, tsr_plan, member)

typedef enum change {
  FLAGS,
  FORM,
  QUEUE,
  ROW0,
  ROW2,
  COL0,
  COL1,
  COL2,
  M,
  N,
  K,
  BUFFER0,
  BUFFER1,
  BUFFER2,
  KERNEL,
  WAITS,
  WAIT0,
  OFFSET,
  BYTES,
  LD,
  PLACE,
  LAST,
  ARENA0,
  BETA_CLASS,
  ALPHA_CLASS,
  PINNED_END,
  MEMORY,
  CHANGES
} change;

static const field fields[CHANGES] = {
    [FLAGS] = OF_COMMAND(flags),
    [FORM] = OF_COMMAND(form),
    [QUEUE] = OF_COMMAND(queue),
    [ROW0] = OF_COMMAND(row[0]),
    [ROW2] = OF_COMMAND(row[2]),
    [COL0] = OF_COMMAND(col[0]),
    [COL1] = OF_COMMAND(col[1]),
    [COL2] = OF_COMMAND(col[2]),
    [M] = OF_COMMAND(m),
    [N] = OF_COMMAND(n),
    [K] = OF_COMMAND(k),
    [BUFFER0] = OF_COMMAND(buffer[0]),
    [BUFFER1] = OF_COMMAND(buffer[1]),
    [BUFFER2] = OF_COMMAND(buffer[2]),
    [KERNEL] = OF_COMMAND(kernel),
    [WAITS] = OF_COMMAND(waits),
    [WAIT0] = {FIRST_WAIT, 0, 4},
    [OFFSET] = OF_BUFFER(offset),
    [BYTES] = OF_BUFFER(bytes),
    [LD] = OF_BUFFER(ld),
    [PLACE] = OF_BUFFER(location),
    [LAST] = OF_BUFFER(last),
    [ARENA0] = OF_PLAN(arena[0]),
    [BETA_CLASS] = OF_PLAN(call.beta),
    [ALPHA_CLASS] = OF_PLAN(call.alpha),
    [PINNED_END] = OF_OPERAND(pinned_end),
    [MEMORY] = OF_OPERAND(memory),
};

typedef struct mistake {
  const char *name;
  tsr_plan *(*plan)(void);
  change change;
  int at, value; /* which command, buffer or operand is changed, and what to */
  const char *message;
} mistake;

static inline void *place_of(tsr_plan *plan, target of, int at) {
  switch (of) {
    case COMMAND:
      return &plan->commands.items[at];
    case FIRST_WAIT:
      return &plan->waits.items[plan->commands.items[at].wait];
    case BUFFER:
      return &plan->buffers.items[at];
    case OPERAND:
      return &plan->call.operand[at];
    default:
      return plan;
  }
}

static inline void make(tsr_plan *plan, const mistake *m) {
  const field *changed = &fields[m->change];
  char *place = (char *)place_of(plan, changed->of, m->at) + changed->offset;
  if (changed->size == 1) *(uint8_t *)place = (uint8_t)m->value;
  if (changed->size == 2) *(uint16_t *)(void *)place = (uint16_t)m->value;
  if (changed->size == 4) *(uint32_t *)(void *)place = (uint32_t)m->value;
  if (changed->size == 8) *(uint64_t *)(void *)place = (uint64_t)m->value;
}

/* Says which mistake was not found as it should; false then. */
static inline bool reject(const mistake *m) {
  tsr_machine *machine = small_machine();
  size_t budgets[TSR_MACHINE_DEVICES] = {4096, 4096};
  tsr_plan *plan = m->plan();
  make(plan, m);
  tsr_status status = tsr_plan_verify(plan, machine, budgets);
  bool found = status == TSR_ERR_CHECK && strstr(tsr_message(), m->message) != NULL;
  if (!found)
    print_error("%s: %s \"%s\", not \"%s\"\n", m->name, tsr_status_name(status), tsr_message(),
                m->message);
  free(machine);
  plan_release(plan);
  return found;
}

static inline void reject_all(const mistake *mistakes, size_t count) {
  int missed = 0;
  for (size_t i = 0; i < count; i++)
    if (!reject(&mistakes[i])) missed++;
  assert_int_equal(missed, 0);
}

#endif
