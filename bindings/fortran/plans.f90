! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

! Plans, and captures of sequences of calls: tessera.h, which is the manual, in Fortran.
module tessera_plans
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera_base
  use tessera_contexts, only: tsr_home
  implicit none
  private

  public :: tsr_plan_last, tsr_plan_level3, tsr_plan_execute, tsr_plan_print, tsr_plan_destroy
  public :: tsr_capture_begin, tsr_capture_end, tsr_capture_run_async, tsr_capture_move
  public :: tsr_capture_print, tsr_capture_destroy

  interface
    function c_plan_last(context, plan) bind(C, name='tsr_plan_last') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      type(c_ptr), intent(out) :: plan
      integer(c_int) :: status
    end function
    function c_plan_level3(context, what, alpha, beta, homes, plan) bind(C, name='tsr_plan_level3') &
      result(status)
      import :: c_int, c_ptr, tsr_home, tsr_level3
      type(c_ptr), value :: context, alpha, beta
      type(tsr_level3), intent(in) :: what
      type(tsr_home), intent(in) :: homes(3)
      type(c_ptr), intent(out) :: plan
      integer(c_int) :: status
    end function
    function c_plan_print(plan, form, text) bind(C, name='tsr_plan_print') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      integer(c_int), value :: form
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function
    subroutine c_plan_destroy(plan) bind(C, name='tsr_plan_destroy')
      import :: c_ptr
      type(c_ptr), value :: plan
    end subroutine
    function c_capture_begin(context) bind(C, name='tsr_capture_begin') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int) :: status
    end function
    function c_capture_end(context, capture) bind(C, name='tsr_capture_end') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      type(c_ptr), intent(out) :: capture
      integer(c_int) :: status
    end function
    function c_capture_run(capture) bind(C, name='tsr_capture_run_async') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: capture
      integer(c_int) :: status
    end function
    subroutine c_capture_destroy(capture) bind(C, name='tsr_capture_destroy')
      import :: c_ptr
      type(c_ptr), value :: capture
    end subroutine
    function c_plan_execute(plan, alpha, a, b, beta, c) bind(C, name='tsr_plan_execute') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: plan, alpha, a, b, beta, c
      integer(c_int) :: status
    end function
    function c_capture_move(capture, from, bytes, to) bind(C, name='tsr_capture_move') result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: capture, from, to
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function
    function c_capture_print(capture, form, text) bind(C, name='tsr_capture_print') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: capture
      integer(c_int), value :: form
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function
  end interface

contains

  ! ---- Plans ----

  subroutine tsr_plan_last(t, plan, stat, errmsg)
    type(tsr_context), intent(in) :: t
    type(tsr_plan), intent(out) :: plan
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_plan_last(t%handle, plan%handle), stat, errmsg)
  end subroutine

  ! Plans a routine with its operands at homes. Of alpha and beta it counts whether they are 0, 1 or
  ! another number.
  subroutine tsr_plan_level3(t, what, alpha, beta, homes, plan, stat, errmsg)
    type(tsr_context), intent(in) :: t
    type(tsr_level3), intent(in) :: what
    real(real64), intent(in) :: alpha, beta
    type(tsr_home), intent(in) :: homes(3)
    type(tsr_plan), intent(out) :: plan
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double), target :: factors(2, 2)
    real(c_float), target :: narrow(2, 2)
    factors = reshape([alpha, 0.0_real64, beta, 0.0_real64], [2, 2])
    narrow = real(factors, c_float)
    if (any(what%type == iachar(['d', 'z', 'D', 'Z']))) then
      call tsr_finish(c_plan_level3(t%handle, what, c_loc(factors(1, 1)), c_loc(factors(1, 2)), &
        homes, plan%handle), stat, errmsg)
    else
      call tsr_finish(c_plan_level3(t%handle, what, c_loc(narrow(1, 1)), c_loc(narrow(1, 2)), &
        homes, plan%handle), stat, errmsg)
    end if
  end subroutine

  ! form is TSR_TEXT, TSR_JSON and so on.
  subroutine tsr_plan_print(plan, form, text, stat, errmsg)
    type(tsr_plan), intent(in) :: plan
    integer(c_int), intent(in) :: form
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    integer(c_int) :: status
    given = c_null_ptr
    status = c_plan_print(plan%handle, form, given)
    text = tsr_text_taken(given)
    call tsr_finish(status, stat, errmsg)
  end subroutine

  subroutine tsr_plan_destroy(plan)
    type(tsr_plan), intent(inout) :: plan
    call c_plan_destroy(plan%handle)
    plan%handle = c_null_ptr
  end subroutine

  ! Runs a plan. The arguments are those of tsr_level3_run.
  subroutine tsr_plan_execute(plan, alpha, a, b, beta, c, stat, errmsg)
    type(tsr_plan), intent(in) :: plan
    type(c_ptr), intent(in) :: alpha, a, b, beta, c
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_plan_execute(plan%handle, alpha, a, b, beta, c), stat, errmsg)
  end subroutine

  ! ---- Captures ----

  subroutine tsr_capture_begin(t, stat, errmsg)
    type(tsr_context), intent(in) :: t
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_capture_begin(t%handle), stat, errmsg)
  end subroutine

  subroutine tsr_capture_end(t, capture, stat, errmsg)
    type(tsr_context), intent(in) :: t
    type(tsr_capture), intent(out) :: capture
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_capture_end(t%handle, capture%handle), stat, errmsg)
  end subroutine

  subroutine tsr_capture_run_async(capture, stat, errmsg)
    type(tsr_capture), intent(in) :: capture
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_capture_run(capture%handle), stat, errmsg)
  end subroutine

  subroutine tsr_capture_destroy(capture)
    type(tsr_capture), intent(inout) :: capture
    call c_capture_destroy(capture%handle)
    capture%handle = c_null_ptr
  end subroutine

  ! In later runs what began in the bytes behind from begins as far behind to.
  subroutine tsr_capture_move(capture, from, bytes, to, stat, errmsg)
    type(tsr_capture), intent(in) :: capture
    type(c_ptr), intent(in) :: from, to
    integer(int64), intent(in) :: bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_capture_move(capture%handle, from, int(bytes, c_size_t), to), stat, errmsg)
  end subroutine

  ! form is TSR_TEXT, TSR_JSON or TSR_COMMANDS.
  subroutine tsr_capture_print(capture, form, text, stat, errmsg)
    type(tsr_capture), intent(in) :: capture
    integer(c_int), intent(in) :: form
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    integer(c_int) :: status
    given = c_null_ptr
    status = c_capture_print(capture%handle, form, given)
    text = tsr_text_taken(given)
    call tsr_finish(status, stat, errmsg)
  end subroutine
end module
