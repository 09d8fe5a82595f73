/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/float_environment.h"

void tsr_float_set_default(void) {
  (void)fesetenv(FE_DFL_ENV);
}

static void save_whole(tsr_float_environment *callers) {
  callers->is_default = false;
  (void)fegetenv(&callers->whole);
  tsr_float_set_default();
}

#if defined(__x86_64__)
#include <xmmintrin.h>

/*
 * The functions of <fenv.h> that take a whole environment load and store the state of the x87, at
 * some 80 ns each. The library computes with SSE, whose modes and flags are one register, so modes
 * are compared first, and the whole is stored only if they differ. fegetround() and fetestexcept()
 * read the x87's rounding mode, which the C library's conversions of numbers obey, and its flags.
 */
enum { CSR_FLAGS = 0x3f, CSR_DEFAULT = 0x1f80 };

void tsr_float_save(tsr_float_environment *callers) {
  callers->csr = _mm_getcsr();
  if ((callers->csr & ~(unsigned)CSR_FLAGS) != CSR_DEFAULT || fegetround() != FE_TONEAREST) {
    save_whole(callers);
    return;
  }
  callers->is_default = true;
  callers->flags = fetestexcept(FE_ALL_EXCEPT);
}

void tsr_float_restore(const tsr_float_environment *callers) {
  if (!callers->is_default) {
    (void)fesetenv(&callers->whole);
    return;
  }
  if (_mm_getcsr() != callers->csr) _mm_setcsr(callers->csr);
  int raised = fetestexcept(FE_ALL_EXCEPT) & ~callers->flags;
  if (raised != 0) (void)feclearexcept(raised); /* by the x87 */
}

#else

void tsr_float_save(tsr_float_environment *callers) {
  save_whole(callers);
}

void tsr_float_restore(const tsr_float_environment *callers) {
  (void)fesetenv(&callers->whole);
}

#endif
