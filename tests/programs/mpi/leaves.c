/* What outlives ranks, what is on its way, and threads that poll: a word for each. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int has_come;

static void *polls(void *unused) {
    while (!has_come) {}
    return unused;
}

int main(int count, char **words) {
    const char *word = count > 1 ? words[1] : "";
    int rank, size, provided;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(word, "child") && rank == 1 && !fork()) {
        /* A process in a session of its own. */
        setsid();
        execlp("sleep", "sleep", "3600", (char *)0);
        _exit(1);
    }
    if (!strcmp(word, "signal") && rank == 1) raise(atoi(words[2]));
    if (!strcmp(word, "poll")) {
        /* A thread polls a flag that is set after a receive. */
        pthread_t thread;
        int got = -1;
        pthread_create(&thread, 0, polls, 0);
        for (int i = 0; i < 3; i++) {
            if (rank == 0) for (int to = 1; to < size; to++) MPI_Send(&i, 1, MPI_INT, to, i, MPI_COMM_WORLD);
            else MPI_Recv(&got, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        has_come = 1;
        pthread_join(thread, 0);
    }
    if (!strcmp(word, "flight")) {
        /* So many messages of so many bytes are on their way before the first is received. */
        int many = atoi(words[2]);
        size_t bytes = atol(words[3]);
        char *data = malloc(bytes);
        memset(data, rank + 1, bytes);
        MPI_Request *all = malloc(many * sizeof *all);
        for (int i = 0; i < many && rank == 0; i++) MPI_Isend(data, (int)bytes, MPI_CHAR, 1, i, MPI_COMM_WORLD, all + i);
        if (rank == 0) MPI_Waitall(many, all, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = many - 1; i >= 0 && rank == 1; i--) {
            memset(data, 0, bytes);
            MPI_Recv(data, (int)bytes, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (data[0] != 1 || data[bytes - 1] != 1) { printf("other data\n"); MPI_Abort(MPI_COMM_WORLD, 2); }
        }
    }
    if (!strcmp(word, "part")) {
        int *part, flag;
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &part, &flag);
        printf("rank %d of %d, part %d, %s\n", rank, size, flag ? *part : -1, count > 2 ? words[2] : "");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%s VERIFIED\n", word);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
