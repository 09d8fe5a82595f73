/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera doctor: whether everything is as it should be, and what to do where it is not. */
#include "doctor.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "options.h"

static const char *const names[] = {"ok", "warn", "fail"};

enum { INDENT = 6 };

void doctor_add(doctor *d, doctor_grade grade, const char *about, const char *format, ...) {
  if (d->count == DOCTOR_ROOM) return;
  doctor_finding *f = &d->found[d->count++];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(f->text, sizeof f->text, format, arguments);
  va_end(arguments);
  f->grade = grade;
  f->about = about;
}

static doctor_grade worst_of(const doctor *d) {
  doctor_grade worst = GRADE_OK;
  for (int i = 0; i < d->count; i++)
    if (d->found[i].grade > worst) worst = d->found[i].grade;
  return worst;
}

/* ---- Printing ---- */

static void print_text(const doctor *d) {
  for (int i = 0; i < d->count; i++) {
    printf("%-*s", INDENT, names[d->found[i].grade]);
    tool_print_wrapped(INDENT, d->found[i].text);
  }
}

static int print_json(const doctor *d) {
  cJSON *report = cJSON_CreateObject();
  cJSON_AddStringToObject(report, "worst", names[worst_of(d)]);
  cJSON *list = cJSON_AddArrayToObject(report, "findings");
  for (int i = 0; i < d->count; i++) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "grade", names[d->found[i].grade]);
    cJSON_AddStringToObject(item, "about", d->found[i].about);
    cJSON_AddStringToObject(item, "text", d->found[i].text);
    cJSON_AddItemToArray(list, item);
  }
  return tool_print_json(report, false);
}

/* ---- The command ---- */

static void examine(doctor *d) {
  static void (*const checks[])(doctor *) = {
      doctor_check_build,  doctor_check_gpus,     doctor_check_topology,
      doctor_check_blas,   doctor_check_mpi,      doctor_check_measurement,
      doctor_check_limits, doctor_check_settings, doctor_check_machines,
  };
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) checks[i](d);
}

int command_doctor(int argc, char **argv) {
  bool json = false;
  const option table[] = {{"json", 0, OPTION_FLAG, &json, NULL, "print JSON, for programs"}, {0}};
  const option_command command = {
      "[options]",
      "Says whether everything that Tessera works with is as it should be: its libraries, the "
      "GPUs,\n"
      "host memory nodes, the CPU's BLAS, MPI and its launcher, the kept measurement, limits and\n"
      "settings. Each line is ok, warn or fail, with what to do. Under mpirun or srun the first\n"
      "process speaks. The exit code is 1 if a line is fail, else 0.",
      "tessera doctor",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (code) return code == OPTIONS_HELPED ? TOOL_OK : code;
  doctor *d = calloc(1, sizeof *d);
  if (!d) return tool_fail("out of memory");
  examine(d);
  code = worst_of(d) == GRADE_FAIL ? TOOL_FAILED : TOOL_OK;
  if (d->rank > 0) /* the first process says it */
    code = TOOL_OK;
  else if (json && print_json(d) != TOOL_OK)
    code = TOOL_FAILED;
  else if (!json)
    print_text(d);
  free(d);
  return code;
}
