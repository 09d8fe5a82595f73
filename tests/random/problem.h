/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A random problem of the level-3 BLAS, or a factorisation: everything that decides what is asked
 * and of whom, in one printed line of key=value words from which it replays exactly. problem.c
 * draws problems, line.c prints and reads them, meaning.c says what they ask for.
 */
#ifndef TSR_TESTS_PROBLEM_H
#define TSR_TESTS_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "float_modes.h"
#include "tessera.h"

enum {
  PROBLEM_LINE = 880,
  PROBLEM_STRATEGY = 320,
  PROBLEM_GROUP = 16,
  PROBLEM_NO_MACHINE = -1,
  PROBLEM_ANY = -1,
  /* Behind the operations of level 3: the factorisations. */
  PROBLEM_POTRF = TSR_OPERATION_COUNT,
  PROBLEM_OPERATIONS
};

typedef enum problem_mode { MODE_BLOCKING, MODE_ASYNC, MODE_PLAN } problem_mode;
typedef enum problem_threads { THREADS_ONE, THREADS_SHARED, THREADS_OWN } problem_threads;

/* Places of an operand: HOME_HOST pageable, HOME_PINNED, HOME_PART partly pinned, HOME_REGISTERED
 * and HOME_PART_REGISTERED the same but registered asynchronously right before the calls, or the
 * digit of a device. */
enum {
  HOME_HOST = 'h',
  HOME_PINNED = 'p',
  HOME_PART = 'q',
  HOME_REGISTERED = 'r',
  HOME_PART_REGISTERED = 's'
};

typedef struct problem {
  /* The context; the cases of a group have these in common, since contexts are costly. */
  char engine[8];
  int devices;   /* 0: the CPU's BLAS */
  int machine;   /* index of problem_machine(), or PROBLEM_NO_MACHINE: as the engine finds it */
  size_t memory; /* budget, bytes; 0: no limit of ours */
  int uneven;    /* 1: the budget of some devices, others have more: problem_budgets() */
  int64_t tile;  /* 0: by the model */
  char strategy[PROBLEM_STRATEGY]; /* words of a forced strategy, with : and ; for = and blanks;
                                    * "-": none
                                    */
  int check, repro;
  int peer;   /* 0: as if no device reached another one (TESSERA_PEER) */
  int moduli; /* products are emulated with so many; 0: native */
  uint64_t delay;
  float_modes modes; /* of the threads that make the context and the calls */
  /* The call. */
  tsr_operation operation;
  char type, layout, side, uplo, diag;
  char ta, tb; /* ta is also the trans of syrk and its like */
  int64_t m, n, k;
  int64_t pad[3];   /* of lda, ldb, ldc beyond the least */
  char alpha, beta; /* '0', '1', '-' for -1, 'r' another real, 'c' another complex */
  char home[3];
  int64_t offset[3]; /* elements from an aligned address */
  int alias;         /* A and B are in one storage */
  /* How it is asked. */
  problem_mode mode;
  int calls, sets; /* calls one after the other, on so many sets of operands in turn */
  problem_threads threads;
  uint64_t seed; /* of the data */
  /* The accuracy, 10^-digits, that the call asks for in place of the context's arithmetic: emulated
   * (faster = 0) or in the faster way; digits = 0: it asks for nothing. */
  int digits, faster;
  /* So many of 100 elements of A and B are 0, the diagonal of a triangle apart: the accuracy of
   * such products in residues is not promised by quantiles, but often by overlaps. */
  int zeros;
  /* A factorisation: the least order of a leading minor for which there is no factor; 0: there is
   * one. Its diagonal element is negative, zero or no number, as the seed says. */
  int64_t bad;
} problem;

/* The call's own arithmetic, in text; NULL: it has none. */
enum { PROBLEM_ARITHMETIC = 32 };
const char *problem_arithmetic(const problem *p, char text[PROBLEM_ARITHMETIC]);

/* The words of its strategy as the library takes them, in text; NULL: none. */
const char *problem_strategy(const problem *p, char text[PROBLEM_STRATEGY]);

/* The budgets of an uneven problem as the library takes them, in text; NULL: all are alike. */
enum { PROBLEM_BUDGETS = 256 };
const char *problem_budgets(const problem *p, char text[PROBLEM_BUDGETS]);
/* The largest one. */
size_t problem_most_memory(const problem *p);

/* What random problems are drawn from. */
typedef struct problem_range {
  const char *engine;
  int devices;   /* at most */
  int operation; /* the only one, or PROBLEM_ANY */
} problem_range;

/* A small generator; good enough and the same everywhere. */
typedef struct rng {
  uint64_t state;
} rng;
uint64_t rng_next(rng *r);
int64_t rng_between(rng *r, int64_t least, int64_t most);
double rng_unit(rng *r); /* [0, 1) */

/* The case number index of a seed, independent of the others. */
void problem_draw(uint64_t seed, int64_t index, const problem_range *range, problem *p);

/* Changes what its operation cannot have (types, transpositions, A and B in one storage) into what
 * it can. */
void problem_settle(problem *p);

/* A small, plain problem. */
problem problem_plain(void);

void problem_print(const problem *p, char line[PROBLEM_LINE]);

/* Reads a printed line; words left out are those of problem_plain(). False, with *wrong pointing at
 * the word, when it cannot be understood. */
bool problem_parse(const char *line, problem *p, const char **wrong);

/* The operation of that name; false: there is none. */
bool problem_operation(const char *name, tsr_operation *operation);
const char *problem_operation_name(tsr_operation operation);

/* Whether two problems can share a context. */
bool problem_same_context(const problem *a, const problem *b);

int problem_machines(void);
/* The machine string of a problem; NULL for PROBLEM_NO_MACHINE. */
const char *problem_machine(const problem *p, char *text, size_t room);

/* ---- Meaning ---- */

bool problem_is_complex(const problem *p);

/* What A is; what else an operation has follows from it, but for the triangle of C. */
typedef enum problem_kind {
  KIND_PRODUCT,    /* op(A) op(B) */
  KIND_UPDATE,     /* op(A) op(A)^T: there is no B */
  KIND_UPDATE_TWO, /* op(A) op(B)^T and the same with A and B exchanged */
  KIND_SYMMETRIC,  /* A is symmetric or Hermitian, and has a side */
  KIND_TRIANGULAR, /* A is triangular, and has a side; there is no B, and C is read and written */
  KIND_FACTOR      /* C is factored in place; there is no A and no B */
} problem_kind;

problem_kind problem_kind_of(const problem *p);
bool problem_hermitian(const problem *p); /* hemm, herk, her2k */
bool problem_has(const problem *p, int operand);
/* Whether C counts on entry only as far as beta is not 0 (else as far as alpha is not 0). */
bool problem_has_beta(const problem *p);

/* The value of '0', '1' ... drawn from the problem's seed; which: 0 alpha, 1 beta. */
void problem_scalar(const problem *p, int which, double *re, double *im);
/* The type of its value in a call: 16-bit types take a float, herk real numbers. */
char problem_scalar_type(const problem *p, int which);

/* The extents of C and the number of terms in each sum. */
void problem_extents(const problem *p, int64_t *rows, int64_t *cols, int64_t *depth);

/* What elements that are not stored stand for. */
typedef enum stored_rest {
  REST_NOTHING,  /* they are not of the matrix */
  REST_ZERO,     /* triangular */
  REST_MIRRORED, /* symmetric */
  REST_CONJUGATE /* Hermitian */
} stored_rest;

/* How an operand (0 A, 1 B, 2 C) is stored: extents along and across the leading dimension, and
 * which elements (i along, j across) are read or written. */
typedef struct stored {
  int64_t fast, slow;
  char uplo; /* 'L': i >= j, 'U': i <= j, 'G': all */
  stored_rest rest;
  bool unit;          /* the diagonal is one, and not stored */
  bool real_diagonal; /* its imaginary parts are zero, and not stored */
} stored;

stored problem_stored(const problem *p, int operand);
bool stored_inside(const stored *s, int64_t i, int64_t j);

#endif
