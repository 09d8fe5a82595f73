/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random products through ScaLAPACK's symbols, to be run by mpirun: descriptors of both types, any
 * blocks, offsets and sources, also replicated ones, on grids of any shape and order, made and
 * freed for each problem. Elements that must not be read are NaN. Results are compared exactly, in
 * every replicated copy. Every eighth problem has a wrong argument, which must reach ScaLAPACK's
 * own error exit. A problem follows from the seed, its number and the number of processes: mpirun
 * -n 4 cluster_pblas --seed 5 --first 17 --count 1
 *
 *   --differ       every process has other settings; all must still decide alike
 *   --wrong-here   only one process has a wrong argument; the program must end
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pblas_operand.h"
#include "turn.h"

/* ---- ScaLAPACK ------------------------------------------------------------- */

void blacs_get_(const int *context, const int *what, int *value);
void blacs_gridinit_(int *context, const char *order, const int *rows, const int *cols, size_t);
void blacs_gridmap_(int *context, const int *map, const int *ld, const int *rows, const int *cols);
void blacs_gridinfo_(const int *context, int *rows, int *cols, int *row, int *col);
void blacs_gridexit_(const int *context);
void blacs_exit_(const int *goes_on);

#define PARAMETERS                                                                              \
  const char *transa, const char *transb, const int *m, const int *n, const int *k,             \
      const void *alpha, const void *a, const int *ia, const int *ja, const int *desca,         \
      const void *b, const int *ib, const int *jb, const int *descb, const void *beta, void *c, \
      const int *ic, const int *jc, const int *descc
typedef void product_function(PARAMETERS);
product_function psgemm_, pdgemm_, pcgemm_, pzgemm_;

/* They replace ScaLAPACK's error exit, which ends the program, and its messages. */
static int exits, last_info;
static bool ends;
void PB_Cabort(int context, char *routine, int info);
void PB_Cwarn(int context, int line, char *routine, char *format, ...);
void PB_Cabort(int context, char *routine, int info) {
  (void)context, (void)routine;
  exits++, last_info = info;
  if (ends) MPI_Abort(MPI_COMM_WORLD, 42);
}
void PB_Cwarn(int context, int line, char *routine, char *format, ...) {
  (void)context, (void)line, (void)routine, (void)format;
}

/* ---- Problems -------------------------------------------------------------- */

enum { A_ = 1, B_ = 2, C_ = 3 };
enum { ROW_ORDER, COLUMN_ORDER, MAPPED };

typedef struct problem {
  tsr_type type;
  char trans[2];
  int m, n, k, alpha[2], beta[2];
  int grid[2], order, shift; /* MAPPED: place i has process (i + shift) mod size */
  int wrong;                 /* which argument is wrong; 0: none */
  operand a, b, c;
} problem;

static int draw(numbers *n, int least, int most) {
  return (int)numbers_draw(n, least, most);
}

static void draw_grid(numbers *n, int size, problem *p) {
  do {
    p->grid[0] = draw(n, 1, size), p->grid[1] = draw(n, 1, size);
  } while (p->grid[0] * p->grid[1] > size || (draw(n, 0, 3) > 0 && p->grid[0] * p->grid[1] < size));
  p->order = draw(n, 0, 2);
  p->shift = draw(n, 0, size - 1);
}

static void draw_scalars(numbers *n, problem *p) {
  for (int i = 0; i < 2; i++) p->alpha[i] = draw(n, -2, 2), p->beta[i] = draw(n, -2, 2);
  if (draw(n, 0, 2) == 0) p->beta[0] = p->beta[1] = 0;
  if (draw(n, 0, 9) == 0) p->alpha[0] = p->alpha[1] = 0;
}

static bool is_straight(char trans) {
  return trans == 'N' || trans == 'n';
}

static problem draw_problem(uint64_t seed, int64_t index, int size) {
  static const tsr_type types[4] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  static const char letters[] = "NnNtTCc";
  numbers n = {seed * 1000003u + (uint64_t)index * 64u + (uint64_t)size};
  problem p = {.type = types[draw(&n, 0, 3)]};
  for (int i = 0; i < 2; i++) p.trans[i] = letters[draw(&n, 0, 6)];
  p.m = draw(&n, 0, 60), p.n = draw(&n, 0, 60), p.k = draw(&n, 0, 7) == 0 ? 0 : draw(&n, 0, 60);
  if (index % 8 == 7) p.wrong = draw(&n, 1, 12), p.m++, p.n++, p.k++;
  draw_scalars(&n, &p);
  draw_grid(&n, size, &p);
  bool a = is_straight(p.trans[0]), b = is_straight(p.trans[1]);
  p.a = operand_draw(&n, A_, a ? p.m : p.k, a ? p.k : p.m, p.grid);
  p.b = operand_draw(&n, B_, b ? p.k : p.n, b ? p.n : p.k, p.grid);
  p.c = operand_draw(&n, C_, p.m, p.n, p.grid);
  return p;
}

static void print_problem(const problem *p) {
  printf(
      "  p%cgemm %c %c, m %d n %d k %d, alpha %d %d beta %d %d, grid %d x %d order %d, wrong %d\n",
      p->type, p->trans[0], p->trans[1], p->m, p->n, p->k, p->alpha[0], p->alpha[1], p->beta[0],
      p->beta[1], p->grid[0], p->grid[1], p->order, p->wrong);
  operand_print(&p->a);
  operand_print(&p->b);
  operand_print(&p->c);
}

/* ---- The result ------------------------------------------------------------ */

static bool is_complex(tsr_type type) {
  return type == TSR_C || type == TSR_Z;
}

static void multiply(const double a[2], const double b[2], double c[2]) {
  c[0] = a[0] * b[0] - a[1] * b[1];
  c[1] = a[0] * b[1] + a[1] * b[0];
}

/* Element (i, j) of op() of an operand's part. */
static void get(const problem *p, const operand *x, char trans, int i, int j, double value[2]) {
  bool straight = is_straight(trans);
  element_get(p->type, x->which, x->at[0] + (straight ? i : j), x->at[1] + (straight ? j : i),
              value);
  if (trans == 'C' || trans == 'c') value[1] = -value[1];
}

static void right(const void *user, int i, int j, double value[2]) {
  const problem *p = user;
  bool complex = is_complex(p->type);
  const double alpha[2] = {p->alpha[0], complex ? p->alpha[1] : 0};
  const double beta[2] = {p->beta[0], complex ? p->beta[1] : 0};
  double sum[2] = {0, 0}, term[2], a[2], b[2], c[2];
  for (int k = 0; k < p->k; k++) {
    get(p, &p->a, p->trans[0], i, k, a);
    get(p, &p->b, p->trans[1], k, j, b);
    multiply(a, b, term);
    sum[0] += term[0], sum[1] += term[1];
  }
  multiply(alpha, sum, value);
  get(p, &p->c, 'N', i, j, c);
  multiply(beta, c, term);
  value[0] += term[0], value[1] += term[1];
}

static bool is_zero(const problem *p, const int scalar[2]) {
  return scalar[0] == 0 && (!is_complex(p->type) || scalar[1] == 0);
}

/* ---- The call -------------------------------------------------------------- */

static product_function *symbol_of(tsr_type type) {
  return type == TSR_S ? psgemm_ : type == TSR_D ? pdgemm_ : type == TSR_C ? pcgemm_ : pzgemm_;
}

/* ScaLAPACK's own routine of that type. */
static product_function *original_of(tsr_type type) {
  static void *library;
  char name[] = {'p', (char)type, 'g', 'e', 'm', 'm', '_', '\0'};
  product_function *found;
  if (library == NULL) library = dlopen(SCALAPACK, RTLD_LAZY | RTLD_NOLOAD);
  void *symbol = library != NULL ? dlsym(library, name) : NULL;
  memcpy(&found, &symbol, sizeof found);
  return found;
}

static void call(product_function *routine, const problem *p, local_operand *a, local_operand *b,
                 local_operand *c) {
  char alpha[16], beta[16];
  int at[6];
  const operand *of[3] = {&p->a, &p->b, &p->c};
  for (int i = 0; i < 6; i++) at[i] = of[i / 2]->at[i % 2] + 1;
  scalar_put(p->type, p->alpha[0], p->alpha[1], alpha);
  scalar_put(p->type, p->beta[0], p->beta[1], beta);
  routine(&p->trans[0], &p->trans[1], &p->m, &p->n, &p->k, alpha, a->data, &at[0], &at[1],
          a->descriptor, b->data, &at[2], &at[3], b->descriptor, beta, c->data, &at[4], &at[5],
          c->descriptor);
}

/* ---- Wrong arguments ------------------------------------------------------- */

/* Index `one` or `two`, as the descriptor is of type 1 or 2. */
static int in_descriptor(const local_operand *x, int one, int two) {
  return x->descriptor[0] == 1 ? one : two;
}

static void spoil(problem *p, local_operand *a, local_operand *b, local_operand *c) {
  switch (p->wrong) {
    case 1:
      p->trans[0] = 'X';
      break;
    case 2:
      p->trans[1] = 'R';
      break;
    case 3:
      p->m = -1;
      break;
    case 4:
      p->k = -7;
      break;
    case 5:
      p->a.at[0] = -1;
      break;
    case 6:
      p->c.at[1] = p->c.n;
      break;
    case 7:
      b->descriptor[0] = 501;
      break;
    case 8:
      c->descriptor[1] += 77;
      break;
    case 9:
      a->descriptor[in_descriptor(a, 6, 8)] = p->grid[0];
      break;
    case 10:
      b->descriptor[in_descriptor(b, 7, 9)] = -2;
      break;
    case 11:
      c->descriptor[in_descriptor(c, 8, 10)] = 0;
      break;
    default:
      c->descriptor[in_descriptor(c, 4, 6)] = 0;
      break;
  }
}

/* Spoils an argument. Our routine must make the same error exit as ScaLAPACK's own, and leave C as
 * it was. */
static const char *try_wrong(problem *p, local_operand *a, local_operand *b, local_operand *c) {
  spoil(p, a, b, c);
  exits = 0;
  call(original_of(p->type), p, a, b, c);
  int wanted = last_info, before = exits;
  last_info = 0;
  call(symbol_of(p->type), p, a, b, c);
  if (before != 1) return "ScaLAPACK does not find it wrong";
  if (exits != 2) return "there was no error exit";
  if (last_info != wanted) return "the error exit was another one than ScaLAPACK's";
  return local_is_untouched(c) ? NULL : "C was touched";
}

/* ---- A problem ------------------------------------------------------------- */

/* Calls on this process that compute something. tests/dropin/test_pblas.sh forces devices and
 * expects that many calls there. */
static long long due;

static bool is_empty(const problem *p) {
  bool keeps_c = p->beta[0] == 1 && (!is_complex(p->type) || p->beta[1] == 0);
  return p->m == 0 || p->n == 0 || ((p->k == 0 || is_zero(p, p->alpha)) && keeps_c);
}

static const char *try_right(const problem *p, local_operand *a, local_operand *b,
                             local_operand *c) {
  exits = 0;
  due += !is_empty(p);
  call(symbol_of(p->type), p, a, b, c);
  if (exits > 0) return "there was an error exit";
  if (!local_is_untouched(a) || !local_is_untouched(b)) return "A or B was touched";
  return local_holds(c, right, p) ? NULL : "the result is wrong";
}

static const char *run_on(problem *p, const place_in_grid *grid) {
  local_operand a, b, c;
  bool reads_inputs = p->k > 0 && !is_zero(p, p->alpha), reads_c = !is_zero(p, p->beta);
  filling inputs = reads_inputs ? KNOWN : NOT_A_NUMBER;
  bool made = local_create(&p->a, p->type, grid, inputs, NOT_A_NUMBER, &a) &&
              local_create(&p->b, p->type, grid, inputs, NOT_A_NUMBER, &b) &&
              local_create(&p->c, p->type, grid, reads_c ? KNOWN : NOT_A_NUMBER, KNOWN, &c);
  if (!made) return "the test has no memory"; /* leaks: the program ends */
  const char *wrong = p->wrong > 0 ? try_wrong(p, &a, &b, &c) : try_right(p, &a, &b, &c);
  local_destroy(&a);
  local_destroy(&b);
  local_destroy(&c);
  return wrong;
}

/* Makes the problem's grid. False: this process is not in it. */
static bool make_grid(const problem *p, int size, place_in_grid *grid) {
  const int system = 0, none = -1;
  int map[64], rows = p->grid[0];
  for (int i = 0; i < 64; i++) map[i] = (i + p->shift) % size;
  blacs_get_(&none, &system, &grid->context);
  if (p->order == MAPPED)
    blacs_gridmap_(&grid->context, map, &rows, &p->grid[0], &p->grid[1]);
  else
    blacs_gridinit_(&grid->context, p->order == ROW_ORDER ? "R" : "C", &p->grid[0], &p->grid[1], 1);
  blacs_gridinfo_(&grid->context, &grid->extent[0], &grid->extent[1], &grid->me[0], &grid->me[1]);
  return grid->me[0] >= 0 && grid->extent[0] > 0;
}

static const char *run(problem p, int size) {
  place_in_grid grid;
  if (!make_grid(&p, size, &grid)) return NULL;
  const char *wrong = run_on(&p, &grid);
  blacs_gridexit_(&grid.context);
  return wrong;
}

/* ---- The program ----------------------------------------------------------- */

/* Whether the problem is right on all processes; else process 0 prints the error of the first
 * failed process. Collective. */
static bool judge(int rank, int size, const problem *p, int64_t index, uint64_t seed,
                  const char *wrong) {
  int mine = wrong != NULL ? rank : size, first;
  char text[100] = "";
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == size) return true;
  if (rank == first) snprintf(text, sizeof text, "%s", wrong);
  MPI_Bcast(text, sizeof text, MPI_CHAR, first, MPI_COMM_WORLD);
  if (rank != 0) return false;
  printf(
      "FAILED: mpirun -n %d cluster_pblas --seed %llu --first %lld --count 1\n  process %d: %s\n",
      size, (unsigned long long)seed, (long long)index, first, text);
  print_problem(p);
  return false;
}

static long long argument(int argc, char **argv, const char *name, long long otherwise) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], name) == 0) return i + 1 < argc ? atoll(argv[i + 1]) : 1;
  return otherwise;
}

/* Gives each process other settings, before the library reads them. */
static void vary_settings(int rank) {
  static const char *const offload[4] = {"always", "auto", "always", "never"};
  static const char *const devices[4] = {"1", "2", "3", "2"};
  static const char *const least[4] = {"1", "4", "20", "0"};
  setenv("TESSERA_OFFLOAD", offload[rank % 4], 1);
  setenv("TESSERA_DEVICES", devices[rank % 4], 1);
  setenv("TESSERA_MIN_SIZE", least[rank % 4], 1);
}

/* A product with leading dimension 0 on the last process, which must abort the program while all
 * others wait for it. */
static void be_wrong_here(int rank, int size) {
  problem p = draw_problem(1, 2, size);
  place_in_grid grid;
  local_operand a, b, c;
  p.grid[0] = 1, p.grid[1] = size, p.order = ROW_ORDER, p.m = p.n = p.k = 9;
  p.trans[0] = p.trans[1] = 'N';
  numbers n = {7};
  p.a = operand_draw(&n, A_, 9, 9, p.grid), p.b = operand_draw(&n, B_, 9, 9, p.grid);
  p.c = operand_draw(&n, C_, 9, 9, p.grid);
  make_grid(&p, size, &grid);
  local_create(&p.a, p.type, &grid, KNOWN, KNOWN, &a);
  local_create(&p.b, p.type, &grid, KNOWN, KNOWN, &b);
  local_create(&p.c, p.type, &grid, KNOWN, KNOWN, &c);
  if (rank == size - 1) c.descriptor[in_descriptor(&c, 8, 10)] = 0;
  ends = true;
  call(symbol_of(p.type), &p, &a, &b, &c);
}

int main(int argc, char **argv) {
  int rank, size, passed = 0, failed = 0;
  const int goes_on = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  uint64_t seed = (uint64_t)argument(argc, argv, "--seed", 1);
  long long first = argument(argc, argv, "--first", 0), count = argument(argc, argv, "--count", 40);
  first += turn_of_samples() * argument(argc, argv, "--turns", 0);
  if (argument(argc, argv, "--differ", 0)) vary_settings(rank);
  if (argument(argc, argv, "--wrong-here", 0)) be_wrong_here(rank, size);
  for (long long i = first; i < first + count; i++) {
    problem p = draw_problem(seed, i, size);
    if (judge(rank, size, &p, i, seed, run(p, size)))
      passed++;
    else
      failed++;
  }
  long long all_due = 0;
  MPI_Reduce(&due, &all_due, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%lld for devices\n%d passed, %d failed\n", all_due, passed, failed);
  blacs_exit_(&goes_on);
  MPI_Finalize();
  return failed > 0;
}
