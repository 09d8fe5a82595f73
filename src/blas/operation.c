/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "blas/operation.h"

#include <stddef.h>

#include "blas/check.h"
#include "blas/routines.def"

/* ---- The arguments of each signature ---- */

#define AT(field) offsetof(tsr_level3, field)
#define AT_OP_NONE TSR_ARGUMENT_NO_OP
#define AT_OP_transa AT(transa)
#define AT_OP_transb AT(transb)
#define FLAG_side TSR_FLAG_SIDE
#define FLAG_uplo TSR_FLAG_UPLO
#define FLAG_op TSR_FLAG_OP
#define FLAG_diag TSR_FLAG_DIAG
#define OPERAND_a TSR_A
#define OPERAND_b TSR_B_
#define OPERAND_c TSR_C_

#define OF_FLAG(field, flag_) .at = AT(field), .flag = FLAG_##flag_
#define OF_EXTENT(field) .at = AT(field)
#define OF_SCALAR(field) .given = offsetof(tsr_arguments, field)
#define OF_INFO OF_SCALAR
#define OF_INPUT(field, rows_, cols_, op_)                                                  \
  .at = AT(ld##field), .given = offsetof(tsr_arguments, field), .operand = OPERAND_##field, \
  .rows = AT(rows_), .cols = AT(cols_), .op = AT_OP_##op_
#define OF_RESULT OF_INPUT
#define ARGUMENT(x, kind_, name_, ...) \
  {.kind = TSR_ARGUMENT_##kind_, .name = #name_, OF_##kind_(__VA_ARGS__)},

#define SIGNATURE(name) \
  static const tsr_argument arguments_of_##name[] = {TSR_ARGUMENTS_##name(ARGUMENT, ARGUMENT, 0)};
TSR_SIGNATURES(SIGNATURE)

/* ---- The operations ---- */

#define LETTERS_COMPLEX "cz"
#define LETTERS_BLAS "sdcz"
#define LETTERS_ANY "sdczhbt"
#define IS_REAL_ELEMENT false
#define IS_REAL_REAL true
#define IS_REAL_NO false
#define HAS_FIELD(field, ...) .field = true,
#define HAS(x, kind, name, ...) HAS_FIELD(__VA_ARGS__, 0)

#define ROW(name_, operation, signature, family, types_, alpha, beta, kernel_, in_blas_, \
            hermitian_, text)                                                            \
  [TSR_##operation] = {                                                                  \
      .name = #name_,                                                                    \
      .types = LETTERS_##types_,                                                         \
      .kernel = TSR_KERNEL_##kernel_,                                                    \
      .in_blas = in_blas_,                                                               \
      .hermitian = hermitian_,                                                           \
      .real_alpha = IS_REAL_##alpha,                                                     \
      .real_beta = IS_REAL_##beta,                                                       \
      .has = {TSR_ARGUMENTS_##signature(HAS, HAS, 0)},                                   \
      .arguments = arguments_of_##signature,                                             \
      .argument_count = (int)(sizeof arguments_of_##signature / sizeof(tsr_argument))},

/* A factorisation has one matrix, C, of which the triangle uplo is used. */
#define FACTORISATION(name_, operation, signature, types_, kernel_, text) \
  [TSR_OPERATION_OF(TSR_##operation)] = {                                 \
      .name = #name_,                                                     \
      .types = LETTERS_##types_,                                          \
      .kernel = TSR_KERNEL_##kernel_,                                     \
      .has = {TSR_ARGUMENTS_##signature(HAS, HAS, 0)},                    \
      .arguments = arguments_of_##signature,                              \
      .argument_count = (int)(sizeof arguments_of_##signature / sizeof(tsr_argument))},

/* A solver has no kernel. */
#define SOLVER(name_, operation, signature, types_, text) \
  [TSR_OPERATION_OF_SOLVER(TSR_##operation)] = {          \
      .name = #name_,                                     \
      .types = LETTERS_##types_,                          \
      .has = {TSR_ARGUMENTS_##signature(HAS, HAS, 0)},    \
      .arguments = arguments_of_##signature,              \
      .argument_count = (int)(sizeof arguments_of_##signature / sizeof(tsr_argument))},

static const tsr_operation_info table[TSR_DOOR_OPERATIONS] = {
    TSR_ROUTINES(ROW) TSR_FACTORISATIONS(FACTORISATION) TSR_SOLVERS(SOLVER)};

const tsr_operation_info *tsr_operation_get(tsr_operation operation) {
  return (unsigned)operation < TSR_DOOR_OPERATIONS ? &table[operation] : NULL;
}

const char *tsr_operation_name(tsr_operation operation) {
  return (unsigned)operation < TSR_OPERATION_COUNT ? table[operation].name : NULL;
}

const char *tsr_operation_operand(tsr_operation operation, int operand, bool exchanged) {
  const tsr_operation_info *info = &table[operation];
  if (exchanged && operand != TSR_C_) operand = TSR_A + TSR_B_ - operand;
  for (int i = 0; i < info->argument_count; i++)
    if (info->arguments[i].kind >= TSR_ARGUMENT_INPUT && info->arguments[i].operand == operand)
      return info->arguments[i].name;
  return "b";
}

static tsr_scalar read_scalar(tsr_type type, bool real, const void *value) {
  if (real) type = type == TSR_Z ? TSR_D : TSR_S;
  return tsr_scalar_read(type, value);
}

tsr_scalar tsr_operation_alpha(tsr_operation operation, tsr_type type, const void *alpha) {
  if (!table[operation].has.alpha) return (tsr_scalar){1, 0};
  return read_scalar(type, table[operation].real_alpha, alpha);
}

tsr_scalar tsr_operation_beta(tsr_operation operation, tsr_type type, tsr_scalar alpha,
                              const void *beta) {
  if (!table[operation].has.beta) return (tsr_scalar){tsr_scalar_classify(alpha) != TSR_ZERO, 0};
  return read_scalar(type, table[operation].real_beta, beta);
}
