/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* With TESSERA_REPORT or TESSERA_EXPLAIN a report is written even if the program makes no call, so
 * the state is set up when the library is loaded, not at the first call. */
#include "base/settings/settings.h"
#include "front/doors/doors.h"

#if defined(__GNUC__)
__attribute__((constructor)) static void begin(void) {
  if (tsr_setting_text("TESSERA_REPORT") != NULL || tsr_setting_text("TESSERA_EXPLAIN") != NULL)
    tsr_offload_prepare();
}
#endif
