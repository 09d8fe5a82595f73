/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/run/launcher.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/thread.h"

typedef enum family { FAMILY_OPEN_MPI, FAMILY_MPICH, FAMILY_NONE } family;

/* A launcher: it has started the process if `mark` is set, in a job of as many processes as `size`
 * says. Sources: the manuals of Open MPI 4 (mpirun), Hydra, MVAPICH2 (mpirun_rsh), Flux, IBM's
 * jsrun, Slurm (srun). Slurm's variables of the step are used, since those of the job
 * (SLURM_NTASKS) are also set in a batch script, which is one process. Open MPI's and Hydra's
 * launchers start their own helpers by srun, so Slurm comes after them. Slurm and others set
 * PMI_SIZE, too, so the row with nothing else comes last. */
static const struct launcher {
  const char *mark, *size, *rank, *name;
  family family;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun",
     FAMILY_OPEN_MPI},
    {"MPI_LOCALNRANKS", "PMI_SIZE", "PMI_RANK", "the mpiexec of MPICH (Hydra)", FAMILY_MPICH},
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MVAPICH's launcher",
     FAMILY_MPICH},
    {"FLUX_JOB_SIZE", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", "flux run", FAMILY_NONE},
    {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "jsrun", FAMILY_NONE},
    {"SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun", FAMILY_NONE},
    {"PMI_SIZE", "PMI_SIZE", "PMI_RANK", "a launcher with MPICH's PMI", FAMILY_MPICH},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

/* ---- The MPI that the program uses ---- */

/* Copies the words of the first line up to a comma, without "Version:" and the v of "v4.1.4":
 * "Open MPI v4.1.4, package ..." gives "Open MPI 4.1.4". */
static void shorten(const char *text, char *name, size_t room) {
  size_t length = 0;
  while (*text != '\0' && *text != '\n' && *text != ',' && length + 1 < room) {
    size_t blanks = strspn(text, " \t"), word = strcspn(text + blanks, " \t\n,");
    const char *next = text + blanks + word;
    text += blanks;
    if (text[0] == 'v' && text[1] >= '0' && text[1] <= '9') text++;
    if (next > text && strncmp(text, "Version:", 8) != 0)
      length += (size_t)snprintf(name + length, room - length, "%s%.*s", length > 0 ? " " : "",
                                 (int)(next - text), text);
    text = next;
  }
}

static void name_mpi(char *name, size_t room) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  (void)MPI_Get_library_version(text, &length);
  shorten(text, name, room);
}

static family family_of(const char *mpi) {
  if (strncmp(mpi, "Open MPI", 8) == 0) return FAMILY_OPEN_MPI;
  bool like_mpich = strstr(mpi, "MPICH") != NULL || strstr(mpi, "Intel") != NULL ||
                    strstr(mpi, "MVAPICH") != NULL;
  return like_mpich ? FAMILY_MPICH : FAMILY_NONE;
}

/* ---- The launcher ---- */

/* The number of processes that a launcher has started; 0: it has not started this one. */
static int started_by(const struct launcher *l) {
  const char *mark = tsr_environment_get(l->mark), *size = tsr_environment_get(l->size);
  if (mark == NULL || size == NULL) return 0;
  long count = strtol(size, NULL, 10);
  return count > 0 && count <= INT32_MAX ? (int)count : 0;
}

/* The launcher nearest to the process. That of the program's own MPI counts first: a job may have
 * been started inside a process of another launcher's. */
static const struct launcher *find_launcher(family own) {
  for (int i = 0; i < LAUNCHERS; i++)
    if (launchers[i].family == own && own != FAMILY_NONE && started_by(&launchers[i]) > 0)
      return &launchers[i];
  for (int i = 0; i < LAUNCHERS; i++)
    if (started_by(&launchers[i]) > 0) return &launchers[i];
  return NULL;
}

/* ---- Whether they belong together ---- */

/* Whether the process is alone in MPI_COMM_WORLD, and was not spawned so by a process of MPI. */
static bool is_alone(void) {
  int begun = 0, ended = 0, size = 0;
  MPI_Comm parent = MPI_COMM_NULL;
  if (MPI_Initialized(&begun) != MPI_SUCCESS || !begun) return false;
  if (MPI_Finalized(&ended) != MPI_SUCCESS || ended) return false;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&parent);
  return size == 1 && parent == MPI_COMM_NULL;
}

static void explain(tsr_launcher_facts *facts) {
  bool slurm = strcmp(facts->launcher, "srun") == 0;
  snprintf(facts->error, sizeof facts->error,
           "%s started %d processes, but the MPI of this program, %s, does not know that launcher: "
           "each process would be alone and do all of the work. Start it with %s, or build Tessera "
           "with the MPI of the launcher",
           facts->launcher, facts->started, facts->mpi,
           slurm ? "srun --mpi=TYPE, where srun --mpi=list prints the types, or with the mpirun of "
                   "that MPI"
                 : "the mpirun or mpiexec of that MPI");
}

TSR_ENTRY_VOID(tsr_launcher_describe, (facts), tsr_launcher_facts *facts) {
  *facts = (tsr_launcher_facts){.launcher = ""};
  name_mpi(facts->mpi, sizeof facts->mpi);
  const struct launcher *l = find_launcher(family_of(facts->mpi));
  if (l == NULL) return;
  const char *rank = tsr_environment_get(l->rank);
  facts->launcher = l->name;
  facts->started = started_by(l);
  facts->rank = rank != NULL ? atoi(rank) : 0;
  if (facts->started > 1 && is_alone()) explain(facts);
}

tsr_status tsr_launcher_check_grid(MPI_Comm comm, int rows, int cols) {
  tsr_launcher_facts facts;
  if ((rows == 1 && cols == 1) || comm == MPI_COMM_SELF) return TSR_OK;
  tsr_launcher_describe(&facts);
  return facts.error[0] == '\0' ? TSR_OK : tsr_fail(TSR_ERR_UNSUPPORTED, "%s", facts.error);
}
