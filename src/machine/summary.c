/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints a machine in some ten lines for people. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "machine/outline.h"

#define GIGA 1e9
#define TERA 1e12
#define MICRO 1e-6
enum { WIDTH = 80, LABEL = 10, LINKS = 7 + 10 + 7 + 8, RATES = 5 };

/* The columns of rates: the types that people compare GPUs by. */
static const struct {
  tsr_type type;
  const char *name;
} shown[RATES] = {
    {TSR_D, "fp64"}, {TSR_S, "fp32"}, {TSR_T, "TF32"}, {TSR_H, "fp16"}, {TSR_B, "bf16"}};

/* ---- Cells ---- */

/* Appends a text at the right edge of a cell of that width. */
static void add_cell(tsr_text *text, int width, const char *cell) {
  tsr_text_add(text, "%*s", width, cell);
}

/* Appends a number; 0 is unknown. */
static void add_number(tsr_text *text, int width, double value) {
  tsr_text number = TSR_TEXT_INIT;
  if (value > 0) tsr_amount_print(value, &number);
  add_cell(text, width, value > 0 && !number.broken ? number.bytes : "-");
  text->broken |= number.broken;
  tsr_text_free(&number);
}

static void end_line(tsr_text *text) {
  while (text->length > 0 && text->bytes[text->length - 1] == ' ')
    text->bytes[--text->length] = '\0';
  tsr_text_add(text, "\n");
}

/* ---- Head ---- */

/* Two texts on one line, the second at its right edge; on two lines, if they are too long. */
static void add_line_of_two(tsr_text *text, const tsr_text *left, const tsr_text *right) {
  int room = WIDTH - (int)left->length;
  if ((int)right->length + 2 > room) {
    tsr_text_add(text, "%s\n", left->bytes);
    room = WIDTH;
  } else {
    tsr_text_add(text, "%s", left->bytes);
  }
  tsr_text_add(text, "%*s\n", room, right->bytes);
}

/* A string is said in full; the name of a machine without a GPU says which BLAS does the work. */
static bool has_line_of_name(const tsr_machine *machine) {
  bool described = strcmp(machine->source, "string") == 0;
  return described || (strcmp(machine->source, "probe") == 0 && machine->devices == 0);
}

static void add_head(tsr_text *text, const tsr_machine *machine) {
  tsr_text left = TSR_TEXT_INIT, right = TSR_TEXT_INIT;
  tsr_outline_title(machine, &left);
  tsr_outline_source(machine, &right);
  text->broken |= left.broken | right.broken;
  if (!text->broken) add_line_of_two(text, &left, &right);
  tsr_text_free(&left);
  tsr_text_free(&right);
  if (has_line_of_name(machine)) tsr_text_add(text, "%.80s\n", machine->name);
}

/* ---- Rates ---- */

static double peer_rate(const tsr_machine *machine, int device) {
  double best = 0;
  for (int d = 0; d < machine->devices; d++) best = fmax(best, machine->link[d][device].bandwidth);
  return best;
}

/* The rates of a set of devices together. */
static void add_sustained(tsr_text *text, const tsr_machine *machine, tsr_device_mask set) {
  for (int i = 0; i < RATES; i++) {
    double speed = 0;
    for (int d = 0; d < machine->devices; d++)
      if (set >> d & 1) speed += tsr_machine_speed(machine, d, shown[i].type);
    const tsr_rates *rates = &machine->rates[tsr_type_index(shown[i].type)];
    add_number(text, 7, rates->areas > 0 ? speed * rates->sustained / TERA : 0);
  }
  end_line(text);
}

static void add_label(tsr_text *text, tsr_device_mask set) {
  tsr_text label = TSR_TEXT_INIT;
  tsr_text_add(&label, "GPU ");
  tsr_mask_print(set, ", ", &label);
  if (label.length > LABEL) {
    label.length = 0;
    tsr_text_add(&label, "%d GPUs", tsr_mask_count(set));
  }
  if (!label.broken) tsr_text_add(text, "%-*s", LABEL, label.bytes);
  text->broken |= label.broken;
  tsr_text_free(&label);
}

/* The host memory that a device is nearest to, or that lies on all nodes. */
static int host_of(const tsr_machine *machine, int device) {
  return tsr_machine_host(machine, machine->device[device].host_node - machine->devices);
}

/* The rates of one device; of equal ones, those of the first. */
static void add_group(tsr_text *text, const tsr_machine *machine, tsr_device_mask set) {
  int d = tsr_mask_first(set), home = host_of(machine, d);
  add_label(text, set);
  add_number(text, 7, machine->link[home][d].bandwidth / GIGA);
  add_number(text, 10, machine->link[d][home].bandwidth / GIGA);
  add_number(text, 7, peer_rate(machine, d) / GIGA);
  add_number(text, 8, machine->device[d].memory_rate / GIGA);
  add_sustained(text, machine, (tsr_device_mask)1 << d);
}

static void add_together(tsr_text *text, const tsr_machine *machine, const tsr_outline *outline) {
  if (machine->devices < 2) return;
  tsr_text_add(text, "%-*s", LABEL, "together");
  add_number(text, 7, outline->in / GIGA);
  add_number(text, 10, outline->out / GIGA);
  add_cell(text, 15, "");
  add_sustained(text, machine, ~(tsr_device_mask)0);
}

static void add_cpu(tsr_text *text, const tsr_machine *machine) {
  tsr_text_add(text, "%-*s%*s", LABEL, "CPU", machine->devices > 0 ? LINKS : 0, "");
  for (int i = 0; i < RATES; i++)
    add_number(text, 7, machine->cpu_flops[tsr_type_index(shown[i].type)] / TERA);
  end_line(text);
}

static void add_table(tsr_text *text, const tsr_machine *machine, const tsr_outline *outline) {
  tsr_text_add(text, "\n%-*s", LABEL, "");
  if (machine->devices > 0) tsr_text_add(text, "%7s%25s", "GB/s", "");
  tsr_text_add(text, "   TFLOP/s%s\n%-*s", machine->devices > 0 ? ", sustained" : "", LABEL, "");
  if (machine->devices > 0)
    tsr_text_add(text, "%7s%10s%7s%8s", "to GPU", "from GPU", "peers", "memory");
  for (int i = 0; i < RATES; i++) add_cell(text, 7, shown[i].name);
  end_line(text);
  for (int g = 0; g < outline->groups; g++) add_group(text, machine, outline->group[g]);
  add_together(text, machine, outline);
  add_cpu(text, machine);
}

/* ---- What devices share ---- */

static void add_rate(tsr_text *text, double rate) {
  tsr_amount_print(rate / GIGA, text);
}

/* What all devices reach when they copy from host memory, to it, and both ways at once. */
static void add_host_memory(tsr_text *text, const tsr_machine *machine,
                            const tsr_outline *outline) {
  if (machine->devices < 2) return;
  tsr_text_add(text, "Host memory: ");
  add_rate(text, outline->in);
  tsr_text_add(text, " GB/s to the GPUs, ");
  add_rate(text, outline->out);
  tsr_text_add(text, " from the GPUs, ");
  add_rate(text, outline->both_in + outline->both_out);
  tsr_text_add(text, " both ways at once.\n");
}

static bool are_alike(const tsr_shared_link *a, const tsr_shared_link *b) {
  return fabs(a->in - b->in) <= 0.05 * b->in && fabs(a->out - b->out) <= 0.05 * b->out;
}

/* "0+1, 2+3, 4+5": the sets of devices that share links of about the same rates as the first. */
static void add_sets(tsr_text *text, const tsr_shared_link *links, int count, const bool *said) {
  enum { MOST = 8 };
  int sets = 0;
  for (int i = 0; i < count; i++) {
    if (said[i] || !are_alike(&links[i], &links[0])) continue;
    if (sets++ >= MOST) continue;
    tsr_text_add(text, sets > 1 ? ", " : "");
    tsr_mask_print(links[i].devices, "+", text);
  }
  if (sets > MOST) tsr_text_add(text, " and %d such sets more", sets - MOST);
}

/* The link between sockets; of several, the slowest and the fastest. */
static void add_crossings(tsr_text *text, const tsr_machine *machine, const tsr_outline *outline) {
  double least = INFINITY, most = 0;
  for (int i = 0; i < machine->channels; i++) {
    if (outline->channel[i].role != TSR_CHANNEL_CROSSING) continue;
    least = fmin(least, machine->channel[i].capacity);
    most = fmax(most, machine->channel[i].capacity);
  }
  if (most <= 0) return;
  tsr_text_add(text, machine->nodes > 2 ? "Between each two sockets: " : "Between the sockets: ");
  if (least < most) add_rate(text, least);
  if (least < most) tsr_text_add(text, " to ");
  add_rate(text, most);
  tsr_text_add(text, " GB/s each way.\n");
}

static void add_link_rates(tsr_text *text, const tsr_shared_link *link) {
  bool same = fabs(link->in - link->out) < 0.005 * link->in;
  add_rate(text, link->in > 0 ? link->in : link->out);
  if (same) tsr_text_add(text, " GB/s each way");
  if (!same && link->in > 0) tsr_text_add(text, " GB/s to the GPUs");
  if (!same && link->in > 0 && link->out > 0) tsr_text_add(text, ", ");
  if (!same && link->in > 0 && link->out > 0) add_rate(text, link->out);
  if (!same && link->out > 0)
    tsr_text_add(text, link->in > 0 ? " from them" : " GB/s from the GPUs");
}

static void add_shared_links(tsr_text *text, const tsr_machine *machine,
                             const tsr_outline *outline) {
  tsr_shared_link links[TSR_SHARED_LINKS];
  bool said[TSR_SHARED_LINKS] = {false};
  int count = tsr_outline_shared(machine, outline, links);
  for (int i = 0; i < count; i++) {
    if (said[i]) continue;
    tsr_text_add(text, "GPUs ");
    add_sets(text, links + i, count - i, said + i);
    tsr_text_add(text, " share a host link: ");
    add_link_rates(text, &links[i]);
    tsr_text_add(text, ".\n");
    for (int j = count - 1; j >= i; j--) said[j] |= are_alike(&links[j], &links[i]);
  }
}

static void add_peer_rates(tsr_text *text, const tsr_outline *outline) {
  bool same = outline->peer_most - outline->peer_least <= 0.05 * outline->peer_most;
  if (!same) add_rate(text, outline->peer_least);
  if (!same) tsr_text_add(text, " to ");
  add_rate(text, outline->peer_most);
  tsr_text_add(text, " GB/s each way.\n");
}

/* The pairs of devices that have no link, in one direction at least. Where links are few and of
 * their own, the rates of the pairs are what --details is for. */
static void add_unlinked(tsr_text *text, const tsr_machine *machine, const tsr_outline *outline) {
  enum { MOST = 4 };
  int pairs = 0;
  if (outline->fabric == TSR_FABRIC_DIRECT) return;
  for (int i = 0; i < machine->devices; i++)
    for (int j = i + 1; j < machine->devices; j++) {
      if (machine->link[i][j].bandwidth > 0 && machine->link[j][i].bandwidth > 0) continue;
      if (pairs++ >= MOST) continue;
      tsr_text_add(text, "%s%d-%d", pairs > 1 ? ", " : "Without a direct link: GPUs ", i, j);
    }
  if (pairs > MOST) tsr_text_add(text, " and %d pairs more", pairs - MOST);
  if (pairs > 0) tsr_text_add(text, ".\n");
}

static void add_fabric(tsr_text *text, const tsr_machine *machine, const tsr_outline *outline) {
  if (machine->devices < 2) return;
  switch (outline->fabric) {
    case TSR_FABRIC_NONE:
      tsr_text_add(text, "GPUs reach each other through host memory only.\n");
      return;
    case TSR_FABRIC_HOST_LINK:
      tsr_text_add(text, "GPUs reach each other over their links to the host: ");
      break;
    case TSR_FABRIC_SWITCH:
      tsr_text_add(text, "GPUs reach each other through a switch, each at ");
      break;
    case TSR_FABRIC_DIRECT:
      tsr_text_add(text, outline->every_pair ? "Each pair of GPUs has a link of its own: "
                                             : "Some pairs of GPUs have a link of their own: ");
  }
  add_peer_rates(text, outline);
  add_unlinked(text, machine, outline);
}

static void add_rest(tsr_text *text, const tsr_machine *machine) {
  if (machine->devices > 0 && machine->staging_threads > 0) {
    tsr_text_add(text, "Ordinary memory (not pinned): ");
    add_rate(text, machine->staging_rate);
    tsr_text_add(text, " GB/s with %d thread%s.\n", machine->staging_threads,
                 machine->staging_threads == 1 ? "" : "s");
  }
  if (machine->network.bandwidth <= 0) return;
  tsr_text_add(text, "Network: ");
  add_rate(text, machine->network.bandwidth);
  tsr_text_add(text, " GB/s each way for a process, ");
  tsr_amount_print(machine->network.latency / MICRO, text);
  tsr_text_add(text, " us a message.\n");
}

tsr_status tsr_machine_print_summary(const tsr_machine *machine, tsr_text *text) {
  tsr_outline *outline = tsr_alloc(sizeof *outline);
  if (outline == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to print a machine");
  tsr_status status = tsr_outline_make(machine, outline);
  if (status == TSR_OK) {
    add_head(text, machine);
    add_table(text, machine, outline);
    if (machine->devices > 0) tsr_text_add(text, "\n");
    add_host_memory(text, machine, outline);
    add_crossings(text, machine, outline);
    add_shared_links(text, machine, outline);
    add_fabric(text, machine, outline);
    add_rest(text, machine);
    if (machine->origins.of[TSR_FIGURE_CPU] == TSR_ORIGIN_UNDER_LOAD)
      tsr_text_add(text, "The CPU's rates were measured under load.\n");
  }
  tsr_dealloc(outline);
  return status;
}
