/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "operation.h"

#include <ctype.h>
#include <string.h>

static const operation_info table[TSR_OPERATION_COUNT] = {
    [TSR_GEMM] = {"MNK", "ABC", "sdczhbt", "ab", false, false},
    [TSR_GEMMT] = {"NK", "ABC", "sdcz", "uab", true, false},
    [TSR_SYMM] = {"MN", "ABC", "sdcz", "su", false, false},
    [TSR_HEMM] = {"MN", "ABC", "cz", "su", false, true},
    [TSR_SYRK] = {"NK", "AC", "sdcz", "ua", true, false},
    [TSR_HERK] = {"NK", "AC", "cz", "ua", true, true},
    [TSR_SYR2K] = {"NK", "ABC", "sdcz", "ua", true, false},
    [TSR_HER2K] = {"NK", "ABC", "cz", "ua", true, true},
    [TSR_TRMM] = {"MN", "AB", "sdcz", "suad", false, false},
    [TSR_TRSM] = {"MN", "AB", "sdcz", "suad", false, false},
};

const operation_info *operation_get(tsr_operation operation) {
  return &table[operation];
}

bool operation_has(tsr_operation operation, int operand) {
  return operand != 1 || strlen(table[operation].operands) == 3;
}

static bool has_flag(tsr_operation operation, char flag) {
  return strchr(table[operation].flags, flag) != NULL;
}

/* ---- Names ---- */

/* The text "gemm, gemmt, ... or trsm". */
static const char *list_names(void) {
  static char text[120];
  int used = 0;
  for (int i = 0; i < TSR_OPERATION_COUNT; i++) {
    const char *before = i == 0 ? "" : i + 1 < TSR_OPERATION_COUNT ? ", " : " or ";
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", before,
                     tsr_operation_name((tsr_operation)i));
  }
  return text;
}

/* False: no operation is called so. */
static bool find(const char *text, tsr_operation *operation) {
  for (int i = 0; i < TSR_OPERATION_COUNT; i++) {
    if (strcmp(text, tsr_operation_name((tsr_operation)i)) != 0) continue;
    *operation = (tsr_operation)i;
    return true;
  }
  return false;
}

/* The operation whose name the text misspells; NULL: there is none. */
static const char *nearest_name(const char *text) {
  const char *names[TSR_OPERATION_COUNT + 1] = {NULL};
  for (int i = 0; i < TSR_OPERATION_COUNT; i++) names[i] = tsr_operation_name((tsr_operation)i);
  return tsr_word_nearest(text, names);
}

/* Refuses a text that is no operation. The BLAS has the type in the name ("dgemm"); here it stands
 * beside the operation, or is an option where operations are one. */
static int refuse_name(const char *name, const char *text) {
  tsr_operation meant;
  bool typed = text[0] && strchr("sdczhbt", text[0]) && find(text + 1, &meant);
  if (typed)
    return tool_usage("%s %s: no such operation; did you mean %s %s%c?", name, text,
                      tsr_operation_name(meant), name[0] == '-' ? "and --type " : "", text[0]);
  const char *nearest = nearest_name(text);
  if (nearest) return tool_usage("%s %s: no such operation; did you mean %s?", name, text, nearest);
  return tool_usage("%s %s: no such operation; give %s", name, text, list_names());
}

int operation_parse(const char *name, const char *text, tsr_operation *operation) {
  return find(text, operation) ? TOOL_OK : refuse_name(name, text);
}

int operation_parse_list(const char *text, tsr_operation operations[TSR_OPERATION_COUNT]) {
  for (int count = 0; count < TSR_OPERATION_COUNT; text++) {
    char word[16];
    size_t length = strcspn(text, ",");
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    if (operation_parse("--op", word, &operations[count]) != TOOL_OK) return -1;
    count++;
    text += length;
    if (!*text) return count;
  }
  tool_usage("--op: more than %d operations; name each once", TSR_OPERATION_COUNT);
  return -1;
}

/* ---- Calls ---- */

static int64_t *extent_of(tsr_level3 *what, char letter) {
  return letter == 'M' ? &what->m : letter == 'N' ? &what->n : &what->k;
}

/* "M N K" */
static void list_extents(const char *extents, char text[8]) {
  int used = 0;
  for (const char *e = extents; *e; e++) {
    used += snprintf(text + used, 8 - (size_t)used, "%s%c", e == extents ? "" : " ", *e);
  }
}

static int parse_extents(const char *const *words, int count, tsr_level3 *what) {
  const char *extents = operation_get(what->operation)->extents;
  if (count != (int)strlen(extents)) {
    char text[8];
    list_extents(extents, text);
    return tool_usage("too %s arguments: %s TYPE %s", count < (int)strlen(extents) ? "few" : "many",
                      tsr_operation_name(what->operation), text);
  }
  for (int i = 0; i < count; i++) {
    if (options_whole_list(words[i], extent_of(what, extents[i]), 1) != 1) {
      return tool_usage("%c '%s': not a whole number; write it as 10000, 10k or 1e4", extents[i],
                        words[i]);
    }
  }
  return TOOL_OK;
}

int operation_parse_call(const char *const *words, int count, tsr_level3 *what) {
  if (count >= 1 && !find(words[0], &what->operation)) return refuse_name("OP", words[0]);
  if (count < 2)
    return tool_usage("too few arguments: give an operation, its type and its extents");
  int code = parse_type("TYPE", words[1], &what->type);
  return code ? code : parse_extents(words + 2, count - 2, what);
}

/* ---- Options ---- */

/* *value: the library's letter for one of two words; the exit code. */
static int parse_word(const char *name, const char *text, const char *const words[2],
                      const int values[2], int *value) {
  for (int i = 0; i < 2; i++) {
    if (strcmp(text, words[i]) != 0) continue;
    *value = values[i];
    return TOOL_OK;
  }
  return tool_usage("%s %s: must be %s or %s", name, text, words[0], words[1]);
}

int parse_uplo(const char *name, const char *text, tsr_uplo *uplo) {
  static const char *const triangles[2] = {"lower", "upper"};
  static const int values[2] = {TSR_LOWER, TSR_UPPER};
  int value = *uplo, code = parse_word(name, text, triangles, values, &value);
  *uplo = (tsr_uplo)value;
  return code;
}

int operation_interpret(const operation_words *words, tsr_level3 *what) {
  static const char *const sides[2] = {"left", "right"}, *const diagonals[2] = {"unit", "non-unit"};
  static const int side_values[2] = {TSR_LEFT, TSR_RIGHT},
                   diag_values[2] = {TSR_UNIT, TSR_NON_UNIT};
  int side = TSR_LEFT, diag = TSR_NON_UNIT, code = TOOL_OK;
  what->uplo = TSR_LOWER;
  what->transa = what->transb = TSR_NO_TRANS;
  if (words->side) code = parse_word("--side", words->side, sides, side_values, &side);
  if (!code && words->uplo) code = parse_uplo("--uplo", words->uplo, &what->uplo);
  if (!code && words->transa) code = parse_op("--transa", words->transa, &what->transa);
  if (!code && words->transb) code = parse_op("--transb", words->transb, &what->transb);
  if (!code && words->diag) code = parse_word("--diag", words->diag, diagonals, diag_values, &diag);
  what->side = (tsr_side)side;
  what->diag = (tsr_diag)diag;
  return code;
}

int operation_refuse(const operation_words *words, tsr_operation operation) {
  const struct {
    char flag;
    const char *name, *text;
  } given[] = {{'s', "side", words->side},
               {'u', "uplo", words->uplo},
               {'a', "transa", words->transa},
               {'b', "transb", words->transb},
               {'d', "diag", words->diag}};
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    if (!given[i].text || has_flag(operation, given[i].flag)) continue;
    return tool_usage("--%s %s: %s has no such choice; leave it out", given[i].name, given[i].text,
                      tsr_operation_name(operation));
  }
  return TOOL_OK;
}

operation_words operation_pick(operation_words words, tsr_operation operation, bool uses) {
  const struct {
    char flag;
    const char **text;
  } all[] = {{'s', &words.side},
             {'u', &words.uplo},
             {'a', &words.transa},
             {'b', &words.transb},
             {'d', &words.diag}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (has_flag(operation, all[i].flag) != uses) *all[i].text = NULL;
  return words;
}

/* The text of a list of types: "s, d, c or z". */
static const char *list_types(const char *types) {
  static char text[32];
  int used = 0;
  for (const char *t = types; *t; t++) {
    const char *before = t == types ? "" : t[1] ? ", " : " or ";
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%c", before, *t);
  }
  return text;
}

int operation_check(const char *type_name, const tsr_level3 *what) {
  const operation_info *info = operation_get(what->operation);
  const char *name = tsr_operation_name(what->operation);
  if (!strchr(info->types, (int)what->type)) {
    return tool_usage("%s %c: %s takes %s", type_name, (char)what->type, name,
                      list_types(info->types));
  }
  /* For complex types the BLAS has no syrk with conjugate transposes and no herk with plain ones;
   * for real types both are the same. */
  bool rank_k = strcmp(info->flags, "ua") == 0;
  tsr_op wrong = info->hermitian ? TSR_TRANS : TSR_CONJ_TRANS;
  if (rank_k && element_is_complex(what->type) && what->transa == wrong) {
    return tool_usage("--transa %c: %s of a complex type takes N or %c", (char)wrong, name,
                      info->hermitian ? 'C' : 'T');
  }
  return TOOL_OK;
}

/* ---- Extents ---- */

static void orient(tsr_op op, int64_t op_rows, int64_t op_cols, int64_t *rows, int64_t *cols) {
  *rows = op == TSR_NO_TRANS ? op_rows : op_cols;
  *cols = op == TSR_NO_TRANS ? op_cols : op_rows;
}

void operation_stored(const tsr_level3 *w, int operand, int64_t *rows, int64_t *cols) {
  bool product = has_flag(w->operation, 'b'), sided = has_flag(w->operation, 's');
  *rows = *cols = 0;
  if (!operation_has(w->operation, operand)) return;
  if (operand == 2 || (sided && operand == 1)) {
    orient(TSR_NO_TRANS, w->m, w->n, rows, cols);
  } else if (sided) {
    *rows = *cols = w->k;
  } else if (product && operand == 1) {
    orient(w->transb, w->k, w->n, rows, cols);
  } else {
    orient(w->transa, w->m, w->k, rows, cols);
  }
}

static int64_t least_ld(const tsr_level3 *w, int operand) {
  int64_t rows, cols;
  operation_stored(w, operand, &rows, &cols);
  int64_t ld = w->layout == TSR_COL_MAJOR ? rows : cols;
  return ld > 1 ? ld : 1;
}

void operation_complete(tsr_level3 *w) {
  if (operation_get(w->operation)->triangle) w->m = w->n;
  if (has_flag(w->operation, 's')) w->k = w->side == TSR_LEFT ? w->m : w->n;
  if (!w->lda) w->lda = least_ld(w, 0);
  if (!w->ldb) w->ldb = least_ld(w, 1);
  if (!w->ldc) w->ldc = least_ld(w, 2);
}

double operation_flops(tsr_operation operation, tsr_type type, int64_t m, int64_t n, int64_t k) {
  double flops = element_flops(type, m, n, k);
  if (operation_get(operation)->triangle) flops = 0.5 * element_flops(type, n, n + 1, k);
  if (operation == TSR_SYR2K || operation == TSR_HER2K) flops *= 2;
  if (operation == TSR_TRMM || operation == TSR_TRSM) flops /= 2;
  return flops;
}
