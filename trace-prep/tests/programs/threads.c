/* Four threads of each rank send 300 messages of 4 bytes to the next rank, each thread with its own tags, and then
 * receive those of the previous rank. If the library does not support several threads at once, the program reports that
 * and sends nothing. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#define MESSAGES 300

static int rank, size;
static pthread_barrier_t sent;

static void *thread(void *argument) {
    int tag = 1000 * (int)(long)argument, number;
    MPI_Request requests[MESSAGES];
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, tag + i, MPI_COMM_WORLD, &requests[i]);
    pthread_barrier_wait(&sent);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Recv(&number, 1, MPI_INT, (rank + size - 1) % size, tag + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t threads[4];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "no MPI_THREAD_MULTIPLE here\n");
    } else {
        pthread_barrier_init(&sent, NULL, 4);
        for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, (void *)i);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    }
    MPI_Finalize();
    return 0;
}
