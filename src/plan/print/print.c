/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints a plan as text and as JSON: its prediction, what it does, and how busy devices and links
 * are. */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/amounts.h"
#include "blas/family.h"
#include "blas/operation.h"
#include "plan/model/busy.h"
#include "plan/model/loads.h"
#include "plan/names.h"
#include "plan/print/idle.h"
#include "plan/print/machine.h"
#include "plan/print/residues.h"
#include "plan/print/trace.h"
#include "plan/print/verdict.h"

/* ---- Sums over the commands ---- */

static bool is_copy(const tsr_command *command) {
  return command->kind == TSR_COMMAND_COPY;
}

static bool is_product(const tsr_command *command) {
  return tsr_kernel_is_product(command->kernel);
}

/* Bytes between all pairs of locations, and the time that they take. */
typedef struct traffic {
  double bytes[TSR_MACHINE_LOCATIONS][TSR_MACHINE_LOCATIONS];
  bool timed; /* busy is known */
  tsr_busy busy;
  double residues[TSR_MACHINE_DEVICES]; /* bytes that residues take at most at a time */
} traffic;

static void count_bytes(const tsr_plan *plan, traffic *moved) {
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *command = &plan->commands.items[i];
    if (!is_copy(command)) continue;
    int from = plan->buffers.items[command->buffer[0]].location;
    int to = plan->buffers.items[command->buffer[1]].location;
    moved->bytes[from][to] += tsr_command_bytes(plan, command);
  }
}

/* How busy the links of emulated devices are means nothing. */
static tsr_status count_traffic(const tsr_plan *plan, const tsr_machine *machine,
                                const tsr_known *known, traffic *moved) {
  count_bytes(plan, moved);
  moved->timed = machine != NULL && !known->rehearsal && plan->seconds > 0;
  TSR_TRY(tsr_residues_most(plan, moved->residues));
  return moved->timed ? tsr_busy_count(plan, machine, &moved->busy) : TSR_OK;
}

/* Extents of kernels and sizes of copies. */
typedef struct shapes {
  int64_t kernels[TSR_KERNEL_COUNT], copies;
  const tsr_command *largest, *smallest; /* largest and smallest gemm kernel; NULL: none */
  double least_copy, most_copy;          /* bytes */
} shapes;

static double volume(const tsr_command *command) {
  return (double)command->m * command->n * command->k;
}

static void count_shape(const tsr_plan *plan, const tsr_command *command, shapes *shape) {
  if (is_copy(command)) {
    double bytes = tsr_command_bytes(plan, command);
    if (shape->copies == 0 || bytes < shape->least_copy) shape->least_copy = bytes;
    if (bytes > shape->most_copy) shape->most_copy = bytes;
    shape->copies++;
    return;
  }
  shape->kernels[command->kernel]++;
  if (!is_product(command)) return;
  if (shape->largest == NULL || volume(command) > volume(shape->largest)) shape->largest = command;
  if (shape->smallest == NULL || volume(command) < volume(shape->smallest))
    shape->smallest = command;
}

static shapes count_shapes(const tsr_plan *plan) {
  shapes shape = {.copies = 0};
  for (size_t i = 0; i < plan->commands.count; i++)
    count_shape(plan, &plan->commands.items[i], &shape);
  return shape;
}

static void sum_traffic(const tsr_plan *plan, tsr_prediction *prediction) {
  tsr_traffic sum = tsr_plan_traffic(plan);
  prediction->host_to_device = sum.host_to_device;
  prediction->device_to_host = sum.device_to_host;
  prediction->device_to_device = sum.device_to_device + sum.within_devices;
}

/* Devices over the rows and columns of the user's C. A call with a triangle has all devices over
 * its lines (blas/family.h), which are columns of C if the triangle is on the left, else rows. */
static void set_grid(const tsr_plan *plan, tsr_prediction *prediction) {
  const tsr_call *call = &plan->call;
  int rows = plan->grid_rows, cols = plan->grid_cols;
  if (tsr_family_of(call->operation) == TSR_TRIANGLE) {
    bool columns = call->side == TSR_LEFT;
    int lines = rows * cols;
    rows = columns ? 1 : lines;
    cols = columns ? lines : 1;
  }
  prediction->slices = plan->slices;
  prediction->grid_rows = call->row_major ? cols : rows;
  prediction->grid_cols = call->row_major ? rows : cols;
}

void tsr_plan_summary(const tsr_plan *plan, double measured, tsr_prediction *prediction) {
  const tsr_call *call = &plan->call;
  shapes shape = count_shapes(plan);
  *prediction = (tsr_prediction){.seconds = plan->seconds,
                                 .floor_seconds = plan->floor,
                                 .plan_seconds = plan->plan_seconds,
                                 .measured = measured,
                                 .devices = plan->devices,
                                 .candidates = plan->candidates,
                                 .commands = (int64_t)plan->commands.count,
                                 .copies = shape.copies};
  set_grid(plan, prediction);
  prediction->kernels = prediction->commands - shape.copies;
  if (shape.largest != NULL) {
    prediction->tile_m = tsr_asked_rows(call, shape.largest->m, shape.largest->n);
    prediction->tile_n = tsr_asked_cols(call, shape.largest->m, shape.largest->n);
    prediction->tile_k = shape.largest->k;
  }
  sum_traffic(plan, prediction);
  for (int at = 0; at < TSR_MACHINE_LOCATIONS; at++) {
    if (at >= plan->machine_devices)
      prediction->staging_memory += plan->arena[at];
    else if (plan->arena[at] > prediction->device_memory)
      prediction->device_memory = plan->arena[at];
  }
}

/* ---- Text ---- */

enum { INDENT = 11 };

/* Appends `said` behind a label; its lines begin at column INDENT. */
static void add_labelled(tsr_text *text, const char *label, const char *said) {
  tsr_text_add_lines(text, label, INDENT, said);
}

static void add_time_and_rate(tsr_text *text, const tsr_plan *plan, double seconds) {
  tsr_add_seconds(text, seconds);
  if (!(seconds > 0) || !isfinite(seconds)) return;
  tsr_text_add(text, ", ");
  tsr_add_rate(text, tsr_call_flops(&plan->call) / seconds);
}

static const char *scalar_name(tsr_scalar_class scalar) {
  return scalar == TSR_ZERO ? "0" : scalar == TSR_ONE ? "1" : "any";
}

static void add_call(tsr_text *text, const tsr_plan *plan) {
  const tsr_call asked = tsr_call_as_asked(&plan->call), *call = &asked;
  const tsr_operation_info *info = tsr_operation_get(call->operation);
  bool in_place = !info->has.beta;
  int node = tsr_plan_home_node(plan);
  tsr_name name;
  tsr_text_add(text, "%s %lld x %lld x %lld, alpha %s", tsr_call_name(&plan->call, &name),
               (long long)call->m, (long long)call->n, (long long)call->k,
               scalar_name(call->alpha));
  if (!in_place) tsr_text_add(text, ", beta %s", scalar_name(call->beta));
  tsr_text_add(text, "%s", call->row_major ? ", row-major" : "");
  if (node >= 0) tsr_text_add(text, ", in host memory on node %d", node);
  tsr_text_add(text, "\n");
  for (int i = 0; i < TSR_OPERANDS; i++) {
    const tsr_operand *operand = &call->operand[i];
    if (i == TSR_B_ && !info->has.b) continue;
    tsr_text_add(text, "  %s%s %lld x %lld, ld %lld: %s\n", tsr_matrix_name(i),
                 in_place && i == TSR_C_ ? " (the routine's B)" : "", (long long)operand->rows,
                 (long long)operand->cols, (long long)operand->ld,
                 tsr_home_name(plan, operand, &name));
  }
}

/* Nothing if products are native, and were not to be anything else. */
static void add_arithmetic(tsr_text *text, const tsr_plan *plan) {
  const tsr_call *call = &plan->call;
  if (tsr_call_has_form(call)) {
    tsr_text_add(text, "arithmetic %s, %d %s", call->arithmetic->name, call->arithmetic->number,
                 call->arithmetic->counted);
    if (call->promise.accuracy > 0) tsr_text_add(text, ", accuracy %g", call->promise.accuracy);
    tsr_text_add(text, "\n");
  } else if (plan->other.seconds > 0) {
    tsr_text_add(text, "arithmetic native, predicted to be faster than %d moduli\n",
                 plan->other.arithmetic->number);
  }
}

static void add_choice(tsr_text *text, const tsr_plan *plan, const tsr_machine *machine) {
  tsr_prediction sum;
  tsr_plan_summary(plan, 0, &sum);
  if (machine != NULL) tsr_text_add(text, "machine    %s\n", machine->name);
  if (plan->devices == 0)
    tsr_text_add(text, "devices    none: the CPU's BLAS does it\n");
  else if (plan->slices > 0)
    tsr_text_add(text, "devices    %d of %d, k in %d slices\n", plan->devices,
                 plan->machine_devices, plan->slices);
  else
    tsr_text_add(text, "devices    %d of %d, C in a grid of %d x %d\n", plan->devices,
                 plan->machine_devices, sum.grid_rows, sum.grid_cols);
  if (plan->why[0] != '\0') add_labelled(text, "chosen", plan->why);
  if (plan->why[0] != '\0' && plan->call.row_major)
    add_labelled(text, "", "(its rows and columns are those of the transposed call)");
  if (plan->devices > 0) add_arithmetic(text, plan);
  tsr_text_add(text, "planned    %d candidate%s in ", plan->candidates,
               plan->candidates == 1 ? "" : "s");
  tsr_add_seconds(text, plan->plan_seconds);
  tsr_text_add(text, "%s\n", plan->reproducible ? ", reproducible" : "");
}

static void add_range(tsr_text *text, const tsr_call *call, const tsr_command *smallest,
                      const tsr_command *largest) {
  tsr_text_add(text, "; gemm from %lld x %lld x %d to %lld x %lld x %d",
               (long long)tsr_asked_rows(call, smallest->m, smallest->n),
               (long long)tsr_asked_cols(call, smallest->m, smallest->n), smallest->k,
               (long long)tsr_asked_rows(call, largest->m, largest->n),
               (long long)tsr_asked_cols(call, largest->m, largest->n), largest->k);
}

static void add_kernels(tsr_text *text, const tsr_plan *plan, const shapes *shape) {
  tsr_text line = TSR_TEXT_INIT;
  for (int i = 0; i < TSR_KERNEL_COUNT; i++)
    if (shape->kernels[i] > 0)
      tsr_text_add(&line, "%s%lld %s", line.length > 0 ? " " : "", (long long)shape->kernels[i],
                   tsr_kernel_get((tsr_kernel)i)->name);
  if (shape->largest != NULL) add_range(&line, &plan->call, shape->smallest, shape->largest);
  text->broken |= line.broken;
  if (line.length > 0) add_labelled(text, "kernels", line.bytes);
  tsr_text_free(&line);
}

/* The routines of the plan that devices compute by products of blocks. */
static void add_blocks(tsr_text *text, const tsr_plan *plan, const shapes *shape) {
  tsr_text line = TSR_TEXT_INIT;
  for (int i = 0; i < TSR_KERNEL_COUNT; i++)
    if (shape->kernels[i] > 0 && plan->by_blocks >> i & 1)
      tsr_text_add(&line, "%s%s", line.length > 0 ? ", " : "", tsr_kernel_get((tsr_kernel)i)->name);
  if (line.length > 0) tsr_text_add(&line, ": faster here than the vendor's routine");
  text->broken |= line.broken;
  if (line.length > 0) add_labelled(text, "by blocks", line.bytes);
  tsr_text_free(&line);
}

static void add_shapes(tsr_text *text, const tsr_plan *plan) {
  shapes shape = count_shapes(plan);
  tsr_text_add(text, "commands   %zu on %d queues\n", plan->commands.count, plan->queues);
  add_kernels(text, plan, &shape);
  add_blocks(text, plan, &shape);
  tsr_text_add(text, "copies     %lld", (long long)shape.copies);
  if (shape.copies > 0) {
    tsr_text_add(text, ", from ");
    tsr_add_bytes(text, 0, shape.least_copy);
    tsr_text_add(text, " to ");
    tsr_add_bytes(text, 0, shape.most_copy);
  }
  tsr_text_add(text, "\n");
}

/* Predicted and least times of emulated devices are not shown. */
static void add_rehearsal(tsr_text *text, double measured) {
  if (measured > 0) {
    tsr_text_add(text, "measured   ");
    tsr_add_seconds(text, measured);
    tsr_text_add(text, ", which means nothing: the devices are emulated\n");
  } else {
    tsr_text_add(text, "times      none: the devices are emulated\n");
  }
}

static void add_times(tsr_text *text, const tsr_plan *plan, const tsr_known *known) {
  double measured = known->measured.seconds;
  if (known->rehearsal) {
    add_rehearsal(text, measured);
    return;
  }
  tsr_text_add(text, "predicted  ");
  add_time_and_rate(text, plan, plan->seconds);
  tsr_text_add(text, "\nfloor      ");
  add_time_and_rate(text, plan, plan->floor);
  if (plan->floor > 0) tsr_text_add(text, "; predicted is %.3f of it", plan->seconds / plan->floor);
  if (measured > 0) {
    tsr_text_add(text, "\nmeasured   ");
    add_time_and_rate(text, plan, measured);
    tsr_text_add(text, "; predicted is %.3f of it", plan->seconds / measured);
  }
  tsr_text_add(text, "\n");
}

static void add_busy(tsr_text *text, const tsr_plan *plan, const traffic *moved, double seconds) {
  if (moved->timed) tsr_text_add(text, "   busy %3.0f %%", 100 * tsr_busy_share(plan, seconds));
  tsr_text_add(text, "\n");
}

static void add_links(tsr_text *text, const tsr_plan *plan, const traffic *moved) {
  tsr_text_add(text, "bytes by link\n");
  for (int from = 0; from < TSR_MACHINE_LOCATIONS; from++) {
    for (int to = 0; to < TSR_MACHINE_LOCATIONS; to++) {
      double bytes = moved->bytes[from][to];
      if (bytes == 0) continue;
      tsr_name source, target;
      tsr_text_add(text, "  %-9s -> %-9s  ", tsr_plan_location_name(plan, from, &source),
                   tsr_plan_location_name(plan, to, &target));
      tsr_add_bytes(text, 9, bytes);
      if (from == to) /* by staging threads, or within a device: no link is busy with it */
        tsr_text_add(text, "\n");
      else
        add_busy(text, plan, moved, moved->busy.link[from][to]);
    }
  }
}

static double channel_load(const tsr_channel *channel, const traffic *moved) {
  double bytes = 0;
  for (int i = 0; i < channel->count; i++)
    bytes += channel->uses[i].weight * moved->bytes[channel->uses[i].from][channel->uses[i].to];
  return bytes;
}

static void add_channels(tsr_text *text, const tsr_plan *plan, const tsr_machine *machine,
                         const traffic *moved) {
  if (!moved->timed || machine->channels == 0) return;
  tsr_text_add(text, "bytes by channel (weighted)\n");
  for (int i = 0; i < machine->channels; i++) {
    const tsr_channel *channel = &machine->channel[i];
    double bytes = channel_load(channel, moved);
    if (bytes == 0) continue;
    tsr_text_add(text, "  %-22s  ", channel->name);
    tsr_add_bytes(text, 9, bytes);
    add_busy(text, plan, moved, moved->busy.channel[i]);
  }
}

static void add_memory(tsr_text *text, const tsr_plan *plan, const traffic *moved) {
  tsr_text_add(text, "memory\n");
  for (int at = 0; at < TSR_MACHINE_LOCATIONS; at++) {
    if (plan->arena[at] == 0) continue;
    tsr_name name;
    tsr_text_add(text, "  %-22s  ", tsr_plan_location_name(plan, at, &name));
    tsr_add_bytes(text, 9, (double)plan->arena[at]);
    if (at >= plan->machine_devices) {
      tsr_text_add(text, " of staging ring");
    } else if (moved->residues[at] > 0) {
      tsr_text_add(text, ", at most ");
      tsr_add_bytes(text, 0, moved->residues[at]);
      tsr_text_add(text, " of residues at a time");
    }
    tsr_text_add(text, "\n");
  }
}

static void write_text(const tsr_plan *plan, const tsr_machine *machine, const tsr_known *known,
                       const traffic *moved, tsr_text *text) {
  add_call(text, plan);
  add_choice(text, plan, machine);
  if (plan->devices > 0) add_shapes(text, plan);
  add_times(text, plan, known);
  if (plan->devices == 0) return;
  if (moved->timed) tsr_idle_write(plan, &moved->busy, text);
  add_links(text, plan, moved);
  add_channels(text, plan, machine, moved);
  add_memory(text, plan, moved);
  if (plan->blocking.rows > 0) tsr_loads_write(plan, false, text);
}

/* ---- JSON ---- */

/* An infinite or undefined number is null, since JSON has neither. */
static void add_number(tsr_text *text, const char *key, double value) {
  if (isfinite(value))
    tsr_text_add(text, "  \"%s\": %.9g,\n", key, value);
  else
    tsr_text_add(text, "  \"%s\": null,\n", key);
}

static void add_string(tsr_text *text, const char *key, const char *value) {
  tsr_text_add(text, "  \"%s\": \"", key);
  tsr_text_add_json(text, value);
  tsr_text_add(text, "\",\n");
}

/* "host", "host1", "hosts", "0". */
static void add_short_location(tsr_text *text, const tsr_plan *plan, int location) {
  int node = location - plan->machine_devices;
  if (node < 0)
    tsr_text_add(text, "%d", location);
  else if (tsr_plan_is_interleaved(plan, location))
    tsr_text_add(text, "hosts");
  else if (node == 0)
    tsr_text_add(text, "host");
  else
    tsr_text_add(text, "host%d", node);
}

static void add_json_bytes(tsr_text *text, const tsr_plan *plan, const traffic *moved) {
  const char *separator = "";
  tsr_text_add(text, "  \"bytes\": {");
  for (int from = 0; from < TSR_MACHINE_LOCATIONS; from++) {
    for (int to = 0; to < TSR_MACHINE_LOCATIONS; to++) {
      if (moved->bytes[from][to] == 0) continue;
      tsr_text_add(text, "%s\"", separator);
      add_short_location(text, plan, from);
      tsr_text_add(text, "->");
      add_short_location(text, plan, to);
      tsr_text_add(text, "\": %.0f", moved->bytes[from][to]);
      separator = ", ";
    }
  }
  tsr_text_add(text, "},\n");
}

static void add_json_channels(tsr_text *text, const tsr_plan *plan, const tsr_machine *machine,
                              const traffic *moved) {
  const char *separator = "";
  tsr_text_add(text, "  \"channels\": [");
  for (int i = 0; machine != NULL && i < machine->channels; i++) {
    const tsr_channel *channel = &machine->channel[i];
    double bytes = channel_load(channel, moved);
    tsr_text_add(text, "%s{\"name\": \"", separator);
    tsr_text_add_json(text, channel->name);
    tsr_text_add(text, "\", \"bytes\": %.0f, \"busy\": ", bytes);
    if (moved->timed)
      tsr_text_add(text, "%.4f}", tsr_busy_share(plan, moved->busy.channel[i]));
    else
      tsr_text_add(text, "null}");
    separator = ", ";
  }
  tsr_text_add(text, "],\n");
}

static void add_json_residues(tsr_text *text, const tsr_plan *plan, const traffic *moved) {
  const char *separator = "";
  tsr_text_add(text, "  \"residues\": {");
  for (int d = 0; d < plan->machine_devices; d++) {
    if (moved->residues[d] == 0) continue;
    tsr_text_add(text, "%s\"%d\": %.0f", separator, d, moved->residues[d]);
    separator = ", ";
  }
  tsr_text_add(text, "},\n");
}

static void add_json_memory(tsr_text *text, const tsr_plan *plan) {
  const char *separator = "";
  tsr_text_add(text, "  \"memory\": {");
  for (int at = 0; at < TSR_MACHINE_LOCATIONS; at++) {
    if (plan->arena[at] == 0) continue;
    tsr_text_add(text, "%s\"", separator);
    add_short_location(text, plan, at);
    tsr_text_add(text, "\": %zu", plan->arena[at]);
    separator = ", ";
  }
  tsr_text_add(text, "},\n");
}

static void add_json_call(tsr_text *text, const tsr_plan *plan, const tsr_machine *machine) {
  const tsr_call *call = &plan->call;
  tsr_name name;
  add_string(text, "call", tsr_call_name(call, &name));
  add_string(text, "layout", call->row_major ? "row" : "col");
  add_number(text, "m", (double)tsr_asked_rows(call, call->m, call->n));
  add_number(text, "n", (double)tsr_asked_cols(call, call->m, call->n));
  add_number(text, "k", (double)plan->call.k);
  add_string(text, "machine", machine == NULL ? "" : machine->name);
  add_string(text, "why", plan->why);
}

static tsr_status add_json_verdict(tsr_text *text, const tsr_plan *plan, const tsr_machine *machine,
                                   const tsr_known *known) {
  if (machine == NULL) return TSR_OK;
  tsr_text_add(text, "  \"verdict\": ");
  TSR_TRY(tsr_verdict_write_json(plan, machine, known, text));
  tsr_text_add(text, ",\n");
  return TSR_OK;
}

static tsr_status write_json(const tsr_plan *plan, const tsr_machine *machine,
                             const tsr_known *known, const traffic *moved, tsr_text *text) {
  tsr_prediction sum;
  double measured = known->measured.seconds;
  tsr_plan_summary(plan, measured, &sum);
  tsr_text_add(text, "{\n");
  add_json_call(text, plan, machine);
  add_number(text, "predicted_s", plan->seconds);
  add_number(text, "floor_s", plan->floor);
  add_number(text, "fraction", plan->floor / plan->seconds);
  add_number(text, "measured_s", measured);
  add_number(text, "plan_s", plan->plan_seconds);
  tsr_text_add(text,
               "  \"candidates\": %d,\n  \"devices\": %d,\n  \"grid\": [%d, %d],\n"
               "  \"slices\": %d,\n",
               plan->candidates, plan->devices, sum.grid_rows, sum.grid_cols, plan->slices);
  tsr_text_add(text, "  \"tile\": {\"m\": %lld, \"n\": %lld, \"k\": %lld},\n",
               (long long)sum.tile_m, (long long)sum.tile_n, (long long)sum.tile_k);
  tsr_idle_write_json(plan, moved->timed ? &moved->busy : NULL, text);
  add_json_bytes(text, plan, moved);
  add_json_channels(text, plan, machine, moved);
  add_json_memory(text, plan);
  add_json_residues(text, plan, moved);
  tsr_loads_write_json(plan, text);
  TSR_TRY(add_json_verdict(text, plan, machine, known));
  tsr_text_add(text, "  \"commands\": %lld,\n  \"kernels\": %lld,\n  \"copies\": %lld\n}\n",
               (long long)sum.commands, (long long)sum.kernels, (long long)sum.copies);
  return TSR_OK;
}

/* ---- Commands ---- */

static void add_rectangle(tsr_text *text, const tsr_plan *plan, const tsr_command *command) {
  int i = is_copy(command) ? 0 : 2;
  const tsr_call *call = &plan->call;
  int64_t row = tsr_asked_rows(call, command->row[i], command->col[i]);
  int64_t col = tsr_asked_cols(call, command->row[i], command->col[i]);
  int64_t rows = tsr_asked_rows(call, command->m, command->n);
  int64_t cols = tsr_asked_cols(call, command->m, command->n);
  int matrix = plan->buffers.items[command->buffer[i]].matrix;
  tsr_text_add(text, " %s[%lld..%lld, %lld..%lld]", tsr_asked_matrix_name(call, matrix),
               (long long)row, (long long)row + rows - 1, (long long)col,
               (long long)col + cols - 1);
  if (is_copy(command) || !is_product(command) || tsr_call_has_form(&plan->call)) return;
  bool plain = tsr_form_unpack(command->form).transa == TSR_NO_TRANS;
  int64_t k0 = plain ? command->col[0] : command->row[0];
  tsr_text_add(text, " k %lld..%lld", (long long)k0, (long long)k0 + command->k - 1);
}

static void add_flags(tsr_text *text, const tsr_command *command) {
  static const char *const names[] = {"event", "beta",     "beta=1",        "alpha=1",
                                      "wide",  "alpha=-1", "alpha is conj", "beta is alpha"};
  for (int i = 0; i < 8; i++)
    if (command->flags & (1 << i)) tsr_text_add(text, " %s", names[i]);
}

static void add_command(tsr_text *text, const tsr_plan *plan, size_t index) {
  const tsr_command *command = &plan->commands.items[index];
  const tsr_plan_queue *queue = &plan->queue[command->queue];
  tsr_name where, name;
  tsr_text_add(text, "%6zu  %s", index, tsr_plan_location_name(plan, queue->location, &where));
  tsr_text_add(text, " %-10s", tsr_queue_name(queue, &name));
  tsr_text_add(text, " %-9s", is_copy(command) ? "copy" : tsr_command_name(plan, command, &name));
  add_rectangle(text, plan, command);
  tsr_text_add(text, " buffers");
  for (int i = 0; i < 3; i++)
    if (command->buffer[i] != TSR_NO_BUFFER) tsr_text_add(text, " %d", command->buffer[i]);
  if (command->waits > 0) tsr_text_add(text, " waits");
  for (uint32_t i = 0; i < command->waits; i++)
    tsr_text_add(text, " %u", plan->waits.items[command->wait + i]);
  add_flags(text, command);
  tsr_text_add(text, " %.1f-%.1f us\n", (double)command->begin * 1e6, (double)command->end * 1e6);
}

/* Writes what sums over the commands tell, as text or as JSON. */
static tsr_status write_sums(const tsr_plan *plan, const tsr_machine *machine,
                             const tsr_known *known, tsr_format format, tsr_text *text) {
  traffic *moved = tsr_alloc_zero(1, sizeof *moved);
  if (moved == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to print a plan: free some");
  tsr_status status = count_traffic(plan, machine, known, moved);
  if (status == TSR_OK && format == TSR_TEXT)
    write_text(plan, machine, known, moved, text);
  else if (status == TSR_OK)
    status = write_json(plan, machine, known, moved, text);
  tsr_dealloc(moved);
  return status;
}

tsr_status tsr_plan_write(const tsr_plan *plan, const tsr_machine *machine, const tsr_known *known,
                          tsr_format format, tsr_text *text) {
  tsr_known all = known != NULL ? *known : (tsr_known){.rehearsal = false};
  tsr_measured last = all.measured;
  switch (format) {
    case TSR_TEXT:
    case TSR_JSON:
    case TSR_JSON_ALONE:
      return write_sums(plan, machine, &all, format, text);
    case TSR_VERDICT:
      return tsr_verdict_write(plan, machine, &all, text);
    case TSR_COMMANDS:
      for (size_t i = 0; i < plan->commands.count; i++) add_command(text, plan, i);
      return TSR_OK;
    case TSR_LOADS:
      tsr_loads_write(plan, true, text);
      return TSR_OK;
    case TSR_TIMELINE_JSON:
      tsr_trace_write(plan, machine, last.times, text);
      return TSR_OK;
    case TSR_MACHINE_SVG:
      return tsr_plan_draw_machine(plan, machine, text);
    case TSR_TIMELINE_SVG: /* the caller draws it: front/ask/picture.h */
    case TSR_DETAILS:      /* of a machine alone */
      break;
  }
  return tsr_fail(TSR_ERR_ARGUMENT, "format: the planner does not write format %d", (int)format);
}
