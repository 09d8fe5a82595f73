/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The environment of whoever started the process, as far as the library uses it.
 *
 * A program may have rights that its caller lacks (set-user-ID, set-group-ID, file capabilities:
 * the kernel says so by AT_SECURE). Such a program takes nothing from its caller:
 * tsr_environment_get() shows no variable, so that no setting, no file that a setting names and no
 * cache below HOME or XDG_CACHE_HOME is used. docs/explain/trust.md has the whole list. No other
 * file of the library reads the environment; tools/check_layers enforces it.
 */
#ifndef TSR_BASE_ENVIRONMENT_H
#define TSR_BASE_ENVIRONMENT_H

#include <stdbool.h>

/* The value of a variable; NULL: it is not set, or the caller is not trusted. */
const char *tsr_environment_get(const char *name);

/* The index-th variable as "NAME=value", from 0; NULL: there are no more, or the caller is not
 * trusted. */
const char *tsr_environment_at(int index);

/* Whether the caller is trusted: false in a program with rights that its caller lacks. */
bool tsr_environment_is_trusted(void);

#endif
