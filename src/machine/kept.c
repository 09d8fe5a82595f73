/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Where measurements of machines are kept: in files of the user's cache. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/environment.h"
#include "machine/machine.h"

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

/* The first 64 bytes of the identity, letters and digits only, since an identity may have any
 * characters; then a digest, so that no two identities have one name. */
static void add_file_name(tsr_text *text, const char *identity) {
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  for (const char *c = identity; *c != '\0'; c++) {
    bool plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
    if (c - identity < 64) tsr_text_add(text, "%c", plain ? *c : '_');
    digest = (digest ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  }
  tsr_text_add(text, "-%016llx.json", (unsigned long long)digest);
}

tsr_status tsr_machine_cache_path(const char *identity, char **path) {
  const char *cache = tsr_environment_get("XDG_CACHE_HOME"), *home = tsr_environment_get("HOME");
  tsr_text text = TSR_TEXT_INIT;
  char *made = NULL;
  if (!tsr_environment_is_trusted())
    return tsr_fail(
        TSR_ERR_IO,
        "no cache directory: the program has rights that its caller lacks, so it uses no "
        "cache of its caller; name a machine file in the program");
  if (cache != NULL && cache[0] == '/')
    tsr_text_add(&text, "%s/tessera/", cache);
  else if (home != NULL && home[0] == '/')
    tsr_text_add(&text, "%s/.cache/tessera/", home);
  else
    return tsr_fail(TSR_ERR_IO, "no cache directory: set HOME or XDG_CACHE_HOME to a full path");
  add_file_name(&text, identity);
  TSR_TRY(tsr_text_take(&text, &made));
  tsr_status status = make_parents(made);
  if (status != TSR_OK) {
    tsr_dealloc(made);
    return status;
  }
  *path = made;
  return TSR_OK;
}
