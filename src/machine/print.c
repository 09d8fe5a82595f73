/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints a machine as tables for people. */
#include <stdio.h>
#include <string.h>

#include "machine/outline.h"

#define GIGA 1e9
#define TERA 1e12
#define MICRO 1e-6

enum { WIDTH = 80, COLUMNS = 8 /* of links in one table */ };

/* A text in lines of 80 columns: each line after the first begins with `indent` blanks. */
typedef struct wrapped {
  tsr_text *text;
  int column, indent;
} wrapped;

static void add_word(wrapped *line, const char *word) {
  int length = (int)strlen(word);
  if (line->column + 1 + length > WIDTH) {
    tsr_text_add(line->text, "\n%*s", line->indent, "");
    line->column = line->indent;
  }
  tsr_text_add(line->text, " %s", word);
  line->column += 1 + length;
}

static void add_devices(tsr_text *text, const tsr_machine *machine) {
  if (machine->devices == 0) return;
  tsr_text_add(text, "\n%-6s %-26.26s %5s %9s %11s %9s  %s\n", "device", "name", "speed",
               "memory GB", "memory GB/s", "launch us", "host");
  for (int i = 0; i < machine->devices; i++) {
    const tsr_device *device = &machine->device[i];
    char name[TSR_LOCATION_NAME], host[TSR_LOCATION_NAME];
    tsr_location_name(machine, i, name);
    tsr_location_name(machine, device->host_node, host);
    tsr_text_add(text, "%-6s %-26.26s %5.3g %9.4g %11.4g %9.3g  %s\n", name, device->name,
                 device->speed, device->memory / GIGA, device->memory_rate / GIGA,
                 device->kernel_latency / MICRO, host);
  }
}

static void add_link_row(tsr_text *text, const tsr_machine *machine, int from, int first,
                         int behind) {
  char name[TSR_LOCATION_NAME];
  tsr_location_name(machine, from, name);
  tsr_text_add(text, "%-8s", name);
  for (int to = first; to < behind; to++) {
    double bandwidth = machine->link[from][to].bandwidth;
    if (bandwidth > 0)
      tsr_text_add(text, " %7.4g", bandwidth / GIGA);
    else
      tsr_text_add(text, " %7s", "-");
  }
  tsr_text_add(text, "\n");
}

static void add_link_table(tsr_text *text, const tsr_machine *machine, int first, int behind) {
  tsr_text_add(text, "\nlinks, GB/s (row to column)\n%-8s", "");
  for (int i = first; i < behind; i++) {
    char name[TSR_LOCATION_NAME];
    tsr_location_name(machine, i, name);
    tsr_text_add(text, " %7s", name);
  }
  tsr_text_add(text, "\n");
  for (int i = 0; i < machine->devices + machine->nodes; i++)
    add_link_row(text, machine, i, first, behind);
}

static void add_links(tsr_text *text, const tsr_machine *machine) {
  int locations = machine->devices + machine->nodes;
  /* Nine columns are 80 wide: eight devices and their host are not divided. */
  int columns = locations <= COLUMNS + 1 ? locations : COLUMNS;
  for (int first = 0; first < locations && machine->devices > 0; first += columns)
    add_link_table(text, machine, first, first + columns < locations ? first + columns : locations);
}

static bool same_shape(const tsr_curve *a, const tsr_curve *b) {
  size_t bytes = (size_t)a->count * sizeof *a->size;
  return a->count == b->count && memcmp(a->size, b->size, bytes) == 0 &&
         memcmp(a->rate, b->rate, bytes) == 0;
}

static bool same_shapes(const tsr_link *a, const tsr_link *b) {
  return same_shape(&a->shape, &b->shape) && a->close.pitch == b->close.pitch &&
         same_shape(&a->close.shape, &b->close.shape);
}

/* Links of one kind have the same shapes, which are printed for the first of them only. */
static bool is_first_of_shape(const tsr_machine *machine, int from, int to) {
  int locations = machine->devices + machine->nodes;
  for (int i = 0; i <= from; i++)
    for (int j = 0; j < (i < from ? locations : to); j++)
      if (same_shapes(&machine->link[i][j], &machine->link[from][to])) return false;
  return true;
}

static void add_curve(tsr_text *text, const tsr_curve *curve, double unit) {
  wrapped line = {text, 0, 0};
  char point[48];
  for (int i = 0; i < curve->count; i++) {
    tsr_text formatted = TSR_TEXT_INIT;
    tsr_text_add(&formatted, "%.0f: %.3g%s", curve->size[i], curve->rate[i] / unit,
                 i + 1 < curve->count ? "," : "");
    snprintf(point, sizeof point, "%s", formatted.broken ? "" : formatted.bytes);
    text->broken |= formatted.broken;
    tsr_text_free(&formatted);
    add_word(&line, point);
  }
  tsr_text_add(text, "\n");
}

static void add_shape(tsr_text *text, const tsr_machine *machine, int from, int to) {
  const tsr_link *link = &machine->link[from][to];
  char from_name[TSR_LOCATION_NAME], to_name[TSR_LOCATION_NAME];
  if (link->shape.count == 0 || !is_first_of_shape(machine, from, to)) return;
  tsr_location_name(machine, from, from_name);
  tsr_location_name(machine, to, to_name);
  tsr_text_add(text, "\nbytes of a segment: GB/s (%s -> %s and like it)\n", from_name, to_name);
  add_curve(text, &link->shape, GIGA);
  if (link->close.shape.count == 0) return;
  tsr_text_add(text, "the same if segments begin %.0f bytes apart or closer\n", link->close.pitch);
  add_curve(text, &link->close.shape, GIGA);
}

static void add_use(wrapped *line, const tsr_machine *machine, const tsr_channel_use *use) {
  char from[TSR_LOCATION_NAME], to[TSR_LOCATION_NAME];
  tsr_text word = TSR_TEXT_INIT;
  tsr_location_name(machine, use->from, from);
  tsr_location_name(machine, use->to, to);
  tsr_text_add(&word, "%s>%s", from, to);
  if (use->weight != 1) tsr_text_add(&word, "(%.3g)", use->weight);
  if (!word.broken) add_word(line, word.bytes);
  line->text->broken |= word.broken;
  tsr_text_free(&word);
}

static void add_channels(tsr_text *text, const tsr_machine *machine) {
  enum { NAME = 17 /* "gpu31 from others" */, INDENT = NAME + 1 + 8 };
  if (machine->channels == 0) return;
  tsr_text_add(text, "\n%-*s %8s  %s\n", NAME, "channel", "GB/s", "links (weight when not 1)");
  for (int i = 0; i < machine->channels; i++) {
    const tsr_channel *channel = &machine->channel[i];
    int name = (int)strlen(channel->name);
    wrapped line = {text, (name > NAME ? name : NAME) + 9, INDENT};
    tsr_text_add(text, "%-*s %8.4g", NAME, channel->name, channel->capacity / GIGA);
    for (int j = 0; j < channel->count; j++)
      if (!tsr_channel_use_follows(machine, &channel->uses[j]))
        add_use(&line, machine, &channel->uses[j]);
    tsr_text_add(text, "\n");
  }
}

static void add_table(tsr_text *text, const tsr_rates *rates,
                      const double table[TSR_RATE_POINTS][TSR_RATE_POINTS]) {
  tsr_text_add(text, "\n%-8s", "");
  for (int j = 0; j < rates->ks; j++) tsr_text_add(text, " %7.0f", rates->k[j]);
  for (int i = 0; i < rates->areas; i++) {
    tsr_text_add(text, "\n%-8.0f", rates->area[i]);
    for (int j = 0; j < rates->ks; j++) tsr_text_add(text, " %7.3g", table[i][j] / TERA);
  }
  tsr_text_add(text, "\n");
}

static void add_routines(tsr_text *text, const tsr_rates *rates) {
  bool any = false;
  for (int i = 0; i < TSR_KERNEL_COUNT; i++) {
    const struct tsr_routine *routine = &rates->routine[i];
    if (routine->vendor <= 0) continue;
    tsr_text_add(text, "%s %s %.2g, %.2g",
                 any ? ";" : "by the vendor's routine, by blocks (part of a GEMM's rate):",
                 tsr_kernel_get((tsr_kernel)i)->name, routine->vendor, routine->blocks);
    any = true;
  }
  if (any) tsr_text_add(text, "\n");
}

static void add_emulated(tsr_text *text, const tsr_rates *rates) {
  const struct tsr_emulated *emulated = &rates->emulated;
  if (emulated->sustained <= 0) return;
  tsr_text_add(text, "emulated, in short runs; sustained %.4g; residues of %.3g Gelements/s",
               emulated->sustained / TERA, emulated->elements / GIGA);
  add_table(text, rates, emulated->flops);
}

static void add_rates(tsr_text *text, const tsr_rates *rates, const tsr_type_info *type) {
  if (rates->areas == 0) return;
  tsr_text_add(text, "\nkernels, %s, TFLOP/s (sqrt(m n) by k), in short runs", type->name);
  add_table(text, rates, rates->flops);
  tsr_text_add(text, "at the power limit; sustained %.4g", rates->sustained / TERA);
  add_table(text, rates, rates->hot);
  add_routines(text, rates);
  add_emulated(text, rates);
  if (rates->narrow.count > 0) {
    tsr_text_add(text,
                 "narrow ones in short runs (the shorter of m and n: part of a square's rate)\n");
    add_curve(text, &rates->narrow, 1);
  }
  if (rates->trapezoid.count == 0) return;
  tsr_text_add(text,
               "trapezoids by squares (order of a triangle as large: part of a GEMM's rate)\n");
  add_curve(text, &rates->trapezoid, 1);
}

/* 0: it is unknown. */
static void add_known(tsr_text *text, const char *name, double seconds) {
  if (seconds > 0) tsr_text_add(text, ", %s %.3g us", name, seconds / MICRO);
}

static void add_host(tsr_text *text, const tsr_machine *machine) {
  tsr_text_add(text, "\nCPU, TFLOP/s:");
  for (int i = 0; i < TSR_TYPE_COUNT; i++)
    if (machine->cpu_flops[i] > 0)
      tsr_text_add(text, " %c %.3g", (char)tsr_type_at(i)->type, machine->cpu_flops[i] / TERA);
  tsr_text_add(text, "; latency %.3g us\n", machine->cpu_latency / MICRO);
  tsr_text_add(text, "staging: %d threads, %.4g GB/s each, %.4g GB/s in all",
               machine->staging_threads, machine->thread_rate / GIGA, machine->staging_rate / GIGA);
  add_known(text, "start", machine->staging_start);
  tsr_text_add(text, "\nsubmission: copy %.3g us, kernel %.3g us", machine->submit_copy / MICRO,
               machine->submit_kernel / MICRO);
  add_known(text, "record", machine->submit_record);
  add_known(text, "wait", machine->submit_wait);
  add_known(text, "turnaround", machine->turnaround);
  tsr_text_add(text, "\n");
  if (machine->network.bandwidth > 0)
    tsr_text_add(text, "network: %.4g GB/s a process each way, %.3g us\n",
                 machine->network.bandwidth / GIGA, machine->network.latency / MICRO);
}

void tsr_machine_print_tables(const tsr_machine *machine, tsr_text *text) {
  int locations = machine->devices + machine->nodes;
  tsr_text_add(text, "%.80s\n%s: %d device%s, %d host memory node%s%s\n", machine->name,
               machine->source, machine->devices, machine->devices == 1 ? "" : "s", machine->nodes,
               machine->nodes == 1 ? "" : "s", machine->interleaved ? ", interleaved" : "");
  tsr_outline_about(machine, 0, text);
  add_devices(text, machine);
  add_links(text, machine);
  for (int i = 0; i < locations; i++)
    for (int j = 0; j < locations; j++) add_shape(text, machine, i, j);
  add_channels(text, machine);
  for (int i = 0; i < TSR_TYPE_COUNT; i++) add_rates(text, &machine->rates[i], tsr_type_at(i));
  add_host(text, machine);
}
