! Recursion, a jump table, arrays that come and go, and output through the language's own library.
module shapes
 implicit none
contains
 recursive function fib(n) result(r)
  integer, intent(in) :: n
  integer :: r
  if (n < 2) then
   r = n
  else
   r = fib(n-1) + fib(n-2)
  end if
 end function
 subroutine choose(k, s)
  integer, intent(in) :: k
  integer, intent(inout) :: s
  select case (k)
  case (0); s = s + 3
  case (1); s = s * 5
  case (2); s = s - 7
  case (3); s = ieor(s, 11)
  case (4); s = s / 2
  case (5); s = mod(s, 1001)
  case (6); s = s + 13
  case default; s = s + 1
  end select
 end subroutine
end module
program main
 use shapes
 implicit none
 integer :: i, s, size
 real(8), allocatable :: a(:,:), b(:,:), c(:,:)
 character(20) :: text
 call get_command_argument(1, text)
 read(text, *) size
 s = 1
 do i = 1, 3000000 * size
  call choose(mod(i, 9), s)
  if (s > 1000000) s = 1
 end do
 do i = 1, 60
  allocate(a(i,i), b(i,i))
  a = 1.5d0; b = i
  c = matmul(a, b)
  if (i == 60) print *, sum(c)
  deallocate(a, b)
 end do
 write(text, '(i10)') fib(24)
 print *, s, trim(text)
end program
