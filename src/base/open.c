/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/open.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int tsr_open(const char *path, int flags, mode_t mode) {
  int file = open(path, flags | O_CLOEXEC, mode);
  if (file < 0 || file > STDERR_FILENO) return file;
  int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
  close(file);
  errno = error;
  return moved;
}

FILE *tsr_open_to_read(const char *path) {
  int file = tsr_open(path, O_RDONLY, 0);
  FILE *stream = file >= 0 ? fdopen(file, "r") : NULL;
  if (stream == NULL && file >= 0) close(file);
  return stream;
}
