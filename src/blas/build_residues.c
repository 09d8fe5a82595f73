/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Residues of A and B: what they are made of, and the task that makes them. */
#include "blas/build.h"

/* The operand that residues are made of, and how they lie to it. */
typedef struct origin {
  int matrix;
  bool turned; /* a line of residues is a row of the matrix as it is stored, not a column */
  bool conjugated;
} origin;

static origin origin_of(const tsr_call *call, int residues) {
  tsr_op op = residues == TSR_RA ? call->transa : call->transb;
  /* The residues of A are those of the columns of op(A)^T. */
  bool turned = residues == TSR_RA ? op == TSR_NO_TRANS : op != TSR_NO_TRANS;
  return (origin){residues == TSR_RA ? TSR_A : TSR_B_, turned, op == TSR_CONJ_TRANS};
}

static tsr_op op_of(const origin *o) {
  return o->turned ? TSR_TRANS : TSR_NO_TRANS;
}

tsr_task_operand tsr_residues_source(const tsr_call *call, const tsr_graph *graph,
                                     const tsr_task_operand *residues) {
  origin o = origin_of(call, residues->matrix);
  return tsr_oriented(graph, o.matrix, op_of(&o), residues->row, residues->rows, residues->col,
                      residues->cols);
}

int32_t tsr_residues_tile(const tsr_call *call, const tsr_graph *graph, int matrix, int64_t row,
                          int64_t col) {
  int residues = matrix == TSR_A ? TSR_RA : TSR_RB;
  int64_t line = origin_of(call, residues).turned ? row : col;
  return tsr_rectangle(graph, residues, TSR_READ, 0, 1, line, 1).tile;
}

tsr_task tsr_residues_task(const tsr_call *call, const tsr_graph *graph, int matrix, int64_t first,
                           int64_t lines, int device) {
  origin o = origin_of(call, matrix);
  tsr_form form = {.transa = op_of(&o), .transb = o.conjugated ? TSR_CONJ_TRANS : TSR_NO_TRANS};
  tsr_task task = {.kernel = TSR_KERNEL_RESIDUES,
                   .flags = TSR_FLAG_ALPHA_ONE,
                   .form = tsr_form_pack(form),
                   .m = (int32_t)call->k,
                   .n = (int32_t)lines,
                   .device = (int16_t)device};
  task.operand[2] = tsr_rectangle(graph, matrix, TSR_WRITE, 0, call->k, first, lines);
  task.operand[0] = tsr_residues_source(call, graph, &task.operand[2]);
  return task;
}
