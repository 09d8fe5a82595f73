/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What the parts of the picture of a machine are made of: labels, groups, arrows, columns. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "machine/picture/inside.h"

/* ---- Labels ---- */

const char *tsr_label_format(tsr_label *to, const char *format, ...) {
  va_list values;
  va_start(values, format);
  tsr_c_format(to->bytes, sizeof to->bytes, format, values);
  va_end(values);
  return to->bytes;
}

const char *tsr_label_rate(tsr_label *to, double bytes) {
  double value = bytes / GIGA;
  return value >= 999.5 ? tsr_label_format(to, "%.0f", value) : tsr_label_format(to, "%.3g", value);
}

const char *tsr_label_percent(tsr_label *to, double busy) {
  return busy < 0 ? "" : tsr_label_format(to, "%.0f %%", 100 * busy);
}

/* ---- How busy ---- */

double tsr_drawing_link_busy(const tsr_drawing *p, int from, int to) {
  return p->load != NULL ? p->load->link[from][to] : -1;
}

double tsr_drawing_channel_busy(const tsr_drawing *p, int channel) {
  return p->load != NULL ? p->load->channel[channel] : -1;
}

/* ---- Groups ---- */

void tsr_drawing_begin(tsr_drawing *p, const char *id, const char *title, double busy) {
  tsr_text_add(p->text, "<g id=\"%s\"><title>", id);
  tsr_text_add_xml(p->text, title);
  if (busy >= 0) tsr_text_add(p->text, ", %.0f %% busy", 100 * busy);
  tsr_text_add(p->text, "</title>\n");
}

void tsr_drawing_end(tsr_drawing *p) {
  tsr_text_add(p->text, "</g>\n");
}

void tsr_drawing_begin_link(tsr_drawing *p, int from, int to) {
  char a[TSR_LOCATION_NAME], b[TSR_LOCATION_NAME];
  tsr_label id, title, amount;
  tsr_location_name(p->machine, from, a);
  tsr_location_name(p->machine, to, b);
  tsr_drawing_begin(p, tsr_label_format(&id, "%s-%s", a, b),
                    tsr_label_format(&title, "%s to %s: %s GB/s", a, b,
                                     tsr_label_rate(&amount, p->machine->link[from][to].bandwidth)),
                    tsr_drawing_link_busy(p, from, to));
}

void tsr_drawing_begin_channel(tsr_drawing *p, int channel) {
  const tsr_channel *c = &p->machine->channel[channel];
  tsr_label id, title, amount;
  p->drawn[channel] = true;
  tsr_drawing_begin(
      p, tsr_label_format(&id, "channel-%d", channel),
      tsr_label_format(&title, "%s: %s GB/s", c->name, tsr_label_rate(&amount, c->capacity)),
      tsr_drawing_channel_busy(p, channel));
}

/* ---- Columns ---- */

double tsr_drawing_middle(const tsr_drawing *p, int device) {
  return p->x[device] + p->column / 2;
}

double tsr_drawing_right(const tsr_drawing *p) {
  return p->left + p->columns * (p->column + GAP) - GAP + (p->machine->nodes - 1) * p->crossing;
}

tsr_svg_box tsr_drawing_over(const tsr_drawing *p, tsr_device_mask set, double y, double height) {
  double from = INFINITY, to = 0;
  for (int d = 0; d < p->machine->devices; d++) {
    if (!tsr_mask_has(set, d)) continue;
    from = fmin(from, p->x[d]);
    to = fmax(to, p->x[d] + p->column);
  }
  return (tsr_svg_box){from, y, to - from, height};
}

/* ---- Arrows and sentences ---- */

void tsr_drawing_add_arrow(tsr_drawing *p, const tsr_arrows *where, bool down, double bytes,
                           double busy) {
  tsr_label amount, share;
  double x = where->x + (down ? -13 : 13), beside = x + (down ? -12 : 12);
  double y = where->y1 - ARROW / 2; /* the labels of all are on one height */
  char anchor = down ? 'e' : 't';
  tsr_svg_arrow(p->text, x, down ? where->y0 : where->y1, down ? where->y1 : where->y0, busy);
  tsr_svg_text(p->text, beside, y - 4, where->room, anchor, "b", tsr_label_rate(&amount, bytes));
  tsr_svg_text(p->text, beside, y + 8, where->room, anchor, "s", "GB/s");
  if (busy >= 0)
    tsr_svg_text(p->text, beside, y + 21, where->room, anchor, "s",
                 tsr_label_percent(&share, busy));
}

void tsr_drawing_add_sentence(tsr_drawing *p, const char *sentence) {
  p->y += 26;
  tsr_svg_text(p->text, p->left, p->y, tsr_drawing_right(p) - p->left, 't', "", sentence);
}
