/* Shows the progress of a long product on stderr: on a terminal as one line that changes, else as a
 * line for each tenth. */
#ifndef TESSERA_GEMM_PROGRESS_H
#define TESSERA_GEMM_PROGRESS_H

#include <stdbool.h>

typedef struct progress_line {
  bool on, asked, terminal;
  double flops, begin; /* of the call; s, when it began */
  int tenths;          /* shown last */
  bool open;           /* the line on the terminal has no newline yet */
} progress_line;

/* asked: shows the progress even if stderr is no terminal. */
void progress_begin(progress_line *p, bool asked);

/* To be called when a call of so many flops begins, and when it has ended. */
void progress_call(progress_line *p, double flops);
void progress_end(progress_line *p);

/* A tsr_progress; user is the progress_line. */
void progress_tell(void *user, double fraction, const char *what);

#endif
