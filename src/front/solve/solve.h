/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Solvers: calls that are made of other calls, whose results stay on the devices between them. */
#ifndef TSR_FRONT_SOLVE_SOLVE_H
#define TSR_FRONT_SOLVE_SOLVE_H

#include "front/solve/steps.h"

/* Behind the routines of tsr_solver: the one whose arguments are checked with theirs. */
enum { TSR_POCON = TSR_SOLVER_COUNT, TSR_SOLVERS };

/* Returns the call with its flags as the letters of tessera.h. */
tsr_solve tsr_solve_flags(const tsr_solve *what);

/* As tsr_solve_run. *begun: whether a step was submitted, so that the matrices may have been
 * written even if the call fails. */
tsr_status tsr_context_solve(tsr_context *context, const tsr_solve *what, void *a, void *b,
                             bool *begun);

/* The place of the first zero on the diagonal of a triangle that the routine takes no zero of: then
 * it does nothing but say so. 0: there is none. n > 0; flags are letters. */
tsr_status tsr_solve_find_singular(const tsr_steps *s, const tsr_solve *what, void *a,
                                   int64_t *place);

/* How many steps a call has if no matrix of it is empty. */
int64_t tsr_solve_steps(tsr_solver routine, int64_t n);

/* Checks the arguments in the order and by the names of the LAPACK routine. TSR_ERR_ARGUMENT names
 * the first wrong one. */
tsr_status tsr_solve_check(const tsr_solve *what, const void *a, const void *b);

/* The steps of the inverse of a triangle, and of op(L)^H op(L) in place of a triangle L: potri's
 * second half (LAPACK's lauum). scratch: tsr_inverse_scratch(n) elements. n > 0. */
tsr_status tsr_inverse_of_triangle(const tsr_steps *s, tsr_diag diag, int64_t n, tsr_step_matrix a,
                                   char *scratch);
tsr_status tsr_square_of_triangle(const tsr_steps *s, int64_t n, tsr_step_matrix a, char *scratch);

/* The number of steps of each. */
int64_t tsr_inverse_steps(int64_t n);

/* Elements of memory on the host that an inverse of order n needs until its steps are complete, and
 * what has to be in it. */
int64_t tsr_inverse_scratch(int64_t n);
void tsr_inverse_fill(const tsr_steps *s, int64_t n, char *scratch);

/* Lets the devices forget it. */
tsr_status tsr_inverse_drop(const tsr_steps *s, int64_t n, char *scratch);

#endif
