/* Calls that the library rejects and that return to the program, and a datatype of 3 GiB; between them, each of 4 ranks
 * sends 8 bytes around a ring, and 40 bytes to a receive with room for 20. */
#include <mpi.h>
#include <stdlib.h>

#define WORLD MPI_COMM_WORLD

static void must(int held) {
    if (!held) exit(9);
}

int main(int argc, char **argv) {
    int rank, size, number[10] = {0}, received[10], index = -77, indices[2] = {-77, -77}, flag = -77;
    MPI_Request request, two[2];
    MPI_Status statuses[2];
    MPI_Datatype big;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    request = MPI_REQUEST_NULL;
    must(MPI_Isend(number, -5, MPI_INT, (rank + 1) % size, 1, WORLD, &request) != MPI_SUCCESS);
    must(MPI_Isend(number, 1, MPI_INT, size, 1, WORLD, &request) != MPI_SUCCESS);
    must(MPI_Send(number, 1, MPI_INT, size, 1, WORLD) != MPI_SUCCESS);
    must(MPI_Irecv(number, -5, MPI_INT, 0, 1, WORLD, &request) != MPI_SUCCESS);
    must(MPI_Bcast(number, -5, MPI_INT, 0, WORLD) != MPI_SUCCESS);

    MPI_Irecv(received, 2, MPI_INT, (rank + size - 1) % size, 2, WORLD, &two[0]);
    MPI_Isend(number, 2, MPI_INT, (rank + 1) % size, 2, WORLD, &two[1]);
    /* An argument is missing. */
    MPI_Waitsome(-1, two, &index, indices, statuses);
    MPI_Waitany(-1, two, &index, statuses);
    MPI_Testany(-1, two, &index, &flag, statuses);
    must(MPI_Waitall(2, two, statuses) == MPI_SUCCESS);

    MPI_Irecv(received, 5, MPI_INT, (rank + size - 1) % size, 3, WORLD, &request);
    MPI_Isend(number, 10, MPI_INT, (rank + 1) % size, 3, WORLD, &two[1]);
    two[0] = request;
    must(MPI_Waitall(2, two, statuses) == MPI_ERR_IN_STATUS);

    MPI_Type_contiguous(3 << 10, MPI_CHAR, &big);
    MPI_Type_contiguous(1 << 20, big, &big);
    MPI_Type_commit(&big);
    MPI_Send(number, 0, big, (rank + 1) % size, 4, WORLD);
    MPI_Recv(number, 0, big, (rank + size - 1) % size, 4, WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
