/* Forecasts: what plans of a data set's products are predicted to take, beside what was measured.
 */
#ifndef TESSERA_BENCH_FORECAST_H
#define TESSERA_BENCH_FORECAST_H

#include "bench_points.h"
#include "bench_rows.h"

/* Devices to predict for: "4", the first ones, or "0,2,4,6". */
typedef struct device_set {
  char text[128];
  int count;
} device_set;

typedef struct bench_forecast {
  bench_row row;   /* median: predicted; peer_s: measured, 0 when it was not */
  bench_home home; /* of the row, its devices counted within the set */
  int point, set;  /* which of the data set's, and of the sets */
  double then;     /* s, what the measured run's own machine had predicted; 0: unknown */
  int64_t commands;
  int candidates; /* that were tried */
} bench_forecast;

typedef struct forecast_list {
  bench_forecast *items; /* to be freed */
  int count;
  const device_set *sets;
  int set_count;
} forecast_list;

/* The table, row by row, and what it comes to. */
void forecast_print_head(bool measured);
void forecast_print(const forecast_list *list, const bench_forecast *f, bool measured);
void forecast_print_summary(const forecast_list *list);
void forecast_print_json(const forecast_list *list);

/* Exit codes. A measured point is drawn as "measured". */
int forecast_write_csv(const char *path, const forecast_list *list);
int forecast_write_plot(const char *path, const forecast_list *list);

#endif
