/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Defines the constants of a table of tuned constants: TSR_TUNE_NAME for each row. A folder's
 * tuning.h names its table and includes this file:
 *
 *   #define TSR_TUNING "run/tuning.def"
 *   #include "base/tuning.h"
 *
 * A row of a table is
 *
 *   TSR_WHOLE(NAME, value, unit, what it does, origin)       a whole number
 *   TSR_REAL(NAME, value, unit, what it does, origin)        a number
 *   TSR_GUESS(NAME, parts, least, most, unit, what it is, origin)
 *       a tsr_guess: the power of two near an extent / parts, from least to most
 *
 * An origin begins with
 *
 *   measured:   on a machine; says where the figures and the command stand
 *   predicted:  by replaying plans on a recorded machine
 *   chosen:     neither; says why it has about this value, as far as code and history tell
 *
 * "log 18" is entry 18 of the log in docs/results/history.md. The limit of an array or of a type,
 * or a constant that follows from a formula, has no row. `tessera tuning` prints all tables, and
 * docs/reference/tuning.md is what it prints.
 */
#define TSR_WHOLE(name, value, ...) enum { TSR_TUNE_##name = (value) };
#define TSR_REAL(name, value, ...) static const double TSR_TUNE_##name = (value);
#define TSR_GUESS(name, parts, least, most, ...) \
  static const tsr_guess TSR_TUNE_##name = {(parts), (least), (most)};
#include TSR_TUNING
#undef TSR_WHOLE
#undef TSR_REAL
#undef TSR_GUESS
#undef TSR_TUNING
