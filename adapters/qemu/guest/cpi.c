/* cpi [INTERVALS [REPETITIONS]]: pi by the midpoint rule, as often as asked: each time rank 0 tells all others the
 * number of intervals, and all add up what they have found. One more repetition before the clock is read sets up
 * connections. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size, intervals = 0;
    double begin = 0, pi = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int given = argc > 1 ? atoi(argv[1]) : 1000, repetitions = argc > 2 ? atoi(argv[2]) : 20;
    for (int turn = 0; turn <= repetitions; turn++) {
        if (turn == 1) begin = MPI_Wtime();
        if (rank == 0) intervals = given;
        MPI_Bcast(&intervals, 1, MPI_INT, 0, MPI_COMM_WORLD);
        double sum = 0, width = 1.0 / intervals;
        for (int i = rank; i < intervals; i += size) {
            double x = width * (i + 0.5);
            sum += 4.0 / (1.0 + x * x);
        }
        double mine = sum * width;
        MPI_Reduce(&mine, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("pi is approximately %.12f, error %.2e; %d ranks, %d repetitions, wall clock time = %.9f s\n", pi,
               fabs(pi - acos(-1)), size, repetitions, MPI_Wtime() - begin);
    MPI_Finalize();
    return 0;
}
