! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

! Tessera for Fortran: dense matrix products on machines with several GPUs.
!
!   use tessera
!   type(tsr_context) :: t
!   call tsr_context_create(t)
!   call tsr_gemm(t, a, b, c, transb='T')
!   call tsr_context_destroy(t)
!
! Names and meanings are those of the C interface, whose header (tessera.h) is the manual. Functions that
! can fail are subroutines with the optional arguments stat and errmsg, which work as those of allocate.
! Matrices are column-major, so there is no layout. Devices are numbered from 0.
module tessera
  use tessera_base, only: tsr_context, tsr_plan, tsr_capture, tsr_level3, tsr_flag, TSR_OK, &
    TSR_ERR_ARGUMENT, TSR_ERR_MEMORY, TSR_ERR_MACHINE, TSR_ERR_ENGINE, TSR_ERR_DEVICE, &
    TSR_ERR_CHECK, TSR_ERR_IO, TSR_ERR_UNSUPPORTED, TSR_ERR_INTERNAL, TSR_OP_GEMM, TSR_OP_GEMMT, &
    TSR_OP_SYMM, TSR_OP_HEMM, TSR_OP_SYRK, TSR_OP_HERK, TSR_OP_SYR2K, TSR_OP_HER2K, TSR_OP_TRMM, &
    TSR_OP_TRSM
  use tessera_calls
  use tessera_contexts
  use tessera_memory
  use tessera_routines
  implicit none
  public
end module
