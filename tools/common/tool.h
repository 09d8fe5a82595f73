/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Exit codes, messages, numbers with units, and files, for all subcommands.
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

/* Opens those of the descriptors 0, 1 and 2 that are closed (in daemons, under cron, by some
 * launchers), so that no file of the command gets their numbers and with them what is printed.
 * Reading and writing them fails as it does with closed ones. A program that the command starts has
 * them closed again. Called first in main. */
void tool_hold_descriptors(void);

/* Sets the text that messages begin with, such as "tessera gemm". name must live as long as the
 * program. */
void tool_set_name(const char *name);
const char *tool_name(void);

/* Sets a place that messages name after that, such as "case 3"; NULL: none. place must live until
 * it is replaced. */
void tool_set_place(const char *place);

/* Print "tessera gemm: ..." on stderr. tool_fail returns TOOL_FAILED; tool_usage points to --help
 * and returns TOOL_USAGE. */
int tool_fail(const char *format, ...) TOOL_PRINTF(1, 2);
int tool_usage(const char *format, ...) TOOL_PRINTF(1, 2);
void tool_note(const char *format, ...) TOOL_PRINTF(1, 2);

/* Sets a function that is called before each of these messages is printed; NULL: none. */
void tool_before_messages(void (*function)(void));

/* The exit code for a status of the library; prints the library's message if it is an error. */
int tool_status(tsr_status status);

double tool_now(void); /* s, monotonic */

/* The number of threads that are worth having: the cores that the process may use, as they were at
 * the first call. */
int tool_cores(void);

/* Sorts the values and returns their median; 0 if count is 0. */
double tool_median(double *values, int count);

/* Text such as "1.2 GB", "3.4 ms" (from 10 minutes on "17.0 min", from 100 on "1.67 h") and "179
 * TFLOP/s" (below 1 TFLOP/s "820 GFLOP/s"), in one of the thread's 16 buffers, used in turn. */
const char *tool_bytes(double bytes);
const char *tool_seconds(double seconds);
const char *tool_rate(double flops_per_second);

/* How long something takes, for people: "12 s", "3 min 20 s", "2 h 5 min". */
const char *tool_duration(double seconds);

/* Prints text on stdout in lines of 80 columns, indented by so many blanks but for the first, whose
 * place is reached already. An empty line ends a paragraph; a line of the text that begins with a
 * blank is printed as it is. */
void tool_print_wrapped(int indent, const char *text);

/* Prints the object on stdout, on several lines or (compact) on one, and deletes it. The exit code:
 * fails if memory is short. */
int tool_print_json(cJSON *object, bool compact);

/* Writes the path of libtessera_blas to path[PATH_MAX]; the exit code. */
int tool_find_doors(char *path);

/* How the file names of our libraries of this release end: ".so.0.2". */
#define TOOL_TEXT_OF(number) #number
#define TOOL_TEXT(number) TOOL_TEXT_OF(number)
#define TOOL_SO ".so." TOOL_TEXT(TSR_VERSION_MAJOR) "." TOOL_TEXT(TSR_VERSION_MINOR)

/* Writes the path of a library to path[PATH_MAX], in the folder of the libtessera that is loaded;
 * false: it is not there. */
bool tool_find_library(const char *library, char *path);

/* Writes the path of libtessera_pblas to path[PATH_MAX]; false: it is not installed. */
bool tool_find_pblas(char *path);

/* Prints a plan on stdout; the exit code. */
int tool_print_plan(const tsr_plan *plan, tsr_format format);

#endif
