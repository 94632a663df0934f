/* What MPI fixes at the initialisation of an operation, or at the setting of an attribute, and what it refuses: a word for each part.
   The sections are those of MPI 4.0. Every rank prints what differs; rank 0 prints "WORD VERIFIED". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, wrong;
#define MUST(ok) do { if (!(ok)) { printf("rank %d, line %d: %s\n", rank, __LINE__, #ok); wrong = 1; } } while (0)

static int class_of(int code) {
    int class = MPI_SUCCESS;
    if (code) MPI_Error_class(code, &class);
    return class;
}

/* 4.2: partitioned operations match by the order of initialisation for their rank and tag, whatever the order of starts; the
   numbers of partitions of both sides may differ. */
static void partitioned(void) {
    enum { N = 5 };
    int other = size - 1 - rank, sent[N][6], found[N][6], flag;
    MPI_Request send[N], receive[N];
    if (other == rank) return;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 6; k++) { sent[i][k] = 1000 * rank + 10 * i + k; found[i][k] = -1; }
        MPI_Psend_init(sent[i], 3, 2, MPI_INT, other, i % 2, MPI_COMM_WORLD, MPI_INFO_NULL, &send[i]);
        MPI_Precv_init(found[i], 2, 3, MPI_INT, other, i % 2, MPI_COMM_WORLD, MPI_INFO_NULL, &receive[i]);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) MPI_Start(&receive[(i + rank + round) % N]);
        for (int i = N - 1; i >= 0; i--) {
            MPI_Start(&send[i]);
            MPI_Pready(2, send[i]);
            MPI_Pready_range(0, 1, send[i]);
        }
        for (int i = 0; i < N; i++) do MPI_Parrived(receive[i], 1, &flag); while (!flag);
        MPI_Waitall(N, send, MPI_STATUSES_IGNORE);
        MPI_Waitall(N, receive, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 6; k++) { MUST(found[i][k] == 1000 * other + 10 * i + k + 7 * round); sent[i][k] += 7; }
    }
    for (int i = 0; i < N; i++) { MPI_Request_free(&send[i]); MPI_Request_free(&receive[i]); }
}

/* 6.13: persistent collectives match by the order of initialisation; they may be started in any order, and match no others. */
static void persistent(void) {
    enum { N = 4 };
    MPI_Request all[N];
    int in[N], out[N], gathered[64], own = rank, more = 0, one = 1;
    for (int i = 0; i < N; i++) { in[i] = rank + 100 * i; out[i] = -1; }
    MPI_Allreduce_init(&in[0], &out[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &all[0]);
    MPI_Bcast_init(&in[1], 1, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &all[1]);
    MPI_Allreduce_init(&in[2], &out[2], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &all[2]);
    MPI_Allgather_init(&own, 1, MPI_INT, gathered, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &all[3]);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) MPI_Start(&all[(i + rank + round) % N]);
        MPI_Allreduce(&one, &more, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MUST(more == size);
        MPI_Waitall(N, all, MPI_STATUSES_IGNORE);
        MUST(out[0] == size * (size - 1) / 2);
        MUST(in[1] == size - 1 + 100);
        MUST(out[2] == size - 1 + 200);
        for (int i = 0; i < size; i++) MUST(gathered[i] == i);
        out[0] = out[2] = -1;
        memset(gathered, -1, sizeof gathered);
    }
    for (int i = 0; i < N; i++) MPI_Request_free(&all[i]);
    /* 8.8: those of neighbours, too. */
    MPI_Comm ring;
    int periodic = 1, left[2] = {0, 0}, right[2] = {0, 0}, a = rank, b = rank + 1000;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_allgather_init(&a, 1, MPI_INT, left, 1, MPI_INT, ring, MPI_INFO_NULL, &all[0]);
    MPI_Neighbor_allgather_init(&b, 1, MPI_INT, right, 1, MPI_INT, ring, MPI_INFO_NULL, &all[1]);
    MPI_Start(&all[rank % 2]);
    MPI_Start(&all[1 - rank % 2]);
    MPI_Waitall(2, all, MPI_STATUSES_IGNORE);
    MUST(left[0] == (rank + size - 1) % size && left[1] == (rank + 1) % size);
    MUST(right[0] == left[0] + 1000 && right[1] == left[1] + 1000);
    MPI_Request_free(&all[0]);
    MPI_Request_free(&all[1]);
    MPI_Comm_free(&ring);
}

static int order[8], deleted;
static int note(MPI_Comm comm, int key, void *value, void *extra) { order[deleted++] = *(int *)value; return MPI_SUCCESS; }
static int note_type(MPI_Datatype type, int key, void *value, void *extra) { return note(MPI_COMM_NULL, key, value, extra); }
static int note_window(MPI_Win window, int key, void *value, void *extra) { return note(MPI_COMM_NULL, key, value, extra); }
static int kept[5] = {0, 1, 2, 3, 4};
static int print_order(MPI_Comm comm, int key, void *value, void *extra) { printf("%d ", *(int *)value); return MPI_SUCCESS; }

/* 7.7: keys belong to a kind of object, attributes that have a freed key keep it, and are deleted in the reverse order of setting. */
static void attributes(void) {
    int keys[5], of_type, of_window, freed, flag, set[5] = {3, 2, 0, 1, 4}, *value;
    char base[8];
    MPI_Win window;
    MPI_Datatype type;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Win_create(base, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, note_type, &of_type, NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_window, &of_window, NULL);
    for (int i = 0; i < 5; i++) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note, &keys[i], NULL);
    MUST(class_of(MPI_Comm_set_attr(comm, of_window, kept)) == MPI_ERR_KEYVAL);
    MUST(class_of(MPI_Comm_get_attr(comm, of_type, &value, &flag)) == MPI_ERR_KEYVAL);
    MUST(class_of(MPI_Comm_delete_attr(comm, of_type)) == MPI_ERR_KEYVAL);
    MUST(class_of(MPI_Win_set_attr(window, keys[0], kept)) == MPI_ERR_KEYVAL);
    MUST(class_of(MPI_Type_set_attr(type, of_window, kept)) == MPI_ERR_KEYVAL);
    MUST(class_of(MPI_Comm_set_attr(comm, MPI_TAG_UB, kept)) == MPI_ERR_KEYVAL);
    freed = of_type;
    MUST(class_of(MPI_Comm_free_keyval(&freed)) == MPI_ERR_KEYVAL);
    for (int i = 0; i < 5; i++) MPI_Comm_set_attr(comm, keys[set[i]], &kept[set[i]]);
    MPI_Comm_set_attr(comm, keys[3], &kept[3]);
    MUST(deleted == 1 && order[0] == 3);
    MUST(!MPI_Comm_get_attr(comm, keys[2], &value, &flag) && flag && *value == 2);
    for (int i = 0; i < 5; i++) {
        freed = keys[i];
        MUST(!MPI_Comm_free_keyval(&freed) && freed == MPI_KEYVAL_INVALID);
    }
    deleted = 0;
    MPI_Comm_free(&comm);
    MUST(deleted == 5 && order[0] == 4 && order[1] == 1 && order[2] == 0 && order[3] == 2 && order[4] == 3);
    MPI_Type_set_attr(type, of_type, &kept[1]);
    MPI_Win_set_attr(window, of_window, &kept[2]);
    deleted = 0;
    MPI_Type_free(&type);
    MPI_Win_free(&window);
    MUST(deleted == 2 && order[0] == 1 && order[1] == 2);
}

/* 11.4.1: MPI_Finalize deletes those of MPI_COMM_SELF in the reverse order of setting. */
static void self(void) {
    int keys[5], set[5] = {3, 2, 0, 1, 4};
    for (int i = 0; i < 5; i++) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, print_order, &keys[i], NULL);
    for (int i = 0; i < 5; i++) MPI_Comm_set_attr(MPI_COMM_SELF, keys[set[i]], &kept[set[i]]);
    for (int i = 0; i < 5; i++) MPI_Comm_free_keyval(&keys[i]);
}

/* 5.1, 6.9.2, 12.3: what a type must be to be sent, reduced, accumulated, swapped; 5.1.10: a duplicate has no name. */
static void types(void) {
    long a[4] = {1}, b[4] = {0}, w[4] = {0};
    MPI_Datatype raw, pair, copy;
    MPI_Win window;
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_set_name(pair, "pair");
    MPI_Type_dup(pair, &copy);
    MPI_Type_get_name(copy, name, &length);
    MUST(length == 0 && !name[0]);
    MUST(class_of(MPI_Send(a, 1, raw, MPI_PROC_NULL, 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
    MUST(class_of(MPI_Bcast(a, 1, raw, 0, MPI_COMM_SELF)) == MPI_ERR_TYPE);
    MUST(!MPI_Bcast(a, 1, copy, 0, MPI_COMM_SELF));
    MUST(class_of(MPI_Allreduce(a, b, 1, pair, MPI_SUM, MPI_COMM_SELF)) == MPI_ERR_OP);
    MUST(class_of(MPI_Allreduce(a, b, 1, MPI_BYTE, MPI_SUM, MPI_COMM_SELF)) == MPI_ERR_OP);
    MUST(!MPI_Allreduce(a, b, 1, MPI_BYTE, MPI_BXOR, MPI_COMM_SELF));
    MUST(class_of(MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_BOR, MPI_COMM_SELF)) == MPI_ERR_OP);
    MPI_Win_create(w, sizeof w, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, window);
    MPI_Datatype refused[] = {MPI_DOUBLE, MPI_FLOAT, MPI_C_COMPLEX, MPI_2INT, MPI_PACKED, pair, MPI_DATATYPE_NULL};
    MPI_Datatype taken[] = {MPI_INT, MPI_LONG, MPI_BYTE, MPI_AINT, MPI_C_BOOL, MPI_INT8_T, MPI_LOGICAL};
    for (int i = 0; i < 7; i++) {
        MUST(class_of(MPI_Compare_and_swap(a, b, b + 1, refused[i], rank, 0, window)) == MPI_ERR_TYPE);
        MUST(!MPI_Compare_and_swap(a, b, b + 1, taken[i], rank, 8, window));
    }
    MUST(class_of(MPI_Fetch_and_op(a, b, pair, rank, 0, MPI_SUM, window)) == MPI_ERR_TYPE);
    MUST(!MPI_Fetch_and_op(a, b, MPI_DOUBLE, rank, 16, MPI_SUM, window));
    MUST(class_of(MPI_Put(a, 1, raw, rank, 0, 1, raw, window)) == MPI_ERR_TYPE);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Type_free(&raw);
    MPI_Type_free(&pair);
    MPI_Type_free(&copy);
}

/* 11.4.1: objects of information at any time. */
static void early(void) {
    MPI_Info info, other;
    char value[20], key[MPI_MAX_INFO_KEY + 1];
    int room = sizeof value, flag, count;
    MPI_Info_create(&info);
    MPI_Info_set(info, "k", "value");
    MPI_Info_get_string(info, "k", &room, value, &flag);
    MUST(flag && !strcmp(value, "value") && room == 6);
    MPI_Info_get_nkeys(info, &count);
    MPI_Info_get_nthkey(info, 0, key);
    MUST(count == 1 && !strcmp(key, "k"));
    MPI_Info_dup(info, &other);
    MPI_Info_delete(info, "k");
    MPI_Info_get_valuelen(other, "k", &room, &flag);
    MUST(flag && room == 5);
    MPI_Info_free(&info);
    MPI_Info_free(&other);
}

/* Messages of several lengths around those at which data take another way, to one that receives late, and by all-to-all. */
static void lengths(void) {
    int all[] = {1, 4095, 8191, 8192, 8193, 65537, 1000003}, other = size - 1 - rank;
    for (int i = 0; i < 7; i++) {
        int n = all[i];
        char *sent = malloc(n), *found = malloc(n), *block = malloc((size_t)size * n), *blocks = malloc((size_t)size * n);
        MPI_Request requests[4];
        MPI_Status status;
        for (int k = 0; k < n; k++) sent[k] = (char)(k * 7 + rank);
        for (int k = 0; k < 4 && other != rank; k++) MPI_Isend(sent, n, MPI_CHAR, other, k, MPI_COMM_WORLD, &requests[k]);
        for (int k = 3; k >= 0 && other != rank; k--) {
            memset(found, 0, n);
            MPI_Recv(found, n, MPI_CHAR, other, k, MPI_COMM_WORLD, &status);
            for (int j = 0; j < n; j++) if (found[j] != (char)(j * 7 + other)) { MUST(0); break; }
        }
        if (other != rank) MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        /* A receive without room for all of it. */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Isend(sent, n, MPI_CHAR, other, 9, MPI_COMM_WORLD, requests);
        int code = MPI_Recv(found, n / 2, MPI_CHAR, other, 9, MPI_COMM_WORLD, &status);
        MUST(class_of(code) == MPI_ERR_TRUNCATE);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        for (int k = 0; k < size; k++) memset(block + (size_t)k * n, rank * 16 + k, n);
        MPI_Alltoall(block, n, MPI_CHAR, blocks, n, MPI_CHAR, MPI_COMM_WORLD);
        for (int k = 0; k < size; k++) MUST(blocks[(size_t)k * n] == (char)(k * 16 + rank) && blocks[(size_t)(k + 1) * n - 1] == (char)(k * 16 + rank));
        free(sent); free(found); free(block); free(blocks);
    }
}

int main(int count, char **words) {
    const char *word = count > 1 ? words[1] : "";
    int is_early = !strcmp(word, "early");
    if (is_early) early();
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(word, "partitioned")) partitioned();
    else if (!strcmp(word, "persistent")) persistent();
    else if (!strcmp(word, "attributes")) attributes();
    else if (!strcmp(word, "types")) types();
    else if (!strcmp(word, "lengths")) lengths();
    else if (!strcmp(word, "self")) self();
    else if (!is_early) wrong = 1;
    int any = wrong;
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && !any) printf("%s VERIFIED\n", word);
    fflush(stdout);
    MPI_Finalize();
    if (is_early) early();
    return any || wrong;
}
