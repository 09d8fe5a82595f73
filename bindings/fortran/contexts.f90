! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

! Contexts, events, timelines, memory's places and machines: tessera.h, which is the manual, in Fortran.
module tessera_contexts
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera_base
  implicit none
  private

  public :: tsr_context_create, tsr_context_destroy, tsr_device_count, tsr_sync, tsr_trim
  public :: tsr_set_budget, tsr_get_budget, tsr_set_stream
  public :: tsr_event_record, tsr_event_query, tsr_event_wait
  public :: tsr_context_traffic, tsr_timeline_begin, tsr_timeline_note, tsr_timeline_end
  public :: tsr_device_number, tsr_home_find, tsr_memcpy, tsr_set_progress
  public :: tsr_machine_print, tsr_machine_list, tsr_machine_probe, tsr_version, tsr_message, tsr_status_name

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
    function c_device_number(context, device, number) bind(C, name='tsr_device_number') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int), value :: device
      integer(c_int), intent(out) :: number
      integer(c_int) :: status
    end function
    function c_home_find(context, pointer, bytes, home) bind(C, name='tsr_home_find') result(status)
      import :: c_int, c_ptr, c_size_t, tsr_home
      type(c_ptr), value :: context, pointer
      integer(c_size_t), value :: bytes
      type(tsr_home), intent(out) :: home
      integer(c_int) :: status
    end function
    function c_memcpy(context, to, from, bytes) bind(C, name='tsr_memcpy') result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: context, to, from
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function
    function c_set_progress(context, progress, user) bind(C, name='tsr_set_progress') result(status)
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: context, user
      type(c_funptr), value :: progress
      integer(c_int) :: status
    end function
    function c_machine_list(text) bind(C, name='tsr_machine_list') result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function
    function c_create(settings, context) bind(C, name='tsr_context_create') result(status)
      import :: c_int, c_ptr, options
      type(options), intent(in) :: settings
      type(c_ptr), intent(out) :: context
      integer(c_int) :: status
    end function
    subroutine c_destroy(context) bind(C, name='tsr_context_destroy')
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine
    function c_device_count(context) bind(C, name='tsr_device_count') result(count)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int) :: count
    end function
    function c_sync(context) bind(C, name='tsr_sync') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int) :: status
    end function
    function c_trim(context) bind(C, name='tsr_trim') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int) :: status
    end function
    function c_set_budget(context, device, bytes) bind(C, name='tsr_set_budget') result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: context
      integer(c_int), value :: device
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function
    function c_get_budget(context, device, bytes) bind(C, name='tsr_get_budget') result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: context
      integer(c_int), value :: device
      integer(c_size_t), intent(out) :: bytes
      integer(c_int) :: status
    end function
    function c_set_stream(context, device, stream) bind(C, name='tsr_set_stream') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: context, stream
      integer(c_int), value :: device
      integer(c_int) :: status
    end function
    function c_event_record(context, event) bind(C, name='tsr_event_record') result(status)
      import :: c_int, c_ptr, tsr_event
      type(c_ptr), value :: context
      type(tsr_event), intent(out) :: event
      integer(c_int) :: status
    end function
    function c_event_query(context, event, complete) bind(C, name='tsr_event_query') result(status)
      import :: c_int, c_ptr, tsr_event
      type(c_ptr), value :: context
      type(tsr_event), intent(in) :: event
      integer(c_int), intent(out) :: complete
      integer(c_int) :: status
    end function
    function c_event_wait(context, event) bind(C, name='tsr_event_wait') result(status)
      import :: c_int, c_ptr, tsr_event
      type(c_ptr), value :: context
      type(tsr_event), intent(in) :: event
      integer(c_int) :: status
    end function
    function c_traffic(context, traffic) bind(C, name='tsr_context_traffic') result(status)
      import :: c_int, c_ptr, tsr_traffic
      type(c_ptr), value :: context
      type(tsr_traffic), intent(out) :: traffic
      integer(c_int) :: status
    end function
    function c_timeline_begin(context) bind(C, name='tsr_timeline_begin') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int) :: status
    end function
    function c_timeline_note(context, name, seconds) bind(C, name='tsr_timeline_note') result(status)
      import :: c_char, c_double, c_int, c_ptr
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: seconds
      integer(c_int) :: status
    end function
    function c_timeline_end(context, text) bind(C, name='tsr_timeline_end') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function
    function c_machine_print(context, form, text) bind(C, name='tsr_machine_print') result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int), value :: form
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function
    function c_machine_probe(context, progress, user) bind(C, name='tsr_machine_probe') result(status)
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: context, user
      type(c_funptr), value :: progress
      integer(c_int) :: status
    end function
    function c_version() bind(C, name='tsr_version') result(text)
      import :: c_ptr
      type(c_ptr) :: text
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
    trace, stat, errmsg)
    type(tsr_context), intent(out) :: t
    character(*), intent(in), optional :: engine, devices, machine, budgets
    integer(int64), intent(in), optional :: memory
    logical, intent(in), optional :: reproducible, check, trace
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: words(:, :)
    type(options) :: settings
    allocate (words(longest() + 1, 4))
    settings%size = c_sizeof(settings)
    settings%engine = word(1, engine)
    settings%devices = word(2, devices)
    settings%machine = word(3, machine)
    settings%budgets = word(4, budgets)
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

  subroutine tsr_context_destroy(t)
    type(tsr_context), intent(inout) :: t
    call c_destroy(t%handle)
    t%handle = c_null_ptr
  end subroutine

  ! The number of devices that the context uses: 0 when the CPU's BLAS does the work.
  integer function tsr_device_count(t)
    type(tsr_context), intent(in) :: t
    tsr_device_count = int(c_device_count(t%handle))
  end function

  subroutine tsr_sync(t, stat, errmsg)
    type(tsr_context), intent(in) :: t
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_sync(t%handle), stat, errmsg)
  end subroutine

  subroutine tsr_trim(t, stat, errmsg)
    type(tsr_context), intent(in) :: t
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_trim(t%handle), stat, errmsg)
  end subroutine

  ! Devices are numbered from 0, as in all interfaces of Tessera.
  subroutine tsr_set_budget(t, device, bytes, stat, errmsg)
    type(tsr_context), intent(in) :: t
    integer, intent(in) :: device
    integer(int64), intent(in) :: bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_set_budget(t%handle, int(device, c_int), int(bytes, c_size_t)), stat, errmsg)
  end subroutine

  subroutine tsr_get_budget(t, device, bytes, stat, errmsg)
    type(tsr_context), intent(in) :: t
    integer, intent(in) :: device
    integer(int64), intent(out) :: bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_size_t) :: found
    found = 0
    call tsr_finish(c_get_budget(t%handle, int(device, c_int), found), stat, errmsg)
    bytes = int(found, int64)
  end subroutine

  subroutine tsr_set_stream(t, device, stream, stat, errmsg)
    type(tsr_context), intent(in) :: t
    integer, intent(in) :: device
    type(c_ptr), intent(in) :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_set_stream(t%handle, int(device, c_int), stream), stat, errmsg)
  end subroutine

  ! ---- Events ----

  subroutine tsr_event_record(t, event, stat, errmsg)
    type(tsr_context), intent(in) :: t
    type(tsr_event), intent(out) :: event
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_event_record(t%handle, event), stat, errmsg)
  end subroutine

  subroutine tsr_event_query(t, event, complete, stat, errmsg)
    type(tsr_context), intent(in) :: t
    type(tsr_event), intent(in) :: event
    logical, intent(out) :: complete
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: found
    found = 0
    call tsr_finish(c_event_query(t%handle, event, found), stat, errmsg)
    complete = found /= 0
  end subroutine

  subroutine tsr_event_wait(t, event, stat, errmsg)
    type(tsr_context), intent(in) :: t
    type(tsr_event), intent(in) :: event
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_event_wait(t%handle, event), stat, errmsg)
  end subroutine

  ! ---- What sequences cost ----

  subroutine tsr_context_traffic(t, traffic, stat, errmsg)
    type(tsr_context), intent(in) :: t
    type(tsr_traffic), intent(out) :: traffic
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_traffic(t%handle, traffic), stat, errmsg)
  end subroutine

  subroutine tsr_timeline_begin(t, stat, errmsg)
    type(tsr_context), intent(in) :: t
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_timeline_begin(t%handle), stat, errmsg)
  end subroutine

  subroutine tsr_timeline_note(t, name, seconds, stat, errmsg)
    type(tsr_context), intent(in) :: t
    character(*), intent(in) :: name
    real(real64), intent(in) :: seconds
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_timeline_note(t%handle, tsr_c_string(name), seconds), stat, errmsg)
  end subroutine

  subroutine tsr_timeline_end(t, text, stat, errmsg)
    type(tsr_context), intent(in) :: t
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    integer(c_int) :: status
    given = c_null_ptr
    status = c_timeline_end(t%handle, given)
    text = tsr_text_taken(given)
    call tsr_finish(status, stat, errmsg)
  end subroutine

  ! ---- Devices and memory ----

  ! The number that the engine, for instance CUDA, gives to a device (0, 1, ...) of the context.
  subroutine tsr_device_number(t, device, number, stat, errmsg)
    type(tsr_context), intent(in) :: t
    integer, intent(in) :: device
    integer, intent(out) :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: found
    found = -1
    call tsr_finish(c_device_number(t%handle, int(device, c_int), found), stat, errmsg)
    number = int(found)
  end subroutine

  ! Where bytes of memory are.
  subroutine tsr_home_find(t, memory, bytes, home, stat, errmsg)
    type(tsr_context), intent(in) :: t
    type(c_ptr), intent(in) :: memory
    integer(int64), intent(in) :: bytes
    type(tsr_home), intent(out) :: home
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_home_find(t%handle, memory, int(bytes, c_size_t), home), stat, errmsg)
  end subroutine

  ! Copies bytes between any two places, host or device.
  subroutine tsr_memcpy(t, to, from, bytes, stat, errmsg)
    type(tsr_context), intent(in) :: t
    type(c_ptr), intent(in) :: to, from
    integer(int64), intent(in) :: bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_memcpy(t%handle, to, from, int(bytes, c_size_t)), stat, errmsg)
  end subroutine

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

  ! ---- The machine and the library ----

  ! The installed machines, whose names the option machine takes, one a line.
  subroutine tsr_machine_list(text, stat, errmsg)
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    integer(c_int) :: status
    given = c_null_ptr
    status = c_machine_list(given)
    text = tsr_text_taken(given)
    call tsr_finish(status, stat, errmsg)
  end subroutine

  subroutine tsr_machine_print(t, form, text, stat, errmsg)
    type(tsr_context), intent(in) :: t
    integer(c_int), intent(in) :: form
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    integer(c_int) :: status
    given = c_null_ptr
    status = c_machine_print(t%handle, form, given)
    text = tsr_text_taken(given)
    call tsr_finish(status, stat, errmsg)
  end subroutine

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
