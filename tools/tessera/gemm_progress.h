/* Says on stderr how far a long product is: on a terminal in one line that changes, else a line for
 * each tenth. */
#ifndef TESSERA_GEMM_PROGRESS_H
#define TESSERA_GEMM_PROGRESS_H

#include <stdbool.h>

typedef struct progress_line {
  bool on, asked, terminal;
  double flops, begin; /* of a call */
  int tenths;          /* told */
  bool open;           /* the line is not ended */
} progress_line;

/* asked: also where stderr is no terminal. */
void progress_begin(progress_line *p, bool asked);

/* A call of so many flops begins, and is over. */
void progress_call(progress_line *p, double flops);
void progress_end(progress_line *p);

/* A tsr_progress; user is the progress_line. */
void progress_tell(void *user, double fraction, const char *what);

#endif
