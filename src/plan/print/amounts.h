/* Amounts with their units, as people read them, and text in lines of 80 characters. */
#ifndef TSR_PLAN_PRINT_AMOUNTS_H
#define TSR_PLAN_PRINT_AMOUNTS_H

#include "base/text.h"

/* "12.3 us", "49.2 ms", "1.25 s". */
void tsr_add_seconds(tsr_text *text, double seconds);
/* "197 TFLOP/s"; below 1 TFLOP/s "850 GFLOP/s". */
void tsr_add_rate(tsr_text *text, double rate);
/* "197 of at most 200 TFLOP/s", "850 GFLOP/s of at most 2.10 TFLOP/s". */
void tsr_add_rate_of(tsr_text *text, double rate, double most);
/* "1.07 GB", at least `width` characters wide. */
void tsr_add_bytes(tsr_text *text, int width, double bytes);
/* Appends `said` in lines of at most 80 characters, broken at blanks, each ended. */
void tsr_add_wrapped(tsr_text *text, const char *said);
/* The same behind a label; the lines begin at column 11. */
void tsr_add_labelled(tsr_text *text, const char *label, const char *said);

#endif
