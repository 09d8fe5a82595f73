! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

! What all modules of the Fortran interface share: the C types, flags, and how errors are reported.
! Programs use the module tessera.
module tessera_base
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real32, real64
  implicit none
  private

  public :: tsr_finish, tsr_flag, tsr_text_of, tsr_c_string, tsr_text_taken

  integer, parameter, public :: TSR_OK = 0, TSR_ERR_ARGUMENT = 1, TSR_ERR_MEMORY = 2, &
    TSR_ERR_MACHINE = 3, TSR_ERR_ENGINE = 4, TSR_ERR_DEVICE = 5, TSR_ERR_CHECK = 6, &
    TSR_ERR_IO = 7, TSR_ERR_UNSUPPORTED = 8, TSR_ERR_INTERNAL = 9

  ! The routines, as tsr_level3_run takes them.
  integer(c_int), parameter, public :: TSR_OP_GEMM = 0, TSR_OP_GEMMT = 1, TSR_OP_SYMM = 2, &
    TSR_OP_HEMM = 3, TSR_OP_SYRK = 4, TSR_OP_HERK = 5, TSR_OP_SYR2K = 6, TSR_OP_HER2K = 7, &
    TSR_OP_TRMM = 8, TSR_OP_TRSM = 9

  ! A context, a plan, a capture: made and ended by the functions of those names. Copies of a variable
  ! name the same object.
  type, public :: tsr_context
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, public :: tsr_plan
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, public :: tsr_capture
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! A routine and its arguments as data. Flags are iachar of the BLAS's letters. A field that the
  ! routine has no argument for is ignored.
  type, bind(C), public :: tsr_level3
    integer(c_int) :: operation = TSR_OP_GEMM
    integer(c_int) :: type = iachar('d')
    integer(c_int) :: layout = iachar('C')
    integer(c_int) :: side = iachar('L')
    integer(c_int) :: uplo = iachar('L')
    integer(c_int) :: transa = iachar('N'), transb = iachar('N')
    integer(c_int) :: diag = iachar('N')
    integer(c_int64_t) :: m = 0, n = 0, k = 0
    integer(c_int64_t) :: lda = 1, ldb = 1, ldc = 1
    type(c_ptr) :: arithmetic = c_null_ptr ! of a text that ends with c_null_char
  end type

  interface
    function c_status_name(status) bind(C, name='tsr_status_name') result(name)
      import :: c_int, c_ptr
      integer(c_int), value :: status
      type(c_ptr) :: name
    end function
    function c_message() bind(C, name='tsr_message') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    pure function c_strlen(text) bind(C, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: text
      integer(c_size_t) :: length
    end function
    subroutine c_free(pointer) bind(C, name='free')
      import :: c_ptr
      type(c_ptr), value :: pointer
    end subroutine
  end interface

contains

  ! The characters of a C string, without its end.
  function tsr_text_of(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer(c_size_t) :: i, length
    if (.not. c_associated(pointer)) then
      text = ''
      return
    end if
    length = c_strlen(pointer)
    call c_f_pointer(pointer, letters, [length])
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  ! The characters of a text that the library has made, which is given back.
  function tsr_text_taken(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    text = tsr_text_of(pointer)
    call c_free(pointer)
  end function

  ! A C string of the text, without blanks at its end.
  pure function tsr_c_string(text) result(string)
    character(*), intent(in) :: text
    character(kind=c_char) :: string(len_trim(text) + 1)
    integer :: i
    do i = 1, len_trim(text)
      string(i) = text(i:i)
    end do
    string(size(string)) = c_null_char
  end function

  ! The C value of a flag: its letter. An empty one is 0, which the library refuses.
  elemental function tsr_flag(letter) result(value)
    character(*), intent(in) :: letter
    integer(c_int) :: value
    value = 0
    if (len(letter) > 0) value = iachar(letter(1:1))
  end function

  ! Ends a call as Fortran's own statements end: with stat present, stat is the status and errmsg the
  ! message, which stays as it was when the call succeeded; without stat a failure stops the program
  ! with the message.
  subroutine tsr_finish(status, stat, errmsg)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: message
    if (present(stat)) stat = int(status)
    if (status == TSR_OK) return
    message = tsr_text_of(c_message())
    if (len(message) == 0) message = tsr_text_of(c_status_name(status))
    if (present(errmsg)) errmsg = message
    if (present(stat)) return
    write (error_unit, '(a)') 'tessera: '//message
    error stop 1
  end subroutine
end module
