/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/system/cache_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/open.h"
#include "base/system/cache_folder.h"

/* The file stays: if it were removed, some could hold the lock of the removed file and others that
 * of a new one. */
static int open_file(const char *name) {
  char *path;
  if (tsr_cache_file_to_write(name, &path) != TSR_OK) return -1;
  int file = tsr_open(path, O_RDWR | O_CREAT, 0600);
  tsr_dealloc(path);
  return file;
}

/* Asks again and again, since a wait that is over at some time needs a signal, which belongs to the
 * program. */
int tsr_cache_lock(const char *name, double seconds) {
  const double pause = 20e-3; /* s: short beside what others do meanwhile */
  double end = tsr_now() + seconds;
  int file = open_file(name);
  if (file < 0) return -1;
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    bool held = errno == EWOULDBLOCK || errno == EINTR;
    if (!held || tsr_now() >= end) {
      close(file);
      return -1;
    }
    tsr_sleep(pause);
  }
  return file;
}

/* Unlocks first: a process that was forked meanwhile has the open file, too. */
void tsr_cache_unlock(int lock) {
  if (lock < 0) return;
  flock(lock, LOCK_UN);
  close(lock);
}
