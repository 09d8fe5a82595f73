/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Settings: environment variables that all stand in one table (table.c), from which the
 * help is printed, too.
 */
#ifndef TSR_BASE_SETTINGS_SETTINGS_H
#define TSR_BASE_SETTINGS_SETTINGS_H

#include "base/status.h"
#include "tessera_model.h"

/* The value of a variable of the table: from the environment, or else from the file that
 * TESSERA_SETTINGS names. NULL: unset or empty. */
const char *tsr_setting_text(const char *name);

/* The settings file, which is read once a process (file.c). tsr_settings_file_text(): the
 * file's value of a variable; NULL: none. tsr_settings_file_check(): TSR_OK if there is no file or
 * all its lines make sense; else the error of reading it. */
const char *tsr_settings_file_text(const char *name);
tsr_status tsr_settings_file_check(void);

/* Copies the options of a program (NULL: it gave none) to *options. The program may have been
 * compiled with an older header: fields that it does not know get their default. TSR_ERR_ARGUMENT:
 * given->size is not the size of tsr_options in any version. */
tsr_status tsr_options_read(const tsr_options *given, tsr_options *options);

/* Gives the fields of *options that have their default value the values of the settings
 * (TESSERA_ENGINE, TESSERA_DEVICES, TESSERA_MACHINE, TESSERA_MEMORY, TESSERA_CHECK,
 * TESSERA_REPRODUCIBLE), and checks TESSERA_LOG. check and reproducible become 0 if no setting
 * names them. TSR_ERR_ARGUMENT names the variable, its value and the values that are allowed.
 * Whether an engine has the name is not checked. */
tsr_status tsr_settings_fill(tsr_options *options);

/* Logs, once a process, the variables whose names are misspelt settings. They are no errors: a
 * variable may be meant for another version. */
void tsr_settings_log_misspelt(void);

/* *tile: the value of TESSERA_TILE, in elements; 0: it is not set. */
tsr_status tsr_settings_tile(int64_t *tile);

/* *bind: the value of TESSERA_BIND; true if it is not set. */
tsr_status tsr_settings_bind(bool *bind);

/* *peer: the value of TESSERA_PEER; true if it is not set. */
tsr_status tsr_settings_peer(bool *peer);

/* Reads a number of bytes such as "16G", "500M", "1.5GiB" or "1048576": G is 1e9, GiB is 2^30.
 * what: the name of the argument, for the message of TSR_ERR_ARGUMENT. */
tsr_status tsr_parse_bytes(const char *what, const char *text, size_t *bytes);

/* Reads a whole number from least to most, with nothing after it. TSR_ERR_ARGUMENT. */
tsr_status tsr_parse_int(const char *what, const char *text, int64_t least, int64_t most,
                         int64_t *value);

#endif
