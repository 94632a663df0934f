/* What the MPI standard says of handles, time, groups and errors, one word for each part: `./kinds WORD`.
   Every rank that finds something wrong says so; without a fault rank 0 prints "WORD VERIFIED". */
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int rank, size, faults;
static const char *word;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("rank %d: line %d: %s\n", rank, __LINE__, #condition);                                    \
            faults++;                                                                                        \
        }                                                                                                    \
    } while (0)

static void add(void *in, void *out, int *count, MPI_Datatype *type) {
    int length;
    MPI_Aint lower, extent;
    MPI_Type_size(*type, &length);
    MPI_Type_get_extent(*type, &lower, &extent);
    CHECK(length == 4);
    for (int i = 0; i < *count; i++) *(int *)((char *)out + i * extent) += *(int *)((char *)in + i * extent);
}

/* Operations that have begun keep their operation, datatype and communicator, whatever is freed meanwhile. */
static void held(void) {
    MPI_Op op;
    MPI_Datatype spaced;
    MPI_Request request;
    MPI_Comm comm;
    int own[4] = {rank + 1, -1, 10 * rank, -1}, result[4] = {-7, -7, -7, -7}, sum = size * (size + 1) / 2;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Op_create(add, 1, &op);
    MPI_Type_create_resized(MPI_INT, 0, 8, &spaced);
    MPI_Type_commit(&spaced);
    MPI_Iallreduce(own, result, 2, spaced, op, comm, &request);
    MPI_Op_free(&op);
    MPI_Type_free(&spaced);
    MPI_Comm_free(&comm);
    CHECK(op == MPI_OP_NULL && spaced == MPI_DATATYPE_NULL && comm == MPI_COMM_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(result[0] == sum && result[2] == 5 * size * (size - 1) && result[1] == -7 && result[3] == -7);

    /* A receive whose communicator and datatype are freed names its source. */
    MPI_Status status;
    int got[4] = {0}, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    MPI_Type_vector(2, 1, 2, MPI_INT, &spaced);
    MPI_Type_commit(&spaced);
    MPI_Irecv(got, 1, spaced, MPI_ANY_SOURCE, 3, comm, &request);
    int there = size - 1 - next, here = size - 1 - previous;
    MPI_Send(own, 1, spaced, there, 3, comm);
    MPI_Type_free(&spaced);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == here && got[0] == previous + 1 && got[2] == 10 * previous);

    /* A datatype keeps those of which it was made. */
    MPI_Datatype inner, outer, found;
    int integers, addresses, types, combiner, numbers[1], length;
    MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
    MPI_Type_contiguous(3, inner, &outer);
    MPI_Type_free(&inner);
    MPI_Type_get_envelope(outer, &integers, &addresses, &types, &combiner);
    CHECK(integers == 1 && addresses == 0 && types == 1 && combiner == MPI_COMBINER_CONTIGUOUS);
    MPI_Type_get_contents(outer, 1, 0, 1, numbers, NULL, &found);
    MPI_Type_size(found, &length);
    CHECK(numbers[0] == 3 && length == 8);
    MPI_Type_free(&found);
    MPI_Type_free(&outer);

    /* Large counts are returned as such, and only by the calls that have them. */
    MPI_Count large = (1LL << 31) + 5, integers_c, addresses_c, counts_c, types_c, counts[4];
    MPI_Type_contiguous_c(large, MPI_BYTE, &outer);
    MPI_Type_get_envelope_c(outer, &integers_c, &addresses_c, &counts_c, &types_c, &combiner);
    CHECK(integers_c == 0 && addresses_c == 0 && counts_c == 1 && types_c == 1 && combiner == MPI_COMBINER_CONTIGUOUS);
    MPI_Type_get_contents_c(outer, 0, 0, 1, 1, NULL, NULL, counts, &found);
    CHECK(counts[0] == large && found == MPI_BYTE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Type_get_envelope(outer, &integers, &addresses, &types, &combiner) == MPI_ERR_TYPE);
    CHECK(MPI_Type_get_contents(outer, 1, 1, 1, numbers, NULL, &found) == MPI_ERR_TYPE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&outer);
    MPI_Count sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 2}, place[1] = {16}, length_c[1] = {2};
    int numbers_c[2];
    MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &outer);
    MPI_Type_get_envelope_c(outer, &integers_c, &addresses_c, &counts_c, &types_c, &combiner);
    CHECK(integers_c == 2 && addresses_c == 0 && counts_c == 6 && types_c == 1);
    MPI_Count arrays[6];
    MPI_Type_get_contents_c(outer, 2, 0, 6, 1, numbers_c, NULL, arrays, &found);
    CHECK(numbers_c[0] == 2 && numbers_c[1] == MPI_ORDER_C && arrays[0] == 4 && arrays[3] == 3 && arrays[5] == 2);
    MPI_Type_free(&outer);
    MPI_Type_create_hindexed_c(1, length_c, place, MPI_INT, &outer);
    MPI_Type_get_envelope_c(outer, &integers_c, &addresses_c, &counts_c, &types_c, &combiner);
    CHECK(integers_c == 0 && addresses_c == 0 && counts_c == 3);
    MPI_Type_get_contents_c(outer, 0, 0, 3, 1, NULL, NULL, counts, &found);
    CHECK(counts[0] == 1 && counts[1] == 2 && counts[2] == 16);
    MPI_Type_free(&outer);
}

/* A persistent request keeps its arguments from its creation on. */
static void persistent(void) {
    MPI_Request send, receive, all, blocks;
    MPI_Datatype spaced;
    MPI_Comm comm;
    MPI_Op op;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int own[4] = {0}, got[4] = {0}, one = 1, sum = 0, *counts = malloc(size * sizeof(int)), part = 0;
    int *parts = calloc(size, sizeof(int));
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(2, 1, 2, MPI_INT, &spaced);
    MPI_Type_commit(&spaced);
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < size; i++) counts[i] = 1;
    MPI_Send_init(own, 1, spaced, next, 0, comm, &send);
    MPI_Recv_init(got, 1, spaced, previous, 0, comm, &receive);
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, op, comm, MPI_INFO_NULL, &all);
    MPI_Reduce_scatter_init(parts, &part, counts, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &blocks);
    for (int i = 0; i < size; i++) counts[i] = 123456789;
    MPI_Type_free(&spaced);
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
    for (int lap = 0; lap < 3; lap++) {
        own[0] = 100 * lap + rank, own[2] = lap, sum = 0;
        for (int i = 0; i < size; i++) parts[i] = lap * i;
        MPI_Start(&receive);
        MPI_Start(&send);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        CHECK(got[0] == 100 * lap + previous && got[2] == lap && got[1] == 0);
        MPI_Start(&all);
        MPI_Start(&blocks);
        MPI_Wait(&blocks, MPI_STATUS_IGNORE);
        MPI_Wait(&all, MPI_STATUS_IGNORE);
        CHECK(sum == size && part == lap * rank * size);
    }
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    MPI_Request_free(&all);
    MPI_Request_free(&blocks);
    free(counts);
    free(parts);
}

/* Sizes of dimensions as MPICH 4.0 gives them. */
static void dimensions(void) {
    static const int cases[][5] = {{72, 2, 9, 8, 0}, {360, 3, 10, 6, 6}, {3696, 3, 22, 14, 12}, {17, 2, 17, 1, 0},
                                   {4096, 3, 16, 16, 16}, {60, 3, 5, 4, 3}, {180, 2, 15, 12, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int found[3] = {0};
        MPI_Dims_create(cases[i][0], cases[i][1], found);
        CHECK(memcmp(found, cases[i] + 2, cases[i][1] * sizeof(int)) == 0);
    }
    int fixed[3] = {0, 2, 0};
    MPI_Dims_create(48, 3, fixed);
    CHECK(fixed[0] == 6 && fixed[1] == 2 && fixed[2] == 4);
}

/* \[us\] Time that has passed since `begin` by the clock of MPI. */
static double passed(double begin) { return (MPI_Wtime() - begin) * 1e6; }

#define TAKES(time, action)                                                                                  \
    do {                                                                                                     \
        double begin = MPI_Wtime();                                                                          \
        action;                                                                                              \
        double took = passed(begin);                                                                         \
        if (took < (time) || took > (time) + 0.1) printf("%.3f us: ", took);                                 \
        CHECK(took >= (time) - 1e-3 && took <= (time) + 0.1);                                                \
    } while (0)

/* Sleeping passes virtual time, to the reading of the clock. */
static void sleeping(void) {
    struct timespec time = {0, 10000000}, date;
    struct timeval wait = {0, 3000};
    struct pollfd ready;
    int ends[2];
    TAKES(10000, usleep(10000));
    TAKES(10000, nanosleep(&time, 0));
    TAKES(10000, thrd_sleep(&time, 0));
    TAKES(2000000, sleep(2));
    TAKES(10000, clock_nanosleep(CLOCK_MONOTONIC, 0, &time, 0));
    clock_gettime(CLOCK_REALTIME, &date);
    date.tv_sec += 3600;
    TAKES(3600e6, clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &date, 0));
    TAKES(3000, select(0, 0, 0, 0, &wait));
    TAKES(10000, pselect(0, 0, 0, 0, &time, 0));
    TAKES(7000, poll(0, 0, 7));
    /* A descriptor that is ready ends a wait at once, one that is not at the time-out. */
    CHECK(pipe(ends) == 0);
    ready.fd = ends[0], ready.events = POLLIN;
    TAKES(5000, CHECK(poll(&ready, 1, 5) == 0));
    CHECK(write(ends[1], "x", 1) == 1);
    TAKES(0, CHECK(poll(&ready, 1, 5000) == 1));
    time.tv_nsec = 1000000000;
    CHECK(nanosleep(&time, 0) == -1 && errno == EINVAL);
    /* A polite wait ends. */
    double begin = MPI_Wtime();
    int naps = 0;
    for (; MPI_Wtime() - begin < 1e-3; naps++) usleep(100);
    CHECK(naps == 10);
}

/* A loop until a time, by readings of the clock alone: rank 0 says how many there were. */
static void reading(void) {
    double begin = MPI_Wtime();
    long count = 1;
    for (; MPI_Wtime() - begin < 10e-3; count++);
    if (rank == 0) printf("%ld readings\n", count);
}

/* Both send first. */
static void crossed(void) {
    int length = 1000000, other = 1 - rank;
    char *from = calloc(length, 1), *to = calloc(length, 1);
    memset(from, rank + 1, length);
    MPI_Send(from, length, MPI_CHAR, other, 0, MPI_COMM_WORLD);
    MPI_Recv(to, length, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(to[0] == other + 1 && to[length - 1] == other + 1);
}

/* The receive of a long message is posted a millisecond after its send: rank 0 says when its send has ended. */
static void late(void) {
    int length = 100000;
    char *data = calloc(length, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    if (rank == 0) {
        MPI_Send(data, length, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        printf("sent after %.0f us\n", passed(begin));
    } else {
        usleep(1000);
        MPI_Recv(data, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("received after %.0f us\n", passed(begin));
    }
}

/* Long messages in every way: non-blocking, synchronous, probed, persistent, in collectives. */
static void rendezvous(void) {
    enum { LENGTH = 5000 };
    static int own[LENGTH], got[LENGTH];
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, count;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Message message;
    for (int i = 0; i < LENGTH; i++) own[i] = rank + i;
    for (int lap = 0; lap < 4; lap++) {
        memset(got, 0, sizeof got);
        if (lap == 0) MPI_Isend(own, LENGTH, MPI_INT, next, 7, MPI_COMM_WORLD, requests);
        if (lap == 1) MPI_Issend(own, LENGTH, MPI_INT, next, 7, MPI_COMM_WORLD, requests);
        if (lap == 2) MPI_Send_init(own, LENGTH, MPI_INT, next, 7, MPI_COMM_WORLD, requests), MPI_Start(requests);
        if (lap == 3) MPI_Ibsend(own, LENGTH, MPI_INT, next, 7, MPI_COMM_WORLD, requests);
        if (lap % 2 == 0) {
            MPI_Mprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &message, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            CHECK(count == LENGTH);
            MPI_Imrecv(got, LENGTH, MPI_INT, &message, requests + 1);
        } else {
            MPI_Irecv(got, LENGTH, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests + 1);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(got[0] == previous && got[LENGTH - 1] == previous + LENGTH - 1);
        if (lap == 2) MPI_Request_free(requests);
    }
    MPI_Sendrecv(own, LENGTH, MPI_INT, next, 1, got, LENGTH, MPI_INT, previous, 1, MPI_COMM_WORLD, &status);
    CHECK(got[5] == previous + 5);
    MPI_Allreduce(own, got, LENGTH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(got[3] == size * (size - 1) / 2 + 3 * size);
    if (rank == 0) memcpy(got, own, sizeof got);
    MPI_Bcast(got, LENGTH, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(got[9] == 9);
}

/* Collectives on an intercommunicator: the even ranks and the odd ones. */
static void groups(void) {
    MPI_Comm half, both, part;
    MPI_Request request;
    int side = rank % 2, ours, theirs, place;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 9, &both);
    MPI_Comm_size(both, &ours);
    MPI_Comm_remote_size(both, &theirs);
    MPI_Comm_rank(both, &place);
    int root = side == 0 ? (place == ours - 1 ? MPI_ROOT : MPI_PROC_NULL) : theirs - 1;
    int sum = 0, expected = 0, total = 0, *all = calloc(size, sizeof(int)), *own = calloc(size, sizeof(int));
    int *counts = calloc(size, sizeof(int)), *places = calloc(size, sizeof(int));
    for (int i = 0; i < theirs; i++) expected += 2 * i + (1 - side), counts[i] = 1, places[i] = i;
    MPI_Barrier(both);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both);
    CHECK(sum == expected);
    MPI_Iallreduce(&rank, &total, 1, MPI_INT, MPI_MAX, both, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(total == 2 * (theirs - 1) + 1 - side);
    int data = root == MPI_ROOT ? 77 : 0;
    MPI_Bcast(&data, 1, MPI_INT, root, both);
    CHECK(data == (side == 1 || root == MPI_ROOT ? 77 : 0));
    sum = -1;
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, both);
    CHECK(sum == (root == MPI_ROOT ? expected : -1));
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, root, both);
    if (root == MPI_ROOT) for (int i = 0; i < theirs; i++) CHECK(all[i] == 2 * i + 1);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, both);
    for (int i = 0; i < theirs; i++) CHECK(all[i] == 2 * i + 1 - side);
    memset(all, 0, size * sizeof(int));
    MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, both);
    for (int i = 0; i < theirs; i++) CHECK(all[i] == 2 * i + 1 - side);
    for (int i = 0; i < theirs; i++) own[i] = 100 * rank + i;
    MPI_Alltoall(own, 1, MPI_INT, all, 1, MPI_INT, both);
    for (int i = 0; i < theirs; i++) CHECK(all[i] == 100 * (2 * i + 1 - side) + place);
    /* Arguments without a meaning for a rank may be null. */
    data = -1;
    if (side == 0) MPI_Scatterv(own, counts, places, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, both);
    else MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, &data, 1, MPI_INT, root, both);
    CHECK(data == (side == 0 ? -1 : 100 * 2 * (theirs - 1) + place));
    /* Each group gets blocks of the sum over the other one. */
    int width = ours * theirs;
    int *sent = malloc(width * sizeof(int)), *block = malloc(width * sizeof(int));
    for (int i = 0; i < width; i++) sent[i] = rank + i;
    MPI_Reduce_scatter_block(sent, block, theirs, MPI_INT, MPI_SUM, both);
    for (int i = 0; i < theirs; i++) CHECK(block[i] == expected + theirs * (place * theirs + i));
    MPI_Comm_split(both, place % 2, 0, &part);
    if (part != MPI_COMM_NULL) {
        int inside, outside;
        MPI_Comm_size(part, &inside);
        MPI_Comm_remote_size(part, &outside);
        CHECK(inside == (ours + 1 - place % 2) / 2 && outside == (theirs + 1 - place % 2) / 2);
        MPI_Barrier(part);
        MPI_Comm_free(&part);
    }
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    int class;
    MPI_Error_class(MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, both), &class);
    CHECK(class == MPI_ERR_COMM);
    MPI_Comm_free(&both);
}

static int refuse(MPI_Comm comm, int key, void *value, void *extra) { return MPI_ERR_OTHER; }
static int deleted;
static int count_delete(MPI_Datatype type, int key, void *value, void *extra) { return deleted++, MPI_SUCCESS; }

/* Errors are those of the communicator: its handler decides. */
static void errors(void) {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Status statuses[2];
    MPI_Request requests[2];
    int key, class, index[2], count, data[4] = {0}, flag;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_delete, &key, 0);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, key, 0);
    MPI_Type_set_attr(type, key, 0);
    CHECK(deleted == 1);
    MPI_Type_free(&type);
    CHECK(deleted == 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &key, 0);
    CHECK(MPI_Comm_set_attr(comm, key, (void *)1) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(comm, key, (void *)2) != MPI_SUCCESS);
    CHECK(MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS);
    CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS);
    /* The wrong argument of each call, by its class. */
    MPI_Error_class(MPI_Send(NULL, 1, MPI_INT, 0, 0, comm), &class);
    CHECK(class == MPI_ERR_BUFFER);
    MPI_Error_class(MPI_Bcast(data, -1, MPI_INT, 0, comm), &class);
    CHECK(class == MPI_ERR_COUNT);
    MPI_Error_class(MPI_Bcast(data, 1, MPI_INT, 5, comm), &class);
    CHECK(class == MPI_ERR_ROOT);
    MPI_Error_class(MPI_Allreduce(data, data + 1, 1, MPI_INT, MPI_OP_NULL, comm), &class);
    CHECK(class == MPI_ERR_OP);
    MPI_Error_class(MPI_Allreduce(data, data, 1, MPI_INT, MPI_SUM, comm), &class);
    CHECK(class == MPI_ERR_BUFFER);
    MPI_Error_class(MPI_Allreduce(data, data + 1, 1, MPI_FLOAT, MPI_BXOR, comm), &class);
    CHECK(class == MPI_ERR_OP);
    MPI_Error_class(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, comm), &class);
    CHECK(class == MPI_ERR_TYPE);
    MPI_Error_class(MPI_Comm_rank(comm, NULL), &class);
    CHECK(class == MPI_ERR_ARG);
    /* Truncation, where several requests are finished, is in the statuses. */
    for (int call = 0; call < 4; call++) {
        int other = rank ^ 1;
        MPI_Irecv(data, 1, MPI_INT, other, call, MPI_COMM_WORLD, requests);
        MPI_Irecv(data + 1, 1, MPI_INT, other, call, MPI_COMM_WORLD, requests + 1);
        MPI_Send(data, 3, MPI_INT, other, call, MPI_COMM_WORLD);
        MPI_Send(data, 1, MPI_INT, other, call, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        int code = 0;
        if (call == 0) code = MPI_Waitall(2, requests, statuses);
        if (call == 1) code = MPI_Waitsome(2, requests, &count, index, statuses);
        if (call == 2) code = MPI_Testall(2, requests, &flag, statuses);
        if (call == 3) code = MPI_Testsome(2, requests, &count, index, statuses);
        MPI_Error_class(code, &class);
        CHECK(class == MPI_ERR_IN_STATUS);
        CHECK(statuses[0].MPI_ERROR == MPI_ERR_TRUNCATE && statuses[1].MPI_ERROR == MPI_SUCCESS);
    }
    /* A collective whose data do not fit. */
    if (size == 2) {
        int root = rank == 0 ? 3 : 2;
        MPI_Error_class(MPI_Bcast(data, root, MPI_INT, 0, MPI_COMM_WORLD), &class);
        CHECK(class == (rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
    }
}

/* Numbers of 80 bits. */
static void extended(void) {
    long double own = rank + 1.0L / 3, sum = 0, expected = 0, big = 1e4000L * (rank + 1), most = 0;
    struct { long double value; int index; } pair = {-(rank + 1e-19L), rank}, least = {0, 0};
    for (int i = 0; i < size; i++) expected += i + 1.0L / 3;
    MPI_Allreduce(&own, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == expected || sum - expected < 1e-18L * sum && expected - sum < 1e-18L * sum);
    MPI_Allreduce(&big, &most, 1, MPI_LONG_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    CHECK(most == 1e4000L * size);
    MPI_Allreduce(&pair, &least, 1, MPI_LONG_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    CHECK(least.index == size - 1 && least.value == -(size - 1 + 1e-19L));
    _Complex long double turn = 1.0iL, turned = 0;
    MPI_Allreduce(&turn, &turned, 1, MPI_C_LONG_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD);
    CHECK(turned == (size % 4 == 0 ? 1.0L : size % 4 == 1 ? 1.0iL : size % 4 == 2 ? -1.0L : -1.0iL));
}

/* Times of one-sided accesses with a delay of 1 us: the target waits in a barrier. */
static void onesided(void) {
    MPI_Win win;
    int *memory, value = 1, old;
    MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    if (rank == 0) {
        /* Request and grant; data, request and answer. */
        TAKES(4, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win); MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
              MPI_Win_unlock(1, win));
        MPI_Win_lock_all(0, win);
        TAKES(4, MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); MPI_Win_flush(1, win));
        TAKES(2, MPI_Fetch_and_op(&value, &old, MPI_INT, 1, 0, MPI_SUM, win); MPI_Win_flush(1, win));
        TAKES(0, MPI_Put(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, win); MPI_Win_flush_local(1, win));
        MPI_Win_unlock_all(win);
        CHECK(value == 1 && old == 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) CHECK(memory[0] == 2 && memory[1] == 1);
    MPI_Win_free(&win);
}

static void *receive(void *to) {
    MPI_Recv(to, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}

/* Another thread than the one that has initialized MPI makes a call. */
static void thread(void) {
    pthread_t other;
    int got, own = rank;
    pthread_create(&other, 0, receive, &got);
    pthread_join(other, 0);
    MPI_Send(&own, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
}

/* A synchronous send that nobody receives is cancelled; a rank polls until a message comes. */
static void polling(void) {
    int data = 0, flag = 0;
    long probes = 0;
    MPI_Request request;
    if (rank == 0) {
        for (double begin = MPI_Wtime(); MPI_Wtime() - begin < 50e-6;);
        MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        double begin = MPI_Wtime();
        for (; !flag; probes++) MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Irecv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        for (flag = 0; !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(passed(begin) >= 50 && passed(begin) < 52 && probes > 400);
    }
}

int main(int count, char **words) {
    static const struct { const char *word; void (*run)(void); } parts[] = {
        {"held", held}, {"persistent", persistent}, {"dimensions", dimensions}, {"sleeping", sleeping},
        {"reading", reading}, {"crossed", crossed}, {"late", late}, {"rendezvous", rendezvous},
        {"groups", groups}, {"errors", errors}, {"extended", extended}, {"thread", thread},
        {"polling", polling}, {"onesided", onesided},
    };
    word = count > 1 ? words[1] : "";
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].word, word) == 0) parts[i].run();
    int all = 0;
    MPI_Reduce(&faults, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0) printf("%s VERIFIED\n", word);
    MPI_Finalize();
    return all > 0;
}
