/* The same work as work.f90: steps of integer arithmetic, and a barrier after each fifth of them. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank;
    int64_t sum = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int part = 0; part < 5; part++) {
        for (int64_t i = 1; i <= 10000000; i++) sum = (sum ^ i) * 3 + 1;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) printf("sum %ld\n", (long)sum);
    MPI_Finalize();
    return 0;
}
