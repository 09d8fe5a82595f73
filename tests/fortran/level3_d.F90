! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

#define ELEMENT real(real64)
#define REALKIND real64
#define VALUE(x) real(x, real64)
#define CONJUGATE 
#define PARTS_TO_ELEMENT parts(:, :, 1)
#define IS_COMPLEX 0
module level3_d
#include "level3.inc"
end module
