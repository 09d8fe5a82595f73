/* A line chart as SVG: a few series over a logarithmic x axis. */
#ifndef TESSERA_PLOT_H
#define TESSERA_PLOT_H

#include "tool.h"

/* PLOT_MARKS: rings around points, no line. */
typedef enum plot_style { PLOT_SOLID, PLOT_DASHED, PLOT_DOTTED, PLOT_MARKS } plot_style;

typedef struct plot_series {
  char label[48]; /* "": not in the legend */
  int colour;     /* index into a small palette */
  plot_style style;
  int count;
  double *x, *y; /* x > 0, in ascending order */
} plot_series;

/* Writes the chart; an exit code after a message. */
int plot_write(const char *path, const char *title, const char *x_label, const char *y_label,
               const plot_series *series, int count);

/* Bars that stand together: one for each name of the chart. */
typedef struct plot_group {
  char label[48];
  double *height; /* [bars] */
  double *line;   /* [bars]: a line across each bar, or NULL */
  double bound;   /* a dashed line above the group; 0: none */
} plot_group;

/* Writes a chart of bars, a colour for each name. */
int plot_write_bars(const char *path, const char *title, const char *y_label,
                    const char *const *names, int bars, const plot_group *groups, int count);

#endif
