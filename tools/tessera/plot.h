/* A line chart as SVG: a few series over a logarithmic x axis. */
#ifndef TESSERA_PLOT_H
#define TESSERA_PLOT_H

#include "tool.h"

typedef enum plot_style { PLOT_SOLID, PLOT_DASHED, PLOT_DOTTED } plot_style;

typedef struct plot_series {
  char label[48];
  int colour; /* index into a small palette */
  plot_style style;
  int count;
  double *x, *y; /* x > 0, in ascending order */
} plot_series;

/* Writes the chart; an exit code after a message. */
int plot_write(const char *path, const char *title, const char *x_label, const char *y_label,
               const plot_series *series, int count);

#endif
