/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Products in a form, what lines are made of, and the task that makes them. */
#include "blas/build.h"
#include "blas/lines.h"

static tsr_op op_of(const tsr_line_source *source) {
  return source->turned ? TSR_TRANS : TSR_NO_TRANS;
}

tsr_task_operand tsr_lines_source(const tsr_call *call, const tsr_graph *graph,
                                  const tsr_task_operand *lines) {
  tsr_line_source source = tsr_line_source_of(call, lines->matrix, lines->row, lines->col);
  return tsr_oriented(graph, source.matrix, op_of(&source), lines->row, lines->rows, lines->col,
                      lines->cols);
}

bool tsr_lines_are_of(const tsr_call *call, const tsr_graph *graph, int lines, int input) {
  return graph->used >> lines & 1 && tsr_line_source_of(call, lines, 0, 0).matrix == input;
}

int32_t tsr_lines_tile(const tsr_call *call, const tsr_graph *graph, int lines, int64_t row,
                       int64_t col) {
  int64_t line = tsr_line_source_of(call, lines, 0, 0).turned ? row : col;
  return tsr_rectangle(graph, lines, TSR_READ, 0, 1, line, 1).tile;
}

tsr_task tsr_lines_task(const tsr_call *call, const tsr_graph *graph, const tsr_task_operand *lines,
                        int device) {
  tsr_line_source source = tsr_line_source_of(call, lines->matrix, lines->row, lines->col);
  tsr_form form = {.transa = op_of(&source),
                   .transb = source.conjugated ? TSR_CONJ_TRANS : TSR_NO_TRANS};
  tsr_task task = {.kernel = call->arithmetic->makes,
                   .flags = TSR_FLAG_ALPHA_ONE,
                   .form = tsr_form_pack(form),
                   .m = lines->rows,
                   .n = lines->cols,
                   .device = (int16_t)device};
  task.operand[0] = tsr_lines_source(call, graph, lines);
  task.operand[2] = *lines;
  task.operand[2].access = TSR_WRITE;
  return task;
}

bool tsr_push_product_of_lines(tsr_builder *b, tsr_task task) {
  tsr_form form = tsr_form_unpack(task.form);
  form.transa = TSR_TRANS;
  form.transb = TSR_NO_TRANS;
  task.kernel = b->call->arithmetic->multiplies;
  task.form = tsr_form_pack(form);
  for (int i = 0; i < 2; i++)
    b->graph->used |= 1u << tsr_lines_source(b->call, b->graph, &task.operand[i]).matrix;
  return tsr_push_task(b, task);
}
