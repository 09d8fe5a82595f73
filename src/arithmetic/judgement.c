/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "arithmetic/judgement.h"

#include "arithmetic/moduli.h"

static uint64_t low_bits(const int64_t digit[TSR_MODULI_DIGITS]) {
  return (uint64_t)digit[0] + ((uint64_t)digit[1] << TSR_MODULI_BITS);
}

void tsr_leading_moduli_fill(int moduli, tsr_leading_moduli *leading) {
  tsr_moduli all;
  *leading = (tsr_leading_moduli){.count = moduli / 2 + 1};
  tsr_moduli_fill(leading->count, &all);
  leading->product = low_bits(all.product);
  for (int l = 0; l < leading->count; l++) {
    leading->weight[l] = low_bits(all.weight[l]);
    leading->ratio[l] = (int32_t)rint(all.ratio[l] * (1 << TSR_RATIO_BITS));
  }
}
