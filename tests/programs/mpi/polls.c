/* Every call that a program can make in a loop until something comes from another rank, on 2 ranks. Rank 1 sleeps and, 5 us
   after rank 0 has begun to poll, sends or puts. Prints for each call how often it has been made and how long that took, in ns of virtual time. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static int rank, got;
static volatile int memory;
static MPI_Win win;
static MPI_Comm world;
static MPI_Request request;
static MPI_Message message;

/* Each returns true once it has come. */
static int test(void) { int flag; MPI_Test(&request, &flag, MPI_STATUS_IGNORE); return flag; }
static int testall(void) { int flag; MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE); return flag; }
static int testany(void) { int flag, at; MPI_Testany(1, &request, &at, &flag, MPI_STATUS_IGNORE); return flag; }
static int testsome(void) { int count, at; MPI_Testsome(1, &request, &count, &at, MPI_STATUSES_IGNORE); return count; }
static int get_status(void) { int flag; MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE); return flag; }
static int parrived(void) { int flag; MPI_Parrived(request, 0, &flag); return flag; }
static int iprobe(void) { int flag; MPI_Iprobe(1, 0, world, &flag, MPI_STATUS_IGNORE); return flag; }
static int improbe(void) { int flag; MPI_Improbe(1, 0, world, &flag, &message, MPI_STATUS_IGNORE); return flag; }
static int win_test(void) { int flag; MPI_Win_test(win, &flag); return flag; }
static int sync_window(void) { MPI_Win_sync(win); return memory; }
static int flush(void) { MPI_Win_flush(0, win); return memory; }
static int flush_all(void) { MPI_Win_flush_all(win); return memory; }
static int flush_local(void) { MPI_Win_flush_local(0, win); return memory; }
static int flush_local_all(void) { MPI_Win_flush_local_all(win); return memory; }
static int lock(void) { MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win); MPI_Win_unlock(0, win); return memory; }
static int lock_all(void) { MPI_Win_lock_all(0, win); MPI_Win_unlock_all(win); return memory; }
static int fetch(void) {
    int seen = 0, none = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(&none, &seen, MPI_INT, 0, 0, MPI_NO_OP, win);
    MPI_Win_unlock(0, win);
    return seen;
}

/* How a call gets what it polls for: by the receive of a message, by a message in parts, by a probe, a barrier, a synchronous send, the end of an
   exposure, a put into a window while it is locked by all, or while it is not. */
enum way { RECEIVE, PARTS, PROBE, BARRIER, SEND, EXPOSURE, LOCKED, OPEN };
static const struct { const char *name; int (*poll)(void); enum way way; } all[] = {
    {"Test", test, RECEIVE}, {"Testall", testall, RECEIVE}, {"Testany", testany, RECEIVE}, {"Testsome", testsome, RECEIVE},
    {"Request_get_status", get_status, RECEIVE}, {"Test, of a synchronous send", test, SEND}, {"Test, of a barrier", test, BARRIER},
    {"Parrived", parrived, PARTS}, {"Iprobe", iprobe, PROBE}, {"Improbe", improbe, PROBE}, {"Win_test", win_test, EXPOSURE},
    {"Win_sync", sync_window, LOCKED}, {"Win_flush", flush, LOCKED}, {"Win_flush_all", flush_all, LOCKED},
    {"Win_flush_local", flush_local, LOCKED}, {"Win_flush_local_all", flush_local_all, LOCKED}, {"Win_lock", lock, OPEN},
    {"Win_lock_all", lock_all, OPEN}, {"Fetch_and_op", fetch, OPEN},
};

/* Rank 0: before it polls, and after. */
static void begin(enum way way, MPI_Group other) {
    memory = 0;
    if (way == RECEIVE) MPI_Irecv(&got, 1, MPI_INT, 1, 0, world, &request);
    if (way == SEND) MPI_Issend(&rank, 1, MPI_INT, 1, 0, world, &request);
    if (way == BARRIER) MPI_Ibarrier(world, &request);
    if (way == PARTS) MPI_Precv_init(&got, 1, 1, MPI_INT, 1, 0, world, MPI_INFO_NULL, &request), MPI_Start(&request);
    if (way == EXPOSURE) MPI_Win_post(other, MPI_MODE_NOCHECK, win);
}
static void end(enum way way, int (*poll)(void)) {
    if (way == RECEIVE && poll == get_status) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (way == PARTS) MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Request_free(&request);
    if (poll == iprobe) MPI_Recv(&got, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
    if (poll == improbe) MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

/* Rank 1: what it does for which rank 0 waits. */
static void act(enum way way, MPI_Group other) {
    int one = 1;
    if (way == RECEIVE || way == PROBE) MPI_Send(&one, 1, MPI_INT, 0, 0, world);
    if (way == SEND) MPI_Recv(&got, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
    if (way == BARRIER) MPI_Barrier(world);
    if (way == PARTS) {
        MPI_Psend_init(&one, 1, 1, MPI_INT, 0, 0, world, MPI_INFO_NULL, &request);
        MPI_Start(&request), MPI_Pready(0, request), MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Request_free(&request);
    }
    if (way == EXPOSURE) MPI_Win_start(other, MPI_MODE_NOCHECK, win), MPI_Win_complete(win);
    if (way == LOCKED || way == OPEN) MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
}

/* Sleeps until a time of the virtual clock in us. */
static void until(long time) {
    struct timespec wait = {0, time * 1000 - (long)(MPI_Wtime() * 1e9 + 0.5)};
    nanosleep(&wait, 0);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Win_create((void *)&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, world, &win);
    MPI_Group group, other;
    int others[1] = {1 - rank};
    MPI_Comm_group(world, &group);
    MPI_Group_incl(group, 1, others, &other);
    for (unsigned at = 0; at < sizeof all / sizeof *all; at++) {
        enum way way = all[at].way;
        int is_window = way == LOCKED || way == OPEN;
        long start = 100 * (at + 1);
        if (rank == 1 && is_window) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        if (rank == 0) begin(way, other);
        if (rank == 0 && way == LOCKED) MPI_Win_lock_all(0, win);
        until(start);
        if (rank == 0) {
            int calls = 0;
            double since = MPI_Wtime();
            do calls++;
            while (!all[at].poll());
            printf("%s: %d calls, %.0f ns\n", all[at].name, calls, (MPI_Wtime() - since) * 1e9);
            fflush(stdout);
            end(way, all[at].poll);
            if (way == LOCKED) MPI_Win_unlock_all(win);
        } else {
            until(start + 5);
            act(way, other);
            if (is_window) MPI_Win_unlock(0, win);
        }
    }
    MPI_Group_free(&group);
    MPI_Group_free(&other);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
