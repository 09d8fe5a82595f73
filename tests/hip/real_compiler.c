/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * hip_real_compiler ARCHITECTURE FILE: has ROCm's own hiprtc, which needs no GPU, compile the
 * kernels, through the engine's functions, and writes the code to the file. Exit code 77: there is
 * no ROCm.
 */
#include <stdio.h>

#include "base/text.h"
#include "engine/gpu/internal.h"
#include "engine/hip/compile.h"
#include "tessera.h"

int main(int count, char **words) {
  tsr_hip_code code;
  if (count != 3) return 2;
  tsr_status status = gpu_load();
  if (status != TSR_OK) {
    fprintf(stderr, "%s\n", tsr_message());
    return 77;
  }
  status = tsr_hip_code_compile(words[1], &code);
  if (status == TSR_OK) status = tsr_text_write_file(words[2], code.bytes, code.count);
  if (status == TSR_OK) return 0;
  fprintf(stderr, "%s\n", tsr_message());
  return 1;
}
