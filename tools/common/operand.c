/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "operand.h"

#include <stdlib.h>

bool operand_op(bool file_column_major, bool column_major, tsr_op op, tsr_type type,
                tsr_op *result) {
  *result = op;
  if (file_column_major == column_major) return true;
  if (op == TSR_NO_TRANS) {
    *result = TSR_TRANS;
    return true;
  }
  *result = TSR_NO_TRANS;
  return op == TSR_TRANS || !element_is_complex(type);
}

static size_t view_bytes(const matrix_view *view) {
  return (size_t)view->rows * (size_t)view->cols * element_size(view->type);
}

static int convert(operand *o, tsr_type type, bool conjugate) {
  matrix_view to = o->view;
  to.type = type;
  size_t bytes = view_bytes(&to);
  o->converted = malloc(bytes ? bytes : 1);
  if (!o->converted) {
    return tool_fail("%s: out of memory: its copy as %s needs %s", o->file->path,
                     element_name(type), tool_bytes((double)bytes));
  }
  to.data = o->converted;
  o->view.conj = conjugate;
  matrix_copy(to, o->view);
  o->view = to;
  return TOOL_OK;
}

int operand_create(const npy *file, tsr_op op, tsr_type type, bool conjugate, operand *result) {
  operand o = {.file = file, .op = op, .conjugated = conjugate};
  o.view = npy_view(file);
  if (element_is_complex(file->type) && !element_is_complex(type)) {
    return tool_fail("%s: is %s and cannot be multiplied as %s", file->path,
                     element_name(file->type), element_name(type));
  }
  bool same = file->type == type || (file->type == TSR_S && type == TSR_T);
  int code = TOOL_OK;
  if (!same || conjugate || !file->aligned) code = convert(&o, type, conjugate);
  if (code == TOOL_OK) *result = o;
  return code;
}

int operand_own(operand *o) {
  return o->converted ? TOOL_OK : convert(o, o->view.type, false);
}

void operand_destroy(operand *o, tsr_context *context) {
  if (o->placed) tsr_free(context, o->placed);
  free(o->converted);
  *o = (operand){0};
}

int place_alloc(home where, size_t bytes, tsr_context *context, void **pointer) {
  *pointer = NULL;
  if (where.kind != HOME_PINNED && where.kind != HOME_DEVICE) return TOOL_OK;
  int device = where.kind == HOME_DEVICE ? where.device : TSR_HOST;
  return tool_status(tsr_malloc(context, device, bytes ? bytes : 1, pointer));
}

int operand_place(operand *o, home where, tsr_context *context) {
  size_t bytes = view_bytes(&o->view);
  int code = place_alloc(where, bytes, context, &o->placed);
  if (code != TOOL_OK || !o->placed || bytes == 0) return code;
  return tool_status(tsr_memcpy(context, o->placed, o->view.data, bytes));
}

const void *operand_pointer(const operand *o) {
  return o->placed ? o->placed : o->view.data;
}

int64_t operand_ld(const operand *o) {
  int64_t ld = o->file->fortran ? o->file->rows : o->file->cols;
  return ld > 1 ? ld : 1;
}
