/* A ring of messages in which rank 1 dies after ten rounds, as its argument says; the others wait for it in vain. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, size, token[100] = {0};
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 11; round++) {
        if (rank == 1 && round == 10) {
            if (strcmp(how, "abort") == 0) abort();
            if (strcmp(how, "fault") == 0) *(volatile int *)8 = 1;
            _exit(3);
        }
        if (rank > 0) MPI_Recv(token, 100, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(token, 100, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(token, 100, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
