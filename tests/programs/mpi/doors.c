/* Every kind of collectives once, each at a second of its own: ./doors BYTES, the size of the block of a rank. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, block = argc > 1 ? atoi(argv[1]) : 8;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int whole = block * size, *blocks = malloc(size * sizeof *blocks);
    char *from = calloc(whole + 1, 1), *to = calloc(whole + 1, 1);
    for (int i = 0; i < size; i++) blocks[i] = block;
    double begin = MPI_Wtime();
    for (int number = 0; number < 10; number++) {
        double left = begin + number + 1 - MPI_Wtime();
        struct timespec pause = {(time_t)left, (long)((left - (time_t)left) * 1e9 + 0.5)};
        nanosleep(&pause, 0);
        memset(from, 1, whole);
        switch (number) {
        case 0: MPI_Allreduce(from, to, whole, MPI_INT8_T, MPI_SUM, MPI_COMM_WORLD); break;
        case 1: MPI_Allgather(from, block, MPI_BYTE, to, block, MPI_BYTE, MPI_COMM_WORLD); break;
        case 2: MPI_Reduce_scatter(from, to, blocks, MPI_INT8_T, MPI_SUM, MPI_COMM_WORLD); break;
        case 3: MPI_Bcast(from, whole, MPI_BYTE, 0, MPI_COMM_WORLD); break;
        case 4: MPI_Reduce(from, to, whole, MPI_INT8_T, MPI_SUM, 0, MPI_COMM_WORLD); break;
        case 5: MPI_Gather(from, block, MPI_BYTE, to, block, MPI_BYTE, 0, MPI_COMM_WORLD); break;
        case 6: MPI_Scatter(from, block, MPI_BYTE, to, block, MPI_BYTE, 0, MPI_COMM_WORLD); break;
        case 7: MPI_Alltoall(from, block, MPI_BYTE, to, block, MPI_BYTE, MPI_COMM_WORLD); break;
        case 8: MPI_Barrier(MPI_COMM_WORLD); break;
        /* What MPI_Finalize sends leaves in a second of its own. */
        default: break;
        }
        /* The sums and copies are right, whatever the algorithm. */
        if ((number == 0 || number == 4 && rank == 0) && (to[0] != (char)size || to[whole - 1] != (char)size))
            MPI_Abort(MPI_COMM_WORLD, 3);
        if ((number == 1 || number == 7) && (to[0] != 1 || to[whole - 1] != 1)) MPI_Abort(MPI_COMM_WORLD, 4);
        memset(to, 0, whole);
    }
    MPI_Finalize();
    return 0;
}
