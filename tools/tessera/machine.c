/* tessera machine: prints the machine that plans are made for, measured or described. */
#include <stdlib.h>

#include "commands.h"
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

static int print_machine(tsr_context *context, bool json) {
  char *text = NULL;
  int code = tool_status(tsr_machine_print(context, json ? TSR_JSON : TSR_TEXT, &text));
  if (code == TOOL_OK) fputs(text, stdout);
  free(text);
  return code;
}

int command_machine(int argc, char **argv) {
  settings given = {0};
  bool again = false, json = false;
  const option table[] = {
      {"probe", 0, OPTION_FLAG, &again, NULL, "measure now and keep the result"},
      {"json", 0, OPTION_FLAG, &json, NULL, "print JSON, which --machine accepts as a file"},
      SETTINGS_ENGINE(&given),
      SETTINGS_DEVICES(&given),
      SETTINGS_MACHINE(&given),
      {0}};
  const option_command command = {
      "[options]",
      "Prints the locations, links, channels and rates that plans are\n"
      "made from. They are measured once and kept, or read from a file\n"
      "or a string (--machine).",
      "tessera machine --probe --json > here.json",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  if (again && given.machine) {
    return tool_usage("--probe measures this machine and --machine replaces it; choose one");
  }
  tsr_context *context = NULL;
  code = settings_open(&given, &context);
  if (code == TOOL_OK && again) code = probe(context);
  if (code == TOOL_OK) code = print_machine(context, json);
  tsr_context_destroy(context);
  return code;
}
