/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "machine/picture/svg.h"

#include <math.h>
#include <string.h>

static const char *const paints[TSR_SVG_PAINTS] = {"#f1f3f6", "#dcebd5", "#dbe6f6", "#ebe2f4",
                                                   "#c3ccd8"};

/* Each step is darker than the one before, so that they differ in black and white, and light enough
 * for black text. */
static const char *const steps[TSR_SVG_STEPS] = {"#ffffff", "#fff2c2", "#fed98e",
                                                 "#fdae4b", "#f28a2e", "#e4593d"};
/* Percent, rounded as they are printed. */
static const double limits[TSR_SVG_STEPS] = {0, 25, 50, 75, 90, INFINITY};
static const char *const names[TSR_SVG_STEPS] = {"idle",       "up to 25 %", "up to 50 %",
                                                 "up to 75 %", "up to 90 %", "more"};

int tsr_svg_step(double busy) {
  int step = 0;
  while (step < TSR_SVG_STEPS - 1 && round(100 * busy) > limits[step]) step++;
  return step;
}

const char *tsr_svg_step_name(int step) {
  return names[step];
}

void tsr_svg_style(tsr_text *text) {
  tsr_text_add(text,
               "<style>text{font:12px Helvetica,Arial,sans-serif;fill:#15181c}"
               ".l{font-size:16px;font-weight:bold}.b{font-weight:bold}.s{font-size:10.5px}"
               ".m{text-anchor:middle}.e{text-anchor:end}.t{text-anchor:start}"
               "rect,path.a{stroke:#4a5260;stroke-width:1}");
  for (int i = 0; i < TSR_SVG_PAINTS; i++) tsr_text_add(text, ".p%d{fill:%s}", i, paints[i]);
  for (int i = 0; i < TSR_SVG_STEPS; i++) tsr_text_add(text, ".q%d{fill:%s}", i, steps[i]);
  tsr_text_add(text, ".h{fill:none;stroke-width:2.5}</style>\n");
}

static void add_class(tsr_text *text, tsr_svg_paint paint, double busy) {
  if (busy >= 0)
    tsr_text_add(text, "q%d", tsr_svg_step(busy));
  else
    tsr_text_add(text, "p%d", (int)paint);
}

void tsr_svg_rectangle(tsr_text *text, tsr_svg_box box, tsr_svg_paint paint, double busy) {
  tsr_text_add(text, "<rect class=\"");
  add_class(text, paint, busy);
  tsr_text_add(text, "\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"4\"/>\n", box.x,
               box.y, box.width, box.height);
}

void tsr_svg_arrow(tsr_text *text, double x, double y0, double y1, double busy) {
  const double shaft = 4, wing = 9, head = 11; /* pixels: half widths, and the head's length */
  double back = y1 > y0 ? -head : head;
  tsr_text_add(text, "<path class=\"a ");
  add_class(text, TSR_SVG_LINK, busy);
  tsr_text_add(text, "\" d=\"M%.1f %.1fV%.1fH%.1fL%.1f %.1fL%.1f %.1fH%.1fV%.1fZ\"/>\n", x - shaft,
               y0, y1 + back, x - wing, x, y1, x + wing, y1 + back, x + shaft, y0);
}

void tsr_svg_arrow_across(tsr_text *text, double y, double x0, double x1, double busy) {
  const double shaft = 4, wing = 9, head = 11;
  double back = x1 > x0 ? -head : head;
  tsr_text_add(text, "<path class=\"a ");
  add_class(text, TSR_SVG_LINK, busy);
  tsr_text_add(text, "\" d=\"M%.1f %.1fH%.1fV%.1fL%.1f %.1fL%.1f %.1fV%.1fH%.1fZ\"/>\n", x0,
               y - shaft, x1 + back, y - wing, x1, y, x1 + back, y + wing, y + shaft, x0);
}

/* Widths of a bold font's letters, of Helvetica's kind, at most: a viewer's font may differ. */
static double width_of(char c) {
  if (strchr("iIjl.,:;'|!", c) != NULL) return 0.34;
  if (strchr("ft ()/-", c) != NULL) return 0.4;
  if (strchr("mwMW%", c) != NULL) return 0.95;
  if (c >= 'A' && c <= 'Z') return 0.76;
  return 0.61;
}

static double size_of(const char *style) {
  return strchr(style, 'l') != NULL ? 16 : strchr(style, 's') != NULL ? 10.5 : 12;
}

double tsr_svg_width(const char *style, const char *string) {
  double width = 0;
  for (const char *c = string; *c != '\0'; c++)
    if (((unsigned char)*c & 0xc0) != 0x80)
      width += width_of(*c); /* one for each UTF-8 character */
  return width * size_of(style);
}

/* Appends as much of the string as fits, and an ellipsis if that is not all. */
static void add_fitting(tsr_text *text, double room, const char *style, const char *string) {
  char part[256];
  size_t length = strlen(string);
  if (length >= sizeof part) length = sizeof part - 1;
  memcpy(part, string, length);
  part[length] = '\0';
  bool whole = length == strlen(string) && tsr_svg_width(style, part) <= room;
  while (!whole && length > 0 && tsr_svg_width(style, part) + size_of(style) > room) {
    do length--;
    while (length > 0 && ((unsigned char)part[length] & 0xc0) == 0x80);
    part[length] = '\0';
  }
  tsr_text_add_xml(text, part);
  if (!whole) tsr_text_add(text, "&#8230;");
}

void tsr_svg_text(tsr_text *text, double x, double y, double room, char anchor, const char *style,
                  const char *string) {
  char classes[16] = "";
  size_t length = 0;
  for (const char *c = style; *c != '\0' && length < sizeof classes - 4; c++) {
    classes[length++] = *c;
    classes[length++] = ' ';
  }
  classes[length++] = anchor;
  classes[length] = '\0';
  tsr_text_add(text, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", classes, x, y);
  add_fitting(text, room, style, string);
  tsr_text_add(text, "</text>\n");
}
