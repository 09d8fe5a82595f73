#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 800, HEIGHT = 460, LEFT = 72, RIGHT = 256, TOP = 48, BOTTOM = 60, MOST_TICKS = 24 };

typedef struct axes {
  double x_least, x_most, y_least, y_most;
  bool logarithmic;
  FILE *stream;
} axes;

static double place_x(const axes *a, double x) {
  double span = log(a->x_most / a->x_least);
  double part = span > 0 ? log(x / a->x_least) / span : 0.5;
  return LEFT + (0.03 + 0.94 * part) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const axes *a, double y) {
  double part = a->logarithmic ? log(y / a->y_least) / log(a->y_most / a->y_least)
                               : (y - a->y_least) / (a->y_most - a->y_least);
  return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
}

static const char *colour_of(int index) {
  static const char *const palette[] = {"#1b6ca8", "#d1495b", "#2e8b57", "#8d5fb3",
                                        "#c27c0e", "#3b8ea5", "#7a7a7a", "#a23b72"};
  return palette[index % 8];
}

static const char *dash_of(plot_style style) {
  static const char *const dashes[] = {"none", "7 4", "2 3"};
  return style <= PLOT_DOTTED ? dashes[style] : "none";
}

static void escape(FILE *stream, const char *s) {
  for (; *s; s++) {
    switch (*s) {
      case '<':
        fputs("&lt;", stream);
        break;
      case '>':
        fputs("&gt;", stream);
        break;
      case '&':
        fputs("&amp;", stream);
        break;
      default:
        fputc(*s, stream);
    }
  }
}

static void text_at(FILE *stream, double x, double y, const char *attributes, const char *s) {
  fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
  escape(stream, s);
  fputs("</text>\n", stream);
}

/* 1, 2 or 5 times a power of ten, for about five ticks. */
static double tick_step(double most) {
  double power = pow(10, floor(log10(most / 5)));
  double ratio = most / 5 / power;
  return power * (ratio > 5 ? 10 : ratio > 2 ? 5 : ratio > 1 ? 2 : 1);
}

/* ---- Axes ---- */

/* The next of ... 1, 2, 5, 10, 20 ... at or below, or above, a value. */
static double round_below(double value) {
  double power = pow(10, floor(log10(value) + 1e-9)), ratio = value / power * (1 + 1e-9);
  return power * (ratio >= 5 ? 5 : ratio >= 2 ? 2 : 1);
}

static double round_above(double value) {
  double below = round_below(value), power = pow(10, floor(log10(below) + 1e-9));
  double ratio = below / power;
  if (below >= value * (1 - 1e-9)) return below;
  return ratio > 1.5 && ratio < 4 ? power * 5 : below * 2;
}

static double next_tick(double tick) {
  return round_above(tick * 1.01);
}

static void span_values(const plot_panel *p, axes *a) {
  for (int s = 0; s < p->count; s++) {
    for (int i = 0; i < p->series[s].count; i++) {
      a->x_least = fmin(a->x_least, p->series[s].x[i]);
      a->x_most = fmax(a->x_most, p->series[s].x[i]);
      a->y_least = fmin(a->y_least, p->series[s].y[i]);
      a->y_most = fmax(a->y_most, p->series[s].y[i]);
    }
  }
}

static void measure(const plot_panel *p, axes *a) {
  a->logarithmic = p->logarithmic;
  a->x_least = a->y_least = INFINITY;
  a->x_most = a->y_most = 0;
  span_values(p, a);
  if (a->x_most == 0) a->x_least = a->x_most = 1;
  if (!(a->y_most > 0)) a->y_least = a->y_most = 1;
  if (a->logarithmic) {
    a->y_least = round_below(a->y_least);
    a->y_most = next_tick(a->y_most);
  } else {
    double step = tick_step(a->y_most);
    a->y_least = 0;
    a->y_most = ceil(a->y_most / step) * step;
  }
}

static void draw_y_tick(const axes *a, double y) {
  char label[32];
  snprintf(label, sizeof label, "%g", y);
  fprintf(a->stream, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#e3e3e3\"/>\n",
          LEFT, place_y(a, y), WIDTH - RIGHT, place_y(a, y));
  text_at(a->stream, LEFT - 8, place_y(a, y) + 4, "text-anchor=\"end\"", label);
}

static void draw_y_axis(const axes *a) {
  double step = tick_step(a->y_most);
  if (a->logarithmic) {
    for (double y = a->y_least; y <= a->y_most * 1.0001; y = next_tick(y)) draw_y_tick(a, y);
  } else {
    for (double y = 0; y <= a->y_most * 1.0001; y += step) draw_y_tick(a, y);
  }
}

/* Ticks of the x axis; none stands on another's label. */
typedef struct tick_row {
  double at[MOST_TICKS], width[MOST_TICKS];
  int count;
} tick_row;

static void draw_x_tick(const axes *a, double x, tick_row *row) {
  double at = place_x(a, x);
  char label[32];
  double width = 8.0 * snprintf(label, sizeof label, a->logarithmic ? "%g" : "%.0f", x) + 6;
  for (int t = 0; t < row->count; t++) {
    if (fabs(row->at[t] - at) < (row->width[t] + width) / 2) return;
  }
  if (row->count == MOST_TICKS) return;
  row->at[row->count] = at;
  row->width[row->count++] = width;
  text_at(a->stream, at, HEIGHT - BOTTOM + 20, "text-anchor=\"middle\"", label);
}

static void draw_x_axis(const axes *a, const plot_panel *p) {
  tick_row row = {.count = 0};
  if (a->logarithmic) {
    for (double x = round_above(a->x_least); x <= a->x_most; x = next_tick(x)) {
      draw_x_tick(a, x, &row);
    }
  } else {
    for (int s = 0; s < p->count; s++) {
      for (int i = 0; i < p->series[s].count; i++) draw_x_tick(a, p->series[s].x[i], &row);
    }
  }
  fprintf(a->stream, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#444\"/>\n", LEFT,
          HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM);
}

/* ---- Series ---- */

static void draw_line(const axes *a, const plot_series *s) {
  fprintf(a->stream, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" ",
          colour_of(s->colour));
  fprintf(a->stream, "stroke-dasharray=\"%s\" points=\"", dash_of(s->style));
  for (int i = 0; i < s->count; i++) {
    fprintf(a->stream, "%.1f,%.1f ", place_x(a, s->x[i]), place_y(a, s->y[i]));
  }
  fputs("\"/>\n", a->stream);
}

static void draw_mark(const axes *a, double x, double y, plot_style style, const char *colour) {
  if (style == PLOT_BARS) {
    fprintf(a->stream,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"2\"/>\n",
            x - 6, y, x + 6, y, colour);
  } else if (style == PLOT_RINGS || style == PLOT_CIRCLES) {
    fprintf(a->stream,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"none\" stroke=\"%s\" "
            "stroke-width=\"%d\"/>\n",
            x, y, style == PLOT_RINGS ? 3 : 8, colour, style == PLOT_RINGS ? 1 : 2);
  } else {
    fprintf(a->stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"/>\n", x, y,
            style == PLOT_DOTTED ? "2.5" : "3.5", colour);
  }
}

static void draw_series(const axes *a, const plot_series *s) {
  if (s->style <= PLOT_DOTTED) draw_line(a, s);
  if (s->style == PLOT_DASHED) return; /* a bound, not a measurement: no marks */
  for (int i = 0; i < s->count; i++) {
    draw_mark(a, place_x(a, s->x[i]), place_y(a, s->y[i]), s->style, colour_of(s->colour));
  }
}

static void draw_legend(const axes *a, const plot_panel *p) {
  double y = TOP + 12, x = WIDTH - RIGHT + 20;
  for (int i = 0; i < p->count; i++) {
    const plot_series *s = &p->series[i];
    if (!s->label[0]) continue;
    if (s->style <= PLOT_DOTTED) {
      fprintf(a->stream, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" ", x, y, x + 30, y);
      fprintf(a->stream, "stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n",
              colour_of(s->colour), dash_of(s->style));
    } else {
      draw_mark(a, x + 15, y, s->style, colour_of(s->colour));
    }
    text_at(a->stream, x + 38, y + 4, "", s->label);
    y += 20;
  }
}

/* ---- The chart ---- */

static void draw_titles(const axes *a, const plot_panel *p) {
  text_at(a->stream, LEFT, 26, "font-size=\"15\" font-weight=\"bold\"", p->title);
  text_at(a->stream, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16, "text-anchor=\"middle\"",
          p->x_label);
  char turned[96];
  double middle = (TOP + HEIGHT - BOTTOM) / 2.0;
  snprintf(turned, sizeof turned, "text-anchor=\"middle\" transform=\"rotate(-90 18 %.1f)\"",
           middle);
  text_at(a->stream, 18, middle, turned, p->y_label);
}

static void draw_panel(FILE *stream, const plot_panel *p, int index) {
  axes a = {.stream = stream};
  measure(p, &a);
  fprintf(stream, "<g transform=\"translate(0 %d)\">\n", index * HEIGHT);
  draw_titles(&a, p);
  draw_y_axis(&a);
  draw_x_axis(&a, p);
  for (int s = 0; s < p->count; s++) draw_series(&a, &p->series[s]);
  draw_legend(&a, p);
  fputs("</g>\n", stream);
}

static void open_svg(FILE *stream, int height) {
  fprintf(stream,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n",
          WIDTH, height, WIDTH, height);
  fprintf(stream, "<rect width=\"%d\" height=\"%d\" fill=\"#fdfdfd\"/>\n", WIDTH, height);
}

/* Ends the stream, whose text is *text, and writes it. */
static int close_svg(const char *path, FILE *stream, char **text) {
  fputs("</svg>\n", stream);
  int code = fclose(stream) == 0 ? tool_write_file(path, *text)
                                 : tool_fail("cannot draw %s: %s", path, strerror(errno));
  free(*text);
  return code;
}

int plot_write(const char *path, const plot_panel *panels, int count) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return tool_fail("out of memory for %s", path);
  open_svg(stream, count * HEIGHT);
  for (int i = 0; i < count; i++) draw_panel(stream, &panels[i], i);
  return close_svg(path, stream, &text);
}

/* ---- Bars ---- */

static void draw_level(const axes *a, double x0, double x1, double y, const char *attributes) {
  fprintf(a->stream, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x0,
          place_y(a, y), x1, place_y(a, y), attributes);
}

static void draw_group(const axes *a, const plot_group *group, int bars, double left,
                       double width) {
  double each = 0.84 * width / bars, begin = left + 0.08 * width;
  for (int b = 0; b < bars; b++) {
    double x = begin + b * each, top = place_y(a, group->height[b]);
    fprintf(a->stream, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
            x, top, 0.9 * each, HEIGHT - BOTTOM - top, colour_of(b));
    if (group->line && group->line[b] > 0)
      draw_level(a, x, x + 0.9 * each, group->line[b], "stroke=\"#222\" stroke-width=\"2\"");
  }
  if (group->bound > 0)
    draw_level(a, begin, left + 0.92 * width, group->bound,
               "stroke=\"#444\" stroke-dasharray=\"7 4\"");
  text_at(a->stream, left + width / 2, HEIGHT - BOTTOM + 20, "text-anchor=\"middle\"",
          group->label);
}

static void draw_names(const axes *a, const char *const *names, int bars) {
  for (int b = 0; b < bars; b++) {
    double x = WIDTH - RIGHT + 20, y = TOP + 6 + 20 * b;
    fprintf(a->stream, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\" fill=\"%s\"/>\n", x,
            y, colour_of(b));
    text_at(a->stream, x + 22, y + 10, "", names[b]);
  }
}

/* Room for all of it above 0. */
static void measure_bars(const plot_group *groups, int count, int bars, axes *a) {
  for (int g = 0; g < count; g++) {
    a->y_most = fmax(a->y_most, groups[g].bound);
    for (int b = 0; b < bars; b++) {
      a->y_most = fmax(a->y_most, groups[g].height[b]);
      if (groups[g].line) a->y_most = fmax(a->y_most, groups[g].line[b]);
    }
  }
  if (!(a->y_most > 0)) a->y_most = 1;
  double step = tick_step(a->y_most);
  a->y_most = ceil(a->y_most / step) * step;
}

int plot_write_bars(const char *path, const char *title, const char *y_label,
                    const char *const *names, int bars, const plot_group *groups, int count) {
  char *text = NULL;
  size_t length = 0;
  axes a = {.stream = open_memstream(&text, &length)};
  const plot_panel frame = {.title = title, .x_label = "", .y_label = y_label};
  if (!a.stream) return tool_fail("out of memory for %s", path);
  measure_bars(groups, count, bars, &a);
  open_svg(a.stream, HEIGHT);
  draw_titles(&a, &frame);
  draw_y_axis(&a);
  double width = (double)(WIDTH - LEFT - RIGHT) / count;
  for (int g = 0; g < count; g++) draw_group(&a, &groups[g], bars, LEFT + g * width, width);
  draw_level(&a, LEFT, WIDTH - RIGHT, 0, "stroke=\"#444\"");
  draw_names(&a, names, bars);
  return close_svg(path, a.stream, &text);
}
