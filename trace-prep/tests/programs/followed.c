/* Calls beyond plain messages, one after another on 4 ranks; the test adds up the messages of each. */
#include <mpi.h>
#include <stdlib.h>

#define WORLD MPI_COMM_WORLD
#define IGNORED MPI_STATUS_IGNORE

static int rank, size, before, after;

/* A hundred bytes, carried around the ring by persistent requests, four times. */
static void persistent(void) {
    char out[100] = {0}, in[100];
    int first;
    MPI_Request both[2];
    MPI_Send_init(out, 100, MPI_CHAR, after, 2, WORLD, &both[0]);
    MPI_Recv_init(in, 100, MPI_CHAR, before, 2, WORLD, &both[1]);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&both[1]);
    MPI_Start(&both[0]);
    MPI_Waitany(2, both, &first, IGNORED);
    MPI_Waitany(2, both, &first, IGNORED);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

/* Twenty bytes, whose completion is only tested; and a receive without a message. */
static void tested(void) {
    char out[20] = {0}, in[20];
    MPI_Request three[3];
    int flag, index;
    MPI_Irecv(in, 20, MPI_CHAR, before, 3, WORLD, &three[0]);
    MPI_Irecv(in, 20, MPI_CHAR, MPI_ANY_SOURCE, 99, WORLD, &three[1]);
    MPI_Issend(out, 20, MPI_CHAR, after, 3, WORLD, &three[2]);
    MPI_Cancel(&three[1]);
    MPI_Wait(&three[1], IGNORED);
    for (int done = 0; done < 2;) {
        MPI_Testany(3, three, &index, &flag, IGNORED);
        done += flag && index != MPI_UNDEFINED;
    }
}

/* A receive that is cancelled when its message of 4 bytes has already arrived, as 4 more bytes announce: it stays. */
static void too_late(void) {
    int in, token = 0, flag = 1;
    MPI_Request requests[1];
    MPI_Status status;
    for (int round = 0; round < 2; round++) {
        MPI_Irecv(&in, 1, MPI_INT, before, 20, WORLD, requests);
        MPI_Ssend(&rank, 1, MPI_INT, after, 20, WORLD);
        MPI_Send(&token, 1, MPI_INT, after, 21, WORLD);
        MPI_Recv(&token, 1, MPI_INT, before, 21, WORLD, IGNORED);
        MPI_Cancel(requests);
        if (round == 0) {
            MPI_Wait(requests, &status);
            MPI_Test_cancelled(&status, &flag);
        } else {
            MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
        }
    }
    if (flag || in != before) exit(9);
}

/* Three receives of 8, 16 and 24 bytes, completed in groups. */
static void in_groups(void) {
    char out[24] = {0}, in[3][24];
    MPI_Request four[4];
    for (int i = 0; i < 3; i++) MPI_Irecv(in[i], 24, MPI_CHAR, before, 10 + i, WORLD, &four[i]);
    MPI_Issend(out, 8, MPI_CHAR, after, 10, WORLD, &four[3]);
    MPI_Send(out, 16, MPI_CHAR, after, 11, WORLD);
    MPI_Send(out, 24, MPI_CHAR, after, 12, WORLD);
    for (int done = 0, count, indices[4]; done < 4; done += count)
        MPI_Waitsome(4, four, &count, indices, MPI_STATUSES_IGNORE);
}

/* Rank r gives r + 1 integers to rank 2, the second time with rank 2's own in their place; rank 1 gives them back. */
static void tables(void) {
    int mine[4] = {rank, rank, rank, rank}, counts[4] = {1, 2, 3, 4}, places[4] = {0, 1, 3, 6}, all[10] = {0};
    int at_root = rank == 2;
    MPI_Gatherv(mine, rank + 1, MPI_INT, all, at_root ? counts : NULL, at_root ? places : NULL, MPI_INT, 2, WORLD);
    MPI_Gatherv(at_root ? MPI_IN_PLACE : mine, at_root ? -7 : rank + 1, MPI_INT, all, at_root ? counts : NULL,
                at_root ? places : NULL, MPI_INT, 2, WORLD);
    if (at_root && (all[0] != 0 || all[2] != 1 || all[9] != 3)) exit(9);
    at_root = rank == 1;
    MPI_Scatterv(all, at_root ? counts : NULL, at_root ? places : NULL, MPI_INT, at_root ? MPI_IN_PLACE : mine,
                 at_root ? -7 : rank + 1, MPI_INT, 1, WORLD);
}

/* Rank i gives rank j i + j numbers: of 8 bytes where i + j is odd, else of 4. */
static void each_its_own(void) {
    double out[64] = {0}, in[64];
    int counts[4], places[4];
    MPI_Datatype types[4];
    for (int j = 0; j < 4; j++) {
        counts[j] = rank + j;
        places[j] = 64 * j;
        types[j] = (rank + j) % 2 ? MPI_DOUBLE : MPI_INT;
    }
    MPI_Alltoallw(out, counts, places, types, in, counts, places, types, WORLD);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, counts, places, types, WORLD);
}

/* Eight bytes broadcast in every communicator that can be followed. */
static void communicators(void) {
    int edges[4] = {1, 2, 3, 4}, ring[4] = {1, 2, 3, 0}, one = 1;
    MPI_Comm made[4];
    MPI_Comm_dup_with_info(WORLD, MPI_INFO_NULL, &made[0]);
    MPI_Graph_create(WORLD, 4, edges, ring, 0, &made[1]);
    MPI_Dist_graph_create(WORLD, 1, &rank, &one, &after, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made[2]);
    MPI_Dist_graph_create_adjacent(WORLD, 1, &before, MPI_UNWEIGHTED, 1, &after, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &made[3]);
    for (int i = 0; i < 4; i++) {
        double number = 0;
        MPI_Bcast(&number, 1, MPI_DOUBLE, 0, made[i]);
        MPI_Comm_free(&made[i]);
    }
}

int main(int argc, char **argv) {
    double ten[10] = {0}, three[3] = {0}, sum[3];
    int many[24] = {0}, few[6];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    before = (rank + size - 1) % size;
    after = (rank + 1) % size;
    MPI_Sendrecv_replace(ten, 10, MPI_DOUBLE, after, 1, before, 1, WORLD, IGNORED);
    persistent();
    tested();
    too_late();
    in_groups();
    tables();
    each_its_own();
    MPI_Reduce_scatter_block(many, few, 6, MPI_INT, MPI_SUM, WORLD);
    MPI_Scan(three, sum, 3, MPI_DOUBLE, MPI_SUM, WORLD);
    MPI_Exscan(three, sum, 3, MPI_DOUBLE, MPI_SUM, WORLD);
    communicators();
    MPI_Finalize();
    return 0;
}
