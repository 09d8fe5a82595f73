/*
 * What calls tell a capture that is under way, and what they find in one that is run.
 */
#ifndef TSR_FRONT_CAPTURE_H
#define TSR_FRONT_CAPTURE_H

#include <stdlib.h>

#include "front/context.h"

typedef enum tsr_step_kind {
  TSR_STEP_CALL,
  TSR_STEP_COHERENT,
  TSR_STEP_INVALIDATE,
  TSR_STEP_RELEASE,
  TSR_STEP_MAP,
  TSR_STEP_DISTRIBUTE
} tsr_step_kind;

/* One of the user's calls, by its arguments; a region is what's uplo, m, n, type and ldc, and c. */
typedef struct tsr_step {
  tsr_step_kind kind;
  tsr_level3 what;
  unsigned char alpha[16], beta[16];
  const void *a, *b;
  void *c;
  int64_t mb, nb;
  int p, q;
} tsr_step;

/* What a plan was wanted for. */
typedef struct tsr_planned {
  uint64_t call_digest, digest;
} tsr_planned;

/* Without a capture under way they do nothing. */
void tsr_capture_note_step(tsr_context *context, const tsr_step *step);
void tsr_capture_note_plan(tsr_context *context, const tsr_planned *key, const tsr_plan *plan);

/* The plan of the capture that is being run, with a reference; NULL: there is none. */
const tsr_plan *tsr_capture_find(tsr_context *context, const tsr_planned *key);

#endif
