/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program that uses the library with rights that its caller lacks, for test_privilege.sh, which
 * gives copies of it the set-user-ID bit. It says "privileged" first if the kernel takes it for
 * one.
 *
 *   privileged launch USER PROGRAM NAME WHAT    run PROGRAM as the user of that number, and call it
 *                                               NAME
 *   privileged WHAT                             use the library
 */
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "tessera.h"

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t length_a, size_t length_b);

static int launch(unsigned user, char *program, char *name, char *what) {
  char *arguments[] = {name, what, NULL};
  if (setgroups(0, NULL) != 0 || setgid(user) != 0 || setuid(user) != 0) return 3;
  execv(program, arguments);
  return 3;
}

/* Through the door: a call, and with it all settings that doors look at. */
static int call(void) {
  const int n = 1;
  const double one = 1, two = 2, three = 3;
  double c = 0;
  dgemm_("N", "N", &n, &n, &n, &one, &two, &n, &three, &n, &one, &c, &n, 1, 1);
  printf("2 * 3 = %g\n", c);
  return 0;
}

/* On a busy computer a measurement may make no sense; one that does is kept in the cache. */
static tsr_status measure(tsr_context *context) {
  tsr_status status = tsr_machine_probe(context, NULL, NULL);
  for (int again = 0; status == TSR_ERR_MACHINE && again < 100; again++)
    status = tsr_machine_probe(context, NULL, NULL);
  return status;
}

static int make_context(const char *engine, bool probe) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = engine;
  tsr_status status = tsr_context_create(&options, &context);
  if (status == TSR_OK && probe) status = measure(context);
  printf("%s\n", status == TSR_OK ? "good" : tsr_message());
  tsr_context_destroy(context);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 6 && strcmp(argv[1], "launch") == 0)
    return launch((unsigned)atoi(argv[2]), argv[3], argv[4], argv[5]);
  setvbuf(stdout, NULL, _IONBF, 0);
  if (getauxval(AT_SECURE) != 0) printf("privileged\n");
  if (argc != 2) return 2;
  if (strcmp(argv[1], "call") == 0) return call();
  if (strcmp(argv[1], "context") == 0) return make_context("host", false);
  if (strcmp(argv[1], "probe") == 0) return make_context("host", true);
  bool loads = strcmp(argv[1], "cuda") == 0 || strcmp(argv[1], "hip") == 0;
  return loads ? make_context(argv[1], false) : 2;
}
