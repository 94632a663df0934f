/* Messages between two ranks: bytes of each, how many are sent before an answer, and how often. A window of 1 is a ping-pong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, bytes = atoi(argv[1]), window = atoi(argv[2]), laps = atoi(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *data = calloc(window, bytes + 1);
    MPI_Request *requests = malloc(window * sizeof *requests);
    for (int lap = 0; lap < laps; lap++) {
        for (int i = 0; i < window; i++)
            if (rank == 0) MPI_Isend(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, requests + i);
            else MPI_Irecv(data + (size_t)i * bytes, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, requests + i);
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        if (rank == 0) MPI_Recv(data, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else MPI_Send(data, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
}
