/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera-pgemm: options and helpers that its subcommands share. */
#ifndef TESSERA_PGEMM_H
#define TESSERA_PGEMM_H

#include "settings.h"
#include "tessera_mpi_model.h"

/* Options for how products are split; 0: the planner chooses. */
typedef struct cut_options {
  int64_t depth, lookahead;
  const char *blocks;       /* "RxC" */
  const char *cut;          /* "model", "paper"; NULL: model */
  double network, up, down; /* GB/s */
} cut_options;

/* The mode in which the paper's rules choose, as a row of option_command.modes. */
#define CUT_MODE \
  { "cut=paper", NULL, "depth blocks", "the rules of the paper give them; leave one of them out" }

#define CUT_OPTIONS(c)                                                                            \
  {"depth", 0, OPTION_WHOLE, &(c)->depth, "N", "extent of panels in k (default: by prediction)"}, \
      {"lookahead",                                                                               \
       0,                                                                                         \
       OPTION_WHOLE,                                                                              \
       &(c)->lookahead,                                                                           \
       "N",                                                                                       \
       "panels in transfer while one is multiplied (default: by prediction)",                     \
       0,                                                                                         \
       16},                                                                                       \
      {"blocks",                                                                                  \
       0,                                                                                         \
       OPTION_TEXT,                                                                               \
       &(c)->blocks,                                                                              \
       "RxC",                                                                                     \
       "extents (not the number) of C's blocks in a process, rows x columns, such as 4096x8192 "  \
       "(default: by prediction)"},                                                               \
      {"cut",                                                                                     \
       0,                                                                                         \
       OPTION_TEXT,                                                                               \
       &(c)->cut,                                                                                 \
       "model|paper",                                                                             \
       "what chooses blocks, depth and lookahead: predictions, or the rules of Herault et al., "  \
       "which also take the most square grid (default: model)"},                                  \
  {                                                                                               \
    "network", 0, OPTION_NUMBER, &(c)->network, "GB/S",                                           \
        "rate of a process in each direction, for predictions (default: the machine's)", 0, 1e6   \
  }

/* The worst exit code of all processes. Collective. */
int all_agree(int code);
/* Whether this is process 0 of MPI_COMM_WORLD. */
bool is_first(void);

/* Reads two whole numbers of at least 1, such as "2x3"; the exit code. name: the option's name in
 * the message. */
int parse_pair(const char *name, const char *text, int64_t pair[2]);

/* Checks the options; the exit code, after a message if one is wrong. */
int cut_check(const cut_options *options);

/* Whether the paper's rules choose. */
bool cut_is_paper(const cut_options *options);

/* The most square grid of that many processes, with no more rows than columns: the paper's. */
void cut_square_grid(int processes, int shape[2]);

/* Sets the options on a grid; the exit code. */
int cut_apply(const cut_options *options, tsr_grid *grid);

/* Prints a note if --blocks gives a process so many blocks of C that planning takes long, since the
 * option was perhaps taken for their number. extents: m, n, k; grid: rows and columns of processes.
 * For one process to call. */
void cut_warn(const cut_options *options, const int64_t extents[3], const int64_t grid[2]);

/* Prints a note if panels of several processes with GPUs travel through host memory and the user
 * did not ask for that, since it explains longer times. For one process to call. */
void tell_detour(tsr_context *context, const tsr_grid *grid);

/* What a process has moved, as counted and as planned. */
typedef struct moved_bytes {
  tsr_ptraffic counted, planned;
} moved_bytes;

/* *moved: what this process has moved since *before was read; before NULL: in all. The exit code.
 */
int moved_read(tsr_grid *grid, const moved_bytes *before, moved_bytes *moved);

/* Gathers those of all processes of a communicator at its first; to be freed there, NULL elsewhere
 * and when memory lacks. Collective. */
moved_bytes *moved_gather(const moved_bytes *mine, MPI_Comm comm);

/* Prints a line for each process of a grid with so many columns. */
void moved_print(const moved_bytes *moved, int processes, int cols);

/* The same as JSON: an array, for the caller to add somewhere. */
cJSON *moved_json(const moved_bytes *moved, int processes, int cols);

/* The subcommands; argv[0] is the subcommand's name. */
int pgemm_run(int argc, char **argv);
int pgemm_plan(int argc, char **argv);

/* For tessera doctor: prints as JSON which MPI there is, which launcher, and whether they belong
 * together. MPI is initialised only if a launcher started several processes. */
int pgemm_describe(int argc, char **argv);

#endif
