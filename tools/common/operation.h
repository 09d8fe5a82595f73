/*
 * The level-3 operations as the command knows them: what each is told, what its operands are, and
 * what it costs. Operands are A, B and what is written, in that order: 0, 1, 2.
 */
#ifndef TESSERA_OPERATION_H
#define TESSERA_OPERATION_H

#include "elements.h"
#include "settings.h"

typedef struct operation_info {
  const char *extents;  /* in the order of the BLAS routine: "MNK" */
  const char *operands; /* their letters: "ABC"; the last is what is written */
  const char *types;    /* letters of tsr_type */
  const char *flags;    /* of side, uplo, transa, transb, diag: which it has, as "su" */
  bool triangle;        /* only a triangle of C is written */
  bool hermitian;
} operation_info;

const operation_info *operation_get(tsr_operation operation);

/* Which of A, B and what is written the operation has. */
bool operation_has(tsr_operation operation, int operand);

/* The operation of that name; name is what the message calls the argument: "OP" or "--op". */
int operation_parse(const char *name, const char *text, tsr_operation *operation);

/* "syrk", "d", "300", "128": fills operation, type and the extents that it has. */
int operation_parse_call(const char *const *words, int count, tsr_level3 *what);

/* "syrk,trsm": how many, or -1 after a message. */
int operation_parse_list(const char *text, tsr_operation operations[TSR_OPERATION_COUNT]);

/* The options of operations; NULL: not given. */
typedef struct operation_words {
  const char *side, *uplo, *transa, *transb, *diag;
} operation_words;

#define OPERATION_SIDE(w) \
  { "side", 0, OPTION_TEXT, &(w)->side, "left|right", "where A stands (default: left)" }
#define OPERATION_UPLO(w)                              \
  {                                                    \
    "uplo", 0, OPTION_TEXT, &(w)->uplo, "lower|upper", \
        "the triangle that is stored (default: lower)" \
  }
#define OPERATION_TRANSA(w)                                                        \
  {                                                                                \
    "transa", 0, OPTION_TEXT, &(w)->transa, "N|T|C",                               \
        "A as it is, transposed, conjugate transposed; trans of syrk and its like" \
  }
#define OPERATION_TRANSB(w) \
  { "transb", 0, OPTION_TEXT, &(w)->transb, "N|T|C", "the same for the B of gemm and gemmt" }
#define OPERATION_DIAG(w)                                                     \
  {                                                                           \
    "diag", 0, OPTION_TEXT, &(w)->diag, "unit|non-unit",                      \
        "whether a triangular A has ones on its diagonal (default: non-unit)" \
  }

/* Fills side, uplo, transa, transb and diag. */
int operation_interpret(const operation_words *words, tsr_level3 *what);

/* A message for a word that the operation has no use for. */
int operation_refuse(const operation_words *words, tsr_operation operation);

/* Without the words that the operation has a use for (uses is false), or without the others. */
operation_words operation_pick(operation_words words, tsr_operation operation, bool uses);

/* Whether the operation takes the type and its transa; type_name is "TYPE" or "--type". */
int operation_check(const char *type_name, const tsr_level3 *what);

/* m and k where the operation derives them, and each ld that is 0 as small as can be. */
void operation_complete(tsr_level3 *what);

/* The extents of an operand as it is stored; 0 x 0 when there is none. what is complete. */
void operation_stored(const tsr_level3 *what, int operand, int64_t *rows, int64_t *cols);

/* As the library counts them; m, n and k as operation_complete leaves them. */
double operation_flops(tsr_operation operation, tsr_type type, int64_t m, int64_t n, int64_t k);

#endif
