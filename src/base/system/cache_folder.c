/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Finds the folder of the cache. */
#include "base/system/cache_folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/environment.h"
#include "base/text.h"

static tsr_status make_directory(const char *path) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return TSR_OK;
  return tsr_fail(TSR_ERR_IO, "%s cannot be made: %s", path, strerror(errno));
}

/* Makes every directory on the way to the file `path`. */
static tsr_status make_parents(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    tsr_status status = make_directory(path);
    *slash = '/';
    if (status != TSR_OK) return status;
  }
  return TSR_OK;
}

/* The folders that may have the cache, the best first. The cache of the user is on a file system
 * that may be read-only, as homes in containers are; the folder for a session's files is in memory.
 */
static const struct place {
  const char *variable, *below;
} places[] = {{"XDG_CACHE_HOME", "/tessera/"},
              {"HOME", "/.cache/tessera/"},
              {"XDG_RUNTIME_DIR", "/tessera/"}};
enum { PLACES = sizeof places / sizeof *places };

/* *path: the file in a place; NULL: no variable names the place. XDG_CACHE_HOME is used in place of
 * HOME. */
static tsr_status path_in(const struct place *place, const char *name, char **path) {
  const char *folder = tsr_environment_get(place->variable);
  const char *cache = tsr_environment_get(places[0].variable);
  tsr_text text = TSR_TEXT_INIT;
  *path = NULL;
  if (folder == NULL || folder[0] != '/') return TSR_OK;
  if (place == &places[1] && cache != NULL && cache[0] == '/') return TSR_OK;
  tsr_text_add(&text, "%s%s%s", folder, place->below, name);
  return tsr_text_take(&text, path);
}

static bool can_write_beside(char *path) {
  char *slash = strrchr(path, '/');
  *slash = '\0';
  bool can = access(path, W_OK | X_OK) == 0;
  *slash = '/';
  return can;
}

/* A place and what it is good for. */
typedef struct candidate {
  char *path; /* NULL: there is no such place */
  bool there, can_write;
} candidate;

/* make: the folder is made if it is missing. */
static tsr_status examine(const struct place *place, const char *name, bool make,
                          candidate *found) {
  *found = (candidate){NULL, false, false};
  TSR_TRY(path_in(place, name, &found->path));
  if (found->path == NULL) return TSR_OK;
  found->there = access(found->path, R_OK) == 0;
  tsr_status status = make ? make_parents(found->path) : TSR_OK;
  found->can_write = make && status == TSR_OK && can_write_beside(found->path);
  if (status == TSR_OK || found->there) return TSR_OK;
  tsr_dealloc(found->path);
  found->path = NULL;
  return status;
}

static int worth(const candidate *c, bool write) {
  if (c->path == NULL) return 0;
  return 1 + c->can_write + (write ? 0 : 2 * c->there);
}

/* Of places that are equally good the first is taken; later ones are made only if no earlier one
 * can be written. TSR_ERR_IO with the message of the last place that cannot be made. */
static tsr_status find_path(const char *name, bool write, char **path) {
  candidate best = {NULL, false, false}, next;
  tsr_status wrong = TSR_OK;
  bool make = true;
  if (!tsr_environment_is_trusted())
    return tsr_fail(
        TSR_ERR_IO,
        "no cache directory: the program has rights that its caller lacks, so it uses no "
        "cache of its caller; name a machine file in the program");
  for (int i = 0; i < PLACES; i++) {
    tsr_status status = examine(&places[i], name, make, &next);
    if (status != TSR_OK) wrong = status;
    make = make && !next.can_write;
    bool better = worth(&next, write) > worth(&best, write);
    tsr_dealloc(better ? best.path : next.path);
    if (better) best = next;
  }
  if (best.path != NULL) {
    *path = best.path;
    return TSR_OK;
  }
  if (wrong != TSR_OK) return wrong;
  return tsr_fail(TSR_ERR_IO, "no cache directory: set HOME or XDG_CACHE_HOME to a full path");
}

tsr_status tsr_cache_file(const char *name, char **path) {
  return find_path(name, false, path);
}

tsr_status tsr_cache_file_to_write(const char *name, char **path) {
  return find_path(name, true, path);
}

bool tsr_cache_folder(int index, char **folder) {
  if (index >= PLACES || !tsr_environment_is_trusted()) return false;
  if (path_in(&places[index], "", folder) != TSR_OK) *folder = NULL;
  return true;
}
