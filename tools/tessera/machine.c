/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera machine: prints the machine that plans are made for, measured or described. */
#include <stdlib.h>

#include "commands.h"
#include "output.h"
#include "progress.h"
#include "settings.h"

static int probe(tsr_context *context) {
  progress shown;
  progress_open(&shown, false);
  progress_phase(&shown, "measuring", 0);
  tsr_status status = tsr_machine_probe(context, progress_probe, &shown);
  progress_close(&shown);
  return tool_status(status);
}

typedef struct machine_request {
  settings settings;
  output picture;
  bool probe, details, json, list, force;
} machine_request;

static int print_list(void) {
  char *text = NULL;
  int code = tool_status(tsr_machine_list(&text));
  if (code == TOOL_OK) fputs(text[0] ? text : "no machines are installed\n", stdout);
  free(text);
  return code;
}

static int print_machine(const machine_request *r, tsr_context *context) {
  char *text = NULL;
  tsr_format format = r->json ? TSR_JSON : r->details ? TSR_DETAILS : TSR_TEXT;
  int code = tool_status(tsr_machine_print(context, format, &text));
  if (code == TOOL_OK) fputs(text, stdout);
  if (code == TOOL_OK && format == TSR_TEXT) {
    printf("\n--details for every link, channel and rate; --svg FILE to see it%s\n",
           r->settings.machine ? "" : ";\n--probe to measure again");
  }
  free(text);
  return code;
}

static int write_picture(const machine_request *r, tsr_context *context) {
  char *text = NULL;
  int code = tool_status(tsr_machine_print(context, TSR_MACHINE_SVG, &text));
  if (code == TOOL_OK) code = output_write(&r->picture, text, r->force);
  free(text);
  return code;
}

static int check_request(const machine_request *r) {
  const char *inputs[] = {r->settings.machine, NULL};
  if (r->probe && r->settings.machine) {
    return tool_usage("--probe measures this machine and --machine replaces it; choose one");
  }
  return output_check(&r->picture, 1, inputs, r->force);
}

static int parse_request(int argc, char **argv, machine_request *r) {
  const option table[] = {
      {"details", 0, OPTION_FLAG, &r->details, NULL, "print every link, channel and rate"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print JSON, which --machine accepts as a file"},
      {"list", 0, OPTION_FLAG, &r->list, NULL, "list the installed machines (--machine NAME)"},
      {"svg", 0, OPTION_TEXT, &r->picture.path, "FILE",
       "draw the machine: GPUs, links with GB/s, what links share"},
      OUTPUT_FORCE(&r->force),
      {"probe", 0, OPTION_FLAG, &r->probe, NULL, "measure now and keep the result"},
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_DEVICES(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      {0}};
  static const option_mode modes[] = {
      {"list", NULL, "details json svg probe engine devices machine",
       "the list has names alone; leave it out"},
      {"json", NULL, "details", "JSON has all details; leave it out"},
      {"!svg", NULL, "force", "no file is written; leave it out"},
      {"engine=cpu", NULL, "devices", "there are no devices; leave it out"},
      {0}};
  const option_command command = {
      "[options]",
      "Prints the machine that plans are made for: its GPUs, what their links and\n"
      "kernels reach, alone and together. The rates are measured once and kept, or\n"
      "they are an installed machine's, a file's or a string's (--machine).",
      "tessera machine --machine h200x4\n"
      "  tessera machine --probe --json > here.json",
      table,
      0,
      0,
      .modes = modes};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  return code != TOOL_OK ? code : check_request(r);
}

int command_machine(int argc, char **argv) {
  machine_request request = {.picture = {"--svg", NULL, OUTPUT_TEXT}};
  int code = parse_request(argc, argv, &request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  if (request.list) return print_list();
  tsr_context *context = NULL;
  code = settings_open(&request.settings, &context);
  if (code == TOOL_OK && request.probe) code = probe(context);
  if (code == TOOL_OK) code = print_machine(&request, context);
  if (code == TOOL_OK && request.picture.path) code = write_picture(&request, context);
  tsr_context_destroy(context);
  return code;
}
