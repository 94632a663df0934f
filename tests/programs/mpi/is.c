/* A sort of integers in the pattern of NPB IS: an allreduce of the sizes of buckets, an all-to-all of counts, and one of
 * keys of different numbers. Verifies that every rank has what belongs to it, in order, and that no key is lost. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYS 4096
#define BUCKETS 512
#define LIMIT 65536

static int compare(const void *a, const void *b) { return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b); }

int main(int argc, char **argv) {
    int rank, size, own[BUCKETS] = {0}, all[BUCKETS], keys[KEYS], sorted[KEYS], good = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    unsigned state = 271828183u + 7919u * rank;
    long sum = 0, total, mine = 0, found;
    for (int i = 0; i < KEYS; i++) {
        state = state * 1664525u + 1013904223u;
        keys[i] = ((state >> 16) % 256 * ((state >> 8) % 256)) % LIMIT;
        sum += keys[i];
        own[keys[i] / (LIMIT / BUCKETS)]++;
    }
    MPI_Allreduce(own, all, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    /* Buckets are given to ranks in order, each about as many keys. */
    int owner[BUCKETS], rank_of = 0;
    long given = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        owner[bucket] = rank_of;
        given += all[bucket];
        while (rank_of < size - 1 && given >= (long)KEYS * (rank_of + 1)) rank_of++;
    }
    int *sent = calloc(size, sizeof(int)), *received = calloc(size, sizeof(int));
    int *from = calloc(size, sizeof(int)), *to = calloc(size, sizeof(int)), *place = calloc(size, sizeof(int));
    for (int i = 0; i < KEYS; i++) sent[owner[keys[i] / (LIMIT / BUCKETS)]]++;
    for (int i = 1; i < size; i++) from[i] = from[i - 1] + sent[i - 1], place[i] = from[i];
    for (int i = 0; i < KEYS; i++) sorted[place[owner[keys[i] / (LIMIT / BUCKETS)]]++] = keys[i];
    MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
    int count = received[0];
    for (int i = 1; i < size; i++) to[i] = to[i - 1] + received[i - 1], count += received[i];
    int *result = malloc((count + 1) * sizeof(int));
    MPI_Alltoallv(sorted, sent, from, MPI_INT, result, received, to, MPI_INT, MPI_COMM_WORLD);
    qsort(result, count, sizeof(int), compare);
    for (int i = 0; i < count; i++) mine += result[i];
    MPI_Reduce(&mine, &found, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    /* The neighbour's smallest key is not smaller than the greatest here. */
    int edge = count > 0 ? result[count - 1] : -1, before = -1;
    MPI_Exscan(&edge, &before, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank > 0 && count > 0 && before > result[0]) good = 0;
    if (rank == 0 && found != total) good = 0;
    int everyone;
    MPI_Allreduce(&good, &everyone, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) printf("is %s\n", everyone ? "VERIFIED" : "WRONG");
    MPI_Finalize();
    return everyone ? 0 : 7;
}
