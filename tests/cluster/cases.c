/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cases.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 600 /* s; a hang ends the program */ };

/* ---- Judging --------------------------------------------------------------- */

static char why[700];

bool hold(bool right, const char *what, int line) {
  if (!right && why[0] == '\0')
    snprintf(why, sizeof why, "line %d: %s (%s)", line, what, tsr_message());
  return right;
}

/* Whether all processes have the same bytes. Collective. */
static bool all_same(const void *value, int bytes) {
  char first[600];
  memcpy(first, value, (size_t)bytes);
  MPI_Bcast(first, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  int same = memcmp(first, value, (size_t)bytes) == 0, all;
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all;
}

void expect(tsr_status status, tsr_status wanted, const char *part, int line) {
  char message[600] = "";
  snprintf(message, sizeof message, "%s", tsr_message());
  bool same = all_same(&status, sizeof status);
  hold(status == wanted, tsr_status_name(wanted), line);
  if (!hold(same, "the same status everywhere", line) || status == TSR_OK) return;
  hold(all_same(message, sizeof message), "the same message everywhere", line);
  hold(strstr(message, part) != NULL, part, line);
}

int next_of(const world *w, int who) {
  return who + (w->size > 4 ? 4 : 1);
}

tsr_context *with_little_memory(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = "host";
  options.devices = "1";
  options.machine = "host:200 gpu*1@nvlink:300 pcie:25 rate:1";
  options.memory = 512;
  HOLD(tsr_context_create(&options, &context) == TSR_OK);
  return context;
}

/* ---- A small product ------------------------------------------------------- */

bool call_create(tsr_grid *grid, tsr_op transa, call *x) {
  *x = (call){.grid = grid, .transa = transa, .m = N, .alpha = 1, .beta = 0};
  tsr_pmatrix *all[3] = {&x->a, &x->b, &x->c};
  for (int i = 0; i < 3; i++) {
    if (tsr_pmatrix_create(grid, TSR_D, N, N, BLOCK + i, BLOCK, 0, 0, all[i]) != TSR_OK)
      return false;
    int64_t rows, cols;
    if (tsr_pmatrix_extents(all[i], &rows, &cols) != TSR_OK) return false;
    for (int64_t at = 0; at < rows * cols; at++) ((double *)all[i]->data)[at] = 1;
  }
  return true;
}

void call_destroy(call *x) {
  tsr_pmatrix_destroy(&x->a);
  tsr_pmatrix_destroy(&x->b);
  tsr_pmatrix_destroy(&x->c);
}

tsr_status call_run(const call *x) {
  return tsr_pgemm(x->grid, x->transa, TSR_NO_TRANS, x->m, N, N, &x->alpha, &x->a, x->ia, 0, &x->b,
                   0, 0, &x->beta, &x->c, 0, 0);
}

tsr_status call_run_async(const call *x) {
  return tsr_pgemm_async(x->grid, x->transa, TSR_NO_TRANS, x->m, N, N, &x->alpha, &x->a, x->ia, 0,
                         &x->b, 0, 0, &x->beta, &x->c, 0, 0);
}

bool is_right(const call *x) {
  int64_t rows, cols;
  if (tsr_pmatrix_extents(&x->c, &rows, &cols) != TSR_OK) return false;
  for (int64_t at = 0; at < rows * cols; at++)
    if (((double *)x->c.data)[at] != N) return false;
  return true;
}

void goes_on(tsr_grid *grid) {
  call x;
  if (HOLD(call_create(grid, TSR_NO_TRANS, &x))) {
    EXPECT(call_run(&x), TSR_OK, "");
    HOLD(is_right(&x));
  }
  call_destroy(&x);
}

/* ---- The program ------------------------------------------------------------ */

/* Prints the result of a case on process 0, with the note of the first process on which it failed.
 * Returns whether it passed on all. */
static bool report(const world *w, const char *name) {
  int mine = why[0] != '\0' ? w->rank : w->size, first;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first < w->size) MPI_Bcast(why, sizeof why, MPI_CHAR, first, MPI_COMM_WORLD);
  if (w->rank == 0 && first == w->size) printf("ok %s\n", name);
  if (w->rank == 0 && first < w->size) printf("FAILED %s: process %d: %s\n", name, first, why);
  if (w->rank == 0) fflush(stdout);
  return first == w->size;
}

static bool open_world(world *w) {
  tsr_options cpu = TSR_OPTIONS_DEFAULT, devices = TSR_OPTIONS_DEFAULT;
  cpu.engine = "cpu";
  devices.engine = "host";
  devices.devices = "2";
  devices.machine = "host:200 gpu*2@nvlink:300 pcie:25 rate:1";
  devices.memory = (size_t)16 << 20;
  devices.check = 1;
  return tsr_context_create(&cpu, &w->cpu) == TSR_OK &&
         tsr_context_create(&devices, &w->devices) == TSR_OK;
}

int run_cases(int argc, char **argv, const test_case *cases, size_t count) {
  world w = {0};
  tsr_grid *none = NULL;
  alarm(PATIENCE);
  if (!open_world(&w)) return printf("no context: %s\n", tsr_message()), 1;
  bool refused = tsr_grid_create(w.cpu, MPI_COMM_WORLD, 0, 0, &none) == TSR_ERR_ARGUMENT;
  bool alone = false;
  for (int i = 1; i + 1 < argc; i++)
    alone |= strcmp(argv[i], "--level") == 0 && argv[i + 1][0] < '3';
  int level;
  MPI_Init_thread(&argc, &argv, alone ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &w.size);
  HOLD(refused);
  HOLD(tsr_grid_create(w.cpu, MPI_COMM_WORLD, 0, 0, &w.grid) == TSR_OK);
  int passed = 0, failed = 0;
  for (size_t i = 0; i < count; i++) {
    cases[i].run(&w);
    if (report(&w, cases[i].name))
      passed++;
    else
      failed++;
    why[0] = '\0';
  }
  tsr_grid_destroy(w.grid);
  if (w.rank == 0) printf("%d passed, %d failed\n", passed, failed);
  MPI_Finalize();
  tsr_context_destroy(w.cpu);
  tsr_context_destroy(w.devices);
  return failed > 0;
}
