! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

! The Gram matrix of the columns of a matrix: G = X**T X, on all GPUs of this machine, or on its CPU.
!
!   gfortran gram.f90 $(pkg-config --cflags --libs tessera-fortran) -o gram && ./gram
program gram
  use tessera
  implicit none
  integer, parameter :: m = 64, n = 1000
  real(kind(1d0)), allocatable, target :: x(:, :), g(:, :)
  type(tsr_context) :: t
  integer :: i

  allocate (x(m, n), g(n, n))
  x = reshape([(mod(i*37, 101)/101d0, i=0, m*n - 1)], [m, n])
  call tsr_context_create(t)
  call tsr_gemm(t, x, x, g, transa='T') ! without stat= a failure stops the program with its message
  call tsr_context_destroy(t)
  print '(a, f8.4, a, f8.4)', 'G(1, 1) =', g(1, 1), ', G(1, 1000) =', g(1, n)
end program
