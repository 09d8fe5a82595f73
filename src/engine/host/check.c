/*
 * The checking mode: before a command runs, its operands must lie where it says, and what it reads
 * must have been written.
 */
#include <string.h>

#include "engine/host/host.h"
#include "engine/host/internal.h"

/* A column-major operand: rows of columns, all in bytes. */
typedef struct operand {
  const char *name;
  const char *begin;
  size_t column_bytes, pitch, columns;
  size_t unit; /* what is either wholly poison or not at all */
} operand;

static size_t operand_extent(const operand *o) {
  return o->columns && o->column_bytes ? (o->columns - 1) * o->pitch + o->column_bytes : 0;
}

/* ---- Place ---------------------------------------------------------------- */

/* On a device an operand lies in one allocation of it; on the host it is in no device's memory. */
static tsr_status check_place(const tsr_queue *queue, const host_command *command, const operand *o,
                              int device) {
  host_block block = {.device = TSR_HOST};
  size_t extent = operand_extent(o);
  if (extent == 0) return TSR_OK;
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

static bool is_poison(const char *at, size_t bytes) {
  static const uint16_t poison[4] = {TSR_POISON, TSR_POISON, TSR_POISON, TSR_POISON};
  return memcmp(at, poison, bytes) == 0;
}

/* The first poisoned unit of a column, from its start; column_bytes: there is none. The last unit
 * of a copy's row may overlap the one before. */
static size_t first_poison(const char *column, size_t column_bytes, size_t unit) {
  for (size_t at = 0; at + unit <= column_bytes; at += unit)
    if (is_poison(column + at, unit)) return at;
  size_t last = column_bytes - unit;
  return is_poison(column + last, unit) ? last : column_bytes;
}

/* Memory that the engine did not hand out holds no poison of ours. */
static bool may_hold_poison(const tsr_queue *queue, const operand *o) {
  host_block block;
  return operand_extent(o) > 0 && host_find_block(queue->state, o->begin, &block) && block.raw;
}

static tsr_status check_written(const tsr_queue *queue, const host_command *command,
                                const operand *o) {
  if (!may_hold_poison(queue, o)) return TSR_OK;
  for (size_t j = 0; j < o->columns; j++) {
    size_t at = first_poison(o->begin + j * o->pitch, o->column_bytes, o->unit);
    if (at < o->column_bytes)
      return tsr_fail(TSR_ERR_CHECK,
                      "%s reads what no command wrote (before it, at least): %s, %zu x %zu bytes, "
                      "column %zu, byte %zu (element %zu of %zu bytes)",
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
    return tsr_fail(TSR_ERR_CHECK, "%s: a copy from %d to %d has no end at the queue's device",
                    host_place(queue, command), x->from_device, x->to_device);
  if (x->height > 1 && (x->to_pitch < x->width || x->from_pitch < x->width))
    return tsr_fail(TSR_ERR_CHECK, "%s: a copy of rows of %zu bytes that are %zu and %zu apart",
                    host_place(queue, command), x->width, x->from_pitch, x->to_pitch);
  return TSR_OK;
}

/* A copy does not know its elements: eight bytes of poison are no user's data, fewer might be,
 * unless they are the whole row. */
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

static bool is_zero(tsr_scalar s) {
  return s.re == 0 && s.im == 0;
}

static operand make_operand(const char *name, tsr_type type, const void *begin, int64_t rows,
                            int64_t columns, int64_t ld) {
  const tsr_type_info *info = tsr_type_get(type);
  return (operand){name,
                   begin,
                   (size_t)rows * info->size,
                   (size_t)ld * info->size,
                   (size_t)columns,
                   info->complex_valued ? info->size / 2 : info->size};
}

static tsr_status check_operand(const tsr_queue *queue, const host_command *command, bool reads,
                                const operand *o) {
  TSR_TRY(check_place(queue, command, o, queue->device->index));
  return reads ? check_written(queue, command, o) : TSR_OK;
}

static tsr_status check_inputs(const tsr_queue *queue, const host_command *command) {
  const tsr_kernel_args *x = &command->as.kernel;
  tsr_type wide = tsr_type_get(x->type)->wide;
  if (x->kernel == TSR_KERNEL_ADD) {
    operand a = make_operand("a", x->wide ? wide : x->type, x->a, x->m, x->n, x->lda);
    return check_operand(queue, command, true, &a);
  }
  bool ta = x->transa != TSR_NO_TRANS, tb = x->transb != TSR_NO_TRANS;
  operand a = make_operand("a", x->type, x->a, ta ? x->k : x->m, ta ? x->m : x->k, x->lda);
  operand b = make_operand("b", x->type, x->b, tb ? x->n : x->k, tb ? x->k : x->n, x->ldb);
  TSR_TRY(check_operand(queue, command, true, &a));
  return check_operand(queue, command, true, &b);
}

tsr_status host_check_kernel(const tsr_queue *queue, const host_command *command) {
  const tsr_kernel_args *x = &command->as.kernel;
  if (tsr_type_index(x->type) < 0 || !tsr_kernel_get(x->kernel) || x->m <= 0 || x->n <= 0)
    return TSR_OK; /* nothing to do, or for tsr_cpu_kernel to refuse */
  bool has_inputs = x->kernel == TSR_KERNEL_GEMM  ? !is_zero(x->alpha) && x->k > 0
                    : x->kernel == TSR_KERNEL_ADD ? !is_zero(x->alpha)
                                                  : false;
  if (has_inputs) TSR_TRY(check_inputs(queue, command));
  bool wide_c = x->wide && x->kernel != TSR_KERNEL_ADD;
  tsr_type type = wide_c ? tsr_type_get(x->type)->wide : x->type;
  operand c = make_operand("c", type, x->c, x->m, x->n, x->ldc);
  return check_operand(queue, command, !is_zero(x->beta), &c);
}
