/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "gemm_pages.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

/* Time between two looks at the resident bytes; in it at most some 10 MB become resident. */
static const long LOOK_EVERY = 2000000; /* ns */

struct page_keeper {
  const npy *files[KEEPER_FILES];
  size_t limit;
  pthread_t watcher, writer;
  atomic_bool full; /* pages were unmapped and are to be written out */
  atomic_bool stop;
};

/* ---- Memory sizes ---- */

size_t pages_default_limit(void) {
  tsr_process_limits limits;
  tsr_process_limits_describe(&limits);
  return limits.unused.most < (double)SIZE_MAX ? (size_t)limits.unused.most / 4 * 3 : SIZE_MAX;
}

double pages_peak(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return (double)usage.ru_maxrss * 1024;
}

/* Bytes of files that the process has mapped and that are resident. */
static size_t resident(void) {
  unsigned long size = 0, all = 0, shared = 0;
  FILE *stream = fopen("/proc/self/statm", "re");
  if (!stream) return 0;
  if (fscanf(stream, "%lu %lu %lu", &size, &all, &shared) != 3) shared = 0;
  fclose(stream);
  return shared * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- The threads ---- */

/* Unmaps the file's pages from the process. Written pages stay in the system's cache. */
static void unmap_pages(const npy *file) {
  (void)madvise(file->mapping, file->mapped, MADV_DONTNEED);
}

/* Drops the file's pages from the system's cache. They are written out first, all at once and in
 * order: a system that runs out of memory would write them page by page. */
static void drop_pages(const npy *file) {
  (void)sync_file_range(file->descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
  (void)posix_fadvise(file->descriptor, 0, 0, POSIX_FADV_DONTNEED);
}

static void each_file(const page_keeper *k, void (*visit)(const npy *file)) {
  for (int i = 0; i < KEEPER_FILES; i++) {
    if (k->files[i] && k->files[i]->mapping) visit(k->files[i]);
  }
}

/* Waits until the next look; false: the threads are to stop. */
static bool goes_on(page_keeper *k) {
  const struct timespec pause = {0, LOOK_EVERY};
  nanosleep(&pause, NULL);
  return !atomic_load(&k->stop);
}

/* The watching thread: unmaps the files' pages when more than the limit are resident. Pages that
 * are still resident then belong to programs and libraries and do not count. */
static void *watch(void *user) {
  page_keeper *k = user;
  size_t others = 0;
  while (goes_on(k)) {
    if (resident() <= others + k->limit) continue;
    each_file(k, unmap_pages);
    others = resident();
    atomic_store(&k->full, true);
  }
  return NULL;
}

/* The writing thread. It is not the watching one, since it waits for the disk, and memory would
 * fill meanwhile. */
static void *write_out(void *user) {
  page_keeper *k = user;
  while (goes_on(k))
    if (atomic_exchange(&k->full, false)) each_file(k, drop_pages);
  return NULL;
}

static size_t mapped_bytes(const npy *const files[KEEPER_FILES]) {
  size_t sum = 0;
  for (int i = 0; i < KEEPER_FILES; i++) {
    if (files[i] && files[i]->mapping) sum += files[i]->mapped;
  }
  return sum;
}

int pages_keep(const npy *const files[KEEPER_FILES], size_t limit, page_keeper **keeper) {
  *keeper = NULL;
  if (mapped_bytes(files) <= limit) return TOOL_OK;
  page_keeper *k = calloc(1, sizeof *k);
  if (!k) return tool_fail("out of memory");
  memcpy(k->files, files, sizeof k->files);
  k->limit = limit;
  bool watched = pthread_create(&k->watcher, NULL, watch, k) == 0;
  if (watched && pthread_create(&k->writer, NULL, write_out, k) == 0) {
    *keeper = k;
    return TOOL_OK;
  }
  atomic_store(&k->stop, true);
  if (watched) pthread_join(k->watcher, NULL);
  free(k);
  return tool_fail("cannot start a thread");
}

void pages_stop(page_keeper *k) {
  if (!k) return;
  atomic_store(&k->stop, true);
  pthread_join(k->watcher, NULL);
  pthread_join(k->writer, NULL);
  free(k);
}
