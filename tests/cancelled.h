/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Threads that are cancelled inside a function of the library. The cancellation is pending before
 * the function is called, so that the first point inside at which a thread may be cancelled would
 * end it. Where a function fails, the log is such a point: with TESSERA_LOG=error all functions
 * that can fail are tested with arguments that are refused. Behind cmocka.h and tessera.h.
 */
#ifndef TSR_TESTS_CANCELLED_H
#define TSR_TESTS_CANCELLED_H

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct victim {
  void (*work)(void *argument);
  void *argument;
  int done; /* work has returned */
} victim;

static inline void *cancelled(void *argument) {
  victim *v = argument;
  pthread_cancel(pthread_self());
  v->work(v->argument);
  v->done = 1;
  pthread_testcancel();
  return NULL;
}

/* Whether work came to its end; the cancellation took effect, there or behind it. */
static inline int survives(void (*work)(void *argument), void *argument) {
  victim v = {.work = work, .argument = argument};
  pthread_t thread;
  void *result;
  assert_int_equal(pthread_create(&thread, NULL, cancelled, &v), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_ptr_equal(result, PTHREAD_CANCELED);
  return v.done;
}

/* The log goes to stderr, where nobody wants to read it. */
static inline int hide_stderr(void) {
  int kept = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
  assert_true(kept >= 0 && nowhere >= 0);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
  return kept;
}

static inline void show_stderr(int kept) {
  dup2(kept, STDERR_FILENO);
  close(kept);
}

/* ---- Calls that are refused, of a list ---- */

typedef struct refusal {
  tsr_status (*call)(int index);
  int index;
  tsr_status status;
} refusal;

static inline void be_refused(void *argument) {
  refusal *r = argument;
  r->status = r->call(r->index);
}

/* One that is not refused logs nothing, and would be no test. */
static inline void assert_not_left(const char *text, tsr_status (*call)(int index), int index) {
  refusal r = {.call = call, .index = index, .status = TSR_OK};
  int kept = hide_stderr(), survived = survives(be_refused, &r);
  show_stderr(kept);
  if (!survived) fail_msg("a thread was cancelled inside %s", text);
  if (r.status == TSR_OK) fail_msg("%s was not refused", text);
}

static inline int names(const char *const *texts, int count, const char *name, size_t length) {
  for (int i = 0; i < count; ++i)
    if (strncmp(texts[i], name, length) == 0 && texts[i][length] == '(') return 1;
  return 0;
}

/* The texts of calls name all functions of a public header that return a status, but for those that
 * are declared by a macro (tsr_dgemm), which call others; how many there are. */
static inline int assert_names(const char *header, const char *const *texts, int count) {
  static const char begin[] = "TSR_API tsr_status ";
  char path[4096], line[512];
  snprintf(path, sizeof path, "%s/include/%s", getenv("TESSERA_SOURCE_DIR"), header);
  FILE *file = fopen(path, "r");
  int found = 0;
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, begin, strlen(begin)) != 0) continue;
    const char *name = line + strlen(begin);
    int length = (int)strcspn(name, "(");
    if (!names(texts, count, name, (size_t)length)) fail_msg("%.*s is not called", length, name);
    found++;
  }
  fclose(file);
  return found;
}

/* All functions of the headers, whose list ends with NULL, and no other. */
static inline void assert_names_all(const char *const *headers, const char *const *texts,
                                    int count) {
  int found = 0;
  for (int i = 0; headers[i] != NULL; i++) found += assert_names(headers[i], texts, count);
  assert_int_equal(found, count);
}

#endif
