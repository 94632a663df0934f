/* One-sided communication against plain memory: `./windows SEED [still]`. All ranks draw the accesses of all ranks from the same
   numbers, so that each knows what every window must hold. Rank 0 prints "windows VERIFIED" if all do. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 12, MAX = 8, LAPS = 6, ACCESSES = 10 };
static int rank, size, faults;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("rank %d: line %d: %s\n", rank, __LINE__, #condition);                                    \
            faults++;                                                                                        \
        }                                                                                                    \
    } while (0)

static uint64_t state;
static unsigned below(unsigned bound) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 33) % bound;
}

/* The window of each rank: a block of slots for each origin, which it alone puts into, and one that all accumulate to. */
static int expected[MAX][(MAX + 1) * SLOTS], seen[MAX][(MAX + 1) * SLOTS];

/* One epoch of random accesses. `mode` says how targets are synchronised. */
static void epoch(MPI_Win win, int *memory, int mode, MPI_Datatype spaced) {
    MPI_Group all, others;
    int results[ACCESSES][SLOTS], want[ACCESSES][SLOTS], asked[ACCESSES] = {0}, length[ACCESSES] = {0};
    memset(results, 0, sizeof results);
    memcpy(seen, expected, sizeof seen);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (mode == 0) MPI_Win_fence(0, win);
    if (mode == 1) MPI_Win_post(all, 0, win), MPI_Win_start(all, 0, win);
    if (mode == 3) MPI_Win_lock_all(0, win);
    for (int origin = 0; origin < size; origin++)
        for (int i = 0; i < ACCESSES; i++) {
            static int data[ACCESSES][2 * SLOTS];
            int target = below(size), kind = below(4), count = 1 + below(4), from = below(SLOTS - 8), own = origin == rank;
            int sum = from + size * SLOTS, put = from + origin * SLOTS;
            for (int k = 0; k < 2 * SLOTS; k++) data[i][k] = below(1000);
            if (own && mode == 2) MPI_Win_lock(below(2) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win);
            else if (mode == 2) below(2);
            if (kind == 0) {
                if (own) MPI_Put(data[i], count, MPI_INT, target, put, count, MPI_INT, win);
                for (int k = 0; k < count; k++) expected[target][put + k] = data[i][k];
            } else if (kind == 1) {
                /* Every second value, from memory that is packed differently. */
                if (own) MPI_Put(data[i], 4, MPI_INT, target, put, 1, spaced, win);
                for (int k = 0; k < 4; k++) expected[target][put + 2 * k] = data[i][k];
            } else if (kind == 2) {
                if (own) MPI_Accumulate(data[i], count, MPI_INT, target, sum, count, MPI_INT, MPI_SUM, win);
                for (int k = 0; k < count; k++) expected[target][sum + k] += data[i][k];
            } else if (own) {
                /* Values of another block, that nobody changes in this epoch: the one after the sums. */
                MPI_Get(results[i], count, MPI_INT, target, (size + 1) * SLOTS + from, count, MPI_INT, win);
                asked[i] = 1, length[i] = count;
                for (int k = 0; k < count; k++) want[i][k] = 1000 * target + from + k;
            }
            if (own && mode == 2) MPI_Win_unlock(target, win);
            if (own && mode == 3 && below(3) == 0) MPI_Win_flush(target, win);
            else if (mode == 3 && !own) below(3);
            if (own && mode == 3) MPI_Win_flush_local_all(win);
        }
    if (mode == 0) MPI_Win_fence(0, win);
    if (mode == 1) MPI_Win_complete(win), MPI_Win_wait(win);
    if (mode == 3) MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ACCESSES; i++)
        for (int k = 0; k < length[i]; k++) CHECK(results[i][k] == want[i][k]);
    for (int k = 0; k < (size + 1) * SLOTS; k++) CHECK(memory[k] == expected[rank][k]);
    MPI_Group_free(&all);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Accesses that several ranks make to the same value. */
static void atomics(MPI_Win win, int *memory) {
    int one = 1, old, sum = 0, *values = malloc(size * 10 * sizeof(int)), *all = malloc(size * 10 * sizeof(int));
    memory[0] = memory[1] = memory[2] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 10; i++) {
        MPI_Fetch_and_op(&one, &values[i], MPI_INT, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        /* A counter by compare-and-swap. */
        for (int found = 0, next;; found = old) {
            next = found + 1;
            MPI_Compare_and_swap(&next, &found, &old, MPI_INT, 0, 1, win);
            MPI_Win_flush(0, win);
            if (old == found) break;
        }
    }
    MPI_Request request;
    MPI_Rget_accumulate(&rank, 1, MPI_INT, &old, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_MAX, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(old >= 0 && old < size);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    int last[3];
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Rget(last, 3, MPI_INT, 0, 0, 3, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(0, win);
    CHECK(last[0] == 10 * size && last[1] == 10 * size && last[2] == size - 1);
    /* Each value of the counter was fetched once. */
    MPI_Gather(values, 10, MPI_INT, all, 10, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        char *found = calloc(10 * size, 1);
        for (int i = 0; i < 10 * size; i++) {
            CHECK(all[i] >= 0 && all[i] < 10 * size && !found[all[i]]);
            found[all[i]] = 1;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Attributes, errors, and windows of the other kinds. */
static void others(void) {
    int *memory, flag, class, value = 0;
    MPI_Win win;
    void *base;
    MPI_Aint *length, at;
    int *unit, *flavor;
    MPI_Win_allocate(40, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == memory);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &length, &flag);
    CHECK(flag && *length == 40);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == 4);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), &class);
    CHECK(class == MPI_ERR_RMA_SYNC);
    MPI_Win_fence(0, win);
    MPI_Error_class(MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win), &class);
    CHECK(class == MPI_ERR_RANK);
    MPI_Error_class(MPI_Put(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win), &class);
    CHECK(class == MPI_ERR_DISP);
    MPI_Error_class(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win), &class);
    CHECK(class == MPI_ERR_COUNT);
    CHECK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win) == MPI_SUCCESS);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Error_class(MPI_Win_unlock(0, win), &class);
    CHECK(class == MPI_ERR_RMA_SYNC);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    /* Memory that is attached while the window exists. */
    int data[4] = {rank, 0, 0, 0};
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, data, sizeof data);
    MPI_Get_address(data, &at);
    MPI_Aint *places = malloc(size * sizeof at);
    MPI_Allgather(&at, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
    int next = (rank + 1) % size;
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, next, MPI_Aint_add(places[next], 4), 1, MPI_INT, win);
    MPI_Get(data + 2, 1, MPI_INT, next, places[next], 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(data[1] == (rank + size - 1) % size && data[2] == next);
    MPI_Win_detach(win, data);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win);
    MPI_Aint found;
    int *there, step;
    MPI_Win_shared_query(win, 0, &found, &step, &there);
    CHECK(found == 8 && step == 1 && there == memory);
    MPI_Win_free(&win);
}

int main(int count, char **words) {
    MPI_Win win;
    MPI_Datatype spaced;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = count > 1 ? 2 * atoi(words[1]) + 1 : 1;
    int length = (size + 2) * SLOTS, *memory = calloc(length, sizeof(int));
    for (int k = 0; k < SLOTS; k++) memory[(size + 1) * SLOTS + k] = 1000 * rank + k;
    MPI_Type_vector(4, 1, 2, MPI_INT, &spaced);
    MPI_Type_commit(&spaced);
    MPI_Win_create(memory, length * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int lap = 0; lap < LAPS; lap++)
        for (int mode = 0; mode < 4; mode++) epoch(win, memory, mode, spaced);
    atomics(win, memory);
    MPI_Win_free(&win);
    MPI_Type_free(&spaced);
    /* With a further word no message contains an address: runs are the same to the bit. */
    if (count < 3) others();
    int all = 0;
    MPI_Reduce(&faults, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0) printf("windows VERIFIED\n");
    MPI_Finalize();
    return all > 0;
}
