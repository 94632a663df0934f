! A wavefront in the pattern of NPB LU: a grid of ranks, each of which waits for the values of its northern and western
! neighbours, computes, and passes on its own, plane after plane, with blocking calls. Verifies itself against the
! recurrence on one rank.
program lu
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 24, planes = 10
  integer :: rank, ranks, rows, columns, row, column, height, width, i, j, k, error
  integer :: status(MPI_STATUS_SIZE)
  double precision :: whole(0:n, 0:n), worst, everyone
  double precision, allocatable :: own(:, :), line(:)
  call MPI_INIT(error)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, error)
  rows = 1
  do while (rows * rows * 4 <= ranks)
    rows = rows * 2
  end do
  columns = ranks / rows
  row = rank / columns
  column = mod(rank, columns)
  height = n / rows
  width = n / columns
  allocate (own(0:height, 0:width), line(height))
  worst = 0
  do k = 1, planes
    own = 1d0
    if (row > 0) then
      call MPI_RECV(own(0, 1:width), width, MPI_DOUBLE_PRECISION, rank - columns, 1, MPI_COMM_WORLD, status, error)
    end if
    if (column > 0) then
      call MPI_RECV(line, height, MPI_DOUBLE_PRECISION, rank - 1, 2, MPI_COMM_WORLD, status, error)
      own(1:height, 0) = line
    end if
    do i = 1, height
      do j = 1, width
        own(i, j) = 0.25d0 * (own(i - 1, j) + own(i, j - 1)) + k + 0.01d0 * (row * height + i) + 0.02d0 * (column * width + j)
      end do
    end do
    if (row < rows - 1) then
      call MPI_SEND(own(height, 1:width), width, MPI_DOUBLE_PRECISION, rank + columns, 1, MPI_COMM_WORLD, error)
    end if
    if (column < columns - 1) then
      line = own(1:height, width)
      call MPI_SEND(line, height, MPI_DOUBLE_PRECISION, rank + 1, 2, MPI_COMM_WORLD, error)
    end if
    whole = 1d0
    do i = 1, n
      do j = 1, n
        whole(i, j) = 0.25d0 * (whole(i - 1, j) + whole(i, j - 1)) + k + 0.01d0 * i + 0.02d0 * j
      end do
    end do
    worst = max(worst, maxval(abs(own(1:height, 1:width) - &
      whole(row * height + 1:(row + 1) * height, column * width + 1:(column + 1) * width))))
  end do
  call MPI_ALLREDUCE(worst, everyone, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
  if (rank == 0) then
    if (everyone < 1d-12) then
      print '(a)', 'lu VERIFIED'
    else
      print '(a)', 'lu WRONG'
    end if
  end if
  call MPI_FINALIZE(error)
  if (everyone >= 1d-12) stop 7
end program
