/* Half a round trip, read from MPI_Wtime: the first word is the number of bytes, the second that of round trips. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, bytes, laps;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bytes = argc > 1 ? atoi(argv[1]) : 32;
    laps = argc > 2 ? atoi(argv[2]) : 100;
    char *data = malloc(bytes + 1);
    memset(data, rank, bytes + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int lap = 0; lap < laps; lap++) {
        if (rank == 0) {
            MPI_Send(data, bytes, MPI_CHAR, 1, lap, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_CHAR, 1, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(data, bytes, MPI_CHAR, 0, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, bytes, MPI_CHAR, 0, lap, MPI_COMM_WORLD);
        }
    }
    double end = MPI_Wtime();
    if (rank == 0) printf("half %.0f ps\n", (end - begin) * 1e12 / laps / 2);
    MPI_Finalize();
    return 0;
}
