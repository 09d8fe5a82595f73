/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Keeps mapped files from filling the memory. One thread watches how many bytes of them are
 * resident and unmaps all their pages when that exceeds a limit; another thread writes the pages
 * out. No data is lost: written pages belong to the file, and a page that is read again comes from
 * the file, or from the system's cache if it is still there.
 */
#ifndef TESSERA_GEMM_PAGES_H
#define TESSERA_GEMM_PAGES_H

#include "npy.h"

typedef struct page_keeper page_keeper;

enum { KEEPER_FILES = 4 };

/* Three quarters of the unused memory in bytes, within all limits of the process. */
size_t pages_default_limit(void);

/* Starts the two threads; the exit code. *keeper stays NULL, without threads, if the files together
 * are not larger than the limit in bytes. Files without a mapping are ignored; all must live until
 * pages_stop. */
int pages_keep(const npy *const files[KEEPER_FILES], size_t limit, page_keeper **keeper);
/* Stops the threads and frees the keeper, which may be NULL. */
void pages_stop(page_keeper *keeper);

/* The largest resident memory of the process so far in bytes, including pages of files. */
double pages_peak(void);

#endif
