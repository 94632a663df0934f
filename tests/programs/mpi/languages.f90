! Attributes between languages, and MPI_UNWEIGHTED of the module mpi_f08: "attributes" prints what C finds, then what Fortran does.
subroutine languages(wrong)
  use mpi_f08
  implicit none
  integer :: wrong
  integer :: key, old
  integer(MPI_ADDRESS_KIND) :: value, extra
  logical :: flag
  interface
    subroutine found_in_c(key, wanted, wrong) bind(C)
      integer :: key, wanted, wrong
    end subroutine
    subroutine set_in_c(key) bind(C)
      integer :: key
    end subroutine
  end interface
  extra = 0
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra)
  value = 42
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value)
  call found_in_c(key, 42, wrong)
  value = 43
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value)
  call found_in_c(key, 43, wrong)
  value = 0
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag)
  if (.not. flag .or. value /= 43) wrong = wrong + 1
  ! What C has set is an address here.
  call set_in_c(key)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag)
  if (.not. flag .or. value /= 4096) wrong = wrong + 1
end subroutine

program main
  use mpi_f08
  implicit none
  type(MPI_Comm) :: graph
  integer :: rank, size, wrong, sources, targets
  logical :: weighted
  external :: languages
  wrong = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call languages(wrong)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [mod(rank + 1, size)], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph)
  call MPI_Dist_graph_neighbors_count(graph, sources, targets, weighted)
  if (sources /= 1 .or. targets /= 1 .or. weighted) wrong = wrong + 1
  if (wrong == 0 .and. rank == 0) print '(A)', 'languages VERIFIED'
  call MPI_Finalize()
end program
