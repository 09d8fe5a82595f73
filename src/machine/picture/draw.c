/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The page of the picture of a machine: its columns, its titles and its legend. */
#include "machine/picture/draw.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "machine/picture/inside.h"

/* ---- Columns ---- */

static void join_sets(tsr_drawing *p, tsr_device_mask devices) {
  tsr_device_mask all = devices;
  int kept = 0;
  for (int i = 0; i < p->count; i++) {
    if (p->sets[i] & devices)
      all |= p->sets[i];
    else
      p->sets[kept++] = p->sets[i];
  }
  p->sets[kept] = all;
  p->count = kept + 1;
}

static void find_sets(tsr_drawing *p) {
  for (int i = 0; i < p->machine->channels; i++)
    if (p->outline.channel[i].role == TSR_CHANNEL_SHARED)
      join_sets(p, p->outline.channel[i].devices);
  for (int d = 0; d < p->machine->devices; d++) {
    p->shared[d] = -1;
    for (int i = 0; i < p->count; i++)
      if (tsr_mask_has(p->sets[i], d)) p->shared[d] = i;
  }
}

/* The left edge of the next column, which is one of that node's. */
static double next_column(const tsr_drawing *p, int node) {
  return p->left + p->columns * (p->column + GAP) + node * p->crossing;
}

/* Gives a device its column, and after it those that share its host link, so that they are
 * neighbours. */
static void place_device(tsr_drawing *p, int device, int node, tsr_device_mask *placed) {
  tsr_device_mask set = p->shared[device] >= 0 ? p->sets[p->shared[device]] : 0;
  set |= (tsr_device_mask)1 << device;
  for (int d = device; d < p->machine->devices; d++) {
    bool here = p->machine->device[d].host_node == node;
    if (!tsr_mask_has(set, d) || tsr_mask_has(*placed, d) || !here) continue;
    *placed |= (tsr_device_mask)1 << d;
    p->x[d] = next_column(p, node - p->machine->devices);
    p->columns++;
  }
}

static void place_node(tsr_drawing *p, int node, tsr_device_mask *placed) {
  int location = p->machine->devices + node, first = p->columns;
  p->node_x[node] = next_column(p, node);
  for (int d = 0; d < p->machine->devices; d++)
    if (!tsr_mask_has(*placed, d) && p->machine->device[d].host_node == location)
      place_device(p, d, location, placed);
  if (p->columns == first) p->columns++; /* a node without devices */
  p->node_width[node] = (p->columns - first) * (p->column + GAP) - GAP;
}

static void place(tsr_drawing *p) {
  int devices = p->machine->devices;
  tsr_device_mask placed = 0;
  p->column = devices <= 1   ? LEAST_WIDTH - 2 * (MARGIN + EDGE)
              : devices == 2 ? 307
              : devices <= 4 ? 190
              : devices <= 8 ? 150
                             : 132;
  for (int i = 0; i < p->machine->channels; i++)
    if (p->outline.channel[i].role == TSR_CHANNEL_CROSSING) p->crossing = CROSSING;
  bool table = p->outline.fabric == TSR_FABRIC_DIRECT && devices > MOST_LINES;
  p->left = MARGIN + (table ? LABELS : EDGE);
  for (int n = 0; n < p->machine->nodes; n++) place_node(p, n, &placed);
  p->width = fmax(LEAST_WIDTH, tsr_drawing_right(p) + EDGE + MARGIN);
}

/* ---- Titles ---- */

static void add_titles(tsr_drawing *p) {
  tsr_text title = TSR_TEXT_INIT, source = TSR_TEXT_INIT;
  const tsr_machine *m = p->machine;
  double room = p->width - 2 * MARGIN;
  tsr_outline_title(m, &title);
  if (strcmp(m->source, "string") == 0) tsr_text_add(&source, "%s, ", m->name);
  tsr_outline_source(m, &source);
  p->text->broken |= title.broken | source.broken;
  if (!p->text->broken) {
    tsr_svg_text(p->text, MARGIN, 34, room, 't', "l", title.bytes);
    tsr_svg_text(p->text, MARGIN, 54, room, 't', "", source.bytes);
  }
  tsr_text_free(&title);
  tsr_text_free(&source);
  p->y = 70;
  if (p->load == NULL) return;
  tsr_svg_text(p->text, MARGIN, 76, room, 't', "b", p->load->title);
  p->y = 92;
}

/* ---- The end of the page ---- */

/* Channels that have no place in the picture. */
static void add_other_channels(tsr_drawing *p) {
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel *channel = &p->machine->channel[i];
    tsr_label line, amount, share;
    double busy = tsr_drawing_channel_busy(p, i);
    if (p->drawn[i]) continue;
    tsr_drawing_begin_channel(p, i);
    tsr_drawing_add_sentence(
        p, tsr_label_format(&line, "Also shared, by %d links: %.31s, %s GB/s%s%s", channel->count,
                            channel->name, tsr_label_rate(&amount, channel->capacity),
                            busy >= 0 ? ", " : "", tsr_label_percent(&share, busy)));
    tsr_drawing_end(p);
  }
}

static void add_busy_legend(tsr_drawing *p) {
  double x = p->left;
  tsr_svg_text(p->text, x, p->y + 12, 60, 't', "b", "Busy:");
  x += 50;
  for (int i = 0; i < TSR_SVG_STEPS; i++) {
    tsr_text_add(p->text,
                 "<rect class=\"q%d\" x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"14\"/>\n", i, x,
                 p->y + 1);
    tsr_svg_text(p->text, x + 22, p->y + 12, 90, 't', "s", tsr_svg_step_name(i));
    x += 92;
  }
  p->y += 24;
}

static void add_legend(tsr_drawing *p) {
  p->y += 22;
  if (p->load != NULL) add_busy_legend(p);
  tsr_svg_text(p->text, p->left, p->y + 12, p->width - p->left - MARGIN, 't', "s",
               "GB/s of a copy that is alone; fp64 and so on: TFLOP/s, sustained");
  p->y += 30;
}

/* The head of the file needs the height, which is known at the end. */
static void add_page(tsr_drawing *p, tsr_text *page) {
  tsr_text_add(page,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
               "viewBox=\"0 0 %.0f %.0f\">\n",
               p->width, p->y, p->width, p->y);
  tsr_svg_style(page);
  tsr_text_add(page, "<path d=\"M0 0H%.0fV%.0fH0Z\" fill=\"#ffffff\"/>\n", p->width, p->y);
  tsr_text_add(page, "%s</svg>\n", p->text->broken ? "" : p->text->bytes);
  page->broken |= p->text->broken;
}

static tsr_status draw(tsr_drawing *p) {
  TSR_TRY(tsr_outline_make(p->machine, &p->outline));
  find_sets(p);
  place(p);
  add_titles(p);
  tsr_drawing_add_host(p);
  if (p->machine->devices > 0) {
    tsr_drawing_add_host_links(p);
    tsr_drawing_add_devices(p);
    tsr_drawing_add_fabric(p);
  }
  add_other_channels(p);
  add_legend(p);
  return TSR_OK;
}

tsr_status tsr_machine_draw(const tsr_machine *machine, const tsr_machine_busy *load,
                            tsr_text *text) {
  tsr_text parts = TSR_TEXT_INIT;
  tsr_drawing *p = tsr_alloc_zero(1, sizeof *p);
  if (p == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to draw a machine: free some");
  p->machine = machine;
  p->load = load;
  p->text = &parts;
  tsr_status status = draw(p);
  if (status == TSR_OK) add_page(p, text);
  tsr_text_free(&parts);
  tsr_dealloc(p);
  return status;
}
