/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The host in the picture of a machine: its memory nodes, and its links to the devices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/picture/inside.h"

/* ---- The host ---- */

/* The channel of a node's memory: the first that carries its links and is not drawn yet. */
static int memory_channel(const tsr_drawing *p, int node) {
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel_view *view = &p->outline.channel[i];
    bool memory = view->role == TSR_CHANNEL_MEMORY && !p->drawn[i];
    if (memory && (view->nodes >> node & 1) != 0) return i;
  }
  return -1;
}

/* The probe measures both directions, and another channel for the way out. */
static void add_memory_lines(tsr_drawing *p, int node, tsr_svg_box box) {
  double x = box.x + box.width / 2, room = box.width - 10, y = box.y + 18;
  tsr_label line, in, out, busy;
  bool alone = p->machine->nodes == 1;
  tsr_svg_text(p->text, x, y, room, 'm', "b",
               alone ? "host memory" : tsr_label_format(&line, "host memory %d", node));
  for (int c; (c = memory_channel(p, node)) >= 0;) {
    const tsr_channel_view *view = &p->outline.channel[c];
    double share = tsr_drawing_channel_busy(p, c);
    tsr_drawing_begin_channel(p, c);
    tsr_svg_text(
        p->text, x, y += LINE, room, 'm', "",
        view->in > 0 && view->out > 0
            ? tsr_label_format(&line, "%s GB/s to GPUs, %s from", tsr_label_rate(&in, view->in),
                               tsr_label_rate(&out, view->out))
            : tsr_label_format(&line, "%s GB/s %s", tsr_label_rate(&in, view->in + view->out),
                               view->in > 0 ? "to GPUs" : "from GPUs"));
    if (share >= 0)
      tsr_svg_text(p->text, x, y += LINE, room, 'm', "b",
                   tsr_label_format(&line, "%s busy", tsr_label_percent(&busy, share)));
    tsr_drawing_end(p);
  }
}

static double busiest_memory(const tsr_drawing *p, int node) {
  double busy = p->load != NULL ? 0 : -1;
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel_view *view = &p->outline.channel[i];
    if (view->role == TSR_CHANNEL_MEMORY && (view->nodes >> node & 1) != 0)
      busy = fmax(busy, tsr_drawing_channel_busy(p, i));
  }
  return busy;
}

/* The cores of a node as small squares, as many rows of them as fit. */
static void add_cores(tsr_drawing *p, tsr_svg_box box) {
  enum { SIDE = 7, PITCH = 10, ROWS = 3 };
  int cores = p->machine->host.cores / p->machine->nodes;
  int wide = (int)((box.width - 20) / PITCH);
  if (cores < 1 || cores > ROWS * wide) return;
  int rows = (cores + wide - 1) / wide, each = (cores + rows - 1) / rows;
  double x = box.x + (box.width - each * PITCH) / 2, y = box.y + box.height - 8 - rows * PITCH;
  tsr_text_add(p->text, "<path class=\"a p%d\" d=\"", (int)TSR_SVG_HOST);
  for (int i = 0; i < cores; i++)
    tsr_text_add(p->text, "M%.1f %.1fh%dv%dh-%dz", x + i % each * PITCH, y + i / each * PITCH, SIDE,
                 SIDE, SIDE);
  tsr_text_add(p->text, "\"><title>%d cores</title></path>\n", cores);
}

static void add_cpu_line(tsr_drawing *p, double y) {
  const tsr_machine *m = p->machine;
  tsr_text line = TSR_TEXT_INIT;
  tsr_label number;
  tsr_text_add(&line, "%s", m->host.cpu[0] != '\0' ? m->host.cpu : "CPU");
  double fp64 = m->cpu_flops[tsr_type_index(TSR_D)], fp32 = m->cpu_flops[tsr_type_index(TSR_S)];
  if (fp64 > 0) tsr_text_add(&line, ": fp64 %s", tsr_label_format(&number, "%.3g", fp64 / TERA));
  if (fp32 > 0) tsr_text_add(&line, ", fp32 %s", tsr_label_format(&number, "%.3g", fp32 / TERA));
  if (fp64 > 0) tsr_text_add(&line, " TFLOP/s");
  if (m->devices > 0 && m->staging_rate > 0)
    tsr_text_add(&line, "; not pinned: %s GB/s", tsr_label_rate(&number, m->staging_rate));
  if (m->network.bandwidth > 0)
    tsr_text_add(&line, "; network: %s GB/s", tsr_label_rate(&number, m->network.bandwidth));
  double room = tsr_drawing_right(p) - p->left - 16;
  if (!line.broken) tsr_svg_text(p->text, p->left, y, room, 't', "", line.bytes);
  p->text->broken |= line.broken;
  tsr_text_free(&line);
}

/* Lines of text in the boxes of nodes. */
static int memory_lines(const tsr_drawing *p) {
  int channels = 0, nodes = p->machine->nodes;
  for (int i = 0; i < p->machine->channels; i++)
    channels += p->outline.channel[i].role == TSR_CHANNEL_MEMORY;
  int each = (channels + nodes - 1) / nodes;
  return 1 + each * (p->load != NULL ? 2 : 1);
}

/* The link between the sockets of two neighbours in one direction: an arrow between their boxes.
 * Links of other pairs are said below the picture. */
static void add_crossing(tsr_drawing *p, int channel, double middle) {
  const tsr_channel_view *view = &p->outline.channel[channel];
  bool right = view->to == view->from + 1;
  int first = right ? view->from : view->to;
  double left_edge = p->node_x[first] + p->node_width[first] + 3;
  double right_edge = p->node_x[first + 1] - 3, busy = tsr_drawing_channel_busy(p, channel);
  double y = middle + (right ? -6 : 16);
  tsr_label line, rate, share;
  tsr_drawing_begin_channel(p, channel);
  tsr_svg_arrow_across(p->text, y, right ? left_edge : right_edge, right ? right_edge : left_edge,
                       busy);
  tsr_svg_text(p->text, (left_edge + right_edge) / 2, y - 8, right_edge - left_edge, 'm', "s",
               tsr_label_format(&line, "%s GB/s%s%s",
                                tsr_label_rate(&rate, p->machine->channel[channel].capacity),
                                busy >= 0 ? ", " : "", tsr_label_percent(&share, busy)));
  tsr_drawing_end(p);
}

static void add_crossings(tsr_drawing *p, double middle) {
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel_view *view = &p->outline.channel[i];
    if (view->role == TSR_CHANNEL_CROSSING && abs(view->to - view->from) == 1)
      add_crossing(p, i, middle);
  }
}

void tsr_drawing_add_host(tsr_drawing *p) {
  double height = memory_lines(p) * LINE + 12 + (p->machine->host.cores > 0 ? 38 : 0);
  tsr_svg_box frame = {p->left - EDGE, p->y, tsr_drawing_right(p) - p->left + 2 * EDGE,
                       height + 40};
  tsr_svg_rectangle(p->text, frame, TSR_SVG_HOST, -1);
  add_cpu_line(p, p->y + 19);
  for (int n = 0; n < p->machine->nodes; n++) {
    tsr_svg_box box = {p->node_x[n], p->y + 30, p->node_width[n], height};
    tsr_label id, title;
    tsr_drawing_begin(p, tsr_label_format(&id, "host%d", n),
                      tsr_label_format(&title, "host memory node %d", n), -1);
    tsr_svg_rectangle(p->text, box, TSR_SVG_MEMORY, busiest_memory(p, n));
    add_memory_lines(p, n, box);
    add_cores(p, box);
    tsr_drawing_end(p);
  }
  add_crossings(p, p->y + 30 + height / 2);
  p->y = frame.y + frame.height - 10; /* the lower edge of the nodes */
}

/* ---- Links to the host ---- */

/* A channel of both directions of one device's host link: a box that both arrows go through. */
static void add_duplex(tsr_drawing *p, int device, double y) {
  tsr_label line, amount, share;
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel_view *view = &p->outline.channel[i];
    bool both = view->in > 0 && view->out > 0;
    if (view->role != TSR_CHANNEL_OWN || view->devices != (tsr_device_mask)1 << device) continue;
    p->drawn[i] = true; /* one direction: the arrow is that channel */
    if (!both) continue;
    double busy = tsr_drawing_channel_busy(p, i), width = fmin(p->column - 8, 128);
    tsr_drawing_begin_channel(p, i);
    tsr_svg_box box = {tsr_drawing_middle(p, device) - width / 2, y, width, 19};
    tsr_svg_rectangle(p->text, box, TSR_SVG_SHARED, busy);
    tsr_svg_text(p->text, tsr_drawing_middle(p, device), y + 13.5, width - 6, 'm', "s",
                 tsr_label_format(&line, "both %s GB/s%s%s",
                                  tsr_label_rate(&amount, fmax(view->in, view->out)),
                                  busy >= 0 ? ", " : "", tsr_label_percent(&share, busy)));
    tsr_drawing_end(p);
  }
}

/* How busy a device's host link is in one direction: interleaved memory takes it, too. */
static double host_link_busy(const tsr_drawing *p, int device, bool in) {
  int near = p->machine->device[device].host_node, hosts = p->machine->devices + p->machine->nodes;
  double busy =
      in ? tsr_drawing_link_busy(p, near, device) : tsr_drawing_link_busy(p, device, near);
  if (p->load == NULL || p->machine->nodes == 1) return busy;
  return busy +
         (in ? tsr_drawing_link_busy(p, hosts, device) : tsr_drawing_link_busy(p, device, hosts));
}

static void add_links(tsr_drawing *p, int device, double y0, double y1) {
  int home = p->machine->device[device].host_node;
  tsr_arrows where = {tsr_drawing_middle(p, device), y0, y1, p->column / 2 - 26};
  tsr_drawing_begin_link(p, home, device);
  tsr_drawing_add_arrow(p, &where, true, p->machine->link[home][device].bandwidth,
                        host_link_busy(p, device, true));
  tsr_drawing_end(p);
  tsr_drawing_begin_link(p, device, home);
  tsr_drawing_add_arrow(p, &where, false, p->machine->link[device][home].bandwidth,
                        host_link_busy(p, device, false));
  tsr_drawing_end(p);
}

/* A line of the box of a set: "GPU 0+1: 24 GB/s to, 12 from". */
static double add_shared_line(tsr_drawing *p, int channel, tsr_svg_box box, double y) {
  const tsr_channel_view *view = &p->outline.channel[channel];
  tsr_text devices = TSR_TEXT_INIT;
  tsr_label line, in, out, share;
  double busy = tsr_drawing_channel_busy(p, channel);
  bool both = view->in > 0 && view->out > 0;
  tsr_mask_print(view->devices, "+", &devices);
  tsr_drawing_begin_channel(p, channel);
  tsr_svg_text(
      p->text, box.x + box.width / 2, y + 13, box.width - 10, 'm', "s",
      both ? tsr_label_format(&line, "GPU %s: %s GB/s to, %s from%s%s", devices.bytes,
                              tsr_label_rate(&in, view->in), tsr_label_rate(&out, view->out),
                              busy >= 0 ? ", " : "", tsr_label_percent(&share, busy))
           : tsr_label_format(&line, "%s GPU %s: %s GB/s%s%s", view->in > 0 ? "to" : "from",
                              devices.bytes, tsr_label_rate(&in, view->in + view->out),
                              busy >= 0 ? ", " : "", tsr_label_percent(&share, busy)));
  tsr_drawing_end(p);
  p->text->broken |= devices.broken;
  tsr_text_free(&devices);
  return y + 15;
}

static bool is_of_set(const tsr_drawing *p, int channel, int set) {
  const tsr_channel_view *view = &p->outline.channel[channel];
  return view->role == TSR_CHANNEL_SHARED && (view->devices & p->sets[set]) != 0;
}

static double shared_height(const tsr_drawing *p) {
  int most = 0;
  for (int s = 0; s < p->count; s++) {
    int lines = 0;
    for (int i = 0; i < p->machine->channels; i++) lines += is_of_set(p, i, s);
    most = lines > most ? lines : most;
  }
  return most > 0 ? 24 + 15 * most : 0;
}

/* The box of a set of devices that share host links, between the host and their own links. */
static void add_shared_box(tsr_drawing *p, int set, double y, double height) {
  tsr_svg_box box = tsr_drawing_over(p, p->sets[set], y + 14, height);
  double busy = p->load != NULL ? 0 : -1, line = box.y + 18;
  for (int i = 0; i < p->machine->channels; i++)
    if (is_of_set(p, i, set)) busy = fmax(busy, tsr_drawing_channel_busy(p, i));
  double centre = box.x + box.width / 2;
  tsr_svg_box stem = {centre - 18, y, 36, 15};
  tsr_svg_rectangle(p->text, stem, TSR_SVG_SHARED, busy);
  tsr_svg_rectangle(p->text, box, TSR_SVG_SHARED, busy);
  tsr_svg_text(p->text, centre, box.y + 15, box.width - 10, 'm', "b", "shared link");
  for (int i = 0; i < p->machine->channels; i++)
    if (is_of_set(p, i, set)) line = add_shared_line(p, i, box, line);
}

static bool has_duplex(const tsr_drawing *p) {
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel_view *view = &p->outline.channel[i];
    if (view->role == TSR_CHANNEL_OWN && view->in > 0 && view->out > 0) return true;
  }
  return false;
}

void tsr_drawing_add_host_links(tsr_drawing *p) {
  double shared = shared_height(p), top = p->y, box_room = shared > 0 ? 14 + shared : 0;
  double arrows = has_duplex(p) ? ARROW + 40 : ARROW, bottom = top + box_room + arrows;
  for (int s = 0; s < p->count; s++) add_shared_box(p, s, top, shared);
  for (int d = 0; d < p->machine->devices; d++) {
    double y0 = p->shared[d] >= 0 ? top + box_room : top;
    add_links(p, d, y0, bottom);
    add_duplex(p, d, y0 + 20);
  }
  p->y = bottom;
}
