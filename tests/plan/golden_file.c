/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/golden.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN_CASES = 8, MOST_LINES = 64, MOST_FAMILIES = 16 };

/* Of shares, which are kept with four places, and of times. */
static const double tolerance = 1e-3;

golden_options golden_asked = {.mode = GOLDEN_COMPARE};

static _Noreturn void out_of_memory(void) {
  fprintf(stderr, "no host memory for goldens\n");
  exit(1);
}

static void *must_have(void *pointer) {
  if (pointer == NULL) out_of_memory();
  return pointer;
}

const char *golden_path(const char *path) {
  static char full[1024];
  const char *root = getenv("TESSERA_SOURCE_DIR");
  snprintf(full, sizeof full, "%s/%s", root != NULL && *root ? root : ".", path);
  return full;
}

/* ---- Lines ---------------------------------------------------------------- */

void golden_line_end(golden_lines *lines) {
  tsr_text_add(&lines->text, "\n");
  if (!TSR_VEC_PUSH(&lines->ends, lines->text.length) || lines->text.broken) out_of_memory();
}

void golden_lines_free(golden_lines *lines) {
  tsr_text_free(&lines->text);
  TSR_VEC_FREE(&lines->ends);
}

void golden_result_free(golden_result *result) {
  golden_lines_free(&result->lines);
  tsr_text_free(&result->strategy);
  tsr_text_free(&result->counts);
}

uint64_t golden_digest(uint64_t before, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < count; i++) before = (before ^ at[i]) * UINT64_C(1099511628211);
  return before;
}

uint64_t golden_result_digest(const golden_result *r) {
  uint64_t digest = GOLDEN_BASIS;
  if (r->lines.text.length > 0)
    digest = golden_digest(digest, r->lines.text.bytes, r->lines.text.length);
  return golden_digest(digest, &r->unordered, sizeof r->unordered);
}

/* ---- Writing -------------------------------------------------------------- */

/* A case of a file: its lines, each ended by a NUL. */
typedef struct kept_case {
  char **line; /* line[0]: the name */
  int lines;
  bool seen;
} kept_case;

struct golden_book {
  const char *path;
  char *bytes; /* of the file */
  kept_case *kept;
  int cases;
  const char *family[MOST_FAMILIES]; /* whose first case was noted */
  int families;
  tsr_text written;
  int differ, shown;
};

/* A family has one long form in a file: that of its first case. */
static bool is_first_of_family(golden_book *book, const char *family) {
  if (family == NULL || book->families == MOST_FAMILIES) return false;
  for (int i = 0; i < book->families; i++)
    if (strcmp(book->family[i], family) == 0) return false;
  book->family[book->families++] = family;
  return true;
}

static void write_digest(const golden_result *r, tsr_text *text) {
  if (r->floor > 0)
    tsr_text_add(text, "  %.4f of the floor, ", r->floor / r->predicted);
  else
    tsr_text_add(text, "  %.4g s, ", r->predicted);
  tsr_text_add(text, "lines %zu digest %016" PRIx64 "\n", r->lines.ends.count,
               golden_result_digest(r));
}

/* The name; the strategy; time, number of lines and digest; in a long form the counts. */
static void write_result(const golden_result *r, bool is_long, tsr_text *text) {
  tsr_text_add(text, "%s\n", r->name);
  if (r->strategy.length > 0) tsr_text_add(text, "  strategy: %s\n", r->strategy.bytes);
  if (r->refused)
    tsr_text_add(text, "  refused\n");
  else
    write_digest(r, text);
  if (is_long && r->counts.length > 0) tsr_text_add(text, "%s", r->counts.bytes);
  tsr_text_add(text, "\n");
  if (text->broken) out_of_memory();
}

/* ---- Reading -------------------------------------------------------------- */

static void add_line(golden_book *book, char *line) {
  bool begins = *line != ' ';
  if (begins) {
    book->kept = must_have(realloc(book->kept, (size_t)(book->cases + 1) * sizeof *book->kept));
    book->kept[book->cases++] = (kept_case){NULL, 0, false};
  }
  if (book->cases == 0) return;
  kept_case *c = &book->kept[book->cases - 1];
  c->line = must_have(realloc(c->line, (size_t)(c->lines + 1) * sizeof *c->line));
  c->line[c->lines++] = line;
}

/* The file's text, for free(); NULL: it cannot be read. */
static char *text_of(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  rewind(file);
  char *text = must_have(calloc((size_t)length + 1, 1));
  bool whole = fread(text, 1, (size_t)length, file) == (size_t)length;
  fclose(file);
  if (whole) return text;
  free(text);
  return NULL;
}

static void read_file(golden_book *book) {
  book->bytes = text_of(golden_path(book->path));
  if (book->bytes == NULL) {
    printf("%s cannot be read\n", golden_path(book->path));
    book->differ++;
    return;
  }
  for (char *at = book->bytes; *at != '\0';) {
    char *end = strchr(at, '\n'), *next = end != NULL ? end + 1 : at + strlen(at);
    if (end != NULL) *end = '\0';
    if (*at != '\0' && *at != '#') add_line(book, at);
    at = next;
  }
}

golden_book *golden_open(const char *path) {
  golden_book *book = must_have(calloc(1, sizeof *book));
  *book = (golden_book){.path = path};
  if (golden_asked.mode == GOLDEN_COMPARE) read_file(book);
  return book;
}

/* ---- Comparing ------------------------------------------------------------ */

/* The lines of a result, as in the file; its text is changed. */
static int split(char *text, char **line, int room) {
  int count = 0;
  for (char *at = text; *at != '\0' && count < room;) {
    char *end = strchr(at, '\n');
    if (end != NULL) *end = '\0';
    if (*at != '\0') line[count++] = at;
    if (end == NULL) break;
    at = end + 1;
  }
  return count;
}

static bool begins_with(const char *line, const char *word) {
  return strncmp(line, word, strlen(word)) == 0;
}

/* Words of a strategy may be written anew: the digest covers every command that comes of it. Times
 * are near, and the words behind them the same. */
static bool same_line(const char *kept, const char *found) {
  static const char strategy[] = "  strategy: ";
  char *kept_words, *found_words;
  if (begins_with(kept, strategy) && begins_with(found, strategy)) return true;
  double was = strtod(kept, &kept_words), is = strtod(found, &found_words);
  if (kept_words == kept || found_words == found) return strcmp(kept, found) == 0;
  return fabs(is - was) <= tolerance * fabs(was) && strcmp(kept_words, found_words) == 0;
}

/* How many lines differ from the one in the same place. */
static int compare_lines(const kept_case *c, char *const *line, int count) {
  int differ = 0, most = count > c->lines ? count : c->lines;
  for (int i = 1; i < most; i++)
    differ += i >= count || i >= c->lines || !same_line(c->line[i], line[i]);
  return differ;
}

static void show_lines(const char *word, char *const *line, int count) {
  for (int i = 1; i < count; i++) printf("    %s%s\n", i == 1 ? word : "   ", line[i]);
}

static kept_case *find_case(golden_book *book, const char *name) {
  for (int i = 0; i < book->cases; i++)
    if (strcmp(book->kept[i].line[0], name) == 0) return &book->kept[i];
  return NULL;
}

static void show_difference(const golden_result *r, const kept_case *kept, char *const *line,
                            int count) {
  printf("  %s\n", r->name);
  show_lines("was", kept->line, kept->lines);
  show_lines("is ", line, count);
  if (r->aside != NULL) printf("        %s\n", r->aside);
}

static void compare(golden_book *book, const golden_result *r, bool is_long) {
  char *line[MOST_LINES];
  tsr_text text = TSR_TEXT_INIT;
  kept_case *kept = find_case(book, r->name);
  if (kept == NULL) {
    printf("  %s: %s does not have it\n", r->name, book->path);
    book->differ++;
    return;
  }
  kept->seen = true;
  write_result(r, is_long, &text);
  int count = split(text.bytes, line, MOST_LINES);
  if (compare_lines(kept, line, count) > 0) {
    book->differ++;
    if (book->shown++ < MOST_SHOWN_CASES) show_difference(r, kept, line, count);
  }
  tsr_text_free(&text);
}

bool golden_wants(const char *name) {
  bool wanted = golden_asked.only == NULL || strstr(name, golden_asked.only) != NULL;
  if (wanted && golden_asked.mode == GOLDEN_LIST) printf("%s\n", name);
  return wanted && golden_asked.mode != GOLDEN_LIST;
}

static void print_long(const golden_result *r) {
  tsr_text text = TSR_TEXT_INIT;
  write_result(r, true, &text);
  printf("%.*s", (int)text.length - 1, text.bytes); /* without its blank line */
  for (size_t i = 0; i < r->lines.ends.count; i++) {
    size_t begin = i > 0 ? r->lines.ends.items[i - 1] : 0;
    printf("  %zu %.*s", i, (int)(r->lines.ends.items[i] - begin), r->lines.text.bytes + begin);
  }
  printf("\n");
  tsr_text_free(&text);
}

void golden_note(golden_book *book, const golden_result *result) {
  bool is_long = is_first_of_family(book, result->family);
  if (result->wrong) {
    book->differ++;
    printf("  %s: the plan is wrong: %s\n", result->name, result->aside);
    return;
  }
  switch (golden_asked.mode) {
    case GOLDEN_WRITE:
      write_result(result, is_long, &book->written);
      break;
    case GOLDEN_COMPARE:
      compare(book, result, is_long);
      break;
    case GOLDEN_SCORES:
      printf("\"%s\",%.6g\n", result->name, result->predicted);
      break;
    case GOLDEN_LONG:
      print_long(result);
      break;
    case GOLDEN_LIST:
      break;
  }
}

/* ---- Closing -------------------------------------------------------------- */

static void look_for_unseen(golden_book *book) {
  for (int i = 0; i < book->cases; i++) {
    const char *name = book->kept[i].line[0];
    if (book->kept[i].seen || (golden_asked.only != NULL && !strstr(name, golden_asked.only)))
      continue;
    printf("  %s: it is in %s, but there is no such case\n", name, book->path);
    book->differ++;
  }
}

static void write_file(golden_book *book) {
  const char *path = golden_path(book->path);
  if (golden_asked.only != NULL) {
    printf("  %s was not written: a file is written whole, so leave the case away\n", path);
    book->differ++;
  } else {
    FILE *file = fopen(path, "w");
    size_t length = book->written.length;
    bool written = file != NULL && fwrite(book->written.bytes, 1, length, file) == length;
    if (file != NULL) written &= fclose(file) == 0;
    if (!written) printf("%s cannot be written\n", path);
    book->differ += !written;
  }
}

int golden_close(golden_book *book) {
  if (golden_asked.mode == GOLDEN_COMPARE) look_for_unseen(book);
  if (golden_asked.mode == GOLDEN_WRITE) write_file(book);
  int differ = book->differ;
  if (differ > 0 && golden_asked.mode == GOLDEN_COMPARE)
    printf("  %d of %s differ%s\n", differ, book->path,
           book->shown > MOST_SHOWN_CASES ? " (not all are shown)" : "");
  for (int i = 0; i < book->cases; i++) free(book->kept[i].line);
  free(book->kept);
  free(book->bytes);
  tsr_text_free(&book->written);
  free(book);
  return differ;
}
