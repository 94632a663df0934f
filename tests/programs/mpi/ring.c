/* Messages to a neighbour, to all, and a sum, so that most of what a network can do shows in the time. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = calloc(20000, 1), *in = calloc(20000, 1);
    for (int i = 0; i < 4; i++) {
        MPI_Request both[2];
        MPI_Irecv(in, 20000, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(out, 20000, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD, &both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        MPI_Alltoall(out, 2000, MPI_CHAR, in, 2000, MPI_CHAR, MPI_COMM_WORLD);
        double own = rank, sum;
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
