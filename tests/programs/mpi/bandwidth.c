/* Latency and bandwidth as the OSU benchmarks measure them: `./bandwidth BYTES WINDOW`. Rank 0 sends WINDOW messages without
   waiting, rank 1 answers with an empty one; half the ranks send to the other half. Rank 0 prints the half round trip of
   BYTES bytes in ns, and the bytes per second of the window. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
    int rank, size, length = atoi(words[1]), window = atoi(words[2]), laps = 5;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *data = malloc((size_t)length * window + 1);
    MPI_Request *requests = malloc(window * sizeof(MPI_Request));
    int other = (rank + size / 2) % size, sends = rank < size / 2;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int lap = 0; lap < laps; lap++) {
        if (sends) MPI_Send(data, length, MPI_CHAR, other, 1, MPI_COMM_WORLD);
        MPI_Recv(data, length, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!sends) MPI_Send(data, length, MPI_CHAR, other, 1, MPI_COMM_WORLD);
    }
    double half = (MPI_Wtime() - begin) / (2 * laps);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int lap = 0; lap < laps; lap++) {
        for (int i = 0; i < window; i++)
            if (sends) MPI_Isend(data, length, MPI_CHAR, other, 2, MPI_COMM_WORLD, requests + i);
            else MPI_Irecv(data + (size_t)i * length, length, MPI_CHAR, other, 2, MPI_COMM_WORLD, requests + i);
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        if (sends) MPI_Recv(data, 0, MPI_CHAR, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else MPI_Send(data, 0, MPI_CHAR, other, 3, MPI_COMM_WORLD);
    }
    double rate = (double)laps * window * length / (MPI_Wtime() - begin);
    if (rank == 0) printf("%.3f %.0f\n", half * 1e9, rate);
    MPI_Finalize();
}
