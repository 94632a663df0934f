/* Times of calls that synchronise windows, in ns of virtual time, on 2 ranks. Rank 0 computes before each call, for 20 ms of
   the host's processor time: long enough for the library to announce that it will send nothing until the computing is over. */
#include <mpi.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int rank;

/* Processor time of the host in seconds, past the library, whose clocks are virtual. */
static double processor(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Both ranks begin at the same time; rank 0 then computes. Returns that time. */
static double begin(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    double now = MPI_Wtime();
    for (double first = processor(); rank == 0 && processor() - first < 20e-3;)
        ;
    return now;
}

static void tell(const char *name, double since, int by) {
    double took = MPI_Wtime() - since;
    if (rank == by) printf("%s %.0f\n", name, took * 1e9), fflush(stdout);
}

int main(int argc, char **argv) {
    int memory[4] = {0}, value = 1;
    MPI_Win win;
    MPI_Group all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int others[1] = {1 - rank};
    MPI_Group other;
    MPI_Group_incl(all, 1, others, &other);
    double since = begin();
    if (rank == 0) MPI_Win_post(other, 0, win);
    if (rank == 1) MPI_Win_start(other, 0, win);
    tell("start", since, 1);
    if (rank == 1) MPI_Win_complete(win);
    if (rank == 0) MPI_Win_wait(win);
    since = begin();
    if (rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    tell("lock", since, 0);
    if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    since = begin();
    if (rank == 0) MPI_Win_flush(1, win);
    tell("flush", since, 0);
    since = begin();
    if (rank == 0) MPI_Win_unlock(1, win);
    tell("unlock", since, 0);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
