/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * tessera doctor: what it finds, in lines of three grades, each with its remedy. doctor.c prints,
 * doctor_checks.c looks at the computer, doctor_gpus.c at its GPUs, doctor_topology.c at its memory
 * nodes, doctor_mpi.c at MPI and its launcher.
 */
#ifndef TESSERA_DOCTOR_H
#define TESSERA_DOCTOR_H

#include "tool.h"

typedef enum doctor_grade {
  GRADE_OK,   /* as it should be, or a fact */
  GRADE_WARN, /* works, but slower, or not as the user may think */
  GRADE_FAIL  /* something that was asked for, or that is here, cannot be used */
} doctor_grade;

typedef struct doctor_finding {
  doctor_grade grade;
  const char *about; /* a word for programs: "gpu" */
  char text[1024];   /* one or two sentences, with the remedy */
} doctor_finding;

enum { DOCTOR_ROOM = 64 };

typedef struct doctor {
  doctor_finding found[DOCTOR_ROOM];
  int count;
  int rank;           /* of those that a launcher started together; 0: the first, or no launcher */
  int processes;      /* that the launcher started; 0: there is none */
  int devices;        /* GPUs that can be used; 0: none */
  const char *engine; /* of these GPUs; NULL: none can be used */
  char device[64];    /* the name of the first */
} doctor;

/* Adds a finding; further ones than DOCTOR_ROOM are left out. */
void doctor_add(doctor *d, doctor_grade grade, const char *about, const char *format, ...)
    TOOL_PRINTF(4, 5);

/* The first line of a file of the system's, until the next call; "": it cannot be read. */
const char *doctor_line_of(const char *path);

/* How many names a folder has that do not begin with a dot; 0 if it cannot be read. */
int doctor_count_names(const char *path);

/* The checks, each of which adds its findings. */
void doctor_check_build(doctor *d);
void doctor_check_gpus(doctor *d);
void doctor_check_topology(doctor *d);
void doctor_check_blas(doctor *d);
void doctor_check_mpi(doctor *d); /* sets rank */
void doctor_check_measurement(doctor *d);
void doctor_check_limits(doctor *d);
void doctor_check_settings(doctor *d);
void doctor_check_machines(doctor *d);

#endif
