/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A file that a command makes: where its path leads, and how it exists until it is complete.
 */
#ifndef TESSERA_OUTPUT_FILE_H
#define TESSERA_OUTPUT_FILE_H

#include <limits.h>
#include <sys/stat.h>

#include "tool.h"

/* ---- Where a path leads ---- */

/* The descriptor that a path such as /dev/stdout or /dev/fd/3 stands for; -1: none. The descriptor
 * may be an ordinary file's, but the command has only the right to add to that file. */
int output_descriptor(const char *path);

/* Writes the path of the folder that path is in. */
void output_folder(const char *path, char folder[PATH_MAX]);

/* Sets place to the absolute path that path leads to; symbolic links are followed. Two paths of one
 * file give one place, also if the file does not exist yet. False, with errno: the folder cannot be
 * found, or links lead in a circle. */
bool output_find_place(const char *path, char place[PATH_MAX]);

/* Whether a place is for a file: what exists there, if anything, is an ordinary file. *status is
 * set if something exists. */
bool output_is_for_file(const char *place, struct stat *status, bool *exists);

/* ---- A file that is not complete yet ---- */

/* The message of a call that returned false, beginning with the path. */
typedef struct file_reason {
  char text[640];
} file_reason;

/* Sets the reason and returns false. */
bool file_refuse(file_reason *reason, const char *path, const char *format, ...) TOOL_PRINTF(3, 4);

typedef struct output_file {
  char *place;     /* the path that the file gets; symbolic links are followed */
  char *temporary; /* the path that it has until then; NULL: none */
  int descriptor;  /* 0: none */
  bool force;      /* a file at place may be replaced */
} output_file;

/* Creates an empty file in the folder of path, without a name if the file system can do that. A
 * process may have one such file at a time. */
bool output_begin(const char *path, bool force, output_file *file, file_reason *reason);

/* Gives the file a temporary name, by which programs on other hosts can open it too. */
bool output_show(output_file *file, file_reason *reason);

/* Writes the file to the disk and gives it its name. False: it did not get it, and a file of that
 * name is as it was. If that file was made since output_begin and force is not set, the result
 * stays beside it under a name that the reason says. */
bool output_commit(output_file *file, file_reason *reason);

/* Closes the file, and removes it unless it is committed. A zeroed output_file is allowed. */
void output_end(output_file *file);

/* Lets signals that end the program remove an unfinished file that has a temporary name. */
void output_catch_signals(void);

#endif
