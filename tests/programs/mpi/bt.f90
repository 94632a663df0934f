! Sweeps in the pattern of NPB BT: a multipartition, in which each of c * c ranks has c cells on the diagonals of a cube,
! so that all ranks work in every stage of a sweep. Messages between neighbours are non-blocking. Uses the module of
! Fortran 90. Verifies itself against the sweeps on one rank.
program bt
  use mpi
  implicit none
  integer, parameter :: laps = 3
  integer :: rank, ranks, c, stage, lap, error, i, j, k, cell, direction, at(3), requests(2)
  integer :: before, after
  double precision :: carried, incoming, worst, everyone
  double precision, allocatable :: whole(:, :, :), mine(:), edge(:, :)
  call MPI_INIT(error)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, error)
  c = nint(sqrt(dble(ranks)))
  allocate (whole(0:c - 1, 0:c - 1, 0:c - 1), mine(0:c - 1), edge(0:c - 1, 0:c - 1))
  do i = 0, c - 1
    do j = 0, c - 1
      do k = 0, c - 1
        whole(i, j, k) = 1 + i + 2 * j + 3 * k
      end do
    end do
  end do
  do cell = 0, c - 1
    at = place(rank, cell)
    mine(cell) = whole(at(1), at(2), at(3))
  end do
  do lap = 1, laps
    do direction = 1, 3
      do stage = 0, c - 1
        ! The cell of this rank whose coordinate in this direction is the stage.
        do cell = 0, c - 1
          at = place(rank, cell)
          if (at(direction) == stage) exit
        end do
        incoming = 1
        if (stage > 0) then
          at(direction) = stage - 1
          before = owner(at)
          at(direction) = stage
          call MPI_IRECV(incoming, 1, MPI_DOUBLE_PRECISION, before, 10 * direction + stage, MPI_COMM_WORLD, requests(1), error)
          call MPI_WAIT(requests(1), MPI_STATUS_IGNORE, error)
        end if
        mine(cell) = 0.5d0 * mine(cell) + 0.25d0 * incoming + direction
        carried = mine(cell)
        if (stage < c - 1) then
          at(direction) = stage + 1
          after = owner(at)
          call MPI_ISEND(carried, 1, MPI_DOUBLE_PRECISION, after, 10 * direction + stage + 1, MPI_COMM_WORLD, requests(2), error)
          call MPI_WAITALL(1, requests(2:2), MPI_STATUSES_IGNORE, error)
        end if
      end do
    end do
    do direction = 1, 3
      edge = 1
      do stage = 0, c - 1
        do i = 0, c - 1
          do j = 0, c - 1
            select case (direction)
            case (1)
              whole(stage, i, j) = 0.5d0 * whole(stage, i, j) + 0.25d0 * edge(i, j) + direction
              edge(i, j) = whole(stage, i, j)
            case (2)
              whole(i, stage, j) = 0.5d0 * whole(i, stage, j) + 0.25d0 * edge(i, j) + direction
              edge(i, j) = whole(i, stage, j)
            case (3)
              whole(i, j, stage) = 0.5d0 * whole(i, j, stage) + 0.25d0 * edge(i, j) + direction
              edge(i, j) = whole(i, j, stage)
            end select
          end do
        end do
      end do
    end do
  end do
  worst = 0
  do cell = 0, c - 1
    at = place(rank, cell)
    worst = max(worst, abs(mine(cell) - whole(at(1), at(2), at(3))))
  end do
  call MPI_REDUCE(worst, everyone, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
  call MPI_BCAST(everyone, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  if (rank == 0) then
    if (everyone < 1d-12) then
      print '(a)', 'bt VERIFIED'
    else
      print '(a)', 'bt WRONG'
    end if
  end if
  call MPI_FINALIZE(error)
  if (everyone >= 1d-12) stop 7
contains
  ! Coordinates of a cell of a rank: the diagonal through (i, j) of the lowest plane.
  function place(of, cell) result(found)
    integer, intent(in) :: of, cell
    integer :: found(3)
    found = [mod(of / c + cell, c), mod(mod(of, c) + cell, c), cell]
  end function
  function owner(at) result(found)
    integer, intent(in) :: at(3)
    integer :: found
    found = modulo(at(1) - at(3), c) * c + modulo(at(2) - at(3), c)
  end function
end program
