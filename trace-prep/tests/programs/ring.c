/* A token passed around all ranks, three times. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, token[100] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 3; round++) {
        if (rank > 0) MPI_Recv(token, 100, MPI_INT, rank - 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(token, 100, MPI_INT, (rank + 1) % size, round, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(token, 100, MPI_INT, size - 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
