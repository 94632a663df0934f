/* Threads that are created by functions which MPI calls: PROGRAM later|within. Each function creates a thread, which computes and then sends
   a message to its own rank. `later`: the message is received after the call. `within`: the function receives it, and waits for the thread.
   PROGRAM hidden: threads of a process that has changed its user. PROGRAM ends: threads that compute when they end, while another one
   waits for a message and the first one for their end. Prints "births VERIFIED". */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) do { if (!(what)) { printf("%d: line %d: " #what "\n", rank, __LINE__); fflush(stdout); abort(); } } while (0)

enum { ERROR, COPY, DELETE, OPERATION, QUERY, RELEASE, KINDS };
static int rank, size, is_within, born, seen[KINDS];
static pthread_t last;

static void *send(void *kind) {
    volatile double sink = 0;
    int value = (int)(long)kind, bytes;
    for (int at = 0; at < 20000000; at++) sink += at;
    MPI_Type_size(MPI_INT, &bytes);
    MPI_Send(&value, 1, MPI_INT, rank, 50, MPI_COMM_WORLD);
    return 0;
}
static void receive(long kind) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, rank, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == kind);
    CHECK(!pthread_join(last, 0));
    seen[kind]++;
}
/* What each function does. */
static void bear(long kind) {
    struct timespec begin, end, moment = {0, 3000};
    clock_gettime(CLOCK_REALTIME, &begin);
    nanosleep(&moment, 0);
    clock_gettime(CLOCK_REALTIME, &end);
    long took = (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
    CHECK(took >= 3000 && took < 3010);
    CHECK(!pthread_create(&last, 0, send, (void *)kind));
    born++;
    if (is_within) receive(kind);
}
static void after(long kind, int times) {
    CHECK(born == times);
    born = 0;
    if (!is_within) receive(kind);
}

static void handler(MPI_Comm *comm, int *code, ...) { bear(ERROR); }
static int copy(MPI_Comm comm, int key, void *extra, void *value, void *new, int *flag) { return *flag = 1, bear(COPY), MPI_SUCCESS; }
static int delete(MPI_Comm comm, int key, void *value, void *extra) { return bear(DELETE), MPI_SUCCESS; }
static void add(int *from, int *to, int *count, MPI_Datatype *type) {
    for (int at = 0; at < *count; at++) to[at] += from[at];
    if (born == 0) bear(OPERATION);
}
static int query(void *extra, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    return bear(QUERY), MPI_SUCCESS;
}
static int release(void *extra) { return MPI_SUCCESS; }
static int cancel(void *extra, int done) { return MPI_SUCCESS; }

static void in_functions(void) {
    MPI_Errhandler errors;
    MPI_Comm other, another;
    MPI_Op op;
    MPI_Request request;
    int key, got, sum = 0, all = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_create_errhandler(handler, &errors);
    MPI_Comm_set_errhandler(other, errors);
    CHECK(MPI_Send(&got, 1, MPI_INT, size, 0, other) != MPI_SUCCESS);
    after(ERROR, 1);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, 0);
    MPI_Comm_set_attr(other, key, 0);
    MPI_Comm_dup(other, &another);
    after(COPY, 1);
    MPI_Comm_free(&another);
    MPI_Comm_delete_attr(other, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, 0);
    MPI_Comm_set_attr(other, key, 0);
    MPI_Comm_delete_attr(other, key);
    after(DELETE, 1);
    MPI_Op_create((MPI_User_function *)add, 1, &op);
    all = rank;
    MPI_Allreduce(&all, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    if (born) after(OPERATION, 1);
    MPI_Grequest_start(query, release, cancel, 0, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    after(QUERY, 1);
    CHECK(seen[ERROR] == 1 && seen[COPY] == 1 && seen[DELETE] == 1 && seen[OPERATION] <= 1 && seen[QUERY] == 1);
    MPI_Allreduce(&seen[OPERATION], &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all > 0);
    MPI_Op_free(&op);
    MPI_Errhandler_free(&errors);
    MPI_Comm_free(&other);
}

/* The message of a thread that computes for long must not be missed, although its calls cannot be seen. */
static void hidden(void) {
    if (geteuid() == 0) CHECK(!seteuid(65534));
    else CHECK(!prctl(PR_SET_DUMPABLE, 0));
    FILE *calls = fopen("/proc/self/syscall", "r");
    CHECK(!calls);
    for (long at = 0; at < 3; at++) {
        CHECK(!pthread_create(&last, 0, send, (void *)at));
        receive(at);
    }
    if (getuid() == 0) CHECK(!seteuid(0));
}

/* Time must not pass while a thread ends: the one that waits for its end has not been woken, but will make the next call. */
static void at_the_end(void *value) {
    volatile double sink = 0;
    for (int at = 0; at < 20000000; at++) sink += at;
}
static void *ends(void *key) { return pthread_setspecific(*(pthread_key_t *)key, key), (void *)0; }
static void *waits(void *value) {
    MPI_Recv(value, 1, MPI_INT, (rank + 1) % size, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
static void in_the_end(void) {
    pthread_t other;
    pthread_key_t key;
    int got = -1;
    CHECK(!pthread_key_create(&key, at_the_end));
    CHECK(!pthread_create(&other, 0, waits, &got));
    double begin = MPI_Wtime();
    MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 60, MPI_COMM_WORLD);
    for (int at = 0; at < 3; at++) {
        CHECK(!pthread_create(&last, 0, ends, &key));
        CHECK(!pthread_join(last, 0));
    }
    CHECK(MPI_Wtime() - begin < 1e-6);
    CHECK(!pthread_join(other, 0));
    CHECK(got == (rank + 1) % size && MPI_Wtime() - begin >= 1e-6);
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(level == MPI_THREAD_MULTIPLE);
    is_within = !strcmp(argv[1], "within");
    if (!strcmp(argv[1], "hidden")) hidden();
    else if (!strcmp(argv[1], "ends")) in_the_end();
    else in_functions();
    MPI_Finalize();
    if (rank == 0) puts("births VERIFIED");
    return 0;
}
