/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Inside the picture of a machine. From top to bottom: titles, the host with its memory nodes, the
 * links to the host (a box where devices share one), the devices, and what connects devices with
 * each other. Each device has a column.
 *
 *   draw.c          the page: columns, titles, legend
 *   host.c     the host and its links
 *   devices.c  devices and the links between them
 *   parts.c    what these three share
 */
#ifndef TSR_MACHINE_PICTURE_INSIDE_H
#define TSR_MACHINE_PICTURE_INSIDE_H

#include "base/text.h"
#include "machine/outline.h"
#include "machine/picture/draw.h"
#include "machine/picture/svg.h"

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
  ARROW = 74,     /* length of arrows with labels */
  CROSSING = 104, /* between the nodes of two sockets with a link, besides GAP */
  MOST_LINES = 4  /* devices up to which each pair's link is a line; above, a table */
};

typedef struct tsr_drawing {
  const tsr_machine *machine;
  const tsr_machine_busy *load; /* may be NULL */
  tsr_text *text;
  tsr_outline outline;
  int columns;
  double column, left, width;      /* pixels: of a column; of the first column; of the page */
  double crossing;                 /* pixels between the columns of two nodes, besides GAP */
  double x[TSR_MACHINE_LOCATIONS]; /* left edge of a device's column */
  double node_x[TSR_MACHINE_NODES], node_width[TSR_MACHINE_NODES];
  int shared[TSR_MACHINE_DEVICES]; /* the set of a device in sets; -1: its host link is its own */
  int count;
  tsr_device_mask sets[TSR_MACHINE_DEVICES]; /* devices that share host links */
  bool drawn[TSR_MACHINE_CHANNELS];
  double y; /* where the next part begins */
} tsr_drawing;

/* ---- host.c and devices.c: each begins at y, and moves y below what it adds ---- */

void tsr_drawing_add_host(tsr_drawing *p);
void tsr_drawing_add_host_links(tsr_drawing *p);
void tsr_drawing_add_devices(tsr_drawing *p);
void tsr_drawing_add_fabric(tsr_drawing *p);

/* ---- parts.c ---- */

typedef struct tsr_label {
  char bytes[160];
} tsr_label;

/* Each returns the label's bytes. rate: "48.3", of bytes/s in GB/s. percent: "38 %", or "" without
 * a plan (busy < 0). */
TSR_PRINTF(2, 3)
const char *tsr_label_format(tsr_label *to, const char *format, ...);
const char *tsr_label_rate(tsr_label *to, double bytes);
const char *tsr_label_percent(tsr_label *to, double busy);

/* Shares of the plan's time, 0 to 1; without a plan -1. */
double tsr_drawing_link_busy(const tsr_drawing *p, int from, int to);
double tsr_drawing_channel_busy(const tsr_drawing *p, int channel);

/* A group of shapes with a name and a text for the pointer. */
void tsr_drawing_begin(tsr_drawing *p, const char *id, const char *title, double busy);
void tsr_drawing_begin_link(tsr_drawing *p, int from, int to);
void tsr_drawing_begin_channel(tsr_drawing *p, int channel);
void tsr_drawing_end(tsr_drawing *p);

/* The middle of a device's column; the right edge of all columns; a box over those of a set. */
double tsr_drawing_middle(const tsr_drawing *p, int device);
double tsr_drawing_right(const tsr_drawing *p);
tsr_svg_box tsr_drawing_over(const tsr_drawing *p, tsr_device_mask set, double y, double height);

/* Two arrows of opposite directions with their rates beside them, and how busy they are. */
typedef struct tsr_arrows {
  double x, y0, y1; /* pixels */
  double room;      /* for a label */
} tsr_arrows;

/* Adds one of the two. */
void tsr_drawing_add_arrow(tsr_drawing *p, const tsr_arrows *where, bool down, double bytes,
                           double busy);

/* Adds a line of text below all that is drawn. */
void tsr_drawing_add_sentence(tsr_drawing *p, const char *sentence);

#endif
