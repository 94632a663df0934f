/* All-to-all: the bytes to each rank, and how often. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    int rank, size, bytes = 65536, laps = 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) bytes = atoi(argv[1]);
    if (argc > 2) laps = atoi(argv[2]);
    char *from = malloc((size_t)bytes * size), *into = malloc((size_t)bytes * size);
    for (int i = 0; i < size; i++) memset(from + (size_t)i * bytes, rank, bytes);
    for (int lap = 0; lap < laps; lap++) MPI_Alltoall(from, bytes, MPI_CHAR, into, bytes, MPI_CHAR, MPI_COMM_WORLD);
    int good = 1;
    for (int i = 0; i < size; i++) good &= into[(size_t)i * bytes] == i && into[(size_t)(i + 1) * bytes - 1] == i;
    if (rank == 0) printf("all-to-all %s\n", good ? "VERIFIED" : "WRONG");
    MPI_Finalize();
    return 0;
}
