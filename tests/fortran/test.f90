! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

! The Fortran interface: every routine in every type and both forms, composition, memory, plans, errors.
program test
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  use checks
  use level3_s, only: test_s => test_all
  use level3_d, only: test_d => test_all
  use level3_c, only: test_c => test_all
  use level3_z, only: test_z => test_all
  implicit none
  type(tsr_context) :: t
  ! The number of devices comes from the environment: with none the CPU's BLAS does the work.
  call tsr_context_create(t, trace=.true.)
  call test_s(t)
  call test_d(t)
  call test_c(t)
  call test_z(t)
  call test_errors()
  call test_wide_integers()
  call test_plans()
  call test_execution()
  call test_arithmetic()
  call test_captures()
  call test_progress()
  call test_facts()
  call tsr_context_destroy(t)
  call test_contexts()
  call check_end(400)
contains

  subroutine test_errors()
    real(real64), target :: a(4, 5), b(5, 6), c(4, 6), strided(8, 5)
    integer :: stat
    character(200) :: message
    a = 1
    b = 1
    c = 7
    strided = 1
    message = 'as it was'
    call tsr_gemm(t, a, b, c, stat=stat, errmsg=message)
    call check(stat == TSR_OK .and. message == 'as it was', 'success leaves errmsg alone')
    c = 7
    call tsr_gemm(t, a, b(1:4, :), c, stat=stat, errmsg=message)
    call check(stat == TSR_ERR_ARGUMENT .and. index(message, 'b is 4 x 6 where 5 x 6 is needed') > 0, &
      'extents that do not fit are refused: '//trim(message))
    call tsr_gemm(t, strided(1:8:2, :), b, c, stat=stat, errmsg=message)
    call check(stat == TSR_ERR_ARGUMENT .and. index(message, 'column of a are 2 apart') > 0, &
      'rows left out are refused: '//trim(message))
    call tsr_gemm(t, a, b, c, transa='X', stat=stat, errmsg=message)
    call check(stat == TSR_ERR_ARGUMENT, 'a flag that is none is refused: '//trim(message))
    call tsr_gemm(t, 'N', 'N', 4, 6, 5, 1d0, a, 3, b, 5, 0d0, c, 4, stat, message)
    call check(stat == TSR_ERR_ARGUMENT .and. index(message, 'lda') > 0, &
      'a short leading dimension is refused: '//trim(message))
    call check(all(abs(c - 7) <= 0), 'what is refused touches nothing')
    call check(tsr_status_name(stat) == 'TSR_ERR_ARGUMENT', 'a status has its name')
  end subroutine

  ! Extents and leading dimensions of 64 bits, which keep their values.
  subroutine test_wide_integers()
    integer(int64), parameter :: m = 4, n = 6, k = 5
    real(real64), target :: a(m, k), b(k, n), c(m, n), s(m, m)
    complex(real64), target :: z(m, m), h(m, m)
    integer :: stat
    character(200) :: message
    a = 1
    b = 2
    c = 7
    call tsr_gemm(t, 'N', 'N', m, n, k, 1d0, a, m, b, k, 0d0, c, m)
    call check(all(abs(c - 10) <= 0), 'gemm takes integers of 64 bits')
    s = 0
    call tsr_syrk_async(t, 'U', 'N', m, k, 1d0, a, m, 0d0, s, m)
    call tsr_sync_home(t)
    call check(abs(s(1, 4) - 5) <= 0 .and. abs(s(4, 1)) <= 0, 'asynchronous syrk takes integers of 64 bits')
    call tsr_release(t, s)
    call tsr_release(t, a)
    z = (1d0, 0d0)
    h = (0d0, 0d0)
    call tsr_herk(t, 'L', 'N', m, m, 1d0, z, m, 0d0, h, m)
    call tsr_trmm(t, 'L', 'L', 'N', 'U', m, m, (2d0, 0d0), h, m, z, m)
    call check(abs(h(4, 1) - 4) <= 0 .and. abs(z(2, 1) - 10) <= 0, 'herk and trmm take integers of 64 bits')
    call tsr_gemm(t, 'N', 'N', -3000000000_int64, n, k, 1d0, a, m, b, k, 0d0, c, m, stat, message)
    call check(stat == TSR_ERR_ARGUMENT .and. index(message, '-3000000000') > 0, &
      'an integer of 64 bits keeps its value: '//trim(message))
  end subroutine

  subroutine test_plans()
    type(tsr_plan) :: plan
    type(tsr_level3) :: what
    type(tsr_home) :: homes(3)
    character(:), allocatable :: text
    integer :: stat
    if (tsr_device_count(t) == 0) return
    what = tsr_level3(operation=TSR_OP_GEMM, type=iachar('d'), m=512, n=512, k=512, lda=512, ldb=512, ldc=512)
    homes%memory = TSR_PINNED
    call tsr_plan_level3(t, what, 1d0, 0d0, homes, plan)
    call tsr_plan_print(plan, TSR_JSON, text)
    call check(index(text, '"m"') > 0, 'a plan has its call')
    call tsr_plan_print(plan, TSR_VERDICT, text)
    call check(index(text, 'ound by') > 0 .or. index(text, 'rehearsal') > 0, 'a plan has a verdict')
    call tsr_plan_destroy(plan)
    call tsr_plan_last(t, plan)
    call tsr_plan_print(plan, TSR_TIMELINE_SVG, text)
    call check(index(text, '<svg') > 0, 'a plan is drawn')
    call tsr_plan_print(plan, 99_c_int, text, stat)
    call check(stat == TSR_ERR_ARGUMENT .and. len(text) == 0, 'a format that is none is refused')
    call tsr_plan_print(plan, TSR_VERDICT, text)
    call check(index(text, 'emulated devices') > 0, 'a plan has its verdict: '//text)
    call tsr_plan_destroy(plan)
  end subroutine

  ! Each call takes its own arithmetic: its plan says which it had.
  subroutine test_arithmetic()
    real(real64), target :: a(8, 8), c(8, 8)
    character(kind=c_char), target :: word(12)
    type(tsr_plan) :: plan
    type(tsr_level3) :: what
    type(tsr_home) :: homes(3)
    character(:), allocatable :: text
    character(200) :: message
    integer :: stat
    if (tsr_device_count(t) == 0) return
    a = 1
    c = 7
    call tsr_gemm(t, a, a, c, arithmetic='emulated:15')
    call check(says(t, 'emulated, 15 moduli') .and. all(abs(c - 8) <= 0), 'an array form takes its arithmetic')
    call tsr_gemm(t, a, a, c)
    call check(.not. says(t, 'emulated,'), 'the arithmetic of a call is its own')
    call tsr_gemm(t, 'N', 'N', 8, 8, 8, 1d0, a, 8, a, 8, 0d0, c, 8, arithmetic='emulated:16')
    call check(says(t, 'emulated, 16 moduli'), 'a BLAS form takes its arithmetic')
    call tsr_gemm_async(t, a, a, c, beta=1d0, arithmetic='emulated')
    call tsr_coherent(t, c)
    call tsr_sync(t)
    call check(all(abs(c - 16) <= 0), 'an asynchronous form takes its arithmetic')
    call tsr_gemm(t, a, a, c, stat=stat, errmsg=message, arithmetic='fast')
    call check(stat == TSR_ERR_ARGUMENT .and. index(message, '"fast"') > 0, 'a wrong arithmetic is refused')
    what = tsr_level3(operation=TSR_OP_GEMM, type=iachar('d'), m=8, n=8, k=8, lda=8, ldb=8, ldc=8)
    word = transfer('emulated:16'//c_null_char, word)
    what%arithmetic = c_loc(word)
    call tsr_plan_level3(t, what, 1d0, 0d0, homes, plan)
    call tsr_plan_print(plan, TSR_TEXT, text)
    call check(index(text, 'emulated, 16 moduli') > 0, 'a plan has the arithmetic of its call: '//text)
    call tsr_plan_destroy(plan)
  end subroutine

  logical function says(t, words)
    type(tsr_context), intent(in) :: t
    character(*), intent(in) :: words
    type(tsr_plan) :: plan
    character(:), allocatable :: text
    call tsr_plan_last(t, plan)
    call tsr_plan_print(plan, TSR_TEXT, text)
    call tsr_plan_destroy(plan)
    says = index(text, words) > 0
  end function

  ! The same product, by a plan that is made without its matrices.
  subroutine test_execution()
    type(tsr_plan) :: plan
    type(tsr_level3) :: what
    type(tsr_home) :: homes(3), home
    real(real64), target :: a(8, 8), c(8, 8), one = 1, zero = 0
    real(real64), pointer, contiguous :: pinned(:)
    integer :: stat
    if (tsr_device_count(t) == 0) return
    a = 1
    c = 7
    what = tsr_level3(operation=TSR_OP_GEMM, type=iachar('d'), m=8, n=8, k=8, lda=8, ldb=8, ldc=8)
    homes%memory = TSR_PAGEABLE
    call tsr_plan_level3(t, what, 1d0, 0d0, homes, plan)
    call tsr_plan_execute(plan, c_loc(one), c_loc(a), c_loc(a), c_loc(zero), c_loc(c))
    call check(all(abs(c - 8) <= 0), 'a plan is executed')
    call tsr_plan_execute(plan, c_loc(one), c_loc(a), c_loc(a), c_loc(one), c_loc(c), stat)
    call check(stat == TSR_ERR_ARGUMENT, 'a beta of another class is refused')
    call tsr_plan_destroy(plan)
    call tsr_home_find(t, c_loc(a), 512_int64, home)
    call check(home%memory == TSR_PAGEABLE, 'an array is pageable')
    call tsr_allocate(t, pinned, 64)
    call tsr_home_find(t, c_loc(pinned), 512_int64, home)
    call check(home%memory == TSR_PINNED, 'memory of tsr_allocate is pinned')
    call tsr_memcpy(t, c_loc(pinned), c_loc(c), 512_int64)
    call check(all(abs(pinned - 8) <= 0), 'tsr_memcpy copies')
    call tsr_deallocate(t, pinned)
  end subroutine

  subroutine test_captures()
    type(tsr_capture) :: capture
    real(real64), target :: a(8, 8), c(8, 8), other(8, 8)
    character(:), allocatable :: text
    if (tsr_device_count(t) == 0) return
    a = 1
    c = 0
    other = 0
    call tsr_capture_begin(t)
    call tsr_gemm_async(t, a, a, c, beta=1d0)
    call tsr_coherent(t, c)
    call tsr_capture_end(t, capture)
    call tsr_capture_run_async(capture)
    call tsr_sync(t)
    call check(all(abs(c - 16) <= 0), 'a capture is run again')
    call tsr_capture_move(capture, c_loc(c), 512_int64, c_loc(other))
    call tsr_capture_run_async(capture)
    call tsr_sync(t)
    call check(all(abs(other - 8) <= 0) .and. all(abs(c - 16) <= 0), 'a capture is moved')
    call tsr_capture_print(capture, TSR_JSON, text)
    call check(index(text, '[') == 1, 'a capture is printed')
    call tsr_capture_destroy(capture)
    call tsr_release(t, a)
    call tsr_release(t, c)
    call tsr_release(t, other)
  end subroutine

  subroutine test_progress()
    real(real64), target :: a(8, 8), c(8, 8)
    real(c_double), target :: last
    if (tsr_device_count(t) == 0) return
    a = 1
    last = 0
    call tsr_set_progress(t, tell, c_loc(last))
    call tsr_gemm(t, a, a, c)
    call check(abs(last - 1) <= 0, 'progress is told')
    call tsr_set_progress(t)
    last = 0
    call tsr_gemm(t, a, a, c)
    call check(abs(last) <= 0, 'progress is told no more')
  end subroutine

  subroutine tell(user, fraction, what) bind(C)
    type(c_ptr), value :: user, what
    real(c_double), value :: fraction
    real(c_double), pointer :: last
    call c_f_pointer(user, last)
    last = merge(fraction, -1d0, c_associated(what))
  end subroutine

  subroutine test_facts()
    character(:), allocatable :: text
    type(tsr_traffic) :: traffic
    integer(int64) :: bytes
    integer :: stat, devices, number
    devices = tsr_device_count(t)
    call check(index(tsr_version(), '0.') == 1, 'the version is one of 0.x')
    call check(tsr_version_number() >= 200, 'the version is a number, too')
    call tsr_context_traffic(t, traffic)
    call check(traffic%plans > 0 .or. devices == 0, 'plans are counted')
    call tsr_machine_list(text)
    call check(index(text, 'h200x4') > 0, 'the installed machines are listed')
    if (devices == 0) return
    call tsr_device_number(t, devices - 1, number)
    call check(number == devices - 1, 'a device has its number')
    call tsr_device_number(t, 99, number, stat)
    call check(stat == TSR_ERR_ARGUMENT, 'a device that is none has no number')
    call tsr_machine_print(t, TSR_DETAILS, text)
    call check(index(text, 'GB/s') > 0, 'the machine has details')
    call tsr_machine_print(t, TSR_JSON, text)
    call check(index(text, '{') == 1, 'the machine is printed')
    call tsr_set_budget(t, 0, 64000000_int64)
    call tsr_get_budget(t, 0, bytes)
    call check(bytes == 64000000_int64, 'a budget is what was set')
    call tsr_set_budget(t, 99, 1000000_int64, stat)
    call check(stat == TSR_ERR_ARGUMENT, 'a device that is none is refused')
    call tsr_set_budget(t, 0, 0_int64)
    call tsr_timeline_begin(t)
    call tsr_timeline_note(t, 'a note', 0.001_real64)
    call tsr_timeline_end(t, text)
    call check(index(text, 'a note') > 0, 'a timeline has its notes')
    call tsr_set_arithmetic(t, 'emulated:15')
    call tsr_set_arithmetic(t, 'fast', stat)
    call check(stat == TSR_ERR_ARGUMENT, 'an arithmetic that is none is refused')
    call tsr_set_arithmetic(t, 'native')
    call tsr_trim(t)
  end subroutine

  subroutine test_contexts()
    type(tsr_context) :: other
    integer :: stat
    character(200) :: message
    call tsr_context_create(other, engine='nonsense', stat=stat, errmsg=message)
    call check(stat /= TSR_OK .and. index(message, 'nonsense') > 0, 'an engine that is none is named')
    call tsr_context_create(other, engine='host', devices='2', machine='host:200 gpu*2@nvlink:300 pcie:25 rate:1', &
      memory=100000000_int64, reproducible=.true., check=.true.)
    call check(tsr_device_count(other) == 2, 'options arrive')
    call tsr_context_destroy(other)
    call tsr_context_destroy(other)
  end subroutine
end program
