/* The messages of NPB IS, class W: ten times a reduction of 1024 counts, an all-to-all of counts, and one of 2^20 keys of 4 bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, size, keys = 1 << 20, own[1024], all[1024];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int each = keys / size / size, *sent = malloc(size * sizeof(int)), *got = malloc(size * sizeof(int)), *at = malloc(size * sizeof(int));
    int *from = malloc(keys / size * sizeof(int)), *into = malloc(keys / size * sizeof(int));
    for (int i = 0; i < size; i++) sent[i] = each, at[i] = i * each;
    for (int i = 0; i < keys / size; i++) from[i] = rank;
    for (int i = 0; i < 1024; i++) own[i] = 1;
    for (int lap = 0; lap < 10; lap++) {
        MPI_Allreduce(own, all, 1024, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Alltoallv(from, sent, at, MPI_INT, into, got, at, MPI_INT, MPI_COMM_WORLD);
    }
    int good = all[0] == size;
    for (int i = 0; i < size; i++) good &= into[i * each] == i;
    if (rank == 0) printf("is %s\n", good ? "VERIFIED" : "WRONG");
    MPI_Finalize();
    return 0;
}
