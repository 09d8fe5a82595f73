/* tessera run: an unmodified program, with our doors before its BLAS and its ScaLAPACK. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"

/* As a shell has them. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127 };

typedef struct run_request {
  settings settings;
  const char *offload, *report_to, *memory, *tile;
  const char *min_size;
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

static int set_environment(const run_request *r) {
  char path[PATH_MAX], pid[24];
  int code = tool_find_doors(path);
  snprintf(pid, sizeof pid, "%ld", (long)getpid());
  const struct {
    const char *name, *value;
  } variables[] = {
      {"TESSERA_OFFLOAD", r->offload},
      {"TESSERA_MIN_SIZE", r->min_size},
      {"TESSERA_REPORT", r->report_to ? r->report_to
                         : r->report  ? "1"
                                      : NULL},
      {"TESSERA_EXPLAIN", r->explain ? "1" : NULL},
      {"TESSERA_RUN_PID", pid}, /* this process is who says that it saw no call */
      {"TESSERA_ENGINE", r->settings.engine},
      {"TESSERA_DEVICES", r->settings.devices},
      {"TESSERA_MACHINE", r->settings.machine},
      {"TESSERA_MEMORY", r->memory},
      {"TESSERA_TILE", r->tile},
  };
  for (size_t i = 0; i < sizeof variables / sizeof *variables && !code; i++)
    code = set(variables[i].name, variables[i].value);
  return code ? code : set_preloads(path);
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
      {"memory", 0, OPTION_TEXT, &r->memory, "BYTES", "budget for each device"},
      {"tile", 0, OPTION_TEXT, &r->tile, "N", "tiles of N elements"},
      {0}};
  const option_command command = {
      "[options] -- PROGRAM [ARGUMENTS]",
      "Runs a program with Tessera before its BLAS: level-3 calls that gain by it are carried out\n"
      "on the GPUs, all others go on to the program's own BLAS; so do matrix products of the "
      "PBLAS\n"
      "(mpirun -n 4 tessera run -- PROGRAM). docs/doors.md tells more.",
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
  return TOOL_OK;
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
