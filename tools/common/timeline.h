/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The options with which commands write a plan's timeline. */
#ifndef TESSERA_TIMELINE_H
#define TESSERA_TIMELINE_H

#include "output.h"

/* The format that the path's ending names, .svg or .json; the exit code, TOOL_USAGE for another
 * ending. */
int timeline_format(const char *path, tsr_format *format);

/* As timeline_format, for a command that writes .json alone. */
int timeline_is_json(const char *path);

/* Writes the plan's timeline; the exit code. */
int timeline_write(const tsr_plan *plan, const output *o, bool force);

#endif
