! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

! Counts what was checked. A program ends with check_end, which stops with an error if a check failed.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: good = 0, bad = 0
contains
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) then
      good = good + 1
    else
      bad = bad + 1
      write (error_unit, '(a)') 'not so: '//what
    end if
  end subroutine

  subroutine check_end(least)
    integer, intent(in) :: least
    write (*, '(i0, a, i0, a)') good, ' checks passed, ', bad, ' failed'
    if (bad > 0 .or. good < least) error stop 1
  end subroutine
end module
