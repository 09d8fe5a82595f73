/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Where a path leads ---- */

int output_descriptor(const char *path) {
  static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  int descriptor, used = 0;
  for (int i = 0; i < 3; i++)
    if (strcmp(path, names[i]) == 0) return i;
  bool listed = sscanf(path, "/dev/fd/%d%n", &descriptor, &used) == 1 ||
                sscanf(path, "/proc/self/fd/%d%n", &descriptor, &used) == 1;
  return listed && !path[used] ? descriptor : -1;
}

void output_folder(const char *path, char folder[PATH_MAX]) {
  char copy[PATH_MAX];
  snprintf(copy, sizeof copy, "%s", path);
  snprintf(folder, PATH_MAX, "%s", dirname(copy));
}

/* Writes folder/name to path; false, with errno: that is too long. */
static bool join(const char *folder, const char *name, char path[PATH_MAX]) {
  size_t front = strcmp(folder, "/") == 0 ? 0 : strlen(folder), back = strlen(name);
  errno = ENAMETOOLONG;
  if (front + 1 + back >= PATH_MAX) return false;
  memcpy(path, folder, front);
  path[front] = '/';
  memcpy(path + front + 1, name, back + 1);
  return true;
}

/* Follows one symbolic link at place, which need not lead to a file that exists. 1: it was
 * followed; 0: place is no link; -1, with errno: its target is too long. */
static int follow_link(char place[PATH_MAX]) {
  char target[PATH_MAX], folder[PATH_MAX];
  ssize_t length = readlink(place, target, sizeof target - 1);
  if (length < 0) return 0;
  target[length] = '\0';
  output_folder(place, folder);
  if (target[0] != '/') return join(folder, target, place) ? 1 : -1;
  memcpy(place, target, (size_t)length + 1);
  return 1;
}

/* Follows symbolic links until place is none, or a descriptor. False, with errno. */
static bool follow_links(char place[PATH_MAX]) {
  enum { MOST_LINKS = 40 }; /* as the kernel follows */
  int followed = 1;
  for (int links = 0; followed > 0 && output_descriptor(place) < 0; links++) {
    followed = follow_link(place);
    if (followed == 0 || links < MOST_LINKS) continue;
    errno = ELOOP;
    return false;
  }
  return followed >= 0;
}

bool output_find_place(const char *path, char place[PATH_MAX]) {
  char folder[PATH_MAX], whole[PATH_MAX], copy[PATH_MAX];
  struct stat status;
  errno = ENAMETOOLONG;
  if (strlen(path) >= PATH_MAX) return false;
  memcpy(place, path, strlen(path) + 1);
  if (!follow_links(place)) return false;
  if (output_descriptor(place) >= 0) return true;
  output_folder(place, folder);
  if (!realpath(folder, whole)) return false;
  if (stat(whole, &status) == 0 && !S_ISDIR(status.st_mode)) {
    errno = ENOTDIR;
    return false;
  }
  memcpy(copy, place, strlen(place) + 1);
  return join(whole, basename(copy), place);
}

bool output_is_for_file(const char *place, struct stat *status, bool *exists) {
  *exists = stat(place, status) == 0;
  return output_descriptor(place) < 0 && (!*exists || S_ISREG(status->st_mode));
}

/* ---- Reasons ---- */

bool file_refuse(file_reason *reason, const char *path, const char *format, ...) {
  int used = snprintf(reason->text, sizeof reason->text, "%.300s: ", path);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason->text + used, sizeof reason->text - (size_t)used, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- Files that are not complete ---- */

/* The temporary name of the unfinished file, for a signal handler; "" if there is none. */
static char unfinished[PATH_MAX];

/* Blocks all signals, so that a file and its note in `unfinished` are made or removed together. */
static void block_signals(sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

static void note_unfinished(const char *path) {
  snprintf(unfinished, sizeof unfinished, "%s", path);
}

static char *beside(const char *place) {
  size_t room = strlen(place) + sizeof ".XXXXXX";
  char *path = malloc(room);
  if (path) snprintf(path, room, "%s.XXXXXX", place);
  return path;
}

/* Gives a file made by mkstemp, which only the user can read, the mode of an ordinary new file. */
static void give_usual_mode(int descriptor) {
  mode_t mask = umask(0);
  umask(mask);
  if (fchmod(descriptor, 0666 & ~mask) != 0) return; /* some file systems have no modes */
}

static bool make_named(output_file *file) {
  sigset_t before;
  file->temporary = beside(file->place);
  if (!file->temporary) return false;
  block_signals(&before);
  int descriptor = mkstemp(file->temporary);
  if (descriptor >= 0) note_unfinished(file->temporary);
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (descriptor < 0) {
    free(file->temporary);
    file->temporary = NULL;
    errno = error;
    return false;
  }
  give_usual_mode(descriptor);
  file->descriptor = descriptor;
  return true;
}

/* The path by which the kernel lets a file without a name be opened and linked. */
static void proc_path(int descriptor, char path[64]) {
  snprintf(path, 64, "/proc/self/fd/%d", descriptor);
}

/* Makes a file without a name. False: the file system cannot do that, or without /proc the file
 * could not be given a name later. */
static bool make_unnamed(output_file *file) {
  char folder[PATH_MAX], path[64];
  output_folder(file->place, folder);
  int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  proc_path(descriptor, path);
  file->descriptor = descriptor;
  if (access(path, F_OK) == 0) return true;
  close(descriptor);
  file->descriptor = 0;
  return false;
}

/* Gives the new file the owner and the mode of the file that it replaces. If its group cannot be
 * kept, the new group gets no right that others do not have. */
static void take_after(int descriptor, const struct stat *old) {
  mode_t mode = old->st_mode & 07777;
  if (fchown(descriptor, old->st_uid, old->st_gid) != 0 &&
      fchown(descriptor, (uid_t)-1, old->st_gid) != 0)
    mode = (mode & ~(mode_t)070) | (mode & 070 & ((mode & 07) << 3));
  if (fchmod(descriptor, mode) != 0) return; /* some file systems have no modes */
}

bool output_begin(const char *path, bool force, output_file *file, file_reason *reason) {
  char place[PATH_MAX];
  struct stat old;
  *file = (output_file){.force = force};
  if (!output_find_place(path, place)) return file_refuse(reason, path, "%s", strerror(errno));
  file->place = strdup(place);
  if (!file->place) return file_refuse(reason, path, "out of memory");
  if (!make_unnamed(file) && !make_named(file)) {
    file_refuse(reason, path, "cannot be written: %s", strerror(errno));
    output_end(file);
    return false;
  }
  if (stat(place, &old) == 0 && S_ISREG(old.st_mode)) take_after(file->descriptor, &old);
  return true;
}

/* Forgets the temporary name, which the file has lost or is to keep. */
static void forget_temporary(output_file *file) {
  unfinished[0] = '\0';
  free(file->temporary);
  file->temporary = NULL;
}

/* Gives the file a second name, by a hard link. */
static bool link_to(const output_file *file, const char *path) {
  char own[64];
  if (file->temporary) return link(file->temporary, path) == 0;
  proc_path(file->descriptor, own);
  return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* Gives a file without a name a temporary one. mkstemp finds a name that is free; in between
 * another file may take it, so that is tried again. */
static bool name_beside(output_file *file) {
  enum { TRIES = 100 };
  sigset_t before;
  bool named = false;
  block_signals(&before);
  for (int i = 0; i < TRIES && !named; i++) {
    char *path = beside(file->place);
    int descriptor = path ? mkstemp(path) : -1;
    if (descriptor >= 0) {
      close(descriptor);
      unlink(path);
      named = link_to(file, path);
    }
    if (named) {
      file->temporary = path;
      note_unfinished(path);
    } else {
      free(path);
      if (descriptor < 0) break;
    }
  }
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return named;
}

bool output_show(output_file *file, file_reason *reason) {
  if (file->temporary || name_beside(file)) return true;
  return file_refuse(reason, file->place, "cannot be given a name: %s", strerror(errno));
}

/* Leaves the result beside a file that another program has made since the check. */
static bool leave_beside(output_file *file, file_reason *reason) {
  if (!file->temporary && !name_beside(file))
    return file_refuse(reason, file->place,
                       "another program has made the file since; nothing written");
  file_refuse(reason, file->place,
              "another program has made the file since; the result is in %.300s", file->temporary);
  forget_temporary(file);
  return false;
}

/* Puts the file at its place, where nothing may be. A hard link never replaces a file, as rename
 * does. */
static bool link_in_place(output_file *file) {
  if (!link_to(file, file->place)) return false;
  if (file->temporary) unlink(file->temporary);
  forget_temporary(file);
  return true;
}

/* Whether a named file's link failed since the file system has no hard links. */
static bool has_no_links(const output_file *file) {
  return file->temporary && (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS) &&
         access(file->place, F_OK) != 0;
}

static bool rename_in_place(output_file *file, file_reason *reason) {
  if (!output_show(file, reason)) return false;
  if (rename(file->temporary, file->place) != 0)
    return file_refuse(reason, file->place, "cannot be put in place: %s", strerror(errno));
  forget_temporary(file);
  return true;
}

/* fsync comes first: a disk may report an error only now, and then the old file is kept. */
bool output_commit(output_file *file, file_reason *reason) {
  if (fsync(file->descriptor) != 0 && errno != EINVAL)
    return file_refuse(reason, file->place, "cannot be written: %s", strerror(errno));
  if (file->force) return rename_in_place(file, reason);
  if (link_in_place(file)) return true;
  if (errno == EEXIST) return leave_beside(file, reason);
  if (has_no_links(file)) return rename_in_place(file, reason);
  return file_refuse(reason, file->place, "cannot be put in place: %s", strerror(errno));
}

void output_end(output_file *file) {
  if (file->descriptor > 0) close(file->descriptor);
  if (file->temporary) {
    unlink(file->temporary);
    forget_temporary(file);
  }
  free(file->place);
  *file = (output_file){0};
}

/* ---- Signals ---- */

/* Reports a failed read or write of a mapped file, for which the system sends SIGBUS and returns no
 * error. */
static void tell_bus_error(void) {
  static const char text[] =
      "tessera: a mapped file cannot be read or written: it was cut short, or its disk failed or "
      "is full; nothing written\n";
  ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  (void)written;
}

static void give_up(int signal_number) {
  if (unfinished[0]) unlink(unfinished);
  if (signal_number == SIGBUS) {
    tell_bus_error();
    _exit(TOOL_FAILED);
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

/* A signal that the parent set to be ignored (nohup, a script's background job) stays ignored. */
void output_catch_signals(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGBUS, SIGABRT};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    if (signal(signals[i], give_up) == SIG_IGN) signal(signals[i], SIG_IGN);
  }
  signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit then returns an error */
}
