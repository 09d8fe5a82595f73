/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The subcommands. argv[0] is the subcommand's name; each returns the exit code. */
#ifndef TESSERA_COMMANDS_H
#define TESSERA_COMMANDS_H

int command_gemm(int argc, char **argv);
int command_solve(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_machine(int argc, char **argv);
int command_knobs(int argc, char **argv);
int command_tuning(int argc, char **argv);
int command_run(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_pgemm(int argc, char **argv);
int command_doctor(int argc, char **argv);
int plan_pgemm(int argc, char **argv);

/* Writes the path of tessera-pgemm to path[PATH_MAX], whether it is there or not; the exit code. */
int pgemm_find(char *path);

#endif
