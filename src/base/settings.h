/*
 * Settings: one table (settings_table.c) from which the environment is read and the help is
 * printed.
 */
#ifndef TSR_BASE_SETTINGS_H
#define TSR_BASE_SETTINGS_H

#include "base/status.h"

/* The value of an environment variable of the table, or else of the file that TESSERA_SETTINGS
 * names; NULL when unset or empty. */
const char *tsr_setting_text(const char *name);

/* settings_file.c: the file's value (NULL: none), and whether the file can be read and says what
 * makes sense, which tsr_settings_fill asks. The file is read once a process. */
const char *tsr_settings_file_text(const char *name);
tsr_status tsr_settings_file_check(void);

/* Copies the options that a program gave (NULL: none), which may have been compiled with an older
 * header: fields that it does not know stand at their default. TSR_ERR_ARGUMENT: given->size is the
 * size of no version. */
tsr_status tsr_options_read(const tsr_options *given, tsr_options *options);

/* Fills the fields of *options that stand at their default from the environment
 * (TESSERA_ENGINE, TESSERA_DEVICES, TESSERA_MACHINE, TESSERA_MEMORY, TESSERA_CHECK,
 * TESSERA_REPRODUCIBLE); check and reproducible become 0 where the environment says nothing.
 * TSR_ERR_ARGUMENT names the variable, the value and what it may be. Whether there is an engine of
 * that name is not checked. */
tsr_status tsr_settings_fill(tsr_options *options);

/* TESSERA_TILE; 0: it is not set. */
tsr_status tsr_settings_tile(int64_t *tile);

/* "16G", "500M", "1.5GiB", "1048576": bytes. G is 1e9, GiB is 2^30. what names the argument in the
 * message. */
tsr_status tsr_parse_bytes(const char *what, const char *text, size_t *bytes);

/* Whole numbers with nothing behind them, from least to most. */
tsr_status tsr_parse_int(const char *what, const char *text, int64_t least, int64_t most,
                         int64_t *value);

#endif
