! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

#define ELEMENT real(real32)
#define REALKIND real32
#define VALUE(x) real(x, real32)
#define CONJUGATE 
#define PARTS_TO_ELEMENT parts(:, :, 1)
#define IS_COMPLEX 0
module level3_s
#include "level3.inc"
end module
