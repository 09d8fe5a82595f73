/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The level-3 operations for the command: the extents, flags and types that each takes, its
 * operands and its flops. Operand 0 is A, operand 1 is B, operand 2 is the written matrix (C, or B
 * of trmm and trsm).
 */
#ifndef TESSERA_OPERATION_H
#define TESSERA_OPERATION_H

#include "elements.h"
#include "settings.h"

typedef struct operation_info {
  const char *extents;  /* in the order of the BLAS routine: "MNK" */
  const char *operands; /* letters such as "ABC"; the last is the written matrix */
  const char *types;    /* letters of tsr_type */
  const char *flags;    /* letters of its flags: s(ide), u(plo), (trans)a, (trans)b, d(iag) */
  bool triangle;        /* only a triangle of C is written */
  bool hermitian;
} operation_info;

const operation_info *operation_get(tsr_operation operation);

/* Whether the operation has the operand (0 to 2); only operand 1 may be missing. */
bool operation_has(tsr_operation operation, int operand);

/* *operation: the operation named by text; the exit code. name: the argument's name in the message,
 * "OP" or "--op". */
int operation_parse(const char *name, const char *text, tsr_operation *operation);

/* Reads words such as "syrk" "d" "300" "128": fills operation, type and the operation's extents;
 * the exit code. */
int operation_parse_call(const char *const *words, int count, tsr_level3 *what);

/* Reads a list such as "syrk,trsm"; the number of operations, or -1 after a message. */
int operation_parse_list(const char *text, tsr_operation operations[TSR_OPERATION_COUNT]);

/* The flags of an operation as options; NULL: not given. */
typedef struct operation_words {
  const char *side, *uplo, *transa, *transb, *diag;
} operation_words;

#define OPERATION_SIDE(w) \
  { "side", 0, OPTION_TEXT, &(w)->side, "left|right", "the side of A in the product (left)" }
#define OPERATION_UPLO(w)                              \
  {                                                    \
    "uplo", 0, OPTION_TEXT, &(w)->uplo, "lower|upper", \
        "the triangle that is stored (default: lower)" \
  }
#define OPERATION_TRANSA(w)                                                                 \
  {                                                                                         \
    "transa", 0, OPTION_TEXT, &(w)->transa, "N|T|C",                                        \
        "use A as it is, transposed or conjugate transposed; also trans of syrk, herk, ..." \
  }
#define OPERATION_TRANSB(w) \
  { "transb", 0, OPTION_TEXT, &(w)->transb, "N|T|C", "the same for the B of gemm and gemmt" }
#define OPERATION_DIAG(w)                                                     \
  {                                                                           \
    "diag", 0, OPTION_TEXT, &(w)->diag, "unit|non-unit",                      \
        "whether a triangular A has ones on its diagonal (default: non-unit)" \
  }

/* Reads "lower" or "upper", the value of an option of that name ("--uplo"); the exit code. */
int parse_uplo(const char *name, const char *text, tsr_uplo *uplo);

/* Fills side, uplo, transa, transb and diag; the exit code. */
int operation_interpret(const operation_words *words, tsr_level3 *what);

/* TOOL_USAGE after a message if a word is given that the operation has no flag for. */
int operation_refuse(const operation_words *words, tsr_operation operation);

/* The words with one part removed: words for which the operation has no flag (uses), or words for
 * which it has one (!uses). */
operation_words operation_pick(operation_words words, tsr_operation operation, bool uses);

/* TOOL_USAGE after a message if the operation does not take the type or its transa. type_name:
 * "TYPE" or "--type", for the message. */
int operation_check(const char *type_name, const tsr_level3 *what);

/* Fills in m and k if the operation derives them, and the smallest value for each ld that is 0. */
void operation_complete(tsr_level3 *what);

/* The extents of an operand as it is stored; 0 x 0 if the operation does not have it. what must be
 * complete (operation_complete). */
void operation_stored(const tsr_level3 *what, int operand, int64_t *rows, int64_t *cols);

/* Flops as the library counts them; m, n and k as operation_complete sets them. */
double operation_flops(tsr_operation operation, tsr_type type, int64_t m, int64_t n, int64_t k);

#endif
