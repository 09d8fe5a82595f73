/*
 * What every subcommand shares: exit codes, messages, and figures written for people.
 */
#ifndef TESSERA_TOOL_H
#define TESSERA_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tessera.h"

#if defined(__GNUC__)
#define TOOL_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define TOOL_PRINTF(f, a)
#endif

/* Exit codes of the command. */
enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

/* What messages begin with: "tessera gemm". name must live as long as the program. */
void tool_set_name(const char *name);
const char *tool_name(void);

/* "tessera gemm: ..." on stderr. The return value is the exit code that belongs to it. */
int tool_fail(const char *format, ...) TOOL_PRINTF(1, 2);
int tool_usage(const char *format, ...) TOOL_PRINTF(1, 2);
void tool_note(const char *format, ...) TOOL_PRINTF(1, 2);

/* Turns a status of the library into an exit code, with the library's message. */
int tool_status(tsr_status status);

double tool_now(void); /* s, monotonic */

/* Sorts values; the middle one, or the mean of the middle two. 0 when there are none. */
double tool_median(double *values, int count);

/* Text for people in one of a few rotating buffers: "1.2 GB", "3.4 ms". */
const char *tool_bytes(double bytes);
const char *tool_seconds(double seconds);

/* Writes s as a JSON string with its quotes. */
void tool_json_string(FILE *stream, const char *s);

/* Writes a whole file by way of a temporary beside it: the old or the new, never half. */
int tool_write_file(const char *path, const char *text);

/* --timeline: the format from the path's ending, and writing it. */
int tool_timeline_format(const char *path, tsr_format *format);
int tool_write_timeline(const tsr_plan *plan, const char *path);

/* The path of the library with the BLAS doors, in path[PATH_MAX]. */
int tool_find_doors(char *path);

/* Of the one with the PBLAS door; false: it was not built, or is not installed. */
bool tool_find_pblas(char *path);

/* Prints a plan or a machine on stdout. */
int tool_print_plan(const tsr_plan *plan, tsr_format format);

/* The subcommands; argv[0] is the subcommand's name. */
int command_gemm(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_machine(int argc, char **argv);
int command_knobs(int argc, char **argv);
int command_run(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_pgemm(int argc, char **argv);
int plan_pgemm(int argc, char **argv);
int bench_pgemm(int argc, char **argv);
int bench_gemm(int argc, char **argv);
int bench_blas3(int argc, char **argv);
int bench_composed(int argc, char **argv);
int bench_caps(int argc, char **argv);
int bench_regular(int argc, char **argv);
int bench_irregular(int argc, char **argv);
int bench_skinny(int argc, char **argv);
int bench_variants(int argc, char **argv);
int bench_roofline(int argc, char **argv);
int bench_cpu(int argc, char **argv);
int bench_doors(int argc, char **argv);
int bench_plan(int argc, char **argv);
int bench_predicted(int argc, char **argv);
int bench_ablation(int argc, char **argv);
int bench_tiles(int argc, char **argv);

#endif
