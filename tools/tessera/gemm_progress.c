#include "gemm_progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

/* Seconds after which a call gets a progress line; with --progress it gets one at once. */
static const double PATIENCE = 1;

void progress_begin(progress_line *p, bool asked) {
  p->terminal = isatty(STDERR_FILENO);
  p->asked = asked;
  p->on = asked || p->terminal;
}

void progress_call(progress_line *p, double flops) {
  p->flops = flops;
  p->begin = tool_now();
  p->tenths = 0;
}

static void write_line(progress_line *p, double fraction, double elapsed) {
  double left = elapsed * (1 - fraction) / fraction;
  fprintf(stderr, "%s%s: %3.0f %% of the product, %.4g TFLOP/s, %s left%s", p->terminal ? "\r" : "",
          tool_name(), 100 * fraction, fraction * p->flops / elapsed * 1e-12, tool_seconds(left),
          p->terminal ? "   " : "\n");
  fflush(stderr);
  p->open = p->terminal;
}

/* Only the progress of "gemm" is shown; copies before and after the product are not counted. */
void progress_tell(void *user, double fraction, const char *what) {
  progress_line *p = user;
  double elapsed = tool_now() - p->begin;
  int tenths = (int)(10 * fraction);
  bool early = elapsed < PATIENCE && !p->asked;
  if (!p->on || early || fraction <= 0 || strcmp(what, "gemm") != 0) return;
  if (!p->terminal && tenths == p->tenths) return;
  p->tenths = tenths;
  write_line(p, fraction, elapsed);
}

void progress_end(progress_line *p) {
  if (p->open) fputc('\n', stderr);
  p->open = false;
}
