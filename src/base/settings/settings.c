/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/settings/settings.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/environment.h"
#include "base/log.h"

const char *tsr_setting_text(const char *name) {
  const char *value = tsr_environment_get(name);
  return value != NULL && value[0] != '\0' ? value : tsr_settings_file_text(name);
}

tsr_status tsr_parse_int(const char *what, const char *text, int64_t least, int64_t most,
                         int64_t *value) {
  char *end;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  bool digit = end > text && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
  if (!digit || *end != '\0' || errno == ERANGE || number < least || number > most)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s is \"%s\"; give a whole number from %lld to %lld", what,
                    text, (long long)least, (long long)most);
  *value = number;
  return TSR_OK;
}

/* Bytes of a unit such as "K", "MB" or "GiB"; 0: not a unit. */
static double unit_factor(const char *unit) {
  static const char prefixes[] = "KMGT";
  if (unit[0] == '\0' || strcmp(unit, "B") == 0) return 1;
  const char *prefix = strchr(prefixes, unit[0] == 'k' ? 'K' : unit[0]);
  if (prefix == NULL) return 0;
  int power = (int)(prefix - prefixes) + 1;
  if (unit[1] == '\0' || strcmp(unit + 1, "B") == 0) return pow(1000, power);
  return strcmp(unit + 1, "iB") == 0 ? ldexp(1, 10 * power) : 0;
}

tsr_status tsr_parse_bytes(const char *what, const char *text, size_t *bytes) {
  const char *unit;
  double number = 0;
  bool good = tsr_c_number(text, &unit, &number);
  double product = good ? floor(number * unit_factor(unit)) : 0;
  if (!(product >= 1) || product >= 0x1p63)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "%s is \"%s\"; give bytes, such as 16G, 500M, 1.5GiB or 1048576", what, text);
  *bytes = (size_t)product;
  return TSR_OK;
}

static tsr_status fill_flag(const char *name, int *flag) {
  if (*flag >= 0) return TSR_OK;
  const char *text = tsr_setting_text(name);
  int64_t value = 0;
  if (text != NULL) TSR_TRY(tsr_parse_int(name, text, 0, 1, &value));
  *flag = (int)value;
  return TSR_OK;
}

static tsr_status fill_numbers(tsr_options *options) {
  const char *memory = tsr_setting_text("TESSERA_MEMORY");
  bool given = options->memory > 0 || options->budgets != NULL || memory == NULL;
  if (!given && strchr(memory, ',') != NULL)
    options->budgets = memory;
  else if (!given)
    TSR_TRY(tsr_parse_bytes("TESSERA_MEMORY", memory, &options->memory));
  TSR_TRY(fill_flag("TESSERA_CHECK", &options->check));
  return fill_flag("TESSERA_REPRODUCIBLE", &options->reproducible);
}

tsr_status tsr_settings_tile(int64_t *tile) {
  const char *text = tsr_setting_text("TESSERA_TILE");
  *tile = 0;
  return text != NULL ? tsr_parse_int("TESSERA_TILE", text, 1, INT32_MAX, tile) : TSR_OK;
}

/* The value of a flag that is on if it is not set. */
static tsr_status read_flag(const char *name, bool *value) {
  int flag = tsr_setting_text(name) != NULL ? -1 : 1;
  TSR_TRY(fill_flag(name, &flag));
  *value = flag == 1;
  return TSR_OK;
}

tsr_status tsr_settings_bind(bool *bind) {
  return read_flag("TESSERA_BIND", bind);
}

tsr_status tsr_settings_peer(bool *peer) {
  return read_flag("TESSERA_PEER", peer);
}

/* The size of tsr_options in each version. A version that adds a field adds its size here, so that
 * programs compiled with an older header keep working. */
static const size_t option_sizes[] = {sizeof(tsr_options)}; /* 0.2 */

tsr_status tsr_options_read(const tsr_options *given, tsr_options *options) {
  *options = (tsr_options)TSR_OPTIONS_DEFAULT;
  if (given == NULL) return TSR_OK;
  bool known = false;
  for (size_t i = 0; i < sizeof option_sizes / sizeof *option_sizes; i++)
    known |= given->size == option_sizes[i];
  if (!known)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "options->size is %zu, which Tessera %s does not know (it has %zu "
                    "bytes); start from TSR_OPTIONS_DEFAULT, and compile with a tessera.h that is "
                    "not newer than the library",
                    given->size, tsr_version(), sizeof *options);
  memcpy(options, given, given->size);
  options->size = sizeof *options;
  return TSR_OK;
}

static tsr_status check_log(void) {
  const char *level = tsr_setting_text("TESSERA_LOG");
  if (level == NULL || tsr_log_is_level(level)) return TSR_OK;
  return tsr_fail(
      TSR_ERR_ARGUMENT,
      "TESSERA_LOG is \"%s\"; it may be none, error, info (what was chosen, and why) or "
      "debug (the most)",
      level);
}

tsr_status tsr_settings_fill(tsr_options *options) {
  tsr_options filled = *options;
  tsr_settings_log_misspelt();
  TSR_TRY(tsr_settings_file_check());
  TSR_TRY(check_log());
  if (filled.engine == NULL) filled.engine = tsr_setting_text("TESSERA_ENGINE");
  if (filled.devices == NULL) filled.devices = tsr_setting_text("TESSERA_DEVICES");
  if (filled.machine == NULL) filled.machine = tsr_setting_text("TESSERA_MACHINE");
  TSR_TRY(fill_numbers(&filled));
  *options = filled;
  return TSR_OK;
}
