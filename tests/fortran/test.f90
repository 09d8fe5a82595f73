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
    call tsr_coherent(t, s)
    call tsr_sync(t)
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
    call tsr_plan_destroy(plan)
    call tsr_plan_last(t, plan)
    call tsr_plan_print(plan, TSR_TIMELINE_SVG, text)
    call check(index(text, '<svg') > 0, 'a plan is drawn')
    call tsr_plan_print(plan, 99_c_int, text, stat)
    call check(stat == TSR_ERR_ARGUMENT .and. len(text) == 0, 'a format that is none is refused')
    call tsr_plan_destroy(plan)
  end subroutine

  subroutine test_facts()
    character(:), allocatable :: text
    type(tsr_traffic) :: traffic
    integer(int64) :: bytes
    integer :: stat, devices
    devices = tsr_device_count(t)
    call check(index(tsr_version(), '0.') == 1, 'the version is one of 0.x')
    call tsr_context_traffic(t, traffic)
    call check(traffic%plans > 0 .or. devices == 0, 'plans are counted')
    if (devices == 0) return
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
