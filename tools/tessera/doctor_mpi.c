/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera doctor: MPI and the launcher, which tessera-pgemm knows, since only that program is
 * linked with MPI. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "doctor.h"
#include "version.h"

enum { SECONDS_TO_ANSWER = 60 }; /* MPI_Init of all processes of a job; a launcher may be slow */

static const char without_mpi[] =
    "libtessera_mpi, libtessera_pblas and tessera pgemm are missing; to have them, install an MPI "
    "(Debian: libopenmpi-dev) and build again";

/* In the child: becomes tessera-pgemm, which writes to the descriptor. */
static void become(const char *path, int output) {
  dup2(output, STDOUT_FILENO);
  alarm(SECONDS_TO_ANSWER);
  execl(path, path, "describe", (char *)NULL);
  _exit(127);
}

/* Reads all that comes; the bytes read. */
static size_t read_all(int input, char *text, size_t room) {
  size_t length = 0;
  for (ssize_t got = 1; got != 0 && length + 1 < room;) {
    got = read(input, text + length, room - 1 - length);
    if (got > 0) length += (size_t)got;
    if (got < 0 && errno != EINTR) break;
  }
  text[length] = '\0';
  return length;
}

/* Runs "tessera-pgemm describe". NULL: it cannot be run, or does not answer. */
static cJSON *ask(const char *path) {
  char answer[4096];
  int ends[2], status;
  if (pipe(ends) != 0) return NULL;
  pid_t child = fork();
  if (child == 0) become(path, ends[1]);
  close(ends[1]);
  if (child > 0) read_all(ends[0], answer, sizeof answer);
  close(ends[0]);
  if (child < 0 || waitpid(child, &status, 0) != child) return NULL;
  const char *object = strchr(answer, '{'); /* an MPI may print something first */
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 && object ? cJSON_Parse(object) : NULL;
}

static const char *text_of(const cJSON *answer, const char *name) {
  const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(answer, name));
  return text ? text : "";
}

static int number_of(const cJSON *answer, const char *name) {
  const cJSON *item = cJSON_GetObjectItem(answer, name);
  return item && cJSON_IsNumber(item) ? item->valueint : 0;
}

static void judge_launcher(doctor *d, const cJSON *answer) {
  const char *error = text_of(answer, "error"), *launcher = text_of(answer, "launcher");
  if (*error)
    doctor_add(d, GRADE_FAIL, "launcher", "%s.", error);
  else if (*launcher)
    doctor_add(d, GRADE_OK, "launcher", "Started by %s, %d process%s that know each other.",
               launcher, number_of(answer, "started"),
               number_of(answer, "started") == 1 ? "" : "es");
}

static void judge(doctor *d, const cJSON *answer) {
  const char *mpi = text_of(answer, "mpi");
  if (strcmp(mpi, version_mpi()) == 0)
    doctor_add(d, GRADE_OK, "mpi", "%s, for products across processes.", mpi);
  else
    doctor_add(d, GRADE_WARN, "mpi",
               "Built with %s, but %s is loaded. If that is not meant, look at LD_LIBRARY_PATH.",
               version_mpi(), mpi);
  d->rank = number_of(answer, "rank");
  d->processes = number_of(answer, "started");
  judge_launcher(d, answer);
}

void doctor_check_mpi(doctor *d) {
  char path[PATH_MAX];
  if (!*version_mpi()) {
    doctor_add(d, GRADE_OK, "mpi", "No MPI: %s.", without_mpi);
    return;
  }
  if (pgemm_find(path) != TOOL_OK || access(path, X_OK) != 0) {
    doctor_add(d, GRADE_WARN, "mpi",
               "Built with %s, but %s is not there. For products across processes install the "
               "package that has it (Debian: tessera-mpi).",
               version_mpi(), path);
    return;
  }
  cJSON *answer = ask(path);
  if (answer)
    judge(d, answer);
  else
    doctor_add(d, GRADE_FAIL, "mpi",
               "%s cannot be started: tessera-pgemm describe, run by hand, says why (often: "
               "libmpi is not found; load the MPI's module).",
               version_mpi());
  cJSON_Delete(answer);
}
