/*
 * A random GEMM problem: everything that decides what is asked and of whom, in one printed line
 * of key=value words from which it replays exactly.
 */
#ifndef TSR_TESTS_PROBLEM_H
#define TSR_TESTS_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROBLEM_LINE = 800, PROBLEM_RECIPE = 120, PROBLEM_GROUP = 16, PROBLEM_NO_MACHINE = -1 };

typedef enum problem_mode { MODE_BLOCKING, MODE_ASYNC, MODE_PLAN } problem_mode;
typedef enum problem_threads { THREADS_ONE, THREADS_SHARED, THREADS_OWN } problem_threads;

/* Places of an operand: HOME_HOST pageable, HOME_PINNED, HOME_PART partly pinned, or the digit of
 * a device. */
enum { HOME_HOST = 'h', HOME_PINNED = 'p', HOME_PART = 'q' };

typedef struct problem {
  /* The context; the cases of a group have these in common, since contexts are costly. */
  char engine[8];
  int devices;   /* 0: the CPU's BLAS */
  int machine;   /* index of problem_machine(), or PROBLEM_NO_MACHINE: as the engine finds it */
  size_t memory; /* budget, bytes; 0: no limit of ours */
  int64_t tile;  /* 0: by the model */
  char recipe[PROBLEM_RECIPE]; /* words of a forced recipe, with : and ; for = and blanks; "-": none
                                */
  int check, repro;
  uint64_t delay;
  /* The call. */
  char type, layout, ta, tb;
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
} problem;

/* The words of its recipe as the library takes them, in text; NULL: none. */
const char *problem_recipe(const problem *p, char text[PROBLEM_RECIPE]);

/* What random problems are drawn from. */
typedef struct problem_range {
  const char *engine;
  int devices; /* at most */
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

void problem_print(const problem *p, char line[PROBLEM_LINE]);

/* Reads a printed line; words left out keep the defaults of a small, plain problem. False, with
 * *wrong pointing at the word, when it cannot be understood. */
bool problem_parse(const char *line, problem *p, const char **wrong);

/* Whether two problems can share a context. */
bool problem_same_context(const problem *a, const problem *b);

int problem_machines(void);
/* The machine string of a problem; NULL for PROBLEM_NO_MACHINE. */
const char *problem_machine(const problem *p, char *text, size_t room);

/* The value of '0', '1' ... drawn from the problem's seed; which: 0 alpha, 1 beta. */
void problem_scalar(const problem *p, int which, double *re, double *im);

bool problem_is_complex(const problem *p);

/* The stored extent of an operand (0 A, 1 B, 2 C) along and across the leading dimension. */
void problem_stored(const problem *p, int operand, int64_t *fast, int64_t *slow);

#endif
