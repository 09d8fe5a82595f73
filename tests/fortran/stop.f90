! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause

! A call that fails without stat ends the program with the library's message.
program stop_with_message
  use tessera
  implicit none
  type(tsr_context) :: t
  call tsr_context_create(t, engine='nonsense')
  write (*, '(a)') 'still here'
end program
