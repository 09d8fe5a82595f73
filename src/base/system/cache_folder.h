/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The files of the user's cache: what the library has measured or made and would measure or make
 * anew without them.
 */
#ifndef TSR_BASE_SYSTEM_CACHE_FOLDER_H
#define TSR_BASE_SYSTEM_CACHE_FOLDER_H

#include <stdbool.h>

#include "base/status.h"

/* *path: the file called name in $XDG_CACHE_HOME/tessera or ~/.cache/tessera (made if missing); if
 * that cannot be written, also in $XDG_RUNTIME_DIR/tessera. The first function prefers a place that
 * has the file, the second one that can be written. The caller frees *path. TSR_ERR_IO: there is no
 * such directory, or the caller is not trusted (base/environment.h). */
tsr_status tsr_cache_file(const char *name, char **path);
tsr_status tsr_cache_file_to_write(const char *name, char **path);

/* The folders in which these functions look, index 0, 1, ..., whether they are there or not.
 * *folder, which ends in a slash: the caller frees it; NULL: no variable names this one. False:
 * there are no more, or the caller is not trusted. */
bool tsr_cache_folder(int index, char **folder);

#endif
