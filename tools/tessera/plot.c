#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 760, HEIGHT = 460, LEFT = 72, RIGHT = 216, TOP = 48, BOTTOM = 60, MOST_TICKS = 24 };

typedef struct axes {
  double x_least, x_most, y_most; /* y begins at 0 */
  FILE *stream;
} axes;

static double place_x(const axes *a, double x) {
  double span = log(a->x_most / a->x_least);
  double part = span > 0 ? log(x / a->x_least) / span : 0.5;
  return LEFT + (0.03 + 0.94 * part) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const axes *a, double y) {
  return HEIGHT - BOTTOM - y / a->y_most * (HEIGHT - TOP - BOTTOM);
}

static const char *colour_of(int index) {
  static const char *const palette[] = {"#1b6ca8", "#d1495b", "#2e8b57", "#8d5fb3",
                                        "#c27c0e", "#3b8ea5", "#7a7a7a", "#a23b72"};
  return palette[index % 8];
}

static const char *dash_of(plot_style style) {
  static const char *const dashes[] = {"none", "7 4", "2 3", "none"};
  return dashes[style];
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

static void measure(const plot_series *series, int count, axes *a) {
  a->x_least = INFINITY;
  a->x_most = a->y_most = 0;
  for (int s = 0; s < count; s++) {
    for (int i = 0; i < series[s].count; i++) {
      a->x_least = fmin(a->x_least, series[s].x[i]);
      a->x_most = fmax(a->x_most, series[s].x[i]);
      a->y_most = fmax(a->y_most, series[s].y[i]);
    }
  }
  if (a->x_most == 0) a->x_least = a->x_most = 1;
  if (!(a->y_most > 0)) a->y_most = 1;
  double step = tick_step(a->y_most);
  a->y_most = ceil(a->y_most / step) * step;
}

static void draw_y_axis(const axes *a) {
  double step = tick_step(a->y_most);
  for (double y = 0; y <= a->y_most * 1.0001; y += step) {
    char label[32];
    snprintf(label, sizeof label, "%g", y);
    fprintf(a->stream, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#e3e3e3\"/>\n",
            LEFT, place_y(a, y), WIDTH - RIGHT, place_y(a, y));
    text_at(a->stream, LEFT - 8, place_y(a, y) + 4, "text-anchor=\"end\"", label);
  }
}

/* A tick at every x that occurs, unless it would stand on another's label. */
static void draw_x_axis(const axes *a, const plot_series *series, int count) {
  double drawn[MOST_TICKS];
  int ticks = 0;
  for (int s = 0; s < count; s++) {
    for (int i = 0; i < series[s].count && ticks < MOST_TICKS; i++) {
      double at = place_x(a, series[s].x[i]);
      bool crowded = false;
      for (int t = 0; t < ticks; t++) crowded |= fabs(drawn[t] - at) < 36;
      if (crowded) continue;
      drawn[ticks++] = at;
      char label[32];
      snprintf(label, sizeof label, "%.0f", series[s].x[i]);
      text_at(a->stream, at, HEIGHT - BOTTOM + 20, "text-anchor=\"middle\"", label);
    }
  }
  fprintf(a->stream, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#444\"/>\n", LEFT,
          HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM);
}

static void draw_rings(const axes *a, const plot_series *s) {
  for (int i = 0; i < s->count; i++) {
    fprintf(a->stream,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"8\" fill=\"none\" stroke=\"%s\" "
            "stroke-width=\"2\"/>\n",
            place_x(a, s->x[i]), place_y(a, s->y[i]), colour_of(s->colour));
  }
}

static void draw_series(const axes *a, const plot_series *s) {
  if (s->style == PLOT_MARKS) {
    draw_rings(a, s);
    return;
  }
  fprintf(a->stream, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" ",
          colour_of(s->colour));
  fprintf(a->stream, "stroke-dasharray=\"%s\" points=\"", dash_of(s->style));
  for (int i = 0; i < s->count; i++) {
    fprintf(a->stream, "%.1f,%.1f ", place_x(a, s->x[i]), place_y(a, s->y[i]));
  }
  fputs("\"/>\n", a->stream);
  if (s->style == PLOT_DASHED) return; /* a bound, not a measurement: no marks */
  for (int i = 0; i < s->count; i++) {
    fprintf(a->stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"/>\n",
            place_x(a, s->x[i]), place_y(a, s->y[i]), s->style == PLOT_SOLID ? "3.5" : "2.5",
            colour_of(s->colour));
  }
}

static void draw_legend(const axes *a, const plot_series *series, int count) {
  int row = 0;
  for (int s = 0; s < count; s++) {
    if (!series[s].label[0]) continue;
    double y = TOP + 12 + 20 * row++, x = WIDTH - RIGHT + 20;
    fprintf(a->stream, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" ", x, y, x + 30, y);
    fprintf(a->stream, "stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n",
            colour_of(series[s].colour), dash_of(series[s].style));
    text_at(a->stream, x + 38, y + 4, "", series[s].label);
  }
}

static void draw_frame(const axes *a, const char *title, const char *x_label, const char *y_label) {
  fprintf(a->stream,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n",
          WIDTH, HEIGHT, WIDTH, HEIGHT);
  fprintf(a->stream, "<rect width=\"%d\" height=\"%d\" fill=\"#fdfdfd\"/>\n", WIDTH, HEIGHT);
  text_at(a->stream, LEFT, 26, "font-size=\"15\" font-weight=\"bold\"", title);
  text_at(a->stream, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16, "text-anchor=\"middle\"", x_label);
  char turned[96];
  double middle = (TOP + HEIGHT - BOTTOM) / 2.0;
  snprintf(turned, sizeof turned, "text-anchor=\"middle\" transform=\"rotate(-90 18 %.1f)\"",
           middle);
  text_at(a->stream, 18, middle, turned, y_label);
}

int plot_write(const char *path, const char *title, const char *x_label, const char *y_label,
               const plot_series *series, int count) {
  char *text = NULL;
  size_t length = 0;
  axes a = {.stream = open_memstream(&text, &length)};
  if (!a.stream) return tool_fail("out of memory for %s", path);
  measure(series, count, &a);
  draw_frame(&a, title, x_label, y_label);
  draw_y_axis(&a);
  draw_x_axis(&a, series, count);
  for (int s = 0; s < count; s++) draw_series(&a, &series[s]);
  draw_legend(&a, series, count);
  fputs("</svg>\n", a.stream);
  int code = fclose(a.stream) == 0 ? tool_write_file(path, text)
                                   : tool_fail("cannot draw %s: %s", path, strerror(errno));
  free(text);
  return code;
}

/* ---- Bars ---- */

static void draw_line(const axes *a, double x0, double x1, double y, const char *attributes) {
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
      draw_line(a, x, x + 0.9 * each, group->line[b], "stroke=\"#222\" stroke-width=\"2\"");
  }
  if (group->bound > 0)
    draw_line(a, begin, left + 0.92 * width, group->bound,
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
  if (!a.stream) return tool_fail("out of memory for %s", path);
  measure_bars(groups, count, bars, &a);
  draw_frame(&a, title, "", y_label);
  draw_y_axis(&a);
  double width = (double)(WIDTH - LEFT - RIGHT) / count;
  for (int g = 0; g < count; g++) draw_group(&a, &groups[g], bars, LEFT + g * width, width);
  draw_line(&a, LEFT, WIDTH - RIGHT, 0, "stroke=\"#444\"");
  draw_names(&a, names, bars);
  fputs("</svg>\n", a.stream);
  int code = fclose(a.stream) == 0 ? tool_write_file(path, text)
                                   : tool_fail("cannot draw %s: %s", path, strerror(errno));
  free(text);
  return code;
}
