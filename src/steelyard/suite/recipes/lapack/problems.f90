! Dense linear algebra on made-up matrices: systems of equations, eigenvalues, singular values.
! Usage: problems SIZE ROUNDS < NUMBERS
program problems
  implicit none
  integer, parameter :: real64 = kind(1.0d0)
  integer :: n, rounds, round, i, j, info, lwork
  character(len=16) :: word
  real(real64), allocatable :: given(:), a(:, :), b(:), values(:), work(:), left(:, :), right(:, :)
  integer, allocatable :: pivots(:)
  real(real64) :: norm

  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) rounds
  lwork = 64 * n
  allocate (given(n), a(n, n), b(n), values(n), work(lwork), left(1, 1), right(1, 1), pivots(n))
  read (*, *) given

  do round = 1, rounds
    call fill(a, round)
    b = given
    call dgesv(n, 1, a, n, pivots, b, n, info)
    call check('dgesv', info)
    norm = sqrt(dot_product(b, b))

    call fill(a, round)
    a = 0.5_real64 * (a + transpose(a))
    call dsyev('N', 'U', n, a, n, values, work, lwork, info)
    call check('dsyev', info)
    print '(a, i4, 3es16.8)', 'solution, extreme eigenvalues', round, norm, values(1), values(n)

    call fill(a, round)
    call dgesvd('N', 'N', n, n, a, n, values, left, 1, right, 1, work, lwork, info)
    call check('dgesvd', info)
    print '(a, i4, 2es16.8)', 'largest and middle singular value', round, values(1), values(n / 2)
  end do

contains

  ! A matrix with a heavy diagonal, so that every problem is well conditioned.
  subroutine fill(matrix, shift)
    real(real64), intent(out) :: matrix(:, :)
    integer, intent(in) :: shift
    do j = 1, n
      do i = 1, n
        matrix(i, j) = given(1 + mod(i * 7 + j * (13 + shift) + i * j, n))
      end do
      matrix(j, j) = matrix(j, j) + 4.0_real64 * sqrt(real(n, real64)) + 0.1_real64 * j
    end do
  end subroutine fill

  subroutine check(name, found)
    character(len=*), intent(in) :: name
    integer, intent(in) :: found
    if (found /= 0) then
      print *, name, ' failed with ', found
      stop 1
    end if
  end subroutine check

end program problems
