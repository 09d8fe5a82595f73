/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The tessera command. Each subcommand has a file of its own. */
#include <string.h>

#include "commands.h"
#include "options.h"
#include "version.h"
#include "output_file.h"

typedef struct subcommand {
  const char *name, *full_name, *help;
  int (*run)(int argc, char **argv);
} subcommand;

static const subcommand subcommands[] = {
    {"gemm", "tessera gemm", "multiply matrices in NumPy files", command_gemm},
    {"pgemm", "tessera pgemm", "multiply matrices in NumPy files across processes (mpirun)",
     command_pgemm},
    {"solve", "tessera solve", "solve A X = B in NumPy files, A positive definite or triangular",
     command_solve},
    {"plan", "tessera plan", "plan an operation and predict its time, without running it",
     command_plan},
    {"machine", "tessera machine", "print or measure the machine", command_machine},
    {"run", "tessera run", "run a program with its BLAS calls on the GPUs where that is faster",
     command_run},
    {"knobs", "tessera knobs", "list the knobs that TESSERA_STRATEGY can force", command_knobs},
    {"tuning", "tessera tuning", "list the tuned constants and the origin of each", command_tuning},
    {"doctor", "tessera doctor", "say whether everything is as it should be, and what to do",
     command_doctor},
    {"bench", "tessera bench", "measure how fast this machine is, beside the floor and a peer",
     command_bench},
};

enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static int print_help(void) {
  printf(
      "usage: tessera COMMAND [options]\n\n"
      "Dense matrix products on machines with several GPUs: planned first, then run.\n\n"
      "commands:\n");
  for (int i = 0; i < SUBCOMMANDS; i++) {
    printf("  %-10s ", subcommands[i].name);
    tool_print_wrapped(13, subcommands[i].help);
  }
  printf(
      "\n'tessera help COMMAND' explains a command.\n"
      "'tessera --version' prints the version.\n"
      "Exit codes: 0 done, 1 failed, 2 wrong usage; run returns the program's own.\n\n"
      "settings (environment variables; an option overrides its setting):\n");
  for (const tsr_setting *s = tsr_settings(); s->name; s++) {
    char text[512];
    printf("  ");
    snprintf(text, sizeof text, "%s=%s", s->name, s->values);
    tool_print_wrapped(6, text);
    printf("      ");
    snprintf(text, sizeof text, "%s (default: %s)", s->help, s->initial);
    tool_print_wrapped(6, text);
  }
  return TOOL_OK;
}

/* For --help=json: the commands and the settings, for programs. */
static int describe(void) {
  cJSON *object = cJSON_CreateObject(), *commands = cJSON_AddArrayToObject(object, "commands");
  for (int i = 0; i < SUBCOMMANDS; i++) {
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "name", subcommands[i].name);
    cJSON_AddStringToObject(row, "help", subcommands[i].help);
    cJSON_AddItemToArray(commands, row);
  }
  cJSON *settings = cJSON_AddArrayToObject(object, "settings");
  for (const tsr_setting *s = tsr_settings(); s->name; s++) {
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "name", s->name);
    cJSON_AddStringToObject(row, "values", s->values);
    cJSON_AddStringToObject(row, "default", s->initial);
    cJSON_AddStringToObject(row, "help", s->help);
    cJSON_AddItemToArray(settings, row);
  }
  return tool_print_json(object, false);
}

static int unknown(const char *word) {
  const char *names[SUBCOMMANDS + 1];
  for (int i = 0; i < SUBCOMMANDS; i++) names[i] = subcommands[i].name;
  names[SUBCOMMANDS] = NULL;
  const char *nearest = tsr_word_nearest(word, names);
  if (nearest) return tool_usage("unknown command '%s': did you mean '%s'?", word, nearest);
  if (word[0] == '-') return tool_usage("unknown option %s; give a command first", word);
  char list[256] = "";
  for (int i = 0, used = 0; i < SUBCOMMANDS; i++)
    used += snprintf(list + used, sizeof list - (size_t)used, "%s%s", i ? ", " : "", names[i]);
  return tool_usage("unknown command '%s'; the commands are %s", word, list);
}

/* Flushes the standard output. The exit code: `code`, or TOOL_FAILED if the output could not be
 * written. */
static int flush_output(int code) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  return code == TOOL_OK ? tool_fail("cannot write to the standard output") : code;
}

/* The library only logs a misspelt setting; the command says so before it begins. The doctor says
 * it among other things. */
static void tell_misspelt(void) {
  char name[TSR_SETTING_NAME];
  const char *meant;
  for (int i = 0; tsr_setting_unknown(i, name, sizeof name, &meant); i++)
    if (meant) tool_note("%s is no setting and has no effect; did you mean %s?", name, meant);
}

static int run_subcommand(int argc, char **argv) {
  for (int i = 0; i < SUBCOMMANDS; i++) {
    if (strcmp(argv[0], subcommands[i].name) != 0) continue;
    tool_set_name(subcommands[i].full_name);
    if (subcommands[i].run != command_doctor) tell_misspelt();
    if (subcommands[i].run != command_run)
      output_catch_signals(); /* a program would inherit SIG_IGN */
    return subcommands[i].run(argc, argv);
  }
  return unknown(argv[0]);
}

/* tessera help gemm: tessera gemm --help; the same for "help plan pgemm". */
static int help(int argc, char **argv) {
  enum { MOST_WORDS = 2 };
  char *words[MOST_WORDS + 2] = {NULL};
  if (argc == 0) return print_help();
  if (argc > MOST_WORDS) return tool_usage("help: unexpected argument '%s'", argv[MOST_WORDS]);
  for (int i = 0; i < argc; i++) words[i] = argv[i];
  words[argc] = (char *)"--help";
  return run_subcommand(argc + 1, words);
}

int main(int argc, char **argv) {
  tool_hold_descriptors();
  if (argc < 2) return tool_usage("no command is given");
  const char *word = argv[1];
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return flush_output(print_help());
  if (strcmp(word, "help") == 0) return flush_output(help(argc - 2, argv + 2));
  if (strcmp(word, "--help=json") == 0) return flush_output(describe());
  if (strcmp(word, "--version") == 0) {
    return flush_output(version_print());
  }
  return flush_output(run_subcommand(argc - 1, argv + 1));
}
