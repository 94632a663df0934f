! Calls of Fortran programs, through the module `mpi` or, with F08, `mpi_f08`: on 4 ranks, added up in the test.
program calls
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
#ifdef F08
#define HANDLE(kind) type(kind)
#define STATUS type(MPI_Status)
#else
#define HANDLE(kind) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#endif
  HANDLE(MPI_Comm) :: ring, twin
  HANDLE(MPI_Request) :: pair(2), three(3)
  STATUS :: state
  logical :: flag, round(1)
  integer :: ierror, rank, size, before, after, i, done, found, indices(3), extent(1)
  integer :: counts(4), places(4), few(4), many(16), out(8), in(8)
  character(len=32) :: word

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  before = mod(rank + size - 1, size)
  after = mod(rank + 1, size)
  few = rank
  many = rank
  out = rank
  counts = (/ 1, 2, 3, 4 /)
  places = (/ 0, 1, 3, 6 /)

  call get_command_argument(1, word)
  if (word == 'ibarrier') then
    call MPI_Ibarrier(MPI_COMM_WORLD, pair(1), ierror)
    call MPI_Wait(pair(1), MPI_STATUS_IGNORE, ierror)
  end if

  ! 32 bytes and three times 16.
  call MPI_Sendrecv_replace(out, 8, MPI_INTEGER, after, 1, before, 1, MPI_COMM_WORLD, state, ierror)
  do i = 1, 3
    call MPI_Irecv(in, 4, MPI_INTEGER, before, 10 + i, MPI_COMM_WORLD, three(i), ierror)
  end do
  do i = 1, 3
    call MPI_Send(out, 4, MPI_INTEGER, after, 10 + i, MPI_COMM_WORLD, ierror)
  end do
  done = 0
  do while (done < 3)
    call MPI_Waitsome(3, three, found, indices, MPI_STATUSES_IGNORE, ierror)
    done = done + found
  end do
  ! 8 bytes, by persistent requests.
  call MPI_Send_init(out, 2, MPI_INTEGER, after, 2, MPI_COMM_WORLD, pair(1), ierror)
  call MPI_Recv_init(in, 2, MPI_INTEGER, before, 2, MPI_COMM_WORLD, pair(2), ierror)
  call MPI_Startall(2, pair, ierror)
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(2, pair, flag, MPI_STATUSES_IGNORE, ierror)
  end do

  if (rank == 2) then
    call MPI_Gatherv(MPI_IN_PLACE, -7, MPI_INTEGER, many, counts, places, MPI_INTEGER, 2, MPI_COMM_WORLD, ierror)
  else
    call MPI_Gatherv(few, rank + 1, MPI_INTEGER, many, counts, places, MPI_INTEGER, 2, MPI_COMM_WORLD, ierror)
  end if
  call MPI_Scatter(many, 4, MPI_INTEGER, few, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  call MPI_Allgatherv(few, rank + 1, MPI_INTEGER, many, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call MPI_Reduce_scatter(many, few, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  ! Every rank sends every rank two integers.
  counts = 2
  places = (/ 0, 2, 4, 6 /)
  call MPI_Alltoallv(MPI_IN_PLACE, (/ -1, -1, -1, -1 /), places, MPI_INTEGER, many, counts, places, MPI_INTEGER, &
                     MPI_COMM_WORLD, ierror)
  ! 4 bytes around a grid, and to all of its twin.
  extent = size
  round = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, extent, round, .false., ring, ierror)
  call MPI_Sendrecv(out, 1, MPI_INTEGER, after, 3, in, 1, MPI_INTEGER, before, 3, ring, state, ierror)
  call MPI_Comm_dup(ring, twin, ierror)
  call MPI_Bcast(out, 1, MPI_INTEGER, 0, twin, ierror)
  call MPI_Finalize(ierror)
end program
