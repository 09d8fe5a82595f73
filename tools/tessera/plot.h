/* Charts as SVG: panels below each other, each with a few series over a logarithmic x axis. */
#ifndef TESSERA_PLOT_H
#define TESSERA_PLOT_H

#include "tool.h"

typedef enum plot_style {
  PLOT_SOLID,  /* lines: measured */
  PLOT_DASHED, /* a bound: no marks */
  PLOT_DOTTED,
  PLOT_POINTS, /* marks without a line: discs, rings, short bars */
  PLOT_RINGS,
  PLOT_BARS,
  PLOT_CIRCLES /* wide rings, around other marks */
} plot_style;

typedef struct plot_series {
  char label[64]; /* "": not in the legend */
  int colour;     /* index into a small palette */
  plot_style style;
  int count;
  double *x, *y; /* x > 0; of a line, in ascending order */
} plot_series;

typedef struct plot_panel {
  const char *title, *x_label, *y_label;
  bool logarithmic; /* y too (then y > 0), and round numbers on the x axis; else y begins at 0 and x
                       has the values that occur */
  const plot_series *series;
  int count;
} plot_panel;

/* Writes the chart; an exit code after a message. */
int plot_write(const char *path, const plot_panel *panels, int count);

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
