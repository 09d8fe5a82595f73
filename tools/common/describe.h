/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * --help=json: a subcommand's usage, options and example for programs, from the table that --help
 * prints. Manual pages, completions and the reference of the command are made from it.
 */
#ifndef TESSERA_DESCRIBE_H
#define TESSERA_DESCRIBE_H

#include "options.h"

/* Prints the subcommand as JSON; the exit code. */
int describe_command(const option_command *command);

#endif
