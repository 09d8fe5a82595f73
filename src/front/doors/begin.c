/* A report is due also when no call is seen: then the first call cannot be where it is set up. */
#include "base/settings.h"
#include "front/doors/doors.h"

#if defined(__GNUC__)
__attribute__((constructor)) static void begin(void) {
  if (tsr_setting_text("TESSERA_REPORT") != NULL) tsr_offload_prepare();
}
#endif
