/* Faulty programs, by their first word. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
/* A handler of a signal that calls MPI. */
static void tick(int number) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}
int main(int argc, char **argv) {
    int rank, size, data[64] = {0};
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "early")) return 0;
    if (!strcmp(what, "usage")) return 6;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "deadlock")) {
        MPI_Recv(data, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "collectives")) {
        if (rank == 1) MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD);
        else MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(what, "half")) {
        if (rank != 2) MPI_Barrier(MPI_COMM_WORLD);
        else MPI_Recv(data, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "truncated")) {
        if (rank == 0) MPI_Send(data, 10, MPI_INT, 1, 3, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(data, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "unsupported")) {
        if (rank == 1) { char port[MPI_MAX_PORT_NAME]; MPI_Open_port(MPI_INFO_NULL, port); }
    } else if (!strcmp(what, "killed")) {
        if (rank == 1) raise(SIGKILL);
        MPI_Recv(data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "leaves")) {
        if (rank == 1) _exit(0);
    } else if (!strcmp(what, "seven")) {
        if (rank == 1) exit(7);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(what, "computes")) {
        /* Ranks that make no call, so that they do not notice the end of their network. */
        if (rank == 0) puts("going on"), fflush(stdout);
        for (volatile int i = 0;; i++) {}
    } else if (!strcmp(what, "abort")) {
        if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 9);
    } else if (!strcmp(what, "status")) {
        MPI_Finalize();
        return rank == 1 ? 5 : 0;
    } else if (!strcmp(what, "rank")) {
        MPI_Send(data, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    } else if (!strcmp(what, "ssend")) {
        MPI_Ssend(data, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
    } else if (!strcmp(what, "forever")) {
        for (;;) {
            MPI_Sendrecv_replace(data, 1, MPI_INT, (rank + 1) % size, 5, (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 0 && data[1]++ == 100) puts("going on"), fflush(stdout);
        }
    } else if (!strcmp(what, "hostile")) {
        /* Noise on the connection to the network, which is the only socket of the process. */
        unsigned char frame[32];
        for (int fd = 3; rank == 1 && fd < 64; fd++) {
            struct stat about;
            if (fstat(fd, &about) || !S_ISSOCK(about.st_mode)) continue;
            for (int i = 0; i < 100000; i++) {
                for (int j = 0; j < 32; j++) frame[j] = rand();
                if (send(fd, frame, sizeof frame, MSG_NOSIGNAL) < 0) break;
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(what, "interrupted")) {
        struct itimerval soon = {.it_value = {.tv_usec = 100000}};
        if (rank == 1) signal(SIGALRM, tick), setitimer(ITIMER_REAL, &soon, NULL);
        /* In the time of the host: sleep() passes virtual time. */
        struct timespec wait = {2, 0};
        if (rank == 0) syscall(SYS_nanosleep, &wait, NULL), MPI_Send(data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "environment")) {
        extern char **environ;
        for (char **one = environ; rank == 0 && *one; one++) puts(*one);
    } else if (!strcmp(what, "unreceived")) {
        if (rank == 0) MPI_Send(data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
