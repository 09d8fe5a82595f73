#include "base/settings.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/text.h"

static const tsr_setting table[] = {
    {"TESSERA_ENGINE", "cuda, host or cpu", "the best that is here",
     "What does the work: CUDA devices, emulated devices, or the CPU's BLAS alone."},
    {"TESSERA_DEVICES", "a count (4) or a list (0,2 or 3,); ..4, ..0,2", "all that help",
     "The devices to use, numbered as the engine numbers them; with two dots as many of them as "
     "help a call."},
    {"TESSERA_MACHINE", "a file or a machine string", "this machine, measured",
     "The machine to plan for, as docs/machine.md describes it."},
    {"TESSERA_MEMORY", "bytes: 16G, 1.5GiB; 16G,4G", "80 % of what is free",
     "The most memory to use on each device; a list says it for one after the other."},
    {"TESSERA_TILE", "elements, 1 or more", "by the model", "Force tiles of this extent."},
    {"TESSERA_STRATEGY", "words: kpanel=512 c=last", "none",
     "Force knobs of strategies, for experiments: tessera knobs lists them."},
    {"TESSERA_CHECK", "0 or 1", "0",
     "Verify every plan before it runs, and poison memory that no command wrote."},
    {"TESSERA_REPRODUCIBLE", "0 or 1", "0", "The same bits of C on any number of devices."},
    {"TESSERA_TRANSPORT", "auto, mpi or nccl", "auto",
     "Across processes: how panels travel; auto: by NCCL where each process has a CUDA device of "
     "its "
     "own, else by MPI."},
    {"TESSERA_OFFLOAD", "never, auto or always", "auto",
     "Unmodified programs: which calls go to devices; auto: those that the model says gain."},
    {"TESSERA_MIN_SIZE", "elements, 0 or more", "by the model",
     "Unmodified programs: calls with fewer multiplications than a product of this extent stay on "
     "the CPU."},
    {"TESSERA_REPORT", "1 or a file to append to", "none",
     "Unmodified programs: say at exit where the calls went, on stderr or in the file."},
    {"TESSERA_EXPLAIN", "0 or 1", "0",
     "Unmodified programs: say at exit where each distinct call went, and why."},
    {"TESSERA_SETTINGS", "a file", "none",
     "Settings, one NAME=value a line, for what the environment does not say; # begins a comment."},
    {"TESSERA_LOG", "none, error, info or debug", "none", "What to write to stderr."},
    {"TESSERA_CPU_BLAS", "a library's file name or path", "OpenBLAS", "The CPU's BLAS to load."},
    {NULL, NULL, NULL, NULL},
};

const tsr_setting *tsr_settings(void) {
  return table;
}

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

/* The factor of a unit; 0 for what is none. */
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
  bool good = tsr_text_number(text, &unit, &number);
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
  const char *tile = tsr_setting_text("TESSERA_TILE");
  if (options->strategy == NULL) options->strategy = tsr_setting_text("TESSERA_STRATEGY");
  if (options->tile == 0 && tile != NULL)
    TSR_TRY(tsr_parse_int("TESSERA_TILE", tile, 1, INT32_MAX, &options->tile));
  TSR_TRY(fill_flag("TESSERA_CHECK", &options->check));
  return fill_flag("TESSERA_REPRODUCIBLE", &options->reproducible);
}

static tsr_status check_engine(const char *engine) {
  static const char *const known[] = {"cuda", "hip", "host", "cpu"};
  for (size_t i = 0; engine != NULL && i < sizeof known / sizeof *known; i++)
    if (strcmp(engine, known[i]) == 0) return TSR_OK;
  if (engine == NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "TESSERA_ENGINE is \"%s\"; it may be cuda, host or cpu",
                  engine);
}

tsr_status tsr_settings_fill(tsr_options *options) {
  tsr_options filled = *options;
  TSR_TRY(tsr_settings_file_check());
  if (filled.engine == NULL) {
    filled.engine = tsr_setting_text("TESSERA_ENGINE");
    TSR_TRY(check_engine(filled.engine));
  }
  if (filled.devices == NULL) filled.devices = tsr_setting_text("TESSERA_DEVICES");
  if (filled.machine == NULL) filled.machine = tsr_setting_text("TESSERA_MACHINE");
  TSR_TRY(fill_numbers(&filled));
  *options = filled;
  return TSR_OK;
}
