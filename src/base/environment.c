#include "base/environment.h"

#include <stdlib.h>
#include <sys/auxv.h>

const char *tsr_environment_get(const char *name) {
  return secure_getenv(name);
}

bool tsr_environment_is_trusted(void) {
  return getauxval(AT_SECURE) == 0;
}
