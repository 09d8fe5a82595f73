/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What the command was built from and with: for tessera --version and tessera doctor. */
#ifndef TESSERA_VERSION_H
#define TESSERA_VERSION_H

#include <stdbool.h>

/* "tessera 0.2.0 (a1b2c3d)". */
const char *version_line(void);

/* The versions of the CUDA toolkit ("13.0.88") and of HIP ("5.2.21153"), and the MPI ("Open MPI
 * 4.1.4"), that the command was built with; "": built without. */
const char *version_cuda(void);
const char *version_hip(void);
const char *version_mpi(void);

/* Whether libtessera has the version of the header that the command was compiled with. */
bool version_matches(void);

/* tessera --version; the exit code. */
int version_print(void);

#endif
