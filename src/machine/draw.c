/*
 * The picture from top to bottom: titles, the host with its memory nodes, the links to the host (a
 * box where devices share one), the devices, and what connects devices with each other. Each device
 * has a column.
 */
#include "machine/draw.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "machine/outline.h"
#include "machine/svg.h"

#define GIGA 1e9
#define TERA 1e12

/* Pixels. */
enum {
  MARGIN = 24,
  LABELS = 56, /* left of the columns of a table */
  EDGE = 12,   /* from the host's frame to its nodes */
  GAP = 14,    /* between columns */
  LEAST_WIDTH = 700,
  LINE = 16,
  FAR_LINE = 14,
  ARROW = 74,    /* length of arrows with labels */
  MOST_LINES = 4 /* devices up to which each pair's link is a line; above, a table */
};

typedef struct picture {
  const tsr_machine *machine;
  const tsr_machine_busy *load; /* may be NULL */
  tsr_text *text;
  tsr_outline outline;
  int columns;
  double column, left, width;      /* pixels: of a column; of the first column; of the page */
  double x[TSR_MACHINE_LOCATIONS]; /* left edge of a device's column */
  double node_x[TSR_MACHINE_NODES], node_width[TSR_MACHINE_NODES];
  int shared[TSR_MACHINE_DEVICES]; /* the set of a device in sets; -1: its host link is its own */
  int count;
  tsr_device_mask sets[TSR_MACHINE_DEVICES]; /* devices that share host links */
  bool drawn[TSR_MACHINE_CHANNELS];
  double y; /* where the next part begins */
} picture;

typedef struct label {
  char bytes[160];
} label;

TSR_PRINTF(2, 3)
static const char *format(label *to, const char *format_, ...) {
  va_list values;
  va_start(values, format_);
  tsr_c_format(to->bytes, sizeof to->bytes, format_, values);
  va_end(values);
  return to->bytes;
}

/* "48.3", of bytes/s in GB/s. */
static const char *rate(label *to, double bytes) {
  double value = bytes / GIGA;
  return value >= 999.5 ? format(to, "%.0f", value) : format(to, "%.3g", value);
}

/* ---- How busy ---- */

static double busy_link(const picture *p, int from, int to) {
  return p->load != NULL ? p->load->link[from][to] : -1;
}

static double busy_channel(const picture *p, int channel) {
  return p->load != NULL ? p->load->channel[channel] : -1;
}

/* "38 %", or "" without a plan. */
static const char *percent(label *to, double busy) {
  return busy < 0 ? "" : format(to, "%.0f %%", 100 * busy);
}

/* ---- Parts: a group of shapes with a name and a text for the pointer ---- */

static void begin_part(picture *p, const char *id, const char *title, double busy) {
  tsr_text_add(p->text, "<g id=\"%s\"><title>", id);
  tsr_text_add_xml(p->text, title);
  if (busy >= 0) tsr_text_add(p->text, ", %.0f %% busy", 100 * busy);
  tsr_text_add(p->text, "</title>\n");
}

static void end_part(picture *p) {
  tsr_text_add(p->text, "</g>\n");
}

static void begin_link(picture *p, int from, int to) {
  char a[TSR_LOCATION_NAME], b[TSR_LOCATION_NAME];
  label id, title, amount;
  tsr_location_name(p->machine, from, a);
  tsr_location_name(p->machine, to, b);
  begin_part(p, format(&id, "%s-%s", a, b),
             format(&title, "%s to %s: %s GB/s", a, b,
                    rate(&amount, p->machine->link[from][to].bandwidth)),
             busy_link(p, from, to));
}

static void begin_channel(picture *p, int channel) {
  const tsr_channel *c = &p->machine->channel[channel];
  label id, title, amount;
  p->drawn[channel] = true;
  begin_part(p, format(&id, "channel-%d", channel),
             format(&title, "%s: %s GB/s", c->name, rate(&amount, c->capacity)),
             busy_channel(p, channel));
}

/* ---- Columns ---- */

static void join_sets(picture *p, tsr_device_mask devices) {
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

static void find_sets(picture *p) {
  for (int i = 0; i < p->machine->channels; i++)
    if (p->outline.channel[i].role == TSR_CHANNEL_SHARED)
      join_sets(p, p->outline.channel[i].devices);
  for (int d = 0; d < p->machine->devices; d++) {
    p->shared[d] = -1;
    for (int i = 0; i < p->count; i++)
      if (tsr_mask_has(p->sets[i], d)) p->shared[d] = i;
  }
}

/* Gives a device its column, and after it those that share its host link, so that they are
 * neighbours. */
static void place_device(picture *p, int device, int node, tsr_device_mask *placed) {
  tsr_device_mask set = p->shared[device] >= 0 ? p->sets[p->shared[device]] : 0;
  set |= (tsr_device_mask)1 << device;
  for (int d = device; d < p->machine->devices; d++) {
    bool here = p->machine->device[d].host_node == node;
    if (!tsr_mask_has(set, d) || tsr_mask_has(*placed, d) || !here) continue;
    *placed |= (tsr_device_mask)1 << d;
    p->x[d] = p->left + p->columns++ * (p->column + GAP);
  }
}

static void place_node(picture *p, int node, tsr_device_mask *placed) {
  int location = p->machine->devices + node, first = p->columns;
  for (int d = 0; d < p->machine->devices; d++)
    if (!tsr_mask_has(*placed, d) && p->machine->device[d].host_node == location)
      place_device(p, d, location, placed);
  if (p->columns == first) p->columns++; /* a node without devices */
  p->node_x[node] = p->left + first * (p->column + GAP);
  p->node_width[node] = (p->columns - first) * (p->column + GAP) - GAP;
}

static void place(picture *p) {
  int devices = p->machine->devices;
  tsr_device_mask placed = 0;
  p->column = devices <= 1   ? LEAST_WIDTH - 2 * (MARGIN + EDGE)
              : devices == 2 ? 307
              : devices <= 4 ? 190
              : devices <= 8 ? 150
                             : 132;
  bool table = p->outline.fabric == TSR_FABRIC_DIRECT && devices > MOST_LINES;
  p->left = MARGIN + (table ? LABELS : EDGE);
  for (int n = 0; n < p->machine->nodes; n++) place_node(p, n, &placed);
  p->width = fmax(LEAST_WIDTH, p->left + p->columns * (p->column + GAP) - GAP + EDGE + MARGIN);
}

static double middle(const picture *p, int device) {
  return p->x[device] + p->column / 2;
}

static double right_edge(const picture *p) {
  return p->left + p->columns * (p->column + GAP) - GAP;
}

/* The columns of a set of devices. */
static tsr_svg_box over(const picture *p, tsr_device_mask set, double y, double height) {
  double from = INFINITY, to = 0;
  for (int d = 0; d < p->machine->devices; d++) {
    if (!tsr_mask_has(set, d)) continue;
    from = fmin(from, p->x[d]);
    to = fmax(to, p->x[d] + p->column);
  }
  return (tsr_svg_box){from, y, to - from, height};
}

/* ---- Titles ---- */

static void add_titles(picture *p) {
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

/* ---- The host ---- */

/* The channel of a node's memory: the first that carries its links and is not drawn yet. Pages that
 * are spread over the nodes have a channel for each node, all with the same links. */
static int memory_channel(const picture *p, int node) {
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel_view *view = &p->outline.channel[i];
    bool memory = view->role == TSR_CHANNEL_MEMORY && !p->drawn[i];
    if (memory && (view->nodes >> node & 1) != 0) return i;
  }
  return -1;
}

/* The probe measures both directions, and another channel for the way out. */
static void add_memory_lines(picture *p, int node, tsr_svg_box box) {
  double x = box.x + box.width / 2, room = box.width - 10, y = box.y + 18;
  label line, in, out, busy;
  bool alone = p->machine->nodes == 1;
  tsr_svg_text(p->text, x, y, room, 'm', "b",
               alone ? "host memory" : format(&line, "host memory %d", node));
  for (int c; (c = memory_channel(p, node)) >= 0;) {
    const tsr_channel_view *view = &p->outline.channel[c];
    double share = busy_channel(p, c);
    /* Of spread pages a copy takes this node's part alone. */
    double part = p->machine->interleaved ? p->machine->nodes : 1;
    begin_channel(p, c);
    tsr_svg_text(p->text, x, y += LINE, room, 'm', "",
                 view->in > 0 && view->out > 0
                     ? format(&line, "%s GB/s to GPUs, %s from", rate(&in, view->in / part),
                              rate(&out, view->out / part))
                     : format(&line, "%s GB/s %s", rate(&in, (view->in + view->out) / part),
                              view->in > 0 ? "to GPUs" : "from GPUs"));
    if (share >= 0)
      tsr_svg_text(p->text, x, y += LINE, room, 'm', "b",
                   format(&line, "%s busy", percent(&busy, share)));
    end_part(p);
    if (p->machine->interleaved) return;
  }
}

static double busiest_memory(const picture *p, int node) {
  double busy = p->load != NULL ? 0 : -1;
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel_view *view = &p->outline.channel[i];
    if (view->role == TSR_CHANNEL_MEMORY && (view->nodes >> node & 1) != 0)
      busy = fmax(busy, busy_channel(p, i));
  }
  return busy;
}

/* The cores of a node as small squares, as many rows of them as fit. */
static void add_cores(picture *p, tsr_svg_box box) {
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

static void add_cpu_line(picture *p, double y) {
  const tsr_machine *m = p->machine;
  tsr_text line = TSR_TEXT_INIT;
  label number;
  tsr_text_add(&line, "%s", m->host.cpu[0] != '\0' ? m->host.cpu : "CPU");
  double fp64 = m->cpu_flops[tsr_type_index(TSR_D)], fp32 = m->cpu_flops[tsr_type_index(TSR_S)];
  if (fp64 > 0) tsr_text_add(&line, ": fp64 %s", format(&number, "%.3g", fp64 / TERA));
  if (fp32 > 0) tsr_text_add(&line, ", fp32 %s", format(&number, "%.3g", fp32 / TERA));
  if (fp64 > 0) tsr_text_add(&line, " TFLOP/s");
  if (m->devices > 0 && m->staging_rate > 0)
    tsr_text_add(&line, "; not pinned: %s GB/s", rate(&number, m->staging_rate));
  if (m->network.bandwidth > 0)
    tsr_text_add(&line, "; network: %s GB/s", rate(&number, m->network.bandwidth));
  double room = right_edge(p) - p->left - 16;
  if (!line.broken) tsr_svg_text(p->text, p->left, y, room, 't', "", line.bytes);
  p->text->broken |= line.broken;
  tsr_text_free(&line);
}

/* Lines of text in the boxes of nodes. */
static int memory_lines(const picture *p) {
  int channels = 0, nodes = p->machine->interleaved ? 1 : p->machine->nodes;
  for (int i = 0; i < p->machine->channels; i++)
    channels += p->outline.channel[i].role == TSR_CHANNEL_MEMORY;
  if (p->machine->interleaved) channels = channels > 0;
  int each = (channels + nodes - 1) / nodes;
  return 1 + each * (p->load != NULL ? 2 : 1);
}

static void add_host(picture *p) {
  double height = memory_lines(p) * LINE + 12 + (p->machine->host.cores > 0 ? 38 : 0);
  tsr_svg_box frame = {p->left - EDGE, p->y, right_edge(p) - p->left + 2 * EDGE, height + 40};
  tsr_svg_rectangle(p->text, frame, TSR_SVG_HOST, -1);
  add_cpu_line(p, p->y + 19);
  for (int n = 0; n < p->machine->nodes; n++) {
    tsr_svg_box box = {p->node_x[n], p->y + 30, p->node_width[n], height};
    label id, title;
    begin_part(p, format(&id, "host%d", n), format(&title, "host memory node %d", n), -1);
    tsr_svg_rectangle(p->text, box, TSR_SVG_MEMORY, busiest_memory(p, n));
    add_memory_lines(p, n, box);
    add_cores(p, box);
    end_part(p);
  }
  p->y = frame.y + frame.height - 10; /* the lower edge of the nodes */
}

/* ---- Links to the host ---- */

/* Two arrows of opposite directions with their rates beside them, and how busy they are. */
typedef struct pair {
  double x, y0, y1; /* pixels */
  double room;      /* for a label */
} pair;

static void add_arrow(picture *p, const pair *where, bool down, double bytes, double busy) {
  label amount, share;
  double x = where->x + (down ? -13 : 13), beside = x + (down ? -12 : 12);
  double y = where->y1 - ARROW / 2; /* the labels of all are on one height */
  char anchor = down ? 'e' : 't';
  tsr_svg_arrow(p->text, x, down ? where->y0 : where->y1, down ? where->y1 : where->y0, busy);
  tsr_svg_text(p->text, beside, y - 4, where->room, anchor, "b", rate(&amount, bytes));
  tsr_svg_text(p->text, beside, y + 8, where->room, anchor, "s", "GB/s");
  if (busy >= 0)
    tsr_svg_text(p->text, beside, y + 21, where->room, anchor, "s", percent(&share, busy));
}

/* A channel of both directions of one device's host link: a box that both arrows go through. */
static void add_duplex(picture *p, int device, double y) {
  label line, amount, share;
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel_view *view = &p->outline.channel[i];
    bool both = view->in > 0 && view->out > 0;
    if (view->role != TSR_CHANNEL_OWN || view->devices != (tsr_device_mask)1 << device) continue;
    p->drawn[i] = true; /* one direction: the arrow is that channel */
    if (!both) continue;
    double busy = busy_channel(p, i), width = fmin(p->column - 8, 128);
    begin_channel(p, i);
    tsr_svg_box box = {middle(p, device) - width / 2, y, width, 19};
    tsr_svg_rectangle(p->text, box, TSR_SVG_SHARED, busy);
    tsr_svg_text(p->text, middle(p, device), y + 13.5, width - 6, 'm', "s",
                 format(&line, "both %s GB/s%s%s", rate(&amount, fmax(view->in, view->out)),
                        busy >= 0 ? ", " : "", percent(&share, busy)));
    end_part(p);
  }
}

static void add_host_links(picture *p, int device, double y0, double y1) {
  int home = p->machine->device[device].host_node;
  pair where = {middle(p, device), y0, y1, p->column / 2 - 26};
  begin_link(p, home, device);
  add_arrow(p, &where, true, p->machine->link[home][device].bandwidth, busy_link(p, home, device));
  end_part(p);
  begin_link(p, device, home);
  add_arrow(p, &where, false, p->machine->link[device][home].bandwidth, busy_link(p, device, home));
  end_part(p);
}

/* The links of other nodes, a line for each. */
static void add_far_links(picture *p, int device, double y) {
  const tsr_machine *m = p->machine;
  for (int node = m->devices; node < m->devices + m->nodes; node++) {
    label line, in, out, busy;
    double share = fmax(busy_link(p, node, device), busy_link(p, device, node));
    if (node == m->device[device].host_node) continue;
    begin_link(p, node, device);
    rate(&in, m->link[node][device].bandwidth);
    rate(&out, m->link[device][node].bandwidth);
    if (share < 0)
      format(&line, "host%d: %.40s to, %.40s from", node - m->devices, in.bytes, out.bytes);
    else
      format(&line, "host%d: %.40s/%.40s, %s", node - m->devices, in.bytes, out.bytes,
             percent(&busy, share));
    tsr_svg_text(p->text, middle(p, device), y += FAR_LINE, p->column - 8, 'm', "s", line.bytes);
    end_part(p);
  }
}

/* A line of the box of a set: "GPU 0+1: 24 GB/s out" of host memory. */
static double add_shared_line(picture *p, int channel, tsr_svg_box box, double y) {
  const tsr_channel_view *view = &p->outline.channel[channel];
  tsr_text devices = TSR_TEXT_INIT;
  label line, in, out, share;
  double busy = busy_channel(p, channel);
  bool both = view->in > 0 && view->out > 0;
  tsr_mask_print(view->devices, "+", &devices);
  begin_channel(p, channel);
  tsr_svg_text(
      p->text, box.x + box.width / 2, y + 13, box.width - 10, 'm', "s",
      both ? format(&line, "GPU %s: %s GB/s to, %s from%s%s", devices.bytes, rate(&in, view->in),
                    rate(&out, view->out), busy >= 0 ? ", " : "", percent(&share, busy))
           : format(&line, "%s GPU %s: %s GB/s%s%s", view->in > 0 ? "to" : "from", devices.bytes,
                    rate(&in, view->in + view->out), busy >= 0 ? ", " : "", percent(&share, busy)));
  end_part(p);
  p->text->broken |= devices.broken;
  tsr_text_free(&devices);
  return y + 15;
}

static bool is_of_set(const picture *p, int channel, int set) {
  const tsr_channel_view *view = &p->outline.channel[channel];
  return view->role == TSR_CHANNEL_SHARED && (view->devices & p->sets[set]) != 0;
}

static double shared_height(const picture *p) {
  int most = 0;
  for (int s = 0; s < p->count; s++) {
    int lines = 0;
    for (int i = 0; i < p->machine->channels; i++) lines += is_of_set(p, i, s);
    most = lines > most ? lines : most;
  }
  return most > 0 ? 24 + 15 * most : 0;
}

/* The box of a set of devices that share host links, between the host and their own links. */
static void add_shared_box(picture *p, int set, double y, double height) {
  tsr_svg_box box = over(p, p->sets[set], y + 14, height);
  double busy = p->load != NULL ? 0 : -1, line = box.y + 18;
  for (int i = 0; i < p->machine->channels; i++)
    if (is_of_set(p, i, set)) busy = fmax(busy, busy_channel(p, i));
  double centre = box.x + box.width / 2;
  tsr_svg_box stem = {centre - 18, y, 36, 15};
  tsr_svg_rectangle(p->text, stem, TSR_SVG_SHARED, busy);
  tsr_svg_rectangle(p->text, box, TSR_SVG_SHARED, busy);
  tsr_svg_text(p->text, centre, box.y + 15, box.width - 10, 'm', "b", "shared link");
  for (int i = 0; i < p->machine->channels; i++)
    if (is_of_set(p, i, set)) line = add_shared_line(p, i, box, line);
}

static bool has_duplex(const picture *p) {
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel_view *view = &p->outline.channel[i];
    if (view->role == TSR_CHANNEL_OWN && view->in > 0 && view->out > 0) return true;
  }
  return false;
}

static void add_links_zone(picture *p) {
  double shared = shared_height(p), top = p->y, box_room = shared > 0 ? 14 + shared : 0;
  double arrows = has_duplex(p) ? ARROW + 40 : ARROW, bottom = top + box_room + arrows;
  for (int s = 0; s < p->count; s++) add_shared_box(p, s, top, shared);
  for (int d = 0; d < p->machine->devices; d++) {
    double y0 = p->shared[d] >= 0 ? top + box_room : top;
    add_host_links(p, d, y0, bottom);
    add_duplex(p, d, y0 + 20);
  }
  p->y = bottom;
}

/* ---- Devices ---- */

static const struct {
  tsr_type type;
  const char *name;
} shown[] = {{TSR_D, "fp64"}, {TSR_S, "fp32"}, {TSR_T, "TF32"}, {TSR_H, "fp16"}};
enum { SHOWN = sizeof shown / sizeof *shown };

static void add_rates(picture *p, int device, double y) {
  label line;
  const tsr_machine *m = p->machine;
  for (int i = 0, at = 0; i < SHOWN; i++) {
    const tsr_rates *rates = &m->rates[tsr_type_index(shown[i].type)];
    double flops = rates->areas > 0 ? rates->sustained * m->device[device].speed / TERA : 0;
    if (flops <= 0) continue;
    double x = p->x[device] + 8 + at % 2 * (p->column - 12) / 2;
    tsr_svg_text(p->text, x, y + at / 2 * 15, p->column / 2 - 8, 't', "s",
                 flops >= 999.5 ? format(&line, "%s %.0f", shown[i].name, flops)
                                : format(&line, "%s %.3g", shown[i].name, flops));
    at++;
  }
}

/* Names that are longer than the column lose their vendor, which is their first word. */
static const char *short_name(const picture *p, const char *name) {
  const char *space = strchr(name, ' ');
  bool wide = tsr_svg_width("", name) > p->column - 12;
  return wide && space != NULL ? space + 1 : name;
}

static void add_device(picture *p, int d, double height) {
  const tsr_device *device = &p->machine->device[d];
  double busy = p->load != NULL ? p->load->kernels[d] : -1, x = middle(p, d), y = p->y;
  double room = p->column - 12;
  label id, title, line, share;
  begin_part(p, format(&id, "gpu%d", d), format(&title, "GPU %d: %s", d, device->name), busy);
  tsr_svg_rectangle(p->text, (tsr_svg_box){p->x[d], y, p->column, height}, TSR_SVG_DEVICE, busy);
  tsr_svg_text(p->text, x, y += 18, room, 'm', "b", format(&line, "GPU %d", d));
  if (strncmp(device->name, "gpu", 3) != 0)
    tsr_svg_text(p->text, x, y += LINE, room, 'm', "", short_name(p, device->name));
  tsr_svg_text(
      p->text, x, y += LINE, room, 'm', "s",
      format(&line, "%.4g GB at %.4g GB/s", device->memory / GIGA, device->memory_rate / GIGA));
  add_rates(p, d, y += LINE + 3);
  if (busy >= 0)
    tsr_svg_text(p->text, x, y + 34, room, 'm', "b",
                 format(&line, "kernels %s", percent(&share, busy)));
  end_part(p);
  add_far_links(p, d, p->y + height - 8 - FAR_LINE * (p->machine->nodes - 1));
}

static void add_devices(picture *p) {
  bool named = strncmp(p->machine->device[0].name, "gpu", 3) != 0;
  double height = 18 + (named ? LINE : 0) + LINE + 2 * LINE + 12 + (p->load != NULL ? 17 : 0) +
                  FAR_LINE * (p->machine->nodes - 1);
  for (int d = 0; d < p->machine->devices; d++) add_device(p, d, height);
  p->y += height;
}

/* ---- Between devices ---- */

/* The channel of a device's way into the switch, or out of it; -1: none. */
static int port_of(const picture *p, int device, bool in) {
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel_view *view = &p->outline.channel[i];
    bool mine = view->role == TSR_CHANNEL_PORT && view->devices == (tsr_device_mask)1 << device;
    if (mine && (in ? view->in : view->out) > 0) return i;
  }
  return -1;
}

static void add_port(picture *p, int device, bool in, double y1) {
  int channel = port_of(p, device, in);
  pair where = {middle(p, device), p->y, y1, p->column / 2 - 26};
  if (channel < 0) return;
  begin_channel(p, channel);
  add_arrow(p, &where, !in, p->machine->channel[channel].capacity, busy_channel(p, channel));
  end_part(p);
}

static const char *peer_rates(const picture *p, label *line) {
  label least, most;
  rate(&least, p->outline.peer_least);
  rate(&most, p->outline.peer_most);
  bool same = strcmp(least.bytes, most.bytes) == 0;
  return format(line, "%.40s%s%.40s GB/s", same ? "" : least.bytes, same ? "" : " to ", most.bytes);
}

static void add_switch(picture *p) {
  tsr_device_mask linked = 0;
  label line, rates;
  double y = p->y + ARROW;
  for (int d = 0; d < p->machine->devices; d++) {
    if (port_of(p, d, true) >= 0 || port_of(p, d, false) >= 0) linked |= (tsr_device_mask)1 << d;
    add_port(p, d, false, y);
    add_port(p, d, true, y);
  }
  tsr_svg_box box = over(p, linked, y, 34);
  tsr_svg_rectangle(p->text, box, TSR_SVG_SHARED, -1);
  tsr_svg_text(p->text, box.x + box.width / 2, y + 21, box.width - 12, 'm', "b",
               format(&line, "switch between GPUs: %s for each pair", peer_rates(p, &rates)));
  p->y = y + 34;
}

static void add_sentence(picture *p, const char *sentence) {
  p->y += 26;
  tsr_svg_text(p->text, p->left, p->y, right_edge(p) - p->left, 't', "", sentence);
}

/* A table below the columns: rates from the device of the row to the device of the column. */
static void add_cell(picture *p, int from, int to, double y) {
  const double height = 20;
  double bytes = p->machine->link[from][to].bandwidth, busy = busy_link(p, from, to);
  label line, amount, share;
  if (from == to || bytes <= 0) return;
  begin_link(p, from, to);
  tsr_svg_rectangle(p->text, (tsr_svg_box){p->x[to], y, p->column, height}, TSR_SVG_LINK, busy);
  tsr_svg_text(
      p->text, middle(p, to), y + 14, p->column - 8, 'm', "s",
      format(&line, "%s%s%s", rate(&amount, bytes), busy >= 0 ? ", " : "", percent(&share, busy)));
  end_part(p);
}

static void add_peer_table(picture *p) {
  label line;
  add_sentence(p, "Links between GPUs, GB/s from the GPU of the row to the GPU of the column:");
  p->y += 10;
  for (int from = 0; from < p->machine->devices; from++, p->y += 22) {
    tsr_svg_text(p->text, p->left - 20, p->y + 14, LABELS, 'e', "s", format(&line, "GPU %d", from));
    for (int to = 0; to < p->machine->devices; to++) add_cell(p, from, to, p->y);
  }
}

/* The link of a pair as a line below both, with an arrow head at each end. */
static void add_peer_line(picture *p, int a, int b, double xa, double xb, double y) {
  const tsr_machine *m = p->machine;
  double there = busy_link(p, a, b), back = busy_link(p, b, a), top = p->y;
  double to = m->link[a][b].bandwidth, from = m->link[b][a].bandwidth;
  label line, one, other, shares;
  begin_link(p, a, b);
  tsr_text_add(p->text, "<path class=\"a h\" d=\"M%.1f %.1fV%.1fH%.1fV%.1f\"/>\n", xa, top, y, xb,
               top);
  for (int end = 0; end < 2; end++) {
    double x = end == 0 ? xa : xb, busy = end == 0 ? back : there;
    tsr_text_add(p->text, "<path class=\"a %s%d\" d=\"M%.1f %.1fl6 10h-12z\"/>\n",
                 busy >= 0 ? "q" : "p", busy >= 0 ? tsr_svg_step(busy) : (int)TSR_SVG_LINK, x, top);
  }
  rate(&one, to);
  rate(&other, from);
  bool same = strcmp(one.bytes, other.bytes) == 0;
  shares.bytes[0] = '\0';
  if (there >= 0) format(&shares, ", %.0f / %.0f %%", 100 * there, 100 * back);
  tsr_svg_text(p->text, xa + 8, y - 5, p->column - 50, 't', "s",
               format(&line, "%.20s%s%.20s GB/s%.30s", one.bytes, same ? "" : " / ",
                      same ? "" : other.bytes, shares.bytes));
  end_part(p);
}

/* Where the line to a partner begins along a device's lower edge. Lines to near partners lie inside
 * those to far ones: from the left, first the partners on the left, the nearest first, then those
 * on the right, the nearest last. */
static double port_x(const picture *p, int device, int partner) {
  int others = p->machine->devices - 1;
  int nth = partner < device ? device - 1 - partner : others - (partner - device);
  return middle(p, device) + (nth - (others - 1) / 2.0) * 26;
}

static void add_peer_lines(picture *p) {
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
  add_sentence(p, p->load != NULL
                      ? "Lines: links between GPUs, each way; busy to the right / to the left."
                      : "Lines: links between GPUs, each way.");
}

static void add_fabric(picture *p) {
  label line, rates;
  if (p->machine->devices < 2) return;
  switch (p->outline.fabric) {
    case TSR_FABRIC_NONE:
      add_sentence(p, "GPUs reach each other through host memory only.");
      return;
    case TSR_FABRIC_HOST_LINK:
      add_sentence(p, format(&line, "GPUs reach each other over their links to the host: %s.",
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

/* ---- The end of the page ---- */

/* Channels that have no place in the picture. */
static void add_other_channels(picture *p) {
  for (int i = 0; i < p->machine->channels; i++) {
    const tsr_channel *channel = &p->machine->channel[i];
    label line, amount, share;
    double busy = busy_channel(p, i);
    if (p->drawn[i]) continue;
    begin_channel(p, i);
    add_sentence(p, format(&line, "Also shared, by %d links: %.31s, %s GB/s%s%s", channel->count,
                           channel->name, rate(&amount, channel->capacity), busy >= 0 ? ", " : "",
                           percent(&share, busy)));
    end_part(p);
  }
}

static void add_busy_legend(picture *p) {
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

static void add_legend(picture *p) {
  p->y += 22;
  if (p->load != NULL) add_busy_legend(p);
  tsr_svg_text(p->text, p->left, p->y + 12, p->width - p->left - MARGIN, 't', "s",
               "GB/s of a copy that is alone; fp64 and so on: TFLOP/s, sustained");
  p->y += 30;
}

/* The head of the file needs the height, which is known at the end. */
static void add_page(picture *p, tsr_text *page) {
  tsr_text_add(page,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
               "viewBox=\"0 0 %.0f %.0f\">\n",
               p->width, p->y, p->width, p->y);
  tsr_svg_style(page);
  tsr_text_add(page, "<path d=\"M0 0H%.0fV%.0fH0Z\" fill=\"#ffffff\"/>\n", p->width, p->y);
  tsr_text_add(page, "%s</svg>\n", p->text->broken ? "" : p->text->bytes);
  page->broken |= p->text->broken;
}

static tsr_status draw(picture *p) {
  TSR_TRY(tsr_outline_make(p->machine, &p->outline));
  find_sets(p);
  place(p);
  add_titles(p);
  add_host(p);
  if (p->machine->devices > 0) {
    add_links_zone(p);
    add_devices(p);
    add_fabric(p);
  }
  add_other_channels(p);
  add_legend(p);
  return TSR_OK;
}

tsr_status tsr_machine_draw(const tsr_machine *machine, const tsr_machine_busy *load,
                            tsr_text *text) {
  tsr_text parts = TSR_TEXT_INIT;
  picture *p = tsr_alloc_zero(1, sizeof *p);
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
