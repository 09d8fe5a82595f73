/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The checking mode: before a command runs, each operand must lie in the memory of the device that
 * the command names, and every element that the command reads must have been written.
 */
#include <string.h>

#include "arithmetic/arithmetic.h"
#include "arithmetic/residue_lines.h"
#include "engine/host/host.h"
#include "engine/host/internal.h"

/* A column-major operand, its sizes in bytes. For a copy, a "column" is a row of tsr_copy_args. */
typedef struct operand {
  const char *name;
  const char *begin;
  size_t column_bytes, pitch, columns;
  size_t unit;     /* poison is looked for in units: a unit is wholly poison or counts as written */
  tsr_uplo uplo;   /* TSR_LOWER or TSR_UPPER: only that triangle is read */
  size_t element;  /* bytes of an element */
  size_t diagonal; /* in a triangle: bytes that are read of a diagonal element, from its start (0:
                      unit diagonal; half: the real part) */
} operand;

static size_t operand_extent(const operand *o) {
  return o->columns && o->column_bytes ? (o->columns - 1) * o->pitch + o->column_bytes : 0;
}

/* ---- Place ---------------------------------------------------------------- */

/* TSR_ERR_CHECK unless the operand lies within one allocation of the device or, if device is
 * TSR_HOST, outside all devices' memory. */
static tsr_status check_place(const tsr_queue *queue, const host_command *command, const operand *o,
                              int device) {
  host_block block = {.device = TSR_HOST};
  size_t extent = operand_extent(o);
  if (extent == 0) return TSR_OK;
  if (device == TSR_HOST && host_being_pinned(queue->state, o->begin, extent))
    return tsr_fail(TSR_ERR_CHECK, "%s: %s (%zu bytes at %p) is still being pinned",
                    host_place(queue, command), o->name, extent, (const void *)o->begin);
  bool known = host_find_block(queue->state, o->begin, &block);
  if (device == TSR_HOST && block.device == TSR_HOST) return TSR_OK;
  bool inside =
      known && block.device == device && extent <= block.bytes - (size_t)(o->begin - block.begin);
  if (inside) return TSR_OK;
  return tsr_fail(TSR_ERR_CHECK, "%s: %s (%zu bytes at %p) is not in the memory of %s %d",
                  host_place(queue, command), o->name, extent, (const void *)o->begin,
                  device == TSR_HOST ? "the host:" : "device", device);
}

/* ---- Poison --------------------------------------------------------------- */

/* By loads, not by memcmp, since every element that a command reads is looked at. */
static bool is_poison(const char *at, size_t bytes) {
  static const uint64_t poison = TSR_POISON * UINT64_C(0x0001000100010001);
  uint64_t eight;
  uint32_t four;
  uint16_t two;
  switch (bytes) {
    case sizeof eight:
      memcpy(&eight, at, sizeof eight);
      return eight == poison;
    case sizeof four:
      memcpy(&four, at, sizeof four);
      return four == (uint32_t)poison;
    default:
      memcpy(&two, at, sizeof two);
      return two == (uint16_t)poison;
  }
}

/* The offset of the first poisoned unit in [from, to) of a column; to: no unit is poisoned. If
 * to - from is no multiple of unit, the last unit overlaps the one before it. */
static size_t first_poison(const char *column, size_t from, size_t to, size_t unit) {
  if (to < from + unit) return to;
  for (size_t at = from; at + unit <= to; at += unit)
    if (is_poison(column + at, unit)) return at;
  return is_poison(column + to - unit, unit) ? to - unit : to;
}

/* The offset of the first poisoned unit of column j that the command reads; column_bytes: none. */
static size_t first_poison_read(const operand *o, size_t j) {
  const char *column = o->begin + j * o->pitch;
  bool lower = o->uplo == TSR_LOWER;
  if (!lower && o->uplo != TSR_UPPER) return first_poison(column, 0, o->column_bytes, o->unit);
  size_t above = j * o->element, below = above + o->element;
  size_t from = lower ? below : 0, to = lower ? o->column_bytes : above;
  size_t at = first_poison(column, above, above + o->diagonal, o->unit);
  if (at < above + o->diagonal) return at;
  at = first_poison(column, from, to, o->unit);
  return at < to ? at : o->column_bytes;
}

/* Only memory that the engine allocated was poisoned. */
static bool may_hold_poison(const tsr_queue *queue, const operand *o) {
  host_block block;
  return operand_extent(o) > 0 && host_find_block(queue->state, o->begin, &block) && block.raw;
}

static tsr_status check_written(const tsr_queue *queue, const host_command *command,
                                const operand *o) {
  if (!may_hold_poison(queue, o)) return TSR_OK;
  for (size_t j = 0; j < o->columns; j++) {
    size_t at = first_poison_read(o, j);
    if (at < o->column_bytes)
      return tsr_fail(TSR_ERR_CHECK,
                      "%s reads memory that no earlier command wrote: %s, %zu x %zu bytes, column "
                      "%zu, byte %zu (element %zu of %zu bytes)",
                      host_place(queue, command), o->name, o->column_bytes, o->columns, j, at,
                      at / o->unit, o->unit);
  }
  return TSR_OK;
}

/* ---- Copies --------------------------------------------------------------- */

static tsr_status check_shape(const tsr_queue *queue, const host_command *command) {
  const tsr_copy_args *x = &command->as.copy;
  int here = queue->device->index;
  if (x->to_device != here && x->from_device != here)
    return tsr_fail(TSR_ERR_CHECK, "%s: a copy from device %d to %d, neither the queue's",
                    host_place(queue, command), x->from_device, x->to_device);
  if (x->height > 1 && (x->to_pitch < x->width || x->from_pitch < x->width))
    return tsr_fail(TSR_ERR_CHECK, "%s: a copy of rows of %zu bytes with pitches of %zu and %zu",
                    host_place(queue, command), x->width, x->from_pitch, x->to_pitch);
  return TSR_OK;
}

/* A copy does not know the type of its elements. Eight bytes of poison do not occur in user data;
 * fewer bytes might, but in a shorter row they are all there is to check. */
static size_t copy_unit(size_t width) {
  return width >= 8 ? 8 : width >= 4 ? 4 : 2;
}

tsr_status host_check_copy(const tsr_queue *queue, const host_command *command) {
  const tsr_copy_args *x = &command->as.copy;
  operand from = {"its source", x->from, x->width, x->from_pitch, x->height, copy_unit(x->width)};
  operand to = {"its target", x->to, x->width, x->to_pitch, x->height, 0};
  TSR_TRY(check_shape(queue, command));
  TSR_TRY(check_place(queue, command, &from, x->from_device));
  TSR_TRY(check_place(queue, command, &to, x->to_device));
  return x->width < 2 ? TSR_OK : check_written(queue, command, &from);
}

/* ---- Kernels -------------------------------------------------------------- */

static operand make_operand(const char *name, tsr_type type, const void *begin, int64_t rows,
                            int64_t columns, int64_t ld) {
  const tsr_type_info *info = tsr_type_get(type);
  return (operand){.name = name,
                   .begin = begin,
                   .column_bytes = (size_t)rows * info->size,
                   .pitch = (size_t)ld * info->size,
                   .columns = (size_t)columns,
                   .unit = info->complex_valued ? info->size / 2 : info->size,
                   .element = info->size,
                   .diagonal = info->size};
}

/* The operand whose op(operand) is rows x columns. */
static operand make_op_operand(const char *name, tsr_op op, tsr_type type, const void *begin,
                               int64_t rows, int64_t columns, int64_t ld) {
  bool plain = op == TSR_NO_TRANS;
  return make_operand(name, type, begin, plain ? rows : columns, plain ? columns : rows, ld);
}

static operand make_a(const tsr_kernel_args *x, const tsr_kernel_info *info) {
  if (x->kernel == TSR_KERNEL_ADD) {
    tsr_type type = x->wide ? tsr_type_get(x->type)->wide : x->type;
    operand a = make_operand("a", type, x->a, x->m, x->n, x->lda);
    a.uplo = x->uplo;
    return a;
  }
  if (!(info->traits & TSR_TRIANGLE_OF_A))
    return make_op_operand("a", x->transa, x->type, x->a, x->m, x->k, x->lda);
  int64_t order = x->side == TSR_RIGHT ? x->n : x->m;
  operand a = make_operand("a", x->type, x->a, order, order, x->lda);
  a.uplo = x->uplo;
  if (info->traits & TSR_HERMITIAN) a.diagonal = a.unit;
  if (info->traits & TSR_TRIANGULAR && x->diag == TSR_UNIT) a.diagonal = 0;
  return a;
}

static operand make_b(const tsr_kernel_args *x, const tsr_kernel_info *info) {
  if (info->traits & TSR_TRIANGLE_OF_A) return make_operand("b", x->type, x->b, x->m, x->n, x->ldb);
  if (info->traits & TSR_TRIANGLE_OF_C)
    return make_op_operand("b", x->transa, x->type, x->b, x->n, x->k, x->ldb);
  return make_op_operand("b", x->transb, x->type, x->b, x->k, x->n, x->ldb);
}

static operand make_c(const tsr_kernel_args *x, const tsr_kernel_info *info) {
  bool wide = x->wide && x->kernel != TSR_KERNEL_ADD;
  tsr_type type = wide ? tsr_type_get(x->type)->wide : x->type;
  operand c = make_operand("c", type, x->c, x->m, x->n, x->ldc);
  if (info->bound_by_memory || info->traits & TSR_TRIANGLE_OF_C || info->role == TSR_FACTORS)
    c.uplo = x->uplo;
  if (info->traits & TSR_TRIANGLE_OF_C && info->traits & TSR_HERMITIAN) c.diagonal = c.unit;
  return c;
}

/* The parts of a block of a form: planes, the lines themselves if it keeps them, and records. */
typedef enum block_part { PLANES, KEPT, RECORDS } block_part;

/* The kernel's lines of a part of a block: some lines of each plane, or of the part. */
static operand make_lines(const tsr_kernel_args *x, int i, block_part part) {
  static const char *const names[] = {"a", "b", "c"};
  const void *const base[] = {x->a, x->b, x->c};
  const int64_t ld[] = {x->lda, x->ldb, x->ldc}, count[] = {x->m, x->n, x->n};
  tsr_lines_range of = x->lines.of[i];
  const tsr_lines_args *r = &x->lines;
  int planes = tsr_arithmetic_planes(r->arithmetic, x->type);
  int element =
      tsr_form_element(r->arithmetic, &(tsr_promise){.keeps_lines = r->keeps_lines}, x->type);
  size_t line = (size_t)ld[i] * (size_t)r->arithmetic->part_bytes, start = 0;
  if (part == RECORDS) {
    line = (size_t)r->arithmetic->record_bytes;
    start = tsr_residues_records(ld[i], of.lines, element);
  }
  if (part == KEPT) {
    line = (size_t)ld[i] * tsr_type_get(x->type)->size;
    start = tsr_residues_kept(ld[i], of.lines, planes * r->arithmetic->part_bytes);
  }
  return (operand){.name = names[i],
                   .begin = (const char *)base[i] + start + (size_t)of.first * line,
                   .column_bytes = (size_t)count[i] * line,
                   .pitch = (size_t)of.lines * line,
                   .columns = part == PLANES ? (size_t)planes : 1,
                   .unit = sizeof(uint64_t)};
}

static tsr_status check_operand(const tsr_queue *queue, const host_command *command, bool reads,
                                const operand *o) {
  TSR_TRY(check_place(queue, command, o, queue->device->index));
  return reads ? check_written(queue, command, o) : TSR_OK;
}

static tsr_status check_block(const tsr_queue *queue, const host_command *command, bool reads,
                              int i) {
  const tsr_kernel_args *x = &command->as.kernel;
  operand planes = make_lines(x, i, PLANES), kept = make_lines(x, i, KEPT);
  operand records = make_lines(x, i, RECORDS);
  TSR_TRY(check_operand(queue, command, reads, &planes));
  if (x->lines.keeps_lines) TSR_TRY(check_operand(queue, command, reads, &kept));
  bool any = x->lines.arithmetic->record_bytes > 0;
  return any ? check_operand(queue, command, reads, &records) : TSR_OK;
}

/* The operands of a kernel on a form. The one that makes it reads the columns of op(a), of m
 * elements. */
static tsr_status check_lines(const tsr_queue *queue, const host_command *command) {
  const tsr_kernel_args *x = &command->as.kernel;
  operand a = make_op_operand("a", x->transa, x->type, x->a, x->m, x->n, x->lda);
  operand c = make_operand("c", x->type, x->c, x->m, x->n, x->ldc);
  c.uplo = x->uplo;
  if (x->diag == TSR_UNIT) c.diagonal = c.unit;
  if (tsr_kernel_makes_form(x->kernel)) {
    TSR_TRY(check_operand(queue, command, true, &a));
    return check_block(queue, command, false, 2);
  }
  TSR_TRY(check_block(queue, command, true, 0));
  TSR_TRY(check_block(queue, command, true, 1));
  return check_operand(queue, command, tsr_kernel_reads_c(x), &c);
}

tsr_status host_check_kernel(const tsr_queue *queue, const host_command *command) {
  const tsr_kernel_args *x = &command->as.kernel;
  const tsr_kernel_info *info = tsr_kernel_get(x->kernel);
  TSR_TRY(tsr_kernel_check(x));
  if (x->m <= 0 || x->n <= 0) return TSR_OK;
  if ((info->role == TSR_MAKES_FORM || info->role == TSR_MULTIPLIES_FORMS) &&
      tsr_kernel_reads_inputs(x))
    return check_lines(queue, command);
  if (tsr_kernel_reads_inputs(x) && info->access[0] != TSR_NONE) {
    operand a = make_a(x, info);
    TSR_TRY(check_operand(queue, command, true, &a));
  }
  if (tsr_kernel_reads_inputs(x) && info->access[1] != TSR_NONE) {
    operand b = make_b(x, info);
    TSR_TRY(check_operand(queue, command, true, &b));
  }
  operand c = make_c(x, info);
  return check_operand(queue, command, tsr_kernel_reads_c(x), &c);
}
