/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera pgemm and tessera plan pgemm: both run tessera-pgemm, a program in the same folder, since
 * only that one is linked with MPI. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "tool.h"

#define PROGRAM "tessera-pgemm"

int pgemm_find(char *path) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return tool_fail("cannot find the folder of this program: %s", strerror(errno));
  self[length] = '\0';
  char *slash = strrchr(self, '/');
  *slash = '\0';
  if (snprintf(path, PATH_MAX, "%s/%s", self, PROGRAM) < PATH_MAX) return TOOL_OK;
  return tool_fail("the path of this program is too long");
}

/* Replaces this process by "tessera-pgemm what" with the arguments after argv[0]; returns the exit
 * code if that fails. */
static int run_program(const char *what, int argc, char **argv) {
  char path[PATH_MAX];
  int code = pgemm_find(path);
  if (code) return code;
  char **words = malloc(((size_t)argc + 2) * sizeof *words);
  if (!words) return tool_fail("out of memory");
  words[0] = (char *)PROGRAM;
  words[1] = (char *)what;
  for (int i = 1; i <= argc; i++) words[i + 1] = argv[i];
  execv(path, words);
  int error = errno;
  free(words);
  if (error != ENOENT) return tool_fail("cannot run %s: %s", path, strerror(error));
  return tool_fail(
      "%s is not in the folder of this program: products across processes need a build with MPI "
      "(-DTESSERA_MPI=ON, and an MPI that CMake finds)",
      PROGRAM);
}

int command_pgemm(int argc, char **argv) {
  return run_program("run", argc, argv);
}

int plan_pgemm(int argc, char **argv) {
  return run_program("plan", argc, argv);
}