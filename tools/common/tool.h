/*
 * What every subcommand shares: exit codes, messages, and figures written for people.
 */
#ifndef TESSERA_TOOL_H
#define TESSERA_TOOL_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tessera_model.h"

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

/* What messages name next, as "case 3"; NULL: nothing. place must live until it is replaced. */
void tool_set_place(const char *place);

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

/* Prints it on stdout and deletes it: over several lines, or (compact) in one. Fails when memory is
 * out. */
int tool_print_json(cJSON *object, bool compact);

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

#endif
