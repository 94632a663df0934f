/* pingpong [REPETITIONS [LARGEST]]: half the round trip between the first rank and the last one, and the rate, for
 * messages of 0 bytes, 1 byte, 2, 4, ... as the latency test of the OSU micro-benchmarks measures it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int repetitions = argc > 1 ? atoi(argv[1]) : 20, largest = argc > 2 ? atoi(argv[2]) : 65536, last = size - 1;
    char *bytes = calloc(1, (size_t)largest + 1);
    if (size < 2 || !bytes) MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) printf("%10s %14s %14s\n", "bytes", "latency (us)", "MB/s");
    for (int length = 0; length <= largest; length = length ? 2 * length : 1) {
        double begin = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int turn = -2; turn < repetitions; turn++) {
            if (turn == 0) begin = MPI_Wtime();
            if (rank == 0) {
                MPI_Send(bytes, length, MPI_CHAR, last, 1, MPI_COMM_WORLD);
                MPI_Recv(bytes, length, MPI_CHAR, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else if (rank == last) {
                MPI_Recv(bytes, length, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(bytes, length, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
            }
        }
        double half = (MPI_Wtime() - begin) / repetitions / 2;
        if (rank == 0) printf("%10d %14.3f %14.3f\n", length, half * 1e6, length / half * 1e-6);
    }
    free(bytes);
    MPI_Finalize();
    return 0;
}
