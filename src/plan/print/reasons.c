/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/print/reasons.h"

#include <ctype.h>
#include <math.h>

#include "blas/operation.h"
#include "plan/print/idle.h"
#include "plan/print/limits.h"
#include "plan/tuning.h"

/* ---- Inputs that are read more than once ---- */

static double bytes_of(const tsr_call *call, int operand) {
  const tsr_operand *o = &call->operand[operand];
  if (o->memory == TSR_DEVICE) return 0;
  return (double)o->rows * (double)o->cols * (double)tsr_type_get(call->type)->size;
}

double tsr_plan_reads(const tsr_plan *plan) {
  const tsr_call *call = &plan->call;
  double once = 0, c = call->beta == TSR_ZERO ? 0 : bytes_of(call, TSR_C_);
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (x != TSR_C_) once += bytes_of(call, x);
  return once > 0 ? (tsr_plan_traffic(plan).host_to_device - c) / once : 0;
}

static char letter_of(const tsr_call *call, int operand) {
  bool exchanged = tsr_call_asked_matrix(call, operand) != operand;
  return (char)toupper(
      (unsigned char)tsr_operation_operand(call->operation, operand, exchanged)[0]);
}

/* Appends "A and B": the inputs that are in host memory, in alphabetical order. */
static void add_inputs(const tsr_call *call, tsr_text *text) {
  char a = bytes_of(call, TSR_A) > 0 ? letter_of(call, TSR_A) : '\0';
  char b = bytes_of(call, TSR_B_) > 0 ? letter_of(call, TSR_B_) : '\0';
  if (a != '\0' && b != '\0')
    tsr_text_add(text, "%c and %c", a < b ? a : b, a < b ? b : a);
  else
    tsr_text_add(text, "%c", a != '\0' ? a : b);
}

static bool add_reads(const tsr_plan *plan, tsr_text *text) {
  double times = tsr_plan_reads(plan);
  if (!(times > TSR_TUNE_READ_AGAIN)) return false;
  tsr_text_add(text, " The floor reads ");
  add_inputs(&plan->call, text);
  tsr_text_add(text, " once, this plan %.1f times.", times);
  return true;
}

/* ---- GPUs that wait at both ends ---- */

static bool add_ends(const tsr_plan *plan, tsr_text *text) {
  tsr_device_set used = tsr_devices_used(plan);
  double before = 0, after = 0, count = tsr_devices_count(&used);
  for (int d = 0; d < plan->machine_devices; d++) {
    double first, last;
    if (!used.has[d]) continue;
    tsr_idle_ends(plan, d, &first, &last);
    before += first / plan->seconds / count;
    after += fmax(0, plan->seconds - last) / plan->seconds / count;
  }
  if (!(before + after > TSR_TUNE_WAITS_AT_ENDS)) return false;
  tsr_text_add(text,
               " In the floor no GPU waits; here they do for %.0f %% of the time before their "
               "first kernel and for %.0f %% after their last.",
               100 * before, 100 * after);
  return true;
}

void tsr_reason_add(const tsr_plan *plan, tsr_text *text) {
  bool far = plan->seconds > 0 && plan->floor > 0 && isfinite(plan->seconds) &&
             plan->floor < TSR_TUNE_FAR_ABOVE * plan->seconds;
  if (far && !add_reads(plan, text)) (void)add_ends(plan, text);
}
