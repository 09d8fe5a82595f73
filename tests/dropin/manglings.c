/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The PBLAS door over a ScaLAPACK of which nothing is known (fake_scalapack.c), in a program
 * without MPI: every symbol hands its call on to the symbol of the same name, with the same
 * arguments, having asked the BLACS of the same spelling. Exit code 1 names what is wrong. Argument
 * "cancelled": the thread that calls is cancelled; it goes between two calls, never inside one.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define ARGUMENTS 19
extern const char *fake_called;
extern const void *fake_seen[ARGUMENTS];
extern int fake_calls, fake_grids[4];

#define PARAMETERS                                                                        \
  const void *, const void *, const void *, const void *, const void *, const void *,     \
      const void *, const void *, const void *, const void *, const void *, const void *, \
      const void *, const void *, const void *, const void *, const void *, const void *, \
      const void *
typedef void product_function(PARAMETERS);
product_function psgemm_, psgemm, PSGEMM, psgemm__;
product_function pdgemm_, pdgemm, PDGEMM, pdgemm__;
product_function pcgemm_, pcgemm, PCGEMM, pcgemm__;
product_function pzgemm_, pzgemm, PZGEMM, pzgemm__;

/* Spellings in the order of fake_grids. */
static const struct {
  const char *name;
  product_function *routine;
} symbols[16] = {
    {"psgemm_", psgemm_}, {"psgemm", psgemm}, {"PSGEMM", PSGEMM}, {"psgemm__", psgemm__},
    {"pdgemm_", pdgemm_}, {"pdgemm", pdgemm}, {"PDGEMM", PDGEMM}, {"pdgemm__", pdgemm__},
    {"pcgemm_", pcgemm_}, {"pcgemm", pcgemm}, {"PCGEMM", PCGEMM}, {"pcgemm__", pcgemm__},
    {"pzgemm_", pzgemm_}, {"pzgemm", pzgemm}, {"PZGEMM", PZGEMM}, {"pzgemm__", pzgemm__},
};

static const int one = 1, n = 8;
static const int plain[9] = {1, 0, 8, 8, 4, 4, 0, 0, 8};
static const int with_first_blocks[11] = {2, 0, 8, 8, 2, 2, 4, 4, 0, 0, 8};
static const double scalar[2] = {1, 0};
static double a[128], b[128], c[128];

static int wrong(int i, const char *what) {
  printf("%s: %s\n", symbols[i].name, what);
  return 1;
}

static int try(int i) {
  const void *all[ARGUMENTS] = {"N",    "T",  &n,    &n,   &n,   scalar, a,
                                &one,   &one, plain, b,    &one, &one,   with_first_blocks,
                                scalar, c,    &one,  &one, plain};
  int grids = fake_grids[i % 4], calls = fake_calls;
  symbols[i].routine(all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7], all[8], all[9],
                     all[10], all[11], all[12], all[13], all[14], all[15], all[16], all[17],
                     all[18]);
  if (fake_calls != calls + (i == 0 ? 2 : 1)) return wrong(i, "not called as often as it should");
  if (strcmp(fake_called, symbols[i].name) != 0) return wrong(i, fake_called);
  if (memcmp(fake_seen, all, sizeof all) != 0) return wrong(i, "other arguments");
  if (fake_grids[i % 4] != grids + 1) return wrong(i, "other BLACS");
  return 0;
}

static int try_all(void) {
  for (int i = 0; i < 16; i++)
    if (try(i)) return 1;
  return 0;
}

static void *try_cancelled(void *result) {
  pthread_cancel(pthread_self());
  *(int *)result = try_all();
  pthread_testcancel();
  *(int *)result = 2;
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;
  int result = 3;
  if (argc < 2 || strcmp(argv[1], "cancelled") != 0) return try_all();
  if (pthread_create(&thread, NULL, try_cancelled, &result) != 0) return 4;
  pthread_join(thread, NULL);
  return result;
}
