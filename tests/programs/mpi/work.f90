! The same work as work.c: steps of integer arithmetic, and a barrier after each fifth of them. Prints what the clocks
! of Fortran show of it, in microseconds, beside MPI_Wtime.
program work
  use mpi
  implicit none
  integer :: error, rank, part, date(8)
  integer(8) :: i, total, begin, finish, rate
  real(8) :: wall, before, after
  total = 1
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call system_clock(begin, rate)
  call cpu_time(before)
  wall = MPI_Wtime()
  do part = 1, 5
    do i = 1, 10000000
      total = ieor(total, i) * 3 + 1
    end do
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  wall = MPI_Wtime() - wall
  call cpu_time(after)
  call system_clock(finish)
  call date_and_time(values=date)
  if (rank == 0) then
    print '(a,i0)', 'sum ', total
    print '(a,3(1x,f0.3),1x,i0)', 'clocks', wall * 1d6, (after - before) * 1d6, &
      real(finish - begin, 8) / real(rate, 8) * 1d6, date(1)
  end if
  call MPI_Finalize(error)
end program
