/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera run: runs an unmodified program with our doors (libtessera_blas, libtessera_pblas)
 * preloaded before its BLAS and its ScaLAPACK. */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "output.h"
#include "settings.h"

/* Exit codes as of a shell. */
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

/* Puts the library before those that LD_PRELOAD has already. */
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

/* Preloads the BLAS door and, after it, the PBLAS door, which has no effect on a program without
 * ScaLAPACK. */
static int set_preloads(const char *doors) {
  char pblas[PATH_MAX];
  if (strpbrk(doors, " :"))
    return tool_fail(
        "%s cannot be preloaded; move it to a path that contains no blank and no colon", doors);
  int code = tool_find_pblas(pblas) ? set_preload(pblas) : TOOL_OK;
  return code ? code : set_preload(doors);
}

/* Sets the report's file by its absolute path, since the program may change its folder. */
static int set_report(const run_request *r) {
  char folder[PATH_MAX], path[2 * PATH_MAX];
  if (!r->report_to) return set("TESSERA_REPORT", r->report ? "1" : NULL);
  if (r->report_to[0] == '/') return set("TESSERA_REPORT", r->report_to);
  if (!getcwd(folder, sizeof folder)) return tool_fail("--report-to: %s", strerror(errno));
  snprintf(path, sizeof path, "%s/%s", folder, r->report_to);
  return set("TESSERA_REPORT", path);
}

/* Sets the machine; a file is named by its absolute path for the same reason. */
static int set_machine(const char *machine) {
  char path[PATH_MAX];
  return set("TESSERA_MACHINE", machine && realpath(machine, path) ? path : machine);
}

static int set_environment(const run_request *r) {
  char path[PATH_MAX], pid[24], tile[24], min_size[24];
  int64_t size = 0;
  int code = tool_find_doors(path);
  if (r->min_size) (void)options_whole_list(r->min_size, &size, 1);
  snprintf(min_size, sizeof min_size, "%lld", (long long)size); /* the setting takes no 1e3 */
  snprintf(pid, sizeof pid, "%ld", (long)getpid());
  snprintf(tile, sizeof tile, "%lld", (long long)r->settings.tile);
  const struct {
    const char *name, *value;
  } variables[] = {
      {"TESSERA_OFFLOAD", r->offload},
      {"TESSERA_MIN_SIZE", r->min_size ? min_size : NULL},
      {"TESSERA_EXPLAIN", r->explain ? "1" : NULL},
      {"TESSERA_RUN_PID", pid}, /* only this process reports that it saw no call */
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

/* ---- Options ---- */

static bool is_one_of(const char *word, const char *const *words) {
  while (*words && strcmp(word, *words) != 0) words++;
  return *words != NULL;
}

/* Whether the text is a count ("2") or a list ("0,2", "3,"), perhaps after two dots ("..2"). */
static bool is_list(const char *text) {
  if (strncmp(text, "..", 2) == 0) text += 2;
  for (; *text >= '0' && *text <= '9'; text++) {
    text += strspn(text, "0123456789");
    if (*text != ',') break;
  }
  return *text == '\0';
}

/* The report is added to its file after the program has ended: a file that cannot be written, or
 * that is the program or one of its arguments, is refused before. */
static int check_report(const run_request *r) {
  const output report = {"--report-to", r->report_to, OUTPUT_LINES};
  return output_check(&report, 1, (const char *const *)r->program, false);
}

/* Checks settings here, since the doors print nothing: an error there would appear only in the
 * report. */
static int check_settings(const run_request *r) {
  static const char *const modes[] = {"never", "auto", "always", NULL};
  static const char *const engines[] = {"cuda", "hip", "host", "cpu", NULL};
  const settings *s = &r->settings;
  int64_t size;
  if (r->offload && !is_one_of(r->offload, modes))
    return tool_usage("--offload %s: must be never, auto or always", r->offload);
  if (r->min_size && (options_whole_list(r->min_size, &size, 1) != 1 || size > INT32_MAX))
    return tool_usage("--min-size %s: must be a whole number up to %d", r->min_size, INT32_MAX);
  if (s->engine && !is_one_of(s->engine, engines))
    return tool_usage("--engine %s: must be cuda, hip, host or cpu", s->engine);
  if (s->devices && (!*s->devices || !is_list(s->devices)))
    return tool_usage("--devices %s: must be a count (2) or a list (0,2 or 3,); ..2: at most 2",
                      s->devices);
  return settings_check(s);
}

/* Splits the words: the program begins after "--", or is the first word if that is no option.
 * *options: number of words before the program. */
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
       "at exit, say on stderr how much of the time was level-3 BLAS, and which calls went where"},
      {"report-to", 0, OPTION_TEXT, &r->report_to, "FILE", "append the report to a file"},
      {"explain", 0, OPTION_FLAG, &r->explain, NULL,
       "the report with all kinds of call, not only the ten that took the most time"},
      {"offload", 0, OPTION_TEXT, &r->offload, "never|auto|always",
       "which calls go to devices (default: auto, those that are predicted to be faster there)"},
      {"min-size", 0, OPTION_TEXT, &r->min_size, "N",
       "calls with less work than a product of extents N x N x N stay on the CPU"},
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_DEVICES(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      SETTINGS_TILE(&r->settings),
      {0}};
  static const option_mode modes[] = {
      {"report-to", NULL, "report", "the report goes to that file; leave it out"},
      {"offload=never", NULL, "min-size engine devices machine memory tile",
       "every call stays on the CPU; leave it out"},
      {"engine=cpu", NULL, "offload min-size devices machine memory tile",
       "every call stays on the CPU; leave it out"},
      {0}};
  const option_command command = {
      "[options] -- PROGRAM [ARGUMENTS]",
      "Runs a program with Tessera before its BLAS: level-3 calls that are faster on the GPUs are\n"
      "carried out there, all others by the program's own BLAS. Matrix products of the PBLAS are\n"
      "treated alike (mpirun -n 4 tessera run -- PROGRAM). docs/explain/doors.md has the details. "
      "The "
      "exit\n"
      "code is the program's; 126: it cannot be run; 127: it or its interpreter was not found.",
      "tessera run --report -- python3 script.py",
      table,
      0,
      1,
      .modes = modes};
  const char *word = NULL;
  int options; /* words before the program */
  split(argc, argv, &options, r);
  int code = options_parse(&command, options, argv, &word, NULL);
  if (code) return code;
  if (word) return tool_usage("put -- before the program: tessera run ... -- %s", word);
  if (!r->program || !r->program[0])
    return tool_usage("no program is given; put it after --: tessera run ... -- PROGRAM");
  code = check_settings(r);
  return code ? code : check_report(r);
}

/* ---- Programs that nothing can be preloaded into ---- */

/* Whether an ELF file has no interpreter, the loader that reads LD_PRELOAD. False also for what is
 * no ELF file of this computer's kind, such as a script. */
static bool is_static(FILE *file) {
  ElfW(Ehdr) head;
  ElfW(Phdr) part;
  if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_phentsize != sizeof part || fseek(file, (long)head.e_phoff, SEEK_SET) != 0)
    return false;
  for (int i = 0; i < head.e_phnum; i++)
    if (fread(&part, sizeof part, 1, file) != 1 || part.p_type == PT_INTERP) return false;
  return true;
}

/* The file that execvp would run: path[PATH_MAX]; false: none is found. */
static bool find_on_path(const char *name, char *path) {
  const char *folders = getenv("PATH");
  if (strchr(name, '/')) return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
  for (const char *at = folders ? folders : "/bin:/usr/bin"; *at; at += *at == ':') {
    int length = (int)strcspn(at, ":");
    snprintf(path, PATH_MAX, "%.*s/%s", length, at, name);
    if (access(path, X_OK) == 0) return true;
    at += length;
  }
  return false;
}

/* Says so beforehand, since such a program writes no report. */
static void tell_unreachable(const char *name) {
  char path[PATH_MAX];
  struct stat about;
  FILE *file = find_on_path(name, path) ? fopen(path, "re") : NULL;
  if (!file) return;
  if (is_static(file))
    tool_note(
        "%s is linked statically, so nothing can come before its BLAS: link it with a shared "
        "BLAS (-lblas), or with -ltessera_blas",
        path);
  else if (fstat(fileno(file), &about) == 0 && (about.st_mode & (S_ISUID | S_ISGID)))
    tool_note(
        "%s runs with the rights of its owner, so the system preloads nothing into it: run a "
        "copy of it without them",
        path);
  fclose(file);
}

int command_run(int argc, char **argv) {
  run_request request = {0};
  int code = parse_request(argc, argv, &request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (!code) code = set_environment(&request);
  if (code) return code;
  tell_unreachable(request.program[0]);
  execvp(request.program[0], request.program);
  int error = errno;
  tool_fail("cannot run %s: %s", request.program[0], strerror(error));
  return error == ENOENT ? NOT_FOUND : CANNOT_RUN;
}
