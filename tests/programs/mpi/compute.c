/* Ranks that compute for a while, each a little differently often, and pass a number round: the first word is the
 * computing between two messages in milliseconds of processor time, the second the number of laps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Processor time of the host in seconds, past the library, whose clocks are virtual. */
static double processor(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    int rank, size, value = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double ms = argc > 1 ? atof(argv[1]) : 1;
    int laps = argc > 2 ? atoi(argv[2]) : 10;
    for (int lap = 0; lap < laps; lap++) {
        for (double begin = processor(); processor() - begin < ms * 1e-3;)
            ;
        /* Ranks differ in virtual time by what they compute before their messages. */
        for (int i = 0; i < rank; i++) MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        value = rank + lap;
        MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        sum += value;
    }
    int good = sum == laps * ((rank + size - 1) % size) + laps * (laps - 1) / 2, everyone;
    MPI_Allreduce(&good, &everyone, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (rank == 0) printf("compute %s\n", everyone ? "VERIFIED" : "WRONG");
    MPI_Finalize();
    return everyone ? 0 : 7;
}
