/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The devices in the picture of a machine, and what connects them with each other. */
#include <math.h>
#include <string.h>

#include "machine/picture/inside.h"

/* ---- Devices ---- */

static const struct {
  tsr_type type;
  const char *name;
} shown[] = {{TSR_D, "fp64"}, {TSR_S, "fp32"}, {TSR_T, "TF32"}, {TSR_H, "fp16"}};
enum { SHOWN = sizeof shown / sizeof *shown };

static void add_rates(tsr_drawing *p, int device, double y) {
  tsr_label line;
  const tsr_machine *m = p->machine;
  for (int i = 0, at = 0; i < SHOWN; i++) {
    const tsr_rates *rates = &m->rates[tsr_type_index(shown[i].type)];
    double flops = rates->areas > 0
                       ? rates->sustained * tsr_machine_speed(m, device, shown[i].type) / TERA
                       : 0;
    if (flops <= 0) continue;
    double x = p->x[device] + 8 + at % 2 * (p->column - 12) / 2;
    tsr_svg_text(p->text, x, y + at / 2 * 15, p->column / 2 - 8, 't', "s",
                 flops >= 999.5 ? tsr_label_format(&line, "%s %.0f", shown[i].name, flops)
                                : tsr_label_format(&line, "%s %.3g", shown[i].name, flops));
    at++;
  }
}

/* Names that are longer than the column lose their vendor, which is their first word. */
static const char *short_name(const tsr_drawing *p, const char *name) {
  const char *space = strchr(name, ' ');
  bool wide = tsr_svg_width("", name) > p->column - 12;
  return wide && space != NULL ? space + 1 : name;
}

/* The links of other nodes, a line for each. */
static void add_far_links(tsr_drawing *p, int device, double y) {
  const tsr_machine *m = p->machine;
  for (int node = m->devices; node < m->devices + m->nodes; node++) {
    tsr_label line, in, out, busy;
    double share =
        fmax(tsr_drawing_link_busy(p, node, device), tsr_drawing_link_busy(p, device, node));
    if (node == m->device[device].host_node) continue;
    tsr_drawing_begin_link(p, node, device);
    tsr_label_rate(&in, m->link[node][device].bandwidth);
    tsr_label_rate(&out, m->link[device][node].bandwidth);
    if (share < 0)
      tsr_label_format(&line, "host%d: %.40s to, %.40s from", node - m->devices, in.bytes,
                       out.bytes);
    else
      tsr_label_format(&line, "host%d: %.40s/%.40s, %s", node - m->devices, in.bytes, out.bytes,
                       tsr_label_percent(&busy, share));
    tsr_svg_text(p->text, tsr_drawing_middle(p, device), y += FAR_LINE, p->column - 8, 'm', "s",
                 line.bytes);
    tsr_drawing_end(p);
  }
}

static void add_device(tsr_drawing *p, int d, double height) {
  const tsr_device *device = &p->machine->device[d];
  double busy = p->load != NULL ? p->load->kernels[d] : -1, x = tsr_drawing_middle(p, d), y = p->y;
  double room = p->column - 12;
  tsr_label id, title, line, share;
  tsr_drawing_begin(p, tsr_label_format(&id, "gpu%d", d),
                    tsr_label_format(&title, "GPU %d: %s", d, device->name), busy);
  tsr_svg_rectangle(p->text, (tsr_svg_box){p->x[d], y, p->column, height}, TSR_SVG_DEVICE, busy);
  tsr_svg_text(p->text, x, y += 18, room, 'm', "b", tsr_label_format(&line, "GPU %d", d));
  if (strncmp(device->name, "gpu", 3) != 0)
    tsr_svg_text(p->text, x, y += LINE, room, 'm', "", short_name(p, device->name));
  tsr_svg_text(p->text, x, y += LINE, room, 'm', "s",
               tsr_label_format(&line, "%.4g GB at %.4g GB/s", device->memory / GIGA,
                                device->memory_rate / GIGA));
  add_rates(p, d, y += LINE + 3);
  if (busy >= 0)
    tsr_svg_text(p->text, x, y + 34, room, 'm', "b",
                 tsr_label_format(&line, "kernels %s", tsr_label_percent(&share, busy)));
  tsr_drawing_end(p);
  add_far_links(p, d, p->y + height - 8 - FAR_LINE * (p->machine->nodes - 1));
}

void tsr_drawing_add_devices(tsr_drawing *p) {
  bool named = strncmp(p->machine->device[0].name, "gpu", 3) != 0;
  double height = 18 + (named ? LINE : 0) + LINE + 2 * LINE + 12 + (p->load != NULL ? 17 : 0) +
                  FAR_LINE * (p->machine->nodes - 1);
  for (int d = 0; d < p->machine->devices; d++) add_device(p, d, height);
  p->y += height;
}

/* ---- Between devices ---- */

/* The channel of a device's way into the switch, or out of it; -1: none. */
static int port_of(const tsr_drawing *p, int device, bool in) {
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel_view *view = &p->outline.channel[i];
    bool mine = view->role == TSR_CHANNEL_PORT && view->devices == (tsr_device_mask)1 << device;
    if (mine && (in ? view->in : view->out) > 0) return i;
  }
  return -1;
}

static void add_port(tsr_drawing *p, int device, bool in, double y1) {
  int channel = port_of(p, device, in);
  tsr_arrows where = {tsr_drawing_middle(p, device), p->y, y1, p->column / 2 - 26};
  if (channel < 0) return;
  tsr_drawing_begin_channel(p, channel);
  tsr_drawing_add_arrow(p, &where, !in, p->machine->channel[channel].capacity,
                        tsr_drawing_channel_busy(p, channel));
  tsr_drawing_end(p);
}

static const char *peer_rates(const tsr_drawing *p, tsr_label *line) {
  tsr_label least, most;
  tsr_label_rate(&least, p->outline.peer_least);
  tsr_label_rate(&most, p->outline.peer_most);
  bool same = strcmp(least.bytes, most.bytes) == 0;
  return tsr_label_format(line, "%.40s%s%.40s GB/s", same ? "" : least.bytes, same ? "" : " to ",
                          most.bytes);
}

static void add_switch(tsr_drawing *p) {
  tsr_device_mask linked = 0;
  tsr_label line, rates;
  double y = p->y + ARROW;
  for (int d = 0; d < p->machine->devices; d++) {
    if (port_of(p, d, true) >= 0 || port_of(p, d, false) >= 0) linked |= (tsr_device_mask)1 << d;
    add_port(p, d, false, y);
    add_port(p, d, true, y);
  }
  tsr_svg_box box = tsr_drawing_over(p, linked, y, 34);
  tsr_svg_rectangle(p->text, box, TSR_SVG_SHARED, -1);
  tsr_svg_text(
      p->text, box.x + box.width / 2, y + 21, box.width - 12, 'm', "b",
      tsr_label_format(&line, "switch between GPUs: %s for each pair", peer_rates(p, &rates)));
  p->y = y + 34;
}

/* A table below the columns: rates from the device of the row to the device of the column. */
static void add_cell(tsr_drawing *p, int from, int to, double y) {
  const double height = 20;
  double bytes = p->machine->link[from][to].bandwidth, busy = tsr_drawing_link_busy(p, from, to);
  tsr_label line, amount, share;
  if (from == to || bytes <= 0) return;
  tsr_drawing_begin_link(p, from, to);
  tsr_svg_rectangle(p->text, (tsr_svg_box){p->x[to], y, p->column, height}, TSR_SVG_LINK, busy);
  tsr_svg_text(p->text, tsr_drawing_middle(p, to), y + 14, p->column - 8, 'm', "s",
               tsr_label_format(&line, "%s%s%s", tsr_label_rate(&amount, bytes),
                                busy >= 0 ? ", " : "", tsr_label_percent(&share, busy)));
  tsr_drawing_end(p);
}

static void add_peer_table(tsr_drawing *p) {
  tsr_label line;
  tsr_drawing_add_sentence(
      p, "Links between GPUs, GB/s from the GPU of the row to the GPU of the column:");
  p->y += 10;
  for (int from = 0; from < p->machine->devices; from++, p->y += 22) {
    tsr_svg_text(p->text, p->left - 20, p->y + 14, LABELS, 'e', "s",
                 tsr_label_format(&line, "GPU %d", from));
    for (int to = 0; to < p->machine->devices; to++) add_cell(p, from, to, p->y);
  }
}

/* The link of a pair as a line below both, with an arrow head at each end. */
static void add_peer_line(tsr_drawing *p, int a, int b, double xa, double xb, double y) {
  const tsr_machine *m = p->machine;
  double there = tsr_drawing_link_busy(p, a, b), back = tsr_drawing_link_busy(p, b, a), top = p->y;
  double to = m->link[a][b].bandwidth, from = m->link[b][a].bandwidth;
  tsr_label line, one, other, shares;
  tsr_drawing_begin_link(p, a, b);
  tsr_text_add(p->text, "<path class=\"a h\" d=\"M%.1f %.1fV%.1fH%.1fV%.1f\"/>\n", xa, top, y, xb,
               top);
  for (int end = 0; end < 2; end++) {
    double x = end == 0 ? xa : xb, busy = end == 0 ? back : there;
    tsr_text_add(p->text, "<path class=\"a %s%d\" d=\"M%.1f %.1fl6 10h-12z\"/>\n",
                 busy >= 0 ? "q" : "p", busy >= 0 ? tsr_svg_step(busy) : (int)TSR_SVG_LINK, x, top);
  }
  tsr_label_rate(&one, to);
  tsr_label_rate(&other, from);
  bool same = strcmp(one.bytes, other.bytes) == 0;
  shares.bytes[0] = '\0';
  if (there >= 0) tsr_label_format(&shares, ", %.0f / %.0f %%", 100 * there, 100 * back);
  tsr_svg_text(p->text, xa + 8, y - 5, p->column - 50, 't', "s",
               tsr_label_format(&line, "%.20s%s%.20s GB/s%.30s", one.bytes, same ? "" : " / ",
                                same ? "" : other.bytes, shares.bytes));
  tsr_drawing_end(p);
}

/* Where the line to a partner begins along a device's lower edge. Lines to near partners lie inside
 * those to far ones: from the left, first the partners on the left, the nearest first, then those
 * on the right, the nearest last. */
static double port_x(const tsr_drawing *p, int device, int partner) {
  int others = p->machine->devices - 1;
  int nth = partner < device ? device - 1 - partner : others - (partner - device);
  return tsr_drawing_middle(p, device) + (nth - (others - 1) / 2.0) * 26;
}

static void add_peer_lines(tsr_drawing *p) {
  int devices = p->machine->devices;
  double y = p->y + 30;
  for (int distance = 1; distance < devices; distance++) {
    for (int a = 0; a + distance < devices; a++) {
      int b = a + distance;
      if (p->machine->link[a][b].bandwidth <= 0 && p->machine->link[b][a].bandwidth <= 0) continue;
      add_peer_line(p, a, b, port_x(p, a, b), port_x(p, b, a), y);
      y += 24;
    }
  }
  p->y = y - 24;
  tsr_drawing_add_sentence(
      p, p->load != NULL ? "Lines: links between GPUs, each way; busy to the right / to the left."
                         : "Lines: links between GPUs, each way.");
}

void tsr_drawing_add_fabric(tsr_drawing *p) {
  tsr_label line, rates;
  if (p->machine->devices < 2) return;
  switch (p->outline.fabric) {
    case TSR_FABRIC_NONE:
      tsr_drawing_add_sentence(p, "GPUs reach each other through host memory only.");
      return;
    case TSR_FABRIC_HOST_LINK:
      tsr_drawing_add_sentence(
          p, tsr_label_format(&line, "GPUs reach each other over their links to the host: %s.",
                              peer_rates(p, &rates)));
      return;
    case TSR_FABRIC_SWITCH:
      add_switch(p);
      return;
    case TSR_FABRIC_DIRECT:
      if (p->machine->devices <= MOST_LINES)
        add_peer_lines(p);
      else
        add_peer_table(p);
  }
}
