/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/model/loads.h"

#include <math.h>

#include "blas/family.h"
#include "plan/names.h"

/* ---- By the plan ---- */

static void count_copy(const tsr_plan *plan, const tsr_command *command, tsr_loads *loads) {
  int from = plan->buffers.items[command->buffer[0]].location;
  int to = plan->buffers.items[command->buffer[1]].location;
  if (from == to || to >= plan->machine_devices) return;
  double *sum = from < plan->machine_devices ? &loads[to].peers : &loads[to].host;
  *sum += tsr_command_bytes(plan, command);
}

/* ---- Lower bounds ---- */

static bool is_away(const tsr_plan *plan, int matrix, int device) {
  return plan->call.operand[matrix].location != device;
}

static bool has_two_products(const tsr_call *call) {
  return call->operation == TSR_SYR2K || call->operation == TSR_HER2K;
}

/* Elements of A (and B) for `area` elements of a triangle of A A^T: r r / 2 elements of C need r
 * rows of A. */
static double rank_bound(const tsr_plan *plan, double area, int device) {
  const tsr_call *call = &plan->call;
  bool two = has_two_products(call);
  double rows = sqrt(2 * area / (two ? 2 : 1)) * (double)call->k;
  return (is_away(plan, TSR_A, device) ? rows : 0) +
         (two && is_away(plan, TSR_B_, device) ? rows : 0);
}

/* Elements of A and B for a device that computes `products` multiply-adds of elements: it reads r k
 * elements of A and k s of B, where r s k >= products. If k is cut over the devices, it reads at
 * least products / n elements of A and products / m of B. */
static double data_bound(const tsr_plan *plan, double products, int device) {
  const tsr_call *call = &plan->call;
  double k = (double)call->k, area = products / k;
  bool a = is_away(plan, TSR_A, device), b = is_away(plan, TSR_B_, device);
  if (tsr_family_of(call->operation) == TSR_TRIANGLE) return 0;
  if (tsr_family_of(call->operation) == TSR_RANK && call->operation != TSR_GEMMT)
    return rank_bound(plan, area, device);
  if (plan->slices > 0)
    return products * ((a ? 1 / (double)call->n : 0) + (b ? 1 / (double)call->m : 0));
  double least = area / (double)call->n, most = (double)call->m;
  double rows = a && b ? fmin(fmax(sqrt(area), least), most) : a ? least : most;
  return k * ((a ? rows : 0) + (b ? area / rows : 0));
}

/* A device with memory for S elements reads at least 2 products / sqrt(S) - 2 S (Smith et al., "A
 * tight I/O lower bound for matrix multiplication", 2017). If an operand is symmetric, or is read
 * from both sides, sqrt(2) replaces 2 (Beaumont et al., "I/O-optimal algorithms for symmetric
 * linear algebra kernels", 2022). */
static double memory_bound(const tsr_plan *plan, double products, int device) {
  const tsr_call *call = &plan->call;
  double capacity = (double)plan->budget[device] / (double)tsr_type_get(call->type)->size;
  bool plain = call->operation == TSR_GEMM;
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (!is_away(plan, x, device)) return 0;
  return capacity > 0 ? (plain ? 2 : sqrt(2)) * products / sqrt(capacity) - 2 * capacity : 0;
}

/* Elements of C that the device reads besides. If C is in host memory, the device that computes a
 * part of C also adds to it, unless others do so, too. */
static double c_reads(const tsr_plan *plan, double products) {
  const tsr_call *call = &plan->call;
  bool product = tsr_family_of(call->operation) != TSR_TRIANGLE;
  bool on_host = call->operand[TSR_C_].location >= plan->machine_devices;
  if (!product || call->beta == TSR_ZERO || !on_host || plan->slices > 0) return 0;
  return products / (double)call->k / (has_two_products(call) ? 2 : 1);
}

static double bound(const tsr_plan *plan, double products, int device) {
  if (products == 0) return 0;
  double elements = fmax(data_bound(plan, products, device), memory_bound(plan, products, device));
  elements += c_reads(plan, products);
  return elements * (double)tsr_type_get(plan->call.type)->size;
}

/* Whether only half of a kernel's products count. In a form, blocks across the diagonal of C are
 * computed whole, but only a triangle is wanted. */
static bool is_half(const tsr_plan *plan, const tsr_command *command) {
  if (command->kernel == TSR_KERNEL_SYMM || command->kernel == TSR_KERNEL_HEMM) return false;
  if (command->kernel == TSR_KERNEL_GEMM || command->kernel == TSR_KERNEL_GEMMT) return false;
  if (!tsr_kernel_multiplies_forms(command->kernel)) return true;
  bool triangle = tsr_family_of(plan->call.operation) == TSR_RANK;
  return triangle && command->row[2] == command->col[2];
}

/* The elements of C for which a kernel's products count; of a trapezoid, without the triangle. */
static double elements_of(const tsr_command *command) {
  double m = command->m, n = command->n;
  return command->kernel == TSR_KERNEL_GEMMT ? m * n - n * n / 2 : m * n;
}

static double products_of(const tsr_plan *plan, const tsr_command *command) {
  if (tsr_kernel_get((tsr_kernel)command->kernel)->bound_by_memory) return 0;
  double all = elements_of(command) * (double)command->k;
  bool two = command->kernel == TSR_KERNEL_HER2K || command->kernel == TSR_KERNEL_SYR2K;
  return all * (is_half(plan, command) ? 0.5 : 1) * (two ? 2 : 1);
}

void tsr_loads_count(const tsr_plan *plan, tsr_loads loads[TSR_MACHINE_DEVICES]) {
  double products[TSR_MACHINE_DEVICES] = {0};
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++) loads[d] = (tsr_loads){0, 0, 0};
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *command = &plan->commands.items[i];
    if (command->kind == TSR_COMMAND_COPY)
      count_copy(plan, command, loads);
    else
      products[plan->queue[command->queue].location] += products_of(plan, command);
  }
  for (int d = 0; d < plan->machine_devices; d++) loads[d].bound = bound(plan, products[d], d);
}

/* ---- Equation (1) --------------------------------------------------------- */

/* How often an operand is loaded: once for each row, or column, of blocks. The paper's blocks
 * divide C; others have a smaller one at the end. */
static double passes(int32_t tiles, double at_once) {
  return at_once > 0 ? fmax(1, ceil(tiles / at_once)) : 1;
}

/* Tiles that a block of C and a chunk of A and B take on a device by the condition of case (c). */
static double chunk_tiles(const tsr_blocking *h) {
  return (double)h->rows * h->depth + (double)h->cols * h->depth + (double)h->rows * h->cols;
}

/* If everything fits, the plan has no blocking, and case (a) applies. */
double tsr_loads_paper(const tsr_plan *plan, char *which) {
  const tsr_call *call = &plan->call;
  const tsr_blocking *h = &plan->blocking;
  double size = (double)tsr_type_get(call->type)->size;
  double p = plan->grid_rows, g = plan->grid_cols, b = h->rows, c = h->cols * g;
  double a_term = (double)call->m * (double)call->k * size / p;
  double b_term = (double)call->k * (double)call->n * size / g;
  if (plan->slices > 0) { /* each device loads its slice of k, of all rows and columns */
    a_term /= plan->slices;
    b_term /= plan->slices;
  }
  double c_term = (double)call->m * (double)call->n * size / (p * g);
  bool whole_a = h->rows == 0 || h->m / p * h->k + (double)h->k * h->n / g + b * c / g <= h->slots;
  bool whole_b = whole_a || b * h->depth + c * h->k / g + b * c / g <= h->slots;
  *which = whole_a ? 'a' : whole_b ? 'b' : chunk_tiles(h) <= h->slots ? 'c' : '\0';
  if (!whole_a) a_term *= passes(h->n, c);
  if (!whole_b) b_term *= passes(h->m, b * p);
  return a_term + b_term + c_term;
}

/* ---- Text ----------------------------------------------------------------- */

static void add_blocking(const tsr_plan *plan, tsr_text *text) {
  const tsr_blocking *h = &plan->blocking;
  if (h->rows == 0) return;
  bool turned = plan->call.row_major;
  int rows = turned ? h->cols : h->rows, cols = turned ? h->rows : h->cols;
  int m = turned ? h->n : h->m, n = turned ? h->m : h->n;
  tsr_text_add(text,
               "C blocks   %d x %d tiles (b x c), k-panels of %d (d), copies %.3g ahead (l);\n"
               "           %d x %d x %d tiles in all, %d slots%s\n",
               rows, cols, h->depth, (double)h->lookahead, m, n, h->k, h->slots,
               h->partitioned ? " on the largest device, fewer on others" : "");
}

static void add_gigabytes(tsr_text *text, double bytes) {
  tsr_text_add(text, "  %9.4g", bytes / 1e9);
}

void tsr_loads_write(const tsr_plan *plan, bool paper, tsr_text *text) {
  tsr_loads loads[TSR_MACHINE_DEVICES];
  char which = 'a';
  double equation = tsr_loads_paper(plan, &which);
  if (plan->devices == 0) return;
  tsr_loads_count(plan, loads);
  add_blocking(plan, text);
  tsr_text_add(text, "loads, GB  from host  from peers     in all   at least");
  bool applies = paper && which != '\0';
  if (applies) tsr_text_add(text, "  equation (1%c)", which);
  tsr_text_add(text, "\n");
  for (int d = 0; d < plan->machine_devices; d++) {
    tsr_name name;
    tsr_text_add(text, "  %-8s", tsr_plan_location_name(plan, d, &name));
    add_gigabytes(text, loads[d].host);
    tsr_text_add(text, " ");
    add_gigabytes(text, loads[d].peers);
    add_gigabytes(text, loads[d].host + loads[d].peers);
    add_gigabytes(text, loads[d].bound);
    if (applies) add_gigabytes(text, equation);
    tsr_text_add(text, "\n");
  }
  if (paper && !applies)
    tsr_text_add(text,
                 "Equation (1) does not apply: a C block and a k-panel take %.0f tiles (bc + bd + "
                 "cd), and\n%d fit.\n",
                 chunk_tiles(&plan->blocking), plan->blocking.slots);
}

/* ---- JSON ----------------------------------------------------------------- */

static void add_json_blocking(const tsr_plan *plan, tsr_text *text) {
  const tsr_blocking *h = &plan->blocking;
  if (h->rows == 0)
    tsr_text_add(text, "  \"c_block\": null,\n");
  else
    tsr_text_add(text, "  \"c_block\": {\"b\": %d, \"c\": %d, \"d\": %d, \"l\": %.3g},\n", h->rows,
                 h->cols, h->depth, (double)h->lookahead);
}

void tsr_loads_write_json(const tsr_plan *plan, tsr_text *text) {
  tsr_loads loads[TSR_MACHINE_DEVICES];
  tsr_loads_count(plan, loads);
  add_json_blocking(plan, text);
  tsr_text_add(text, "  \"loads\": [");
  for (int d = 0; d < plan->machine_devices; d++)
    tsr_text_add(text, "%s{\"host\": %.0f, \"peers\": %.0f, \"bound\": %.0f}", d > 0 ? ", " : "",
                 loads[d].host, loads[d].peers, loads[d].bound);
  tsr_text_add(text, "],\n");
  if (plan->devices == 0) return;
  char which = 'a';
  double equation = tsr_loads_paper(plan, &which);
  if (which == '\0')
    tsr_text_add(text, "  \"equation\": null,\n");
  else
    tsr_text_add(text, "  \"equation\": {\"case\": \"%c\", \"bytes\": %.0f},\n", which, equation);
}
