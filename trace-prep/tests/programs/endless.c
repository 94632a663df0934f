/* Rank 0 sends to all others for ever, or until it calls MPI_Abort (given `abort`) or exit (given `exit`) after 40
 * rounds. After the 30th it prints a line. No rank is more than a message behind, since every send waits for its
 * receive. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long round = 0;; round++) {
        if (argc > 1 && rank == 0 && round == 40) {
            if (!strcmp(argv[1], "abort")) MPI_Abort(MPI_COMM_WORLD, 3);
            else exit(3);
        }
        if (rank > 0) MPI_Recv(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (argc > 1 || round < 35)
            for (int to = 1; to < size; to++) MPI_Ssend(&token, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
        else
            pause();
        if (rank == 0 && round == 30) {
            puts("thirty rounds");
            fflush(stdout);
        }
    }
}
