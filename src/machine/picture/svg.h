/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Boxes, arrows and texts of a picture of a machine. */
#ifndef TSR_MACHINE_PICTURE_SVG_H
#define TSR_MACHINE_PICTURE_SVG_H

#include "machine/machine.h"

/* Kinds of boxes: without a plan each has its colour. */
typedef enum tsr_svg_paint {
  TSR_SVG_HOST,
  TSR_SVG_MEMORY,
  TSR_SVG_DEVICE,
  TSR_SVG_SHARED,
  TSR_SVG_LINK,
  TSR_SVG_PAINTS
} tsr_svg_paint;

enum { TSR_SVG_STEPS = 6 }; /* colours for how busy a part is */

typedef struct tsr_svg_box {
  double x, y, width, height; /* pixels */
} tsr_svg_box;

/* The style element: class names of texts and paints. */
void tsr_svg_style(tsr_text *text);

/* The class of a busy share's colour, and what the legend says of step i. */
int tsr_svg_step(double busy);
const char *tsr_svg_step_name(int step);

/* busy: a share of the time, 0 to 1; less than 0: the paint's own colour. */
void tsr_svg_rectangle(tsr_text *text, tsr_svg_box box, tsr_svg_paint paint, double busy);

/* An arrow straight down or up, from y0 to y1; and one straight to the right or left, from x0 to
 * x1. */
void tsr_svg_arrow(tsr_text *text, double x, double y0, double y1, double busy);
void tsr_svg_arrow_across(tsr_text *text, double y, double x0, double x1, double busy);

/* One line of text, shortened if it is wider than room. anchor: 't' the start, 'm' the middle or
 * 'e' the end of the text is at x. style: classes such as "b" (bold), "l" (large), "s" (small); ""
 * is plain. */
void tsr_svg_text(tsr_text *text, double x, double y, double room, char anchor, const char *style,
                  const char *string);

/* Pixels that a text takes at most. */
double tsr_svg_width(const char *style, const char *string);

#endif
