/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/golden.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The digests of the lines up to here, in so many places: they tell where a difference begins. */
enum { MARKS = 24, MARK_MASK = 0xffff, SHOWN = 6, MOST_SHOWN_CASES = 8 };

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
  tsr_text_free(&result->counts);
}

uint64_t golden_digest(uint64_t before, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < count; i++) before = (before ^ at[i]) * UINT64_C(1099511628211);
  return before;
}

/* How many of so many lines mark number i (from 0 on) covers; the last one covers all. */
static size_t covered_by(int i, size_t lines) {
  return (lines * (size_t)(i + 1) + MARKS - 1) / MARKS;
}

/* The digests at the marks of so many lines, as far as there are lines; how many marks that is. */
static int find_marks(const golden_lines *lines, size_t count, uint64_t mark[MARKS]) {
  uint64_t digest = GOLDEN_BASIS;
  size_t at = 0;
  for (int i = 0; i < MARKS; i++) {
    size_t covered = covered_by(i, count);
    if (covered > lines->ends.count) return i;
    size_t end = covered > 0 ? lines->ends.items[covered - 1] : 0;
    if (end > at) digest = golden_digest(digest, lines->text.bytes + at, end - at);
    mark[i] = digest;
    at = end;
  }
  return MARKS;
}

static void print_lines(const golden_lines *lines, size_t from, size_t to, const char *before) {
  for (size_t i = from; i < to && i < lines->ends.count; i++) {
    size_t begin = i > 0 ? lines->ends.items[i - 1] : 0;
    printf("%s%zu %.*s", before, i, (int)(lines->ends.items[i] - begin), lines->text.bytes + begin);
  }
}

uint64_t golden_result_digest(const golden_result *r) {
  uint64_t mark[MARKS];
  find_marks(&r->lines, r->lines.ends.count, mark);
  return golden_digest(mark[MARKS - 1], &r->unordered, sizeof r->unordered);
}

/* ---- Writing -------------------------------------------------------------- */

static void write_result(const golden_result *r, tsr_text *text) {
  size_t lines = r->lines.ends.count;
  uint64_t mark[MARKS];
  find_marks(&r->lines, lines, mark);
  tsr_text_add(text, "%s\n%s", r->name, r->counts.bytes != NULL ? r->counts.bytes : "");
  tsr_text_add(text, "  lines %zu digest %016" PRIx64 "\n  marks", lines, golden_result_digest(r));
  for (int i = 0; i < MARKS; i++) tsr_text_add(text, " %04x", (unsigned)(mark[i] & MARK_MASK));
  tsr_text_add(text, "\n  predicted %.4g s", r->predicted);
  if (r->floor >= 0) tsr_text_add(text, " floor %.4g s", r->floor);
  tsr_text_add(text, "\n\n");
  if (text->broken) out_of_memory();
}

/* ---- Reading -------------------------------------------------------------- */

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
  tsr_text written;
  int differ, shown;
};

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

/* Of a line that is the same up to there, the value that should follow a word; NAN: none. */
static double number_after(const char *line, const char *word) {
  const char *at = strstr(line, word);
  return at != NULL ? atof(at + strlen(word)) : NAN;
}

static bool is_near(double kept, double found) {
  return fabs(found - kept) <= tolerance * fabs(kept);
}

static bool same_times(const char *kept, const golden_result *r) {
  double floor = number_after(kept, " floor ");
  if (!is_near(number_after(kept, "predicted "), r->predicted)) return false;
  return r->floor < 0 ? isnan(floor) : is_near(floor, r->floor);
}

static bool begins_with(const char *line, const char *word) {
  return strncmp(line, word, strlen(word)) == 0;
}

static const char *kept_line(const kept_case *c, const char *word) {
  for (int i = 1; i < c->lines; i++)
    if (begins_with(c->line[i], word)) return c->line[i];
  return "";
}

/* Lines from .. to-1 hold the first one that differs. */
static void find_difference(const kept_case *c, const golden_result *r, size_t *from, size_t *to) {
  size_t was = 0;
  (void)sscanf(kept_line(c, "  lines"), "  lines %zu", &was);
  const char *at = strstr(kept_line(c, "  marks"), " marks");
  uint64_t mark[MARKS];
  int marks = find_marks(&r->lines, was, mark);
  char *next = (char *)(at != NULL ? at + strlen(" marks") : "");
  *from = *to = 0;
  for (int i = 0; i < MARKS; i++) {
    *from = *to;
    *to = covered_by(i, was);
    if (i == marks || strtoul(next, &next, 16) != (mark[i] & MARK_MASK)) return;
  }
  *from = *to; /* what has no order differs, or lines came behind */
  *to = r->lines.ends.count;
}

static void show_lines(const kept_case *c, const golden_result *r) {
  size_t from, to;
  find_difference(c, r, &from, &to);
  if (from >= r->lines.ends.count) {
    printf("    the lines are the same as far as they go; buffers or queues differ\n");
    return;
  }
  printf("    the first line that differs is among lines %zu to %zu, which are:\n", from,
         to > from ? to - 1 : from);
  print_lines(&r->lines, from, to < from + SHOWN ? to : from + SHOWN, "      ");
  if (to > from + SHOWN) printf("      ...\n");
}

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

static bool same_line(const char *kept, const char *found, const golden_result *r) {
  if (begins_with(kept, "  predicted") && begins_with(found, "  predicted"))
    return same_times(kept, r);
  return strcmp(kept, found) == 0;
}

/* How much of a line says what it is about: up to its first figure. */
static size_t subject(const char *line) {
  return strcspn(line, "0123456789:");
}

/* The line about the same, which is not the name; NULL: there is none. */
static const char *line_about(const char *line, char *const *among, int count) {
  size_t length = subject(line);
  for (int i = 1; i < count; i++)
    if (subject(among[i]) == length && strncmp(among[i], line, length) == 0) return among[i];
  return NULL;
}

static void show_pair(const char *kept, const char *found) {
  printf("    was %s\n    is  %s\n", kept != NULL ? kept : "  (nothing)",
         found != NULL ? found : "  (nothing)");
}

/* How many lines differ from those about the same. The marks say no more than the digest. */
static int compare_lines(const kept_case *c, const golden_result *r, char *const *line, int count,
                         bool show) {
  int differ = 0;
  for (int i = 1; i < c->lines; i++) {
    const char *found = line_about(c->line[i], line, count);
    if (begins_with(c->line[i], "  marks") || (found && same_line(c->line[i], found, r))) continue;
    differ++;
    if (show) show_pair(c->line[i], found);
  }
  for (int i = 1; i < count; i++) {
    if (begins_with(line[i], "  marks") || line_about(line[i], c->line, c->lines)) continue;
    differ++;
    if (show) show_pair(NULL, line[i]);
  }
  return differ;
}

static kept_case *find_case(golden_book *book, const char *name) {
  for (int i = 0; i < book->cases; i++)
    if (strcmp(book->kept[i].line[0], name) == 0) return &book->kept[i];
  return NULL;
}

static void compare(golden_book *book, const golden_result *r) {
  enum { MOST_LINES = 64 };
  char *line[MOST_LINES];
  tsr_text text = TSR_TEXT_INIT;
  kept_case *kept = find_case(book, r->name);
  bool show = book->shown < MOST_SHOWN_CASES;
  if (kept == NULL) {
    printf("  %s: %s does not have it\n", r->name, book->path);
    book->differ++;
    return;
  }
  kept->seen = true;
  write_result(r, &text);
  int count = split(text.bytes, line, MOST_LINES);
  if (compare_lines(kept, r, line, count, false) > 0) {
    book->differ++;
    book->shown++;
    if (show) {
      printf("  %s\n", r->name);
      compare_lines(kept, r, line, count, true);
      const char *found = line_about("  lines 0", line, count);
      if (found == NULL || strcmp(kept_line(kept, "  lines"), found) != 0) show_lines(kept, r);
      if (r->aside != NULL) printf("    is  %s\n", r->aside);
    }
  }
  tsr_text_free(&text);
}

bool golden_wants(const char *name) {
  bool wanted = golden_asked.only == NULL || strstr(name, golden_asked.only) != NULL;
  if (wanted && golden_asked.mode == GOLDEN_LIST) printf("%s\n", name);
  return wanted && golden_asked.mode != GOLDEN_LIST;
}

void golden_note(golden_book *book, const golden_result *result) {
  if (golden_asked.mode == GOLDEN_WRITE) write_result(result, &book->written);
  if (golden_asked.mode == GOLDEN_COMPARE) compare(book, result);
  if (golden_asked.mode == GOLDEN_SCORES) printf("\"%s\",%.6g\n", result->name, result->predicted);
  if (golden_asked.mode == GOLDEN_WHY)
    printf("%s\n    %s\n", result->name, result->aside != NULL ? result->aside : "");
  if (golden_asked.mode != GOLDEN_LINES) return;
  printf("%s\n", result->name);
  print_lines(&result->lines, 0, result->lines.ends.count, "");
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
