/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The files that a command writes. All of them are checked before work begins, and each is complete
 * before it gets its name. Until then it has no name at all where the file system can do that
 * (O_TMPFILE), so that nothing is left of a command that was killed; elsewhere it has a temporary
 * name beside, which a signal handler removes.
 */
#ifndef TESSERA_OUTPUT_H
#define TESSERA_OUTPUT_H

#include "options.h"

typedef enum output_kind {
  OUTPUT_MAPPED, /* a new file that is mapped into memory: no pipe, no device */
  OUTPUT_TEXT,   /* a new file, or text for a pipe or a device */
  OUTPUT_LINES   /* lines that are added to what the file has */
} output_kind;

/* A file that the user named. */
typedef struct output {
  const char *option; /* the option as the user wrote it: "-o" */
  const char *path;   /* NULL: the option is not given */
  output_kind kind;
} output;

/* A row of an option table. */
#define OUTPUT_FORCE(target) \
  { "force", 0, OPTION_FLAG, target, NULL, "replace output files that exist" }

/* Checks that the outputs can be written: each has a folder that can be written and is no
 * directory; none is an input or another output by whatever name; and none exists, unless force is
 * set or its kind is OUTPUT_LINES. The first two hold with force, too. inputs: ended by NULL; names
 * of no files are ignored. The exit code, after a message that names the option. */
int output_check(const output *outputs, int count, const char *const *inputs, bool force);

/* Writes the text; the exit code. With force the file that exists is replaced and keeps its mode,
 * its owner if possible, and its symbolic link; a pipe or a device is written to. */
int output_write(const output *o, const char *text, bool force);

/* Adds a line to a file of lines; a new or empty file gets the head first (without its newline).
 * The exit code: a file that begins with another head is refused. output_lines_check: the same
 * check of the head before work begins. */
int output_lines_check(const output *o, const char *head);
int output_lines_add(const output *o, const char *head, const char *line);

#endif
