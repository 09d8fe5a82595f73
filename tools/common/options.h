/*
 * Long options from a table: one row an option, used for parsing and for --help alike.
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
  const char *value; /* what --help calls the value; NULL for a flag */
  const char *help;
  double least, most; /* of OPTION_WHOLE and OPTION_NUMBER; both 0: any */
} option;

/* A subcommand as its help shows it. */
typedef struct option_command {
  const char *usage;   /* "A.npy B.npy -o C.npy [options]" */
  const char *summary; /* a sentence or two */
  const char *example; /* one command line */
  const option *table;
  int least, most; /* how many arguments that are not options */
  bool bare;       /* options may also stand without their dashes: "type=d", and a flag "check" */
} option_command;

/* Says that the caller has nothing left to do: --help was asked for and printed. */
enum { OPTIONS_HELPED = -1 };

/* Fills the targets; arguments that are no options go to positional (room for command->most).
 * TOOL_OK, OPTIONS_HELPED, or TOOL_USAGE after a message. argv[0] is skipped. */
int options_parse(const option_command *command, int argc, char **argv, const char **positional,
                  int *count);

/* Splits a line at blanks, of which quotes (either kind) keep those between them. The words point
 * into the line, which is changed. How many, or -1: a quote is not closed, or there are more than
 * room. */
int options_split(char *line, char **words, int room);

/* The value of an option that is given: a text that is not NULL, a flag that is set (""), a number
 * of at least 0; NULL: it is not given. Good until the next call. */
const char *options_value(const option *row);

/* Whether the option is one of the names, which have blanks between them. */
bool options_named(const option *row, const char *names);

/* TOOL_USAGE after a message, "--peer cublasxt: WHY", when one of the names is given. */
int options_refuse(const option *table, const char *names, const char *why);

/* The name out of names (NULL ends it) that word was probably meant to be; NULL if none is near. */
const char *options_nearest(const char *word, const char *const *names);

/* "4096,8192" into values: how many, or -1 if one is no whole number or there are more than room.
 */
int options_whole_list(const char *text, int64_t *values, int room);

/* "16G", "500M", "1.5GiB", "1MB", "1048576". */
bool options_bytes(const char *text, size_t *bytes);

#endif
