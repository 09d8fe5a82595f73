/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Options from a table with one row for each option, used for parsing and for --help.
 */
#ifndef TESSERA_OPTIONS_H
#define TESSERA_OPTIONS_H

#include "tool.h"

typedef enum option_kind {
  OPTION_END = 0, /* ends a table */
  OPTION_FLAG,    /* bool *target: set to true */
  OPTION_TEXT,    /* const char **target: points into argv */
  OPTION_WHOLE,   /* int64_t *target, at least 0 */
  OPTION_NUMBER,  /* double *target, finite */
  OPTION_BYTES    /* size_t *target: "16G", "1.5GiB", "1MB" */
} option_kind;

typedef struct option {
  const char *name; /* without the dashes */
  char letter;      /* for "-o"; 0: none */
  option_kind kind;
  void *target;
  const char *value; /* the value's name in --help; NULL for a flag */
  const char *help;
  double least, most; /* range of OPTION_WHOLE and OPTION_NUMBER; both 0: any value */
} option;

/* A mode of a command, and the options that have no use in it. Options are named without dashes,
 * with blanks between them; NAME=VALUE is the option with that value alone. options_parse refuses
 * what has no use, and --help=json prints the modes. */
typedef struct option_mode {
  const char *with;    /* the mode: one of these is given; after a '!': none of them is */
  const char *without; /* not this mode if one of these is given; NULL: none */
  const char *unused;
  const char *remedy; /* what to do; NULL: "leave it out" */
} option_mode;

/* A subcommand: its options and its help. */
typedef struct option_command {
  const char *usage;   /* "A.npy B.npy -o C.npy [options]" */
  const char *summary; /* a sentence or two */
  const char *example; /* one command line */
  const option *table;
  int least, most; /* number of arguments that are not options */
  bool bare;       /* options may also be given without dashes: "type=d", and a flag "check" */
  const option_mode *modes; /* ended by a zeroed one; NULL: every option has a use */
} option_command;

/* The mode as messages name it: "with --json", "without --csv or --timeline". */
enum { OPTIONS_MODE_NAME = 128 };
void options_mode_name(const option_mode *mode, char name[OPTIONS_MODE_NAME]);

/* Result of options_parse after --help, or --help=json for programs (describe.h), was printed: the
 * caller ends with TOOL_OK. */
enum { OPTIONS_HELPED = -1 };

/* Reads argv[1..] and fills the targets. Arguments that are no options go to positional, which has
 * command->most entries; *count (if not NULL) is their number. TOOL_OK, OPTIONS_HELPED, or
 * TOOL_USAGE after a message. */
int options_parse(const option_command *command, int argc, char **argv, const char **positional,
                  int *count);

/* Splits a line at blanks; blanks between quotes (either kind) do not split. The words point into
 * the line, which is changed. The number of words, or -1: a quote is not closed, or the line has
 * more than `room` words. */
int options_split(char *line, char **words, int room);

/* The value of an option as text ("" for a flag), valid until the next call; NULL: the option is
 * not given. An option counts as given if its text is not NULL, its flag is set or its number is at
 * least 0. */
const char *options_value(const option *row);

/* Whether the option's name is in a list of names, which blanks separate. */
bool options_named(const option *row, const char *names);

/* TOOL_USAGE after a message ("--peer cublasxt: WHY") if an option of the list of names is
 * given. */
int options_refuse(const option *table, const char *names, const char *why);

/* Reads a list such as "4096,8192"; the number of values, or -1: one is no whole number, or they
 * are more than `room`. */
int options_whole_list(const char *text, int64_t *values, int room);

/* Reads a size such as "16G", "500M", "1.5GiB", "1MB" or "1048576"; false: not a size. */
bool options_bytes(const char *text, size_t *bytes);

#endif
