/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A call of a golden case as a line of text, which is also its name:
 *
 *   MACHINE CALL HOMES [WORD ...]      h200x4 dgemm NT 8192x8192x4096 ppp beta=0
 *
 * MACHINE  one of golden_call.c's table. CALL: the type's letter and the operation, its letters in
 *          the order of its BLAS arguments (gemm: transa transb; gemmt: uplo transa transb; symm
 *          and hemm: side uplo; syrk, herk, syr2k and her2k: uplo trans; trmm and trsm: side uplo
 *          transa diag), and its extents in that order (m, n, k, as far as it has them).
 * HOMES    of A, B and C, a letter each: h pageable host memory, p pinned, q its first half pinned,
 *          r pinned at the last host node, i pinned and interleaved, a digit a device, - no such
 *          operand.
 * WORDS    beta=0, beta=1 or beta=r, another value (the default); alpha=0, 1 or r (the default);
 *          pad=N: elements between columns; budget=N: MB of a device (N,N,...: of each);
 *          tile=N: square tiles; ring=N: MB for staging; map=MBxNB@PxQ: C is mapped so;
 *          reproducible; fewer: devices, as many as help; any: the CPU's BLAS, too;
 *          full: every candidate is tried, not those that fit the time that planning may take.
 */
#ifndef TSR_TESTS_GOLDEN_CALL_H
#define TSR_TESTS_GOLDEN_CALL_H

#include "plan/golden.h"
#include "plan/mapping.h"
#include "plan/plan.h"

typedef struct golden_call {
  tsr_machine *machine;
  tsr_call call;
  tsr_plan_options options;
  tsr_mapping mapping; /* options.mapping, if there is one */
} golden_call;

/* Makes the call of a line, with its machine. What it cannot read ends the program. */
void golden_call_read(const char *line, golden_call *call);
void golden_call_free(golden_call *call);

/* The machine of that name. */
tsr_machine *golden_machine(const char *name);

/* MBxNB@PxQ. */
void golden_mapping_read(const char *text, tsr_mapping *mapping);

/* Options of a machine whose plans are always the same. */
tsr_plan_options golden_plan_options(const tsr_machine *machine);

/* Reads a word behind the homes into the options; false: it is none of them. */
bool golden_option_read(const char *word, const tsr_machine *machine, tsr_plan_options *options);

/* CALL with its scalars, operands without places: of "dgemm", "NT", "8192x8192x4096". */
void golden_level3_read(const char *operation, const char *letters, const char *extents,
                        tsr_level3 *what);
/* The call of it; ld must be set. */
void golden_level3_call(const tsr_level3 *what, char alpha, char beta, tsr_call *call);

/* Ends the program with a message. */
_Noreturn void golden_wrong(const char *format, ...) TSR_PRINTF(1, 2);

/* ---- golden_lines.c ---- */

/* What the runner would do, and its counts. */
void golden_plan_note(const tsr_plan *plan, const tsr_machine *machine, golden_result *result);

#endif
