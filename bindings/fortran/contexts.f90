! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

! The types of tessera.h, which is the manual, and the functions whose arguments differ in Fortran. The
! others are in tessera_calls, which calls.py writes.
module tessera_contexts
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera_base
  implicit none
  private

  public :: tsr_context_create, tsr_device_count, tsr_set_progress, tsr_plan_level3
  public :: tsr_machine_probe, tsr_version, tsr_version_number, tsr_message, tsr_status_name

  ! The formats of texts.
  integer(c_int), parameter, public :: TSR_TEXT = 0, TSR_JSON = 1, TSR_COMMANDS = 2, &
    TSR_TIMELINE_SVG = 3, TSR_TIMELINE_JSON = 4, TSR_LOADS = 5, TSR_VERDICT = 6, &
    TSR_MACHINE_SVG = 7, TSR_DETAILS = 8, TSR_JSON_ALONE = 9

  ! Where an operand is, for a plan that is made without one.
  integer(c_int), parameter, public :: TSR_PAGEABLE = 0, TSR_PINNED = 1, TSR_MANAGED = 2, &
    TSR_DEVICE = 3
  type, bind(C), public :: tsr_home
    integer(c_int) :: memory = TSR_PAGEABLE
    integer(c_int) :: location = 0
  end type

  ! A point among a context's asynchronous calls. Its components are the library's own.
  type, bind(C), public :: tsr_event
    type(c_ptr) :: context = c_null_ptr
    integer(c_int64_t) :: number = 0
  end type

  ! Bytes that plans have moved, by direction, and the number of plans.
  type, bind(C), public :: tsr_traffic
    real(c_double) :: host_to_device, device_to_host, device_to_device, within_devices
    integer(c_int64_t) :: plans
  end type

  ! tsr_options of tessera.h.
  type, bind(C) :: options
    integer(c_size_t) :: size
    type(c_ptr) :: engine, devices, machine
    integer(c_size_t) :: memory
    type(c_ptr) :: budgets
    integer(c_int) :: reproducible, check, trace
    type(c_ptr) :: arithmetic
  end type

  ! What tsr_set_progress is given: fraction is 0 to 1, what a C string, user what came with it.
  abstract interface
    subroutine tsr_progress(user, fraction, what) bind(C)
      import :: c_double, c_ptr
      type(c_ptr), value :: user, what
      real(c_double), value :: fraction
    end subroutine
  end interface
  public :: tsr_progress

  interface
    function c_set_progress(context, progress, user) bind(C, name='tsr_set_progress') result(status)
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: context, user
      type(c_funptr), value :: progress
      integer(c_int) :: status
    end function
    function c_create(settings, context) bind(C, name='tsr_context_create') result(status)
      import :: c_int, c_ptr, options
      type(options), intent(in) :: settings
      type(c_ptr), intent(out) :: context
      integer(c_int) :: status
    end function
    function c_device_count(context) bind(C, name='tsr_device_count') result(count)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int) :: count
    end function
    function c_machine_probe(context, progress, user) bind(C, name='tsr_machine_probe') result(status)
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: context, user
      type(c_funptr), value :: progress
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
    function c_version() bind(C, name='tsr_version') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_version_number() bind(C, name='tsr_version_number') result(number)
      import :: c_int
      integer(c_int) :: number
    end function
    function c_message() bind(C, name='tsr_message') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_status_name(status) bind(C, name='tsr_status_name') result(text)
      import :: c_int, c_ptr
      integer(c_int), value :: status
      type(c_ptr) :: text
    end function
  end interface

contains

  ! ---- Contexts ----

  ! Makes a context; tsr_context_destroy ends it. An option that is absent is taken from the
  ! environment, else chosen. memory is the budget of each device [bytes].
  subroutine tsr_context_create(t, engine, devices, machine, memory, budgets, reproducible, check, &
    trace, stat, errmsg, arithmetic)
    type(tsr_context), intent(out) :: t
    character(*), intent(in), optional :: engine, devices, machine, budgets, arithmetic
    integer(int64), intent(in), optional :: memory
    logical, intent(in), optional :: reproducible, check, trace
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: words(:, :)
    type(options) :: settings
    allocate (words(longest() + 1, 5))
    settings%size = c_sizeof(settings)
    settings%engine = word(1, engine)
    settings%devices = word(2, devices)
    settings%machine = word(3, machine)
    settings%budgets = word(4, budgets)
    settings%arithmetic = word(5, arithmetic)
    settings%memory = 0
    if (present(memory)) settings%memory = int(memory, c_size_t)
    settings%reproducible = choice(reproducible)
    settings%check = choice(check)
    settings%trace = max(0_c_int, choice(trace))
    call tsr_finish(c_create(settings, t%handle), stat, errmsg)
  contains
    integer function longest()
      longest = 0
      if (present(engine)) longest = max(longest, len(engine))
      if (present(devices)) longest = max(longest, len(devices))
      if (present(machine)) longest = max(longest, len(machine))
      if (present(budgets)) longest = max(longest, len(budgets))
      if (present(arithmetic)) longest = max(longest, len(arithmetic))
    end function
    ! The text as a C string in column i of words; a null pointer if it is absent.
    function word(i, text) result(pointer)
      integer, intent(in) :: i
      character(*), intent(in), optional :: text
      type(c_ptr) :: pointer
      pointer = c_null_ptr
      if (.not. present(text)) return
      words(:len_trim(text) + 1, i) = tsr_c_string(text)
      pointer = c_loc(words(1, i))
    end function
  end subroutine

  ! The value of an option of three: no, yes, or the default, -1.
  pure function choice(asked) result(value)
    logical, intent(in), optional :: asked
    integer(c_int) :: value
    value = -1
    if (present(asked)) value = merge(1_c_int, 0_c_int, asked)
  end function

  ! The number of devices that the context uses: 0 when the CPU's BLAS does the work.
  integer function tsr_device_count(t)
    type(tsr_context), intent(in) :: t
    tsr_device_count = int(c_device_count(t%handle))
  end function

  ! Sets the subroutine that is told how far calls on devices are; without one: none.
  subroutine tsr_set_progress(t, progress, user, stat, errmsg)
    type(tsr_context), intent(in) :: t
    procedure(tsr_progress), optional :: progress
    type(c_ptr), intent(in), optional :: user
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_funptr) :: told
    type(c_ptr) :: given
    told = c_null_funptr
    if (present(progress)) told = c_funloc(progress)
    given = c_null_ptr
    if (present(user)) given = user
    call tsr_finish(c_set_progress(t%handle, told, given), stat, errmsg)
  end subroutine

  ! ---- Plans ----

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

  ! ---- The machine and the library ----

  subroutine tsr_machine_probe(t, stat, errmsg)
    type(tsr_context), intent(in) :: t
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_machine_probe(t%handle, c_null_funptr, c_null_ptr), stat, errmsg)
  end subroutine

  function tsr_version() result(text)
    character(:), allocatable :: text
    text = tsr_text_of(c_version())
  end function

  ! 10000 major + 100 minor + patch.
  function tsr_version_number() result(number)
    integer :: number
    number = int(c_version_number())
  end function

  ! The message of this thread's last call that failed.
  function tsr_message() result(text)
    character(:), allocatable :: text
    text = tsr_text_of(c_message())
  end function

  function tsr_status_name(status) result(text)
    integer, intent(in) :: status
    character(:), allocatable :: text
    text = tsr_text_of(c_status_name(int(status, c_int)))
  end function
end module
