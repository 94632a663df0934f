/* The calls of MPI one by one, each with a result that is known. Ends with status 7 and the line of the first error. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, calls;

#define HOLDS(what) \
    do { \
        calls++; \
        if (!(what)) { \
            fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #what); \
            MPI_Abort(MPI_COMM_WORLD, 7); \
        } \
    } while (0)

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void messages(void) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size, data[4] = {rank, 1, 2, 3}, into[4], flag, count;
    MPI_Status status, statuses[4];
    MPI_Request requests[4];
    MPI_Message message;
    MPI_Sendrecv(data, 4, MPI_INT, next, 1, into, 4, MPI_INT, before, 1, MPI_COMM_WORLD, &status);
    HOLDS(into[0] == before && into[3] == 3 && status.MPI_SOURCE == before && status.MPI_TAG == 1);
    MPI_Get_count(&status, MPI_INT, &count);
    HOLDS(count == 4);
    MPI_Sendrecv_replace(data, 1, MPI_INT, next, 2, before, 2, MPI_COMM_WORLD, &status);
    HOLDS(data[0] == before);
    data[0] = rank;
    /* Wildcards: every rank but 0 sends to rank 0. */
    if (rank == 0) {
        int seen = 0;
        for (int i = 1; i < size; i++) {
            MPI_Recv(into, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            HOLDS(into[0] == status.MPI_SOURCE && status.MPI_TAG == 10 + into[0]);
            seen += into[0];
        }
        HOLDS(seen == size * (size - 1) / 2);
    } else {
        MPI_Send(data, 1, MPI_INT, 0, 10 + rank, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* Order between two ranks, and receives of chosen tags. */
    MPI_Isend(data, 1, MPI_INT, next, 20, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(data, 2, MPI_INT, next, 21, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(into, 1, MPI_INT, before, 21, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(into + 1, 1, MPI_INT, before, 20, MPI_COMM_WORLD, &requests[3]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Waitall(4, requests, statuses);
    HOLDS(class_of(code) == MPI_ERR_IN_STATUS && class_of(statuses[2].MPI_ERROR) == MPI_ERR_TRUNCATE);
    /* Others may be pending. */
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    HOLDS(requests[0] == MPI_REQUEST_NULL && into[1] == before);
    HOLDS(class_of(MPI_Send(data, 1, MPI_INT, size, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK);
    HOLDS(class_of(MPI_Send(data, -1, MPI_INT, next, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
    HOLDS(class_of(MPI_Send(data, 1, MPI_DATATYPE_NULL, next, 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
    HOLDS(class_of(MPI_Send(data, 1, MPI_INT, next, -5, MPI_COMM_WORLD)) == MPI_ERR_TAG);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    /* To itself, and to nobody. */
    MPI_Isend(data, 1, MPI_INT, rank, 30, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv(into, 1, MPI_INT, rank, 30, MPI_COMM_WORLD, &status);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    HOLDS(into[0] == rank);
    MPI_Recv(into, 1, MPI_INT, MPI_PROC_NULL, 30, MPI_COMM_WORLD, &status);
    HOLDS(status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 30, MPI_COMM_WORLD);
    /* Probes. */
    MPI_Send(data, 3, MPI_INT, next, 40, MPI_COMM_WORLD);
    MPI_Probe(before, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    HOLDS(status.MPI_TAG == 40 && count == 3);
    MPI_Mprobe(before, 40, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(into, 3, MPI_INT, &message, &status);
    HOLDS(into[0] == before && message == MPI_MESSAGE_NULL);
    MPI_Iprobe(before, 49, MPI_COMM_WORLD, &flag, &status);
    HOLDS(!flag);
    MPI_Send(data, 1, MPI_INT, next, 41, MPI_COMM_WORLD);
    do MPI_Iprobe(before, 41, MPI_COMM_WORLD, &flag, &status); while (!flag);
    MPI_Irecv(into, 1, MPI_INT, before, 41, MPI_COMM_WORLD, &requests[0]);
    do MPI_Test(&requests[0], &flag, &status); while (!flag);
    HOLDS(into[0] == before);
    /* Persistent requests. */
    MPI_Send_init(data, 1, MPI_INT, next, 50, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(into, 1, MPI_INT, before, 50, MPI_COMM_WORLD, &requests[1]);
    for (int lap = 0; lap < 3; lap++) {
        data[0] = rank + lap;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        HOLDS(into[0] == before + lap && requests[0] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    data[0] = rank;
    /* A receive that is taken back. */
    MPI_Irecv(into, 1, MPI_INT, before, 60, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    HOLDS(flag);
    /* Any and some. */
    MPI_Irecv(into, 1, MPI_INT, before, 70, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(into + 1, 1, MPI_INT, before, 71, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(data, 1, MPI_INT, next, 71, MPI_COMM_WORLD);
    int index, indices[2];
    MPI_Waitany(2, requests, &index, &status);
    HOLDS(index == 1 && into[1] == before);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(data, 1, MPI_INT, next, 70, MPI_COMM_WORLD);
    MPI_Waitsome(2, requests, &count, indices, statuses);
    HOLDS(count == 1 && indices[0] == 0);
    MPI_Waitany(2, requests, &index, &status);
    HOLDS(index == MPI_UNDEFINED);
    /* Buffered, and long messages: more than a frame holds. */
    int many = 700000, *a = malloc(many * sizeof(int)), *b = malloc(many * sizeof(int));
    for (int i = 0; i < many; i++) a[i] = i ^ rank;
    MPI_Irecv(b, many, MPI_INT, before, 80, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(a, many, MPI_INT, next, 80, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], &status);
    for (int i = 0; i < many; i++)
        if (b[i] != (i ^ before)) HOLDS(0);
    MPI_Buffer_attach(a, many * sizeof(int));
    MPI_Bsend(data, 1, MPI_INT, next, 81, MPI_COMM_WORLD);
    MPI_Recv(into, 1, MPI_INT, before, 81, MPI_COMM_WORLD, &status);
    void *at;
    MPI_Buffer_detach(&at, &count);
    HOLDS(at == a && count == many * (int)sizeof(int));
    free(a);
    free(b);
    MPI_Irecv(into, 1, MPI_INT, rank, 82, MPI_COMM_WORLD, &requests[0]);
    MPI_Rsend(data, 1, MPI_INT, rank, 82, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], &status);
    MPI_Ssend(data, 1, MPI_INT, MPI_PROC_NULL, 82, MPI_COMM_WORLD);
    if (rank % 2 == 0 && rank + 1 < size) MPI_Ssend(data, 1, MPI_INT, rank + 1, 83, MPI_COMM_WORLD);
    if (rank % 2 == 1) MPI_Recv(into, 1, MPI_INT, rank - 1, 83, MPI_COMM_WORLD, &status);
    MPI_Send_c(data, (MPI_Count)1, MPI_INT, next, 84, MPI_COMM_WORLD);
    MPI_Recv_c(into, (MPI_Count)1, MPI_INT, before, 84, MPI_COMM_WORLD, &status);
    HOLDS(into[0] == before);
}

static void types(void) {
    struct pair { char c; double d; int i; } pairs[3], got[3];
    int lengths[3] = {1, 1, 1}, extent_ok, size_of, position = 0, count;
    MPI_Aint places[3] = {offsetof(struct pair, c), offsetof(struct pair, d), offsetof(struct pair, i)}, lower, extent;
    MPI_Datatype members[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, pair, column, odd, block, part, copy, inner;
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Status status;
    MPI_Type_create_struct(3, lengths, places, members, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_size(pair, &size_of);
    MPI_Type_get_extent(pair, &lower, &extent);
    extent_ok = extent == sizeof(struct pair);
    HOLDS(size_of == 13 && lower == 0 && extent_ok);
    for (int i = 0; i < 3; i++) pairs[i] = (struct pair){(char)('a' + i), rank + i / 4.0, i * 7};
    MPI_Sendrecv(pairs, 3, pair, next, 1, got, 3, pair, before, 1, MPI_COMM_WORLD, &status);
    HOLDS(got[2].c == 'c' && got[2].d == before + 0.5 && got[1].i == 7);
    MPI_Get_elements(&status, pair, &count);
    HOLDS(count == 9);
    int matrix[4][5], line[4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) matrix[i][j] = 10 * i + j + 100 * rank;
    MPI_Type_vector(4, 1, 5, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(&matrix[0][2], 1, column, next, 2, line, 4, MPI_INT, before, 2, MPI_COMM_WORLD, &status);
    HOLDS(line[3] == 32 + 100 * before);
    int some[2] = {2, 1}, at[2] = {0, 4}, six[5];
    MPI_Type_indexed(2, some, at, MPI_INT, &odd);
    MPI_Type_commit(&odd);
    MPI_Sendrecv(matrix, 1, odd, next, 3, six, 3, MPI_INT, before, 3, MPI_COMM_WORLD, &status);
    HOLDS(six[1] == 1 + 100 * before && six[2] == 4 + 100 * before);
    int sizes[2] = {4, 5}, parts[2] = {2, 3}, starts[2] = {1, 1}, rest[6];
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &part);
    MPI_Type_commit(&part);
    MPI_Sendrecv(matrix, 1, part, next, 4, rest, 6, MPI_INT, before, 4, MPI_COMM_WORLD, &status);
    HOLDS(rest[0] == 11 + 100 * before && rest[5] == 23 + 100 * before);
    MPI_Type_contiguous(3, pair, &block);
    MPI_Type_dup(block, &copy);
    MPI_Type_size(copy, &size_of);
    HOLDS(size_of == 39);
    char packed[200];
    MPI_Pack(pairs, 3, pair, packed, sizeof packed, &position, MPI_COMM_WORLD);
    MPI_Pack(line, 4, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
    HOLDS(position == 39 + 16);
    position = 0;
    memset(got, 0, sizeof got);
    MPI_Unpack(packed, sizeof packed, &position, got, 3, pair, MPI_COMM_WORLD);
    HOLDS(position == 39 && got[2].i == 14 && got[0].c == 'a');
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(column, &integers, &addresses, &types, &combiner);
    HOLDS(integers == 3 && types == 1 && combiner == MPI_COMBINER_VECTOR);
    int arguments[3];
    MPI_Type_get_contents(column, 3, 0, 1, arguments, NULL, &inner);
    HOLDS(arguments[0] == 4 && arguments[1] == 1 && arguments[2] == 5 && inner == MPI_INT);
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Type_get_name(MPI_INT, name, &count);
    HOLDS(!strcmp(name, "MPI_INT"));
    MPI_Type_free(&pair);
    HOLDS(pair == MPI_DATATYPE_NULL);
    MPI_Type_free(&column);
    MPI_Type_free(&odd);
    MPI_Type_free(&part);
    MPI_Type_free(&block);
    MPI_Type_free(&copy);
}

/* Does not commute: a matrix product of 2 x 2. */
static void product(void *a, void *b, int *count, MPI_Datatype *type) {
    int *x = a, *y = b, bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count; i++, x += 4, y += 4) {
        int z[4] = {x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3], x[2] * y[0] + x[3] * y[2], x[2] * y[1] + x[3] * y[3]};
        memcpy(y, z, sizeof z);
    }
}

static void collectives(int length) {
    int *a = malloc(length * size * sizeof(int)), *b = malloc(length * size * sizeof(int)), good = 1;
    int *counts = malloc(size * sizeof(int)), *places = malloc(size * sizeof(int));
    double sum;
    MPI_Request request;
    for (int root = 0; root < size; root += size > 2 ? size / 2 : 1) {
        for (int i = 0; i < length; i++) a[i] = rank == root ? i * 3 + root : -1;
        MPI_Bcast(a, length, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < length; i++) good &= a[i] == i * 3 + root;
        HOLDS(good);
        for (int i = 0; i < length; i++) a[i] = rank + i, b[i] = -1;
        MPI_Reduce(a, b, length, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        for (int i = 0; i < length; i++) good &= rank != root || b[i] == size * (size - 1) / 2 + size * i;
        HOLDS(good);
        MPI_Gather(a, length, MPI_INT, b, length, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < size * length; i++) good &= rank != root || b[i] == i / length + i % length;
        HOLDS(good);
        MPI_Scatter(b, length, MPI_INT, a, length, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < length; i++) good &= a[i] == rank + i;
        HOLDS(good);
        for (int i = 0; i < size; i++) counts[i] = i % 3, places[i] = i * 3;
        int mine[3] = {rank, rank + 1, rank + 2}, *all = calloc(3 * size, sizeof(int));
        MPI_Gatherv(mine, rank % 3, MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++) good &= rank != root || counts[i] == 0 || all[places[i] + counts[i] - 1] == i + counts[i] - 1;
        HOLDS(good);
        mine[0] = mine[1] = -1;
        MPI_Scatterv(all, counts, places, MPI_INT, mine, rank % 3, MPI_INT, root, MPI_COMM_WORLD);
        HOLDS(rank % 3 == 0 || mine[rank % 3 - 1] == rank + rank % 3 - 1);
        free(all);
    }
    for (int i = 0; i < length; i++) a[i] = rank + i;
    MPI_Allreduce(a, b, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < length; i++) good &= b[i] == size * (size - 1) / 2 + size * i;
    MPI_Allreduce(MPI_IN_PLACE, a, length, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < length; i++) good &= a[i] == size - 1 + i;
    HOLDS(good);
    for (int i = 0; i < length; i++) a[i] = rank + i;
    MPI_Allgather(a, length, MPI_INT, b, length, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size * length; i++) good &= b[i] == i / length + i % length;
    HOLDS(good);
    for (int i = 0; i < size; i++) counts[i] = i % 3, places[i] = i * 3;
    int mine[3] = {rank, rank + 1, rank + 2}, *all = calloc(3 * size, sizeof(int));
    MPI_Allgatherv(mine, rank % 3, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) good &= counts[i] == 0 || all[places[i] + counts[i] - 1] == i + counts[i] - 1;
    HOLDS(good);
    free(all);
    for (int i = 0; i < size * length; i++) a[i] = 1000 * rank + i;
    MPI_Alltoall(a, length, MPI_INT, b, length, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size * length; i++) good &= b[i] == 1000 * (i / length) + rank * length + i % length;
    HOLDS(good);
    MPI_Ialltoall(MPI_IN_PLACE, length, MPI_INT, a, length, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    HOLDS(!memcmp(a, b, size * length * sizeof(int)));
    for (int i = 0; i < size * length; i++) a[i] = i + rank;
    for (int i = 0; i < size; i++) counts[i] = length;
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < length; i++) good &= b[i] == size * (rank * length + i) + size * (size - 1) / 2;
    HOLDS(good);
    MPI_Reduce_scatter_block(a, b, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < length; i++) good &= b[i] == size * (rank * length + i) + size * (size - 1) / 2;
    HOLDS(good);
    for (int i = 0; i < length; i++) a[i] = rank + 1;
    MPI_Scan(a, b, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < length; i++) good &= b[i] == (rank + 1) * (rank + 2) / 2;
    HOLDS(good);
    for (int i = 0; i < length; i++) b[i] = -1;
    MPI_Exscan(a, b, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < length; i++) good &= b[i] == (rank == 0 ? -1 : rank * (rank + 1) / 2);
    HOLDS(good);
    /* Operations: of the program, of pairs, and of types. */
    MPI_Op op;
    MPI_Datatype matrix;
    int m[4] = {1, rank % 3, 0, 1}, n[4], commutes;
    MPI_Op_create(product, 0, &op);
    MPI_Op_commutative(op, &commutes);
    HOLDS(!commutes);
    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Allreduce(m, n, 1, matrix, op, MPI_COMM_WORLD);
    int expected = 0;
    for (int i = 0; i < size; i++) expected += i % 3;
    HOLDS(n[0] == 1 && n[1] == expected);
    MPI_Op_free(&op);
    MPI_Type_free(&matrix);
    struct { double value; int at; } low = {(rank * 7 + 3) % size, rank}, least;
    MPI_Allreduce(&low, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    for (int i = 0, best = size; i < size; i++)
        if ((i * 7 + 3) % size < best) best = (i * 7 + 3) % size, expected = i;
    HOLDS(least.at == expected);
    double x = 1.0 / (rank + 1);
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double *sums = malloc(size * sizeof sum);
    MPI_Allgather(&sum, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) good &= !memcmp(&sum, sums + i, sizeof sum);
    HOLDS(good);
    free(sums);
    unsigned char bits = (unsigned char)(1 << (rank % 8)), both;
    MPI_Allreduce(&bits, &both, 1, MPI_UNSIGNED_CHAR, MPI_BOR, MPI_COMM_WORLD);
    HOLDS(both == (size >= 8 ? 255 : (1 << size) - 1));
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    int flag = 0;
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    free(a);
    free(b);
    free(counts);
    free(places);
}

static int copies, deletes;
static int copy(MPI_Comm comm, int key, void *extra, void *value, void *out, int *flag) {
    copies++;
    *(void **)out = value;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete(MPI_Comm comm, int key, void *value, void *extra) {
    deletes++;
    return MPI_SUCCESS;
}

static void communicators(void) {
    MPI_Comm half, twin, grid, row, odd;
    MPI_Group world, group, other;
    int r, s, result, value = 42, key, flag, *found, one[1] = {0};
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &r);
    MPI_Comm_size(half, &s);
    HOLDS(s == (size + 1 - rank % 2) / 2 && r == s - 1 - rank / 2);
    int sum, mine = rank;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, half);
    int expected = 0;
    for (int i = rank % 2; i < size; i += 2) expected += i;
    HOLDS(sum == expected);
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(half, key, &value);
    MPI_Comm_dup(half, &twin);
    MPI_Comm_get_attr(twin, key, &found, &flag);
    HOLDS(flag && *found == 42 && copies == 1);
    MPI_Comm_compare(half, twin, &result);
    HOLDS(result == MPI_CONGRUENT);
    MPI_Comm_free(&twin);
    HOLDS(twin == MPI_COMM_NULL && deletes == 1);
    MPI_Comm_free(&half);
    HOLDS(deletes == 2);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    HOLDS(flag && *found >= 32767);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, one, &group);
    MPI_Group_difference(world, group, &other);
    MPI_Group_size(other, &s);
    HOLDS(s == size - 1);
    MPI_Comm_create(MPI_COMM_WORLD, other, &odd);
    HOLDS((odd == MPI_COMM_NULL) == (rank == 0));
    if (odd != MPI_COMM_NULL) {
        MPI_Barrier(odd);
        MPI_Comm_free(&odd);
    }
    MPI_Group_translate_ranks(world, 1, one, group, &r);
    HOLDS(r == 0);
    MPI_Group_free(&group);
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    int sides[2] = {0, 0}, periods[2] = {1, 0}, at[2], keep[2] = {0, 1}, from, to;
    MPI_Dims_create(size, 2, sides);
    HOLDS(sides[0] * sides[1] == size && sides[0] >= sides[1]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, at);
    HOLDS(at[0] * sides[1] + at[1] == rank);
    MPI_Cart_shift(grid, 1, 1, &from, &to);
    HOLDS(at[1] + 1 < sides[1] ? to == rank + 1 : to == MPI_PROC_NULL);
    MPI_Cart_shift(grid, 0, 1, &from, &to);
    HOLDS(to == (at[0] + 1) % sides[0] * sides[1] + at[1]);
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_size(row, &s);
    MPI_Comm_rank(row, &r);
    HOLDS(s == sides[1] && r == at[1]);
    MPI_Comm_free(&row);
    int around[4] = {4 * rank, 4 * rank + 1, 4 * rank + 2, 4 * rank + 3}, came[4] = {-1, -1, -1, -1};
    MPI_Request request;
    MPI_Status status;
    MPI_Neighbor_alltoall(around, 1, MPI_INT, came, 1, MPI_INT, grid);
    MPI_Cart_shift(grid, 0, 1, &from, &to);
    /* What came from below had left upwards. */
    HOLDS(came[0] == 4 * from + 1 && came[1] == 4 * to);
    MPI_Cart_shift(grid, 1, 1, &from, &to);
    HOLDS((from == MPI_PROC_NULL ? came[2] == -1 : came[2] == 4 * from + 3) && (to == MPI_PROC_NULL ? came[3] == -1 : came[3] == 4 * to + 2));
    MPI_Ineighbor_allgather(around, 1, MPI_INT, came, 1, MPI_INT, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    HOLDS(from == MPI_PROC_NULL || came[2] == 4 * from);
    MPI_Isendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, came, 1, MPI_INT, (rank + size - 1) % size, 7, grid, &request);
    MPI_Wait(&request, &status);
    HOLDS(came[0] == (rank + size - 1) % size);
    MPI_Comm_free(&grid);
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &s);
    HOLDS(!strcmp(name, "MPI_COMM_WORLD"));
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_get(info, "key", 100, name, &flag);
    HOLDS(flag && !strcmp(name, "value"));
    MPI_Info_free(&info);
}

int main(int argc, char **argv) {
    int provided, flag;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Initialized(&flag);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    HOLDS(flag && provided == MPI_THREAD_FUNNELED);
    double before = MPI_Wtime();
    HOLDS(MPI_Wtime() > before);
    messages();
    types();
    collectives(1);
    collectives(3);
    collectives(1000);
    collectives(9000);
    communicators();
    MPI_Finalize();
    if (rank == 0) printf("calls VERIFIED\n");
    return 0;
}
