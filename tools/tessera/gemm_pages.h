/*
 * Keeps the files' pages from filling the memory: a thread looks at how much of the mapped files is
 * resident, and lets all of it go once it is more than a limit; another writes it out. Nothing is
 * lost: what was written is the file's, whose pages the system writes out, and what is read again
 * comes from the file, or from the system's cache if it is still there.
 */
#ifndef TESSERA_GEMM_PAGES_H
#define TESSERA_GEMM_PAGES_H

#include "npy.h"

typedef struct page_keeper page_keeper;

enum { KEEPER_FILES = 4 };

/* Three quarters of the memory that is available now, on the machine and in the process's control
 * group. */
size_t pages_default_limit(void);

/* *keeper is NULL when the files are no larger than the limit together: nothing is to be done.
 * Files without a mapping are passed over; all must live until stop. */
int pages_keep(const npy *const files[KEEPER_FILES], size_t limit, page_keeper **keeper);
void pages_stop(page_keeper *keeper);

/* The most memory that the process has had, bytes: pages of files count. */
double pages_peak(void);

#endif
