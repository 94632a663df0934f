/* Several threads of each rank call MPI at once (MPI_THREAD_MULTIPLE): PROGRAM HOW THREADS LAPS, where HOW is pthread (threads of
   POSIX), openmp (if compiled with it), or one of the single cases below. Prints "threads VERIFIED". */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(what) do { if (!(what)) { printf("%d: line %d: " #what "\n", rank, __LINE__); fflush(stdout); abort(); } } while (0)

static int rank, size, threads, laps;
/* A communicator for each thread, since collectives of several threads need different ones. */
static MPI_Comm own[64];

/* What a thread does in a lap: messages to the same thread of both neighbours, a wildcard, a collective, a message to itself. */
static void lap(int thread, int lap) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int sent = rank * 1000 + thread * 10 + lap, got = -1, sum = 0;
    MPI_Status status;
    MPI_Request both[2];
    MPI_Sendrecv(&sent, 1, MPI_INT, right, thread, &got, 1, MPI_INT, left, thread, MPI_COMM_WORLD, &status);
    CHECK(got == left * 1000 + thread * 10 + lap && status.MPI_TAG == thread);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 100 + thread, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(&sent, 1, MPI_INT, left, 100 + thread, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    CHECK(got == right * 1000 + thread * 10 + lap);
    MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, own[thread]);
    CHECK(sum == 1000 * size * (size - 1) / 2 + size * (thread * 10 + lap));
    MPI_Send(&sent, 1, MPI_INT, right, 200 + thread, MPI_COMM_WORLD);
    MPI_Probe(left, 200 + thread, MPI_COMM_WORLD, &status);
    MPI_Recv(&got, 1, MPI_INT, left, 200 + thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == left * 1000 + thread * 10 + lap);
}

static void *laps_of(void *number) {
    for (int at = 0; at < laps; at++) lap((int)(long)number, at);
    return 0;
}

static void with_pthreads(void) {
    pthread_t all[64];
    for (long at = 1; at < threads; at++) CHECK(!pthread_create(&all[at], 0, laps_of, (void *)at));
    laps_of(0);
    for (int at = 1; at < threads; at++) pthread_join(all[at], 0);
}

#ifdef _OPENMP
static void with_openmp(void) {
    for (int at = 0; at < laps; at++) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
        for (int thread = 0; thread < threads; thread++) lap(thread, at);
    }
}
#endif

/* A thread waits for a message of its own process; another one sends it, after it has computed and slept. */
static void *receive(void *to) {
    MPI_Recv(to, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}

static void within_a_rank(void) {
    pthread_t other;
    int got = 0, sent = 7;
    volatile double sink = 0;
    struct timespec moment = {0, 3000};
    double begin = MPI_Wtime();
    CHECK(!pthread_create(&other, 0, receive, &got));
    for (int at = 0; at < 20000000; at++) sink += at;
    nanosleep(&moment, 0);
    CHECK(MPI_Wtime() - begin < 4e-6 && MPI_Wtime() - begin >= 3e-6);
    MPI_Send(&sent, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    pthread_join(other, 0);
    CHECK(got == 7);
}

/* Threads compute at the same time: each call takes the fixed time, all threads together the time of one. */
static void *calls(void *) {
    int flag;
    for (int at = 0; at < 10; at++) MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return 0;
}

static void side_by_side(void) {
    pthread_t all[64];
    double begin = MPI_Wtime();
    for (int at = 0; at < threads; at++) pthread_create(&all[at], 0, calls, 0);
    for (int at = 0; at < threads; at++) pthread_join(all[at], 0);
    MPI_Barrier(MPI_COMM_SELF);
    if (rank == 0) printf("%.0f ns\n", 1e9 * (MPI_Wtime() - begin));
}

/* All threads of all ranks wait for what nobody sends. */
static void *forever(void *) {
    int got;
    MPI_Recv(&got, 1, MPI_INT, (rank + 1) % size, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}

static void deadlock(void) {
    pthread_t other;
    int got;
    pthread_create(&other, 0, forever, 0);
    MPI_Recv(&got, 1, MPI_INT, (rank + 1) % size, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int level = -1, asked = MPI_THREAD_MULTIPLE;
    const char *how = argc > 1 ? argv[1] : "pthread";
    threads = argc > 2 ? atoi(argv[2]) : 4;
    laps = argc > 3 ? atoi(argv[3]) : 3;
    MPI_Init_thread(&argc, &argv, asked, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(how, "level")) {
        if (rank == 0) printf("%d\n", level);
        MPI_Finalize();
        return 0;
    }
    CHECK(level == MPI_THREAD_MULTIPLE);
    MPI_Query_thread(&level);
    CHECK(level == MPI_THREAD_MULTIPLE);
    for (int at = 0; at < threads; at++) MPI_Comm_dup(MPI_COMM_WORLD, &own[at]);
    if (!strcmp(how, "pthread")) with_pthreads();
#ifdef _OPENMP
    else if (!strcmp(how, "openmp")) with_openmp();
#endif
    else if (!strcmp(how, "within")) within_a_rank();
    else if (!strcmp(how, "side")) side_by_side();
    else if (!strcmp(how, "deadlock")) deadlock();
    else CHECK(0 && "unknown word");
    for (int at = 0; at < threads; at++) MPI_Comm_free(&own[at]);
    MPI_Finalize();
    if (rank == 0) puts("threads VERIFIED");
    return 0;
}
