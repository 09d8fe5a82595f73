/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The other forms of a tile that a device makes: what they are made of, and the task that makes
 * them. Inverses of the blocks on A's diagonal are made here, lines in build_lines.c. */
#include "blas/build.h"

/* An inverse stands at the place of its block in A. */
static tsr_task_operand inverse_source(const tsr_graph *graph, const tsr_task_operand *inverse) {
  return tsr_rectangle(graph, TSR_A, TSR_READ, inverse->row, inverse->rows, inverse->col,
                       inverse->cols);
}

tsr_task tsr_inverse_task(const tsr_call *call, const tsr_graph *graph,
                          const tsr_task_operand *inverse, int device) {
  tsr_form form = {
      .transa = TSR_NO_TRANS, .side = TSR_LEFT, .uplo = call->uplo, .diag = call->diag};
  tsr_task task = {.kernel = TSR_KERNEL_INVERT,
                   .flags = TSR_FLAG_ALPHA_ONE,
                   .form = tsr_form_pack(form),
                   .m = inverse->rows,
                   .n = inverse->cols,
                   .k = inverse->cols,
                   .device = (int16_t)device};
  task.operand[0] = inverse_source(graph, inverse);
  task.operand[2] = *inverse;
  task.operand[2].access = TSR_WRITE;
  return task;
}

/* ---- Either form ---------------------------------------------------------- */

tsr_task_operand tsr_made_source(const tsr_call *call, const tsr_graph *graph,
                                 const tsr_task_operand *made) {
  return made->matrix == TSR_V ? inverse_source(graph, made) : tsr_lines_source(call, graph, made);
}

tsr_task tsr_making_task(const tsr_call *call, const tsr_graph *graph, const tsr_task_operand *made,
                         int device) {
  return (made->matrix == TSR_V ? tsr_inverse_task : tsr_lines_task)(call, graph, made, device);
}
