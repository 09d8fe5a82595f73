/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Preloaded into the command, this makes the file system lack what FILE_SYSTEM_LACKS names:
 * "unnamed" (files without a name, as on NFS), "links" (hard links, as on FAT), "descriptors"
 * (another process's, as on another host). With FILE_SYSTEM_STOPS the process stops itself
 * (SIGSTOP) when a file has got all its bytes, so that a test can do something meanwhile. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool lacks(const char *what) {
  const char *list = getenv("FILE_SYSTEM_LACKS");
  return list && strstr(list, what);
}

static int refuse(int error) {
  errno = error;
  return -1;
}

int open(const char *path, int flags, ...) {
  int (*next)(const char *, int, ...);
  void *symbol = dlsym(RTLD_NEXT, "open");
  va_list arguments;
  va_start(arguments, flags);
  int mode = va_arg(arguments, int);
  va_end(arguments);
  memcpy(&next, &symbol, sizeof next);
  if ((flags & O_TMPFILE) == O_TMPFILE && lacks("unnamed")) return refuse(EOPNOTSUPP);
  return next(path, flags, mode);
}

int posix_fallocate(int file, off_t offset, off_t bytes) {
  int (*next)(int, off_t, off_t);
  void *symbol = dlsym(RTLD_NEXT, "posix_fallocate");
  memcpy(&next, &symbol, sizeof next);
  int error = next(file, offset, bytes);
  if (error == 0 && getenv("FILE_SYSTEM_STOPS")) raise(SIGSTOP);
  return error;
}

int link(const char *from, const char *to) {
  if (lacks("links")) return refuse(EPERM);
  return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int stat(const char *path, struct stat *status) {
  bool other = strncmp(path, "/proc/", 6) == 0 && strstr(path, "/fd/");
  if (other && lacks("descriptors")) return refuse(ENOENT);
  return fstatat(AT_FDCWD, path, status, 0);
}
