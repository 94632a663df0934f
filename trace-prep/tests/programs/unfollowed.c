/* Calls that no trace can hold, by name; checks that they still work. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD MPI_COMM_WORLD
#define IGNORED MPI_STATUS_IGNORE

static const char *name;
static int rank, size;

static int is(const char *call) { return strcmp(name, call) == 0; }

static void must(int held) {
    if (held) return;
    fprintf(stderr, "%s does something else\n", name);
    exit(9);
}

static void collectives(void) {
    MPI_Request request;
    int mine[4] = {rank, rank, rank, rank}, all[4] = {-1, -1, -1, -1}, ones[4] = {1, 1, 1, 1}, places[4] = {0, 4, 8, 12};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    if (is("MPI_Ibarrier")) MPI_Ibarrier(WORLD, &request);
    if (is("MPI_Ireduce")) MPI_Ireduce(mine, all, 4, MPI_INT, MPI_SUM, 0, WORLD, &request);
    if (is("MPI_Ialltoallw")) MPI_Ialltoallw(mine, ones, places, types, all, ones, places, types, WORLD, &request);
    MPI_Wait(&request, IGNORED);
    if (is("MPI_Ireduce") && rank == 0) must(all[0] == 0 + 1 + 2 + 3);
    if (is("MPI_Ialltoallw")) must(all[0] == 0 && all[3] == 3);
}

static void neighbours(void) {
    MPI_Comm ring;
    MPI_Request request;
    int mine[2] = {rank, rank}, both[2] = {-1, -1}, round = 1;
    MPI_Cart_create(WORLD, 1, &size, &round, 0, &ring);
    if (is("MPI_Neighbor_alltoall")) MPI_Neighbor_alltoall(mine, 1, MPI_INT, both, 1, MPI_INT, ring);
    if (is("MPI_Ineighbor_allgather")) {
        MPI_Ineighbor_allgather(mine, 1, MPI_INT, both, 1, MPI_INT, ring, &request);
        MPI_Wait(&request, IGNORED);
    }
    must(both[0] == (rank + size - 1) % size && both[1] == (rank + 1) % size);
}

static void matched(void) {
    MPI_Message message;
    MPI_Request request;
    int found = 0, number = -1;
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 4, WORLD, &request);
    if (is("MPI_Mprobe")) MPI_Mprobe(MPI_ANY_SOURCE, 4, WORLD, &message, IGNORED);
    while (is("MPI_Improbe") && !found) MPI_Improbe(MPI_ANY_SOURCE, 4, WORLD, &found, &message, IGNORED);
    MPI_Mrecv(&number, 1, MPI_INT, &message, IGNORED);
    MPI_Wait(&request, IGNORED);
    must(number == (rank + size - 1) % size);
}

static void one_sided(void) {
    int there = 100 * rank, one = 1, got = -1, other = (rank + 1) % size;
    MPI_Win window;
    MPI_Request request;
    MPI_Win_create(&there, sizeof there, sizeof there, MPI_INFO_NULL, WORLD, &window);
    if (is("MPI_Win_fence")) MPI_Win_fence(0, window);
    MPI_Win_lock_all(0, window);
    if (is("MPI_Put")) MPI_Put(&one, 1, MPI_INT, other, 0, 1, MPI_INT, window);
    if (is("MPI_Accumulate")) MPI_Accumulate(&one, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, window);
    if (is("MPI_Fetch_and_op")) MPI_Fetch_and_op(&one, &got, MPI_INT, other, 0, MPI_SUM, window);
    if (is("MPI_Get_accumulate"))
        MPI_Get_accumulate(&one, 1, MPI_INT, &got, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, window);
    if (is("MPI_Rget_accumulate")) {
        MPI_Rget_accumulate(&one, 1, MPI_INT, &got, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, window, &request);
        MPI_Wait(&request, IGNORED);
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(WORLD);
    MPI_Win_free(&window);
#ifdef OPEN_MPI
    /* MPICH 4.0 over UCX does not always deliver these, recorded or not. */
    if (is("MPI_Put")) must(there == 1);
    if (is("MPI_Accumulate") || is("MPI_Fetch_and_op")) must(there == 100 * rank + 1);
    if (is("MPI_Rget_accumulate")) must(there == 100 * rank + 1 && got == 100 * other);
#endif
}

static void communicators(void) {
    MPI_Comm made = MPI_COMM_NULL, half;
    MPI_Request request;
    MPI_Group group;
    int others = 0;
    MPI_Comm_group(WORLD, &group);
    if (is("MPI_Comm_create_group")) MPI_Comm_create_group(WORLD, group, 5, &made);
    if (is("MPI_Comm_idup")) {
        MPI_Comm_idup(WORLD, &made, &request);
        MPI_Wait(&request, IGNORED);
    }
    if (is("MPI_Intercomm_create")) {
        MPI_Comm_split(WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 6, &made);
        MPI_Comm_remote_size(made, &others);
        must(others == size / 2);
    }
    must(made != MPI_COMM_NULL);
}

/* A fifth process, which has its own rank 0 and sends a number to its parents. */
static void spawn(char *program) {
    MPI_Comm child;
    int number = 0;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, WORLD, &child, MPI_ERRCODES_IGNORE);
    if (rank == 0) MPI_Recv(&number, 1, MPI_INT, 0, 7, child, IGNORED);
    if (rank == 0) must(number == 99);
    MPI_Comm_disconnect(&child);
}

int main(int argc, char **argv) {
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* A library without a call ends all ranks, whose logs have begun by then. */
    MPI_Barrier(WORLD);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        int number = 99;
        MPI_Send(&number, 1, MPI_INT, 0, 7, parent);
        MPI_Comm_disconnect(&parent);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 1; i < argc; i++) {
            name = argv[i];
            if (is("MPI_Ibarrier") || is("MPI_Ireduce") || is("MPI_Ialltoallw")) collectives();
            else if (strstr(name, "eighbor")) neighbours();
            else if (is("MPI_Mprobe") || is("MPI_Improbe")) matched();
            else if (is("MPI_Comm_spawn")) spawn(argv[0]);
            else if (strncmp(name, "MPI_Comm_", 9) == 0 || is("MPI_Intercomm_create")) communicators();
            else one_sided();
        }
    }
    MPI_Finalize();
    return 0;
}
