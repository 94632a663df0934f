/* Two halves of the ranks, each on its own communicator, exchange borders around a ring and sum up. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, me, size;
    double mine[64] = {0}, left[64], right[64], sum;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &size);
    for (int step = 0; step < 5; step++) {
        MPI_Request requests[4];
        int before = (me + size - 1) % size, after = (me + 1) % size, first;
        MPI_Irecv(left, 64, MPI_DOUBLE, before, 1, half, &requests[0]);
        MPI_Irecv(right, 64, MPI_DOUBLE, MPI_ANY_SOURCE, 2, half, &requests[1]);
        MPI_Isend(mine, 64, MPI_DOUBLE, after, 1, half, &requests[2]);
        MPI_Isend(mine, 64, MPI_DOUBLE, before, 2, half, &requests[3]);
        MPI_Waitany(2, requests, &first, MPI_STATUS_IGNORE);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 64; i++) mine[i] += left[i] + right[i] + me;
        MPI_Allreduce(mine, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
