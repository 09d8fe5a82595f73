/* tessera run: an unmodified program, with our doors before its BLAS and its ScaLAPACK. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "settings.h"

/* As a shell has them. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127 };

typedef struct run_request {
  settings settings;
  const char *offload, *report_to, *min_size;
  bool report, explain;
  char **program; /* with its arguments; NULL ends them */
} run_request;

static int set(const char *name, const char *value) {
  if (!value || setenv(name, value, 1) == 0) return TOOL_OK;
  return tool_fail("cannot set %s: %s", name, strerror(errno));
}

/* Before what is preloaded already. */
static int set_preload(const char *path) {
  const char *former = getenv("LD_PRELOAD");
  if (!former || !*former) return set("LD_PRELOAD", path);
  size_t room = strlen(path) + strlen(former) + 2;
  char *both = malloc(room);
  if (!both) return tool_fail("out of memory");
  snprintf(both, room, "%s:%s", path, former);
  int code = set("LD_PRELOAD", both);
  free(both);
  return code;
}

/* The PBLAS door is behind the other; it does nothing to a program without ScaLAPACK. */
static int set_preloads(const char *doors) {
  char pblas[PATH_MAX];
  if (strpbrk(doors, " :"))
    return tool_fail("%s cannot be preloaded: move it where no blank or colon is in its path",
                     doors);
  int code = tool_find_pblas(pblas) ? set_preload(pblas) : TOOL_OK;
  return code ? code : set_preload(doors);
}

/* The program may change its folder: the report goes where it was asked for, */
static int set_report(const run_request *r) {
  char folder[PATH_MAX], path[2 * PATH_MAX];
  if (!r->report_to) return set("TESSERA_REPORT", r->report ? "1" : NULL);
  if (r->report_to[0] == '/') return set("TESSERA_REPORT", r->report_to);
  if (!getcwd(folder, sizeof folder)) return tool_fail("--report-to: %s", strerror(errno));
  snprintf(path, sizeof path, "%s/%s", folder, r->report_to);
  return set("TESSERA_REPORT", path);
}

/* and a file with a machine is found. */
static int set_machine(const char *machine) {
  char path[PATH_MAX];
  return set("TESSERA_MACHINE", machine && realpath(machine, path) ? path : machine);
}

static int set_environment(const run_request *r) {
  char path[PATH_MAX], pid[24], tile[24];
  int code = tool_find_doors(path);
  snprintf(pid, sizeof pid, "%ld", (long)getpid());
  snprintf(tile, sizeof tile, "%lld", (long long)r->settings.tile);
  const struct {
    const char *name, *value;
  } variables[] = {
      {"TESSERA_OFFLOAD", r->offload},
      {"TESSERA_MIN_SIZE", r->min_size},
      {"TESSERA_EXPLAIN", r->explain ? "1" : NULL},
      {"TESSERA_RUN_PID", pid}, /* this process is who says that it saw no call */
      {"TESSERA_ENGINE", r->settings.engine},
      {"TESSERA_DEVICES", r->settings.devices},
      {"TESSERA_MEMORY", r->settings.memory},
      {"TESSERA_TILE", r->settings.tile > 0 ? tile : NULL},
  };
  for (size_t i = 0; i < sizeof variables / sizeof *variables && !code; i++)
    code = set(variables[i].name, variables[i].value);
  if (!code) code = set_machine(r->settings.machine);
  if (!code) code = set_report(r);
  return code ? code : set_preloads(path);
}

/* ---- What is asked for ---- */

static bool is_one_of(const char *word, const char *const *words) {
  while (*words && strcmp(word, *words) != 0) words++;
  return *words != NULL;
}

/* "2", "0,2", "3,"; with two dots before it, "..2". */
static bool is_list(const char *text) {
  if (strncmp(text, "..", 2) == 0) text += 2;
  for (; *text >= '0' && *text <= '9'; text++) {
    text += strspn(text, "0123456789");
    if (*text != ',') break;
  }
  return *text == '\0';
}

/* The doors are silent: what they could not read would only be in a report. */
static int check_settings(const run_request *r) {
  static const char *const modes[] = {"never", "auto", "always", NULL};
  static const char *const engines[] = {"cuda", "host", "cpu", NULL};
  const settings *s = &r->settings;
  int64_t size;
  if (r->offload && !is_one_of(r->offload, modes))
    return tool_usage("--offload %s: must be never, auto or always", r->offload);
  if (r->min_size && (options_whole_list(r->min_size, &size, 1) != 1 || size > INT32_MAX))
    return tool_usage("--min-size %s: must be a whole number up to %d", r->min_size, INT32_MAX);
  if (s->engine && !is_one_of(s->engine, engines))
    return tool_usage("--engine %s: must be cuda, host or cpu", s->engine);
  if (s->devices && (!*s->devices || !is_list(s->devices)))
    return tool_usage("--devices %s: must be a count (2) or a list (0,2 or 3,); ..2: at most 2",
                      s->devices);
  return settings_check(s);
}

/* The program begins behind "--", or is the first word when no option is given. */
static void split(int argc, char **argv, int *options, run_request *r) {
  *options = argc;
  for (int i = 1; i < argc && *options == argc; i++)
    if (strcmp(argv[i], "--") == 0) *options = i;
  if (*options < argc) {
    r->program = argv + *options + 1;
  } else if (argc > 1 && argv[1][0] != '-') {
    *options = 1;
    r->program = argv + 1;
  }
}

static int parse_request(int argc, char **argv, run_request *r) {
  const option table[] = {
      {"report", 0, OPTION_FLAG, &r->report, NULL,
       "at exit, say on stderr how many calls were seen and where they went"},
      {"report-to", 0, OPTION_TEXT, &r->report_to, "FILE", "append the report to a file"},
      {"explain", 0, OPTION_FLAG, &r->explain, NULL, "and a line for each distinct call"},
      {"offload", 0, OPTION_TEXT, &r->offload, "never|auto|always",
       "which calls go to devices (default: those that the model says gain)"},
      {"min-size", 0, OPTION_TEXT, &r->min_size, "N",
       "smaller calls than a product of this extent stay on the CPU"},
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_DEVICES(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      SETTINGS_TILE(&r->settings),
      {0}};
  const option_command command = {
      "[options] -- PROGRAM [ARGUMENTS]",
      "Runs a program with Tessera before its BLAS: level-3 calls that gain by it are carried out\n"
      "on the GPUs, all others go on to the program's own BLAS; so do matrix products of the "
      "PBLAS\n"
      "(mpirun -n 4 tessera run -- PROGRAM). docs/doors.md tells more. The exit code is the\n"
      "program's; 126: it cannot be run; 127: it, or what it is to be run by, was not found.",
      "tessera run --report -- python3 script.py",
      table,
      0,
      1};
  const char *word = NULL;
  int options; /* words before the program */
  split(argc, argv, &options, r);
  int code = options_parse(&command, options, argv, &word, NULL);
  if (code) return code;
  if (word) return tool_usage("put -- before the program: tessera run ... -- %s", word);
  if (!r->program || !r->program[0]) return tool_usage("which program? Put it behind --");
  return check_settings(r);
}

int command_run(int argc, char **argv) {
  run_request request = {0};
  int code = parse_request(argc, argv, &request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (!code) code = set_environment(&request);
  if (code) return code;
  execvp(request.program[0], request.program);
  int error = errno;
  tool_fail("cannot run %s: %s", request.program[0], strerror(error));
  return error == ENOENT ? NOT_FOUND : CANNOT_RUN;
}
