#include "run/probe.h"

#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/cpu_blas.h"

tsr_status tsr_probe(const tsr_engine *engine, tsr_engine_state *state, const tsr_device_info *info,
                     int devices, const tsr_probe_options *options, tsr_machine **machine) {
  (void)engine, (void)state, (void)info, (void)devices, (void)options, (void)machine;
  return tsr_fail(TSR_ERR_UNSUPPORTED, "not yet");
}

void tsr_probe_identity(const tsr_device_info *info, char *identity, size_t size) {
  char host[64] = "host";
  gethostname(host, sizeof host - 1);
  snprintf(identity, size, "%s-%s", host, info[0].name);
}
