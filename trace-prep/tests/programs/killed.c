/* A ring of messages in which rank 1 is killed after 200 rounds, as by a scheduler or the out-of-memory killer. */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, size, token[100] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 1000; round++) {
        if (rank == 1 && round == 200) kill(getpid(), SIGKILL);
        if (rank > 0) MPI_Recv(token, 100, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(token, 100, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(token, 100, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
