/* A program of three phases, as many have: halos to two neighbours, a transposition (all-to-all), a sum (allreduce). It
 * verifies itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 2048 /* doubles in a halo */
#define BLOCK 512 /* doubles to each rank */
#define STEPS 5

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = (rank + 1) % size, down = (rank + size - 1) % size, good = 1;
    double *halo = malloc(ROWS * sizeof *halo), *came = malloc(ROWS * sizeof *came);
    double *from = malloc(size * BLOCK * sizeof *from), *to = malloc(size * BLOCK * sizeof *to);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < ROWS; i++) halo[i] = rank + step;
        MPI_Sendrecv(halo, ROWS, MPI_DOUBLE, up, 1, came, ROWS, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        good &= came[ROWS - 1] == down + step;
        MPI_Sendrecv(halo, ROWS, MPI_DOUBLE, down, 2, came, ROWS, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        good &= came[0] == up + step;
        for (int i = 0; i < size * BLOCK; i++) from[i] = rank * 1000 + i / BLOCK;
        MPI_Alltoall(from, BLOCK, MPI_DOUBLE, to, BLOCK, MPI_DOUBLE, MPI_COMM_WORLD);
        for (int other = 0; other < size; other++) good &= to[other * BLOCK] == other * 1000 + rank;
        double own = 1, sum;
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        good &= sum == size;
    }
    if (rank == 0) printf("spectrum %s\n", good ? "VERIFIED" : "WRONG");
    MPI_Finalize();
    return !good;
}
