! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

#define ELEMENT complex(real32)
#define REALKIND real32
#define VALUE(x) cmplx(x, 0.25, real32)
#define CONJUGATE conjg
#define PARTS_TO_ELEMENT cmplx(parts(:, :, 1), parts(:, :, 2), real32)
#define IS_COMPLEX 1
module level3_c
#include "level3.inc"
end module
