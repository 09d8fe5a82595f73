/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The verifier: goes through a plan in order and notes which command has written and read each
 * region of each buffer. Every access must find data there, and be ordered after every access that
 * it conflicts with.
 */
#include "plan/verify/verify.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "blas/family.h"

static const char *const operand_names[3] = {"operand a", "operand b", "operand c"};

static bool is_home(const tsr_verifier *v, int32_t buffer) {
  return v->plan->buffers.items[buffer].role == TSR_BUFFER_HOME;
}

/* Whether the buffer is the home of A or B, whose contents never change. */
static bool is_constant(int32_t buffer) {
  return buffer == TSR_A || buffer == TSR_B_;
}

/* ---- Messages ---- */

typedef struct phrase {
  char text[128];
} phrase;

static const char *rect_text(const tsr_verifier *v, int32_t buffer, tsr_rect rect, phrase *said) {
  snprintf(said->text, sizeof said->text, "rows %lld..%lld, columns %lld..%lld of %s",
           (long long)rect.row0, (long long)rect.row1 - 1, (long long)rect.col0,
           (long long)rect.col1 - 1, tsr_matrix_name(v->plan->buffers.items[buffer].matrix));
  return said->text;
}

static tsr_status fail_order(const tsr_verifier *v, uint32_t c, const char *what, int32_t buffer,
                             tsr_rect rect, const char *verb, uint32_t other) {
  phrase where;
  tsr_name name;
  rect_text(v, buffer, rect, &where);
  tsr_command_describe(v->plan, &v->plan->commands.items[other], &name);
  return tsr_verify_fail(v, c, "%s: %s %s without waiting for command %u (%s)", what, verb,
                         where.text, other, name.text);
}

/* ---- Memory ---- */

/* Notes a use of a buffer; a command's reads come before its writes. Only writes check the order
 * against earlier users of the memory: the data of a read were written after those users. */
static tsr_status use_buffer(tsr_verifier *v, uint32_t c, int32_t buffer, bool write) {
  if (is_home(v, buffer)) return TSR_OK;
  const tsr_tenant *tenant = &v->tenancy.tenant[buffer];
  if (tenant->successor != (uint32_t)buffer)
    return tsr_verify_fail(v, c, "uses buffer %d, whose memory buffer %u has taken from command %u",
                           buffer, tenant->successor,
                           v->tenancy.tenant[tenant->successor].first_use);
  if (tenant->first_use == TSR_NO_COMMAND)
    TSR_TRY(tsr_tenancy_take(&v->tenancy, (uint32_t)buffer, c));
  TSR_TRY(tsr_tenancy_use(&v->tenancy, (uint32_t)buffer, c));
  if (!write) return TSR_OK;
  uint32_t other = tsr_tenancy_conflict(&v->tenancy, (uint32_t)buffer, &v->order, c);
  if (other == TSR_NO_COMMAND) return TSR_OK;
  tsr_name name;
  tsr_command_describe(v->plan, &v->plan->commands.items[other], &name);
  return tsr_verify_fail(v, c,
                         "buffer %d takes memory without waiting for its use by command %u (%s)",
                         buffer, other, name.text);
}

/* ---- Reading ---- */

/* Sets v->found to the parts of a buffer's rect. All of rect must have been written, by commands
 * that are done before the read. */
static tsr_status find(tsr_verifier *v, uint32_t c, const char *what, int32_t buffer,
                       tsr_rect rect) {
  tsr_regions *regions = &v->regions[buffer];
  phrase where;
  tsr_rect hole;
  bool fill;
  v->found.count = 0;
  TSR_TRY(tsr_regions_find(regions, rect, &v->found));
  TSR_TRY(tsr_parts_fill(&v->found, rect, &fill, &hole));
  if (!fill)
    return tsr_verify_fail(v, c, "%s: %s are not there when it runs", what,
                           rect_text(v, buffer, hole, &where));
  uint32_t other = tsr_regions_conflict(regions, rect, false, &v->order, c);
  if (other != TSR_NO_COMMAND) return fail_order(v, c, what, buffer, rect, "reads", other);
  return tsr_regions_read(regions, rect, &v->order, c);
}

/* Checks that the call allows reading the matrix. */
static tsr_status check_readable(const tsr_verifier *v, uint32_t c, int32_t buffer) {
  uint8_t matrix = v->plan->buffers.items[buffer].matrix;
  if (v->scales_only && !v->plan->moves && (matrix == TSR_A || matrix == TSR_B_))
    return tsr_verify_fail(v, c, "reads %s, which the call does not (alpha or k is 0)",
                           tsr_matrix_name(matrix));
  return TSR_OK;
}

static tsr_status read_rect(tsr_verifier *v, uint32_t c, const char *what, int32_t buffer,
                            tsr_rect rect) {
  TSR_TRY(check_readable(v, c, buffer));
  TSR_TRY(use_buffer(v, c, buffer, false));
  if (!is_constant(buffer)) return find(v, c, what, buffer, rect);
  const tsr_residency *before = v->plan->before;
  if (before == NULL || tsr_residency_home_is_current(before, buffer, rect)) return TSR_OK;
  phrase where;
  return tsr_verify_fail(v, c, "%s: the home of %s is stale, a cached block has newer values", what,
                         rect_text(v, buffer, rect, &where));
}

/* ---- Reading a triangle ---- */

static void add_edge(int64_t edge, int64_t *edges, size_t *count) {
  size_t at = *count;
  while (at > 0 && edges[at - 1] > edge) at--;
  if (at > 0 && edges[at - 1] == edge) return;
  memmove(edges + at + 1, edges + at, (*count - at) * sizeof *edges);
  edges[at] = edge;
  ++*count;
}

/* The columns of a square at which what is in the buffer changes, and its last column; *edges: the
 * caller releases it. */
static tsr_status edges_of(tsr_verifier *v, int32_t buffer, tsr_rect square, int64_t **edges,
                           size_t *count) {
  v->found.count = *count = 0;
  TSR_TRY(tsr_regions_find(&v->regions[buffer], square, &v->found));
  *edges = tsr_alloc((2 * v->found.count + 2) * sizeof **edges);
  if (*edges == NULL) return tsr_verify_no_memory();
  add_edge(square.col0, *edges, count);
  add_edge(square.col1, *edges, count);
  for (size_t i = 0; i < v->found.count; i++) {
    add_edge(v->found.items[i].rect.col0, *edges, count);
    add_edge(v->found.items[i].rect.col1, *edges, count);
  }
  return TSR_OK;
}

/* Reads a triangle of a square: columns between two edges are alike in the buffer, so the first of
 * them (in an upper triangle the last) needs the most rows. */
static tsr_status read_triangle(tsr_verifier *v, uint32_t c, const char *what, int32_t buffer,
                                tsr_rect square, tsr_uplo uplo) {
  int64_t *edges = NULL;
  size_t count;
  if (is_constant(buffer)) return read_rect(v, c, what, buffer, square);
  tsr_status status = edges_of(v, buffer, square, &edges, &count);
  for (size_t i = 0; status == TSR_OK && i + 1 < count; i++) {
    tsr_rect strip = {square.row0, edges[i], square.row1, edges[i + 1]};
    if (uplo == TSR_LOWER)
      strip.row0 += edges[i] - square.col0;
    else
      strip.row1 = square.row0 + edges[i + 1] - square.col0;
    status = read_rect(v, c, what, buffer, strip);
  }
  tsr_dealloc(edges);
  return status;
}

/* Reads the trapezoid of c that a kernel changes. What lies beside it may be anything, and may be
 * missing: earlier kernels may have had other n-blocks, and earlier calls leave triangles on
 * devices. */
static tsr_status read_trapezoid(tsr_verifier *v, uint32_t c, int32_t buffer, tsr_rect rect,
                                 tsr_uplo uplo) {
  tsr_rect square = rect, rest = rect;
  int64_t order = rect.col1 - rect.col0;
  if (uplo == TSR_LOWER)
    square.row1 = rest.row0 = rect.row0 + order;
  else
    square.row0 = rest.row1 = rect.row1 - order;
  if (rest.row0 < rest.row1) TSR_TRY(read_rect(v, c, operand_names[2], buffer, rest));
  return read_triangle(v, c, operand_names[2], buffer, square, uplo);
}

/* Kernels with a triangle beside C read no more of it, and kernels that are confined to a triangle
 * of c no more of c. */
static tsr_status read_operand(tsr_verifier *v, uint32_t c, int i) {
  const tsr_command *command = &v->plan->commands.items[c];
  tsr_uplo of_c = tsr_kernel_triangle((tsr_kernel)command->kernel, command->form);
  if (i == 2 && of_c != TSR_GENERAL)
    return read_trapezoid(v, c, command->buffer[2], tsr_command_rect(command, 2), of_c);
  bool triangle = tsr_kernel_get((tsr_kernel)command->kernel)->traits & TSR_TRIANGLE_OF_A &&
                  command->kernel != TSR_KERNEL_SOLVE;
  tsr_rect rect = tsr_command_rect(command, i);
  if (i > 0 || !triangle) return read_rect(v, c, operand_names[i], command->buffer[i], rect);
  return read_triangle(v, c, operand_names[i], command->buffer[i], rect,
                       tsr_form_unpack(command->form).uplo);
}

/* ---- Writing ---- */

static tsr_status write_rect(tsr_verifier *v, uint32_t c, const char *what, int32_t buffer,
                             tsr_rect rect) {
  TSR_TRY(use_buffer(v, c, buffer, true));
  uint32_t other = tsr_regions_conflict(&v->regions[buffer], rect, true, &v->order, c);
  if (other != TSR_NO_COMMAND) return fail_order(v, c, what, buffer, rect, "writes", other);
  return tsr_regions_write(&v->regions[buffer], rect, c);
}

/* ---- Copies ---- */

/* Whether all of a rectangle is part of the result. If not, its write-back includes a part of the
 * other triangle, which has to be fetched first. */
static bool is_all_result(const tsr_call *call, tsr_rect rect) {
  if (!tsr_call_has_triangular_c(call)) return true;
  return call->uplo == TSR_LOWER ? rect.row0 >= rect.col1 : rect.row1 <= rect.col0;
}

/* Checks v->found, the parts that a copy from the home of C reads. Operations in place may
 * read parts that commands wrote: the solved part of a triangular system is used for the rest, and
 * the finished part of a factor. */
static tsr_status check_fetched(const tsr_verifier *v, uint32_t c) {
  const tsr_call *call = &v->plan->call;
  bool in_place = tsr_is_in_place(call->operation);
  phrase where;
  for (size_t i = 0; i < v->found.count; i++) {
    const tsr_part *part = &v->found.items[i];
    if (part->command == TSR_NO_COMMAND && call->beta == TSR_ZERO &&
        is_all_result(call, part->rect))
      return tsr_verify_fail(v, c, "reads C, which the call does not (beta is 0)");
    if (part->command != TSR_NO_COMMAND && !in_place)
      return tsr_verify_fail(v, c, "reads %s, which command %u has written already",
                             rect_text(v, TSR_C_, part->rect, &where), part->command);
  }
  return TSR_OK;
}

static tsr_status check_written_back(tsr_verifier *v, uint32_t c, tsr_rect rect) {
  phrase where;
  v->found.count = 0;
  TSR_TRY(tsr_regions_find(&v->regions[TSR_C_], rect, &v->found));
  for (size_t i = 0; i < v->found.count; i++)
    if (v->found.items[i].command != TSR_NO_COMMAND && v->plan->before == NULL)
      return tsr_verify_fail(v, c, "writes %s back a second time",
                             rect_text(v, TSR_C_, v->found.items[i].rect, &where));
  return TSR_OK;
}

static tsr_status do_copy(tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  int32_t from = command->buffer[0], to = command->buffer[1];
  tsr_rect rect = tsr_command_rect(command, 0);
  TSR_TRY(read_rect(v, c, "source", from, rect));
  if (from == TSR_C_) TSR_TRY(check_fetched(v, c));
  if (to == TSR_C_) TSR_TRY(check_written_back(v, c, rect));
  return write_rect(v, c, "target", to, rect);
}

/* ---- Kernels ---- */

static tsr_status do_kernel(tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  for (int i = 0; i < 3; i++)
    if (command->buffer[i] != TSR_NO_BUFFER &&
        (i < 2 || tsr_command_reads_c(&v->plan->call, command)))
      TSR_TRY(read_operand(v, c, i));
  return write_rect(v, c, operand_names[2], command->buffer[2], tsr_command_rect(command, 2));
}

static tsr_status do_command(tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  TSR_TRY(tsr_order_enter(&v->order, c));
  return command->kind == TSR_COMMAND_COPY ? do_copy(v, c) : do_kernel(v, c);
}

/* ---- The end ---- */

static tsr_status check_lives(const tsr_verifier *v) {
  for (size_t i = TSR_OPERANDS; i < v->plan->buffers.count; i++) {
    const tsr_buffer *buffer = &v->plan->buffers.items[i];
    const tsr_tenant *tenant = &v->tenancy.tenant[i];
    bool used = tenant->first_use != TSR_NO_COMMAND;
    if (used && (buffer->first != tenant->first_use || buffer->last != tenant->last_use))
      return tsr_fail(TSR_ERR_CHECK,
                      "buffer %zu is said to be used by commands %u to %u, but is used by %u to %u",
                      i, buffer->first, buffer->last, tenant->first_use, tenant->last_use);
  }
  return TSR_OK;
}

/* ---- Beginning ---- */

typedef struct load {
  double accesses, rows, cols;
} load;

static void count_accesses(const tsr_verifier *v, load *loads) {
  for (size_t c = 0; c < v->plan->commands.count; c++) {
    const tsr_command *command = &v->plan->commands.items[c];
    for (int i = 0; i < 3; i++) {
      if (command->buffer[i] == TSR_NO_BUFFER) continue;
      tsr_rect rect = tsr_command_rect(command, i);
      load *one = &loads[command->buffer[i]];
      one->accesses++;
      one->rows += (double)(rect.row1 - rect.row0);
      one->cols += (double)(rect.col1 - rect.col0);
    }
  }
}

static tsr_status start_regions(tsr_verifier *v) {
  size_t count = v->plan->buffers.count;
  load *loads = tsr_alloc_zero(count, sizeof *loads);
  v->regions = tsr_alloc_zero(count, sizeof *v->regions);
  if (loads == NULL || v->regions == NULL) {
    tsr_dealloc(loads);
    return tsr_verify_no_memory();
  }
  count_accesses(v, loads);
  for (size_t i = 0; i < count; i++) {
    const tsr_buffer *buffer = &v->plan->buffers.items[i];
    double accesses = loads[i].accesses > 0 ? loads[i].accesses : 1;
    tsr_regions_start(&v->regions[i],
                      tsr_rect_make(buffer->row, buffer->col, buffer->rows, buffer->cols), accesses,
                      loads[i].rows / accesses, loads[i].cols / accesses);
  }
  tsr_dealloc(loads);
  return tsr_regions_write(&v->regions[TSR_C_], v->regions[TSR_C_].all, TSR_NO_COMMAND);
}

/* Marks the valid parts of old cached blocks as written by the user. */
static tsr_status mark_cached_blocks(tsr_verifier *v) {
  for (size_t b = TSR_OPERANDS; b < v->plan->buffers.count; b++) {
    const tsr_cached_block *block = tsr_verify_cached_block(v, (int32_t)b);
    for (size_t i = 0; block != NULL && i < block->valid.count; i++)
      TSR_TRY(tsr_regions_write(&v->regions[b], block->valid.items[i].rect, TSR_NO_COMMAND));
  }
  return TSR_OK;
}

static tsr_status start(tsr_verifier *v) {
  TSR_TRY(tsr_order_start(&v->order, v->plan));
  TSR_TRY(tsr_tenancy_start(&v->tenancy, v->plan));
  TSR_TRY(start_regions(v));
  return mark_cached_blocks(v);
}

static void stop(tsr_verifier *v) {
  for (size_t i = 0; v->regions != NULL && i < v->plan->buffers.count; i++)
    tsr_regions_stop(&v->regions[i]);
  tsr_dealloc(v->regions);
  tsr_order_stop(&v->order);
  tsr_tenancy_stop(&v->tenancy);
  TSR_VEC_FREE(&v->found);
}

static tsr_status carry_out(tsr_verifier *v) {
  TSR_TRY(start(v));
  for (size_t c = 0; c < v->plan->commands.count; c++) TSR_TRY(do_command(v, (uint32_t)c));
  TSR_TRY(tsr_verify_cached_blocks(v));
  TSR_TRY(tsr_verify_algebra(v));
  return check_lives(v);
}

tsr_status tsr_plan_verify(const tsr_plan *plan, const tsr_machine *machine,
                           const size_t *budgets) {
  size_t commands = plan->commands.count;
  if (plan->devices == 0 && commands > 0)
    return tsr_fail(TSR_ERR_CHECK, "the plan uses no device but has %zu commands", commands);
  if (plan->devices == 0 || (commands == 0 && tsr_call_is_empty(&plan->call))) return TSR_OK;
  tsr_verifier v = {.plan = plan, .machine = machine};
  v.locations = machine != NULL ? tsr_machine_locations(machine) : TSR_MACHINE_LOCATIONS;
  v.scales_only = tsr_call_scales_only(&plan->call);
  TSR_TRY(tsr_verify_plan(&v, budgets));
  for (size_t c = 0; c < commands; c++) TSR_TRY(tsr_verify_form(&v, (uint32_t)c));
  tsr_status status = carry_out(&v);
  stop(&v);
  return status;
}
