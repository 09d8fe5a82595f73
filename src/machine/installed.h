/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Machines that are installed with the library: the files NAME.json in share/tessera/machines. */
#ifndef TSR_MACHINE_INSTALLED_H
#define TSR_MACHINE_INSTALLED_H

#include "machine/machine.h"

enum { TSR_INSTALLED_NAME = 64, TSR_INSTALLED_MOST = 64, TSR_INSTALLED_PATH = 4096 };

typedef struct tsr_installed {
  int count;                                         /* further machines are left out */
  char name[TSR_INSTALLED_MOST][TSR_INSTALLED_NAME]; /* in alphabetical order, without ".json" */
} tsr_installed;

/* Lists the installed machines; none, if the folder is not found. */
void tsr_installed_list(tsr_installed *installed);

/* Whether the text can be the name of an installed machine: letters, digits, - and _ alone. */
bool tsr_installed_is_name(const char *text);

/* Writes the path of the file of the installed machine of that name; false: there is none. */
bool tsr_installed_find(const char *name, char path[TSR_INSTALLED_PATH]);

/* Fails with a message that lists the installed machines and the other forms of a machine. */
tsr_status tsr_installed_refuse(const char *name);

#endif
