/* More calls of MPI one by one: the rest of MPI-1.3, and those of later versions that benchmarks and mpi4py use. Ends with
 * status 7 and the line of the first error. Needs 2 ranks or more. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls that MPI-3 has removed from the header. */
int MPI_Address(void *, MPI_Aint *);
int MPI_Errhandler_create(void (*)(MPI_Comm *, int *, ...), MPI_Errhandler *);
int MPI_Errhandler_get(MPI_Comm, MPI_Errhandler *);
int MPI_Errhandler_set(MPI_Comm, MPI_Errhandler);
int MPI_Type_extent(MPI_Datatype, MPI_Aint *);
int MPI_Type_hindexed(int, int *, MPI_Aint *, MPI_Datatype, MPI_Datatype *);
int MPI_Type_hvector(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype *);
int MPI_Type_lb(MPI_Datatype, MPI_Aint *);
int MPI_Type_struct(int, int *, MPI_Aint *, MPI_Datatype *, MPI_Datatype *);
int MPI_Type_ub(MPI_Datatype, MPI_Aint *);

static int rank, size;

#define HOLDS(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #what); \
            MPI_Abort(MPI_COMM_WORLD, 7); \
        } \
    } while (0)

static int handled, copied, deleted, is_simulated;

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void handler(MPI_Comm *comm, int *code, ...) { handled = *code; }
static int copy(MPI_Comm comm, int key, void *extra, void *value, void *new, int *flag) {
    copied++;
    *(void **)new = value;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete(MPI_Comm comm, int key, void *value, void *extra) { return deleted++, MPI_SUCCESS; }
static int copy_type(MPI_Datatype type, int key, void *extra, void *value, void *new, int *flag) {
    *(void **)new = value;
    *flag = 1;
    return MPI_SUCCESS;
}
static int query(void *extra, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int no_free(void *extra) { return MPI_SUCCESS; }
static int no_cancel(void *extra, int done) { return MPI_SUCCESS; }

static void environment(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING > 600 ? MPI_MAX_LIBRARY_VERSION_STRING : 600];
    int length, version, part, flag, value, class, code;
    void *memory;
    MPI_Errhandler old, mine;
    MPI_Get_processor_name(text, &length);
    HOLDS(length == (int)strlen(text) && length > 0);
    MPI_Get_library_version(text, &length);
    is_simulated = strstr(text, "fsin") != NULL;
    HOLDS(is_simulated || strstr(text, "MPICH"));
    MPI_Get_version(&version, &part);
    HOLDS(version >= 3);
    HOLDS(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
    MPI_Pcontrol(1);
    MPI_Query_thread(&value);
    MPI_Is_thread_main(&flag);
    HOLDS(value >= MPI_THREAD_SINGLE && flag);
    MPI_Finalized(&flag);
    HOLDS(!flag);
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
    HOLDS(length > 0 && strstr(text, "truncated"));
    MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory);
    memset(memory, 1, 1000);
    MPI_Free_mem(memory);
    MPI_Errhandler_get(MPI_COMM_WORLD, &old);
    HOLDS(old == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_create(handler, &mine);
    MPI_Errhandler_set(MPI_COMM_WORLD, mine);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_ARG);
    HOLDS(handled == MPI_ERR_ARG);
    MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    HOLDS(class_of(handled) == MPI_ERR_RANK);
    MPI_Errhandler_free(&mine);
    HOLDS(mine == MPI_ERRHANDLER_NULL);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old);
    HOLDS(old == mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "of my own");
    MPI_Error_class(code, &value);
    MPI_Error_string(code, text, &length);
    HOLDS(value == class && !strcmp(text, "of my own") && length == 9);
    MPI_Info info, other;
    MPI_Info_create(&info);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "three", "333");
    MPI_Info_get_nkeys(info, &value);
    MPI_Info_get_valuelen(info, "three", &length, &flag);
    HOLDS(value == 2 && flag && length == 3);
    MPI_Info_dup(info, &other);
    MPI_Info_delete(info, "one");
    MPI_Info_get_nthkey(info, 0, text);
    MPI_Info_get_nkeys(other, &length);
    HOLDS(!strcmp(text, "three") && length == 2);
    MPI_Info_free(&info);
    MPI_Info_free(&other);
    HOLDS(info == MPI_INFO_NULL);
}

static void attributes(void) {
    int key, flag, *bound, value = 5, code;
    MPI_Comm other;
    MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
    HOLDS(flag && *bound >= 32767);
    MPI_Keyval_create(copy, delete, &key, NULL);
    MPI_Attr_put(MPI_COMM_WORLD, key, &value);
    MPI_Attr_get(MPI_COMM_WORLD, key, &bound, &flag);
    HOLDS(flag && *bound == 5);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Attr_get(other, key, &bound, &flag);
    HOLDS(flag && copied == 1);
    MPI_Attr_delete(MPI_COMM_WORLD, key);
    MPI_Comm_free(&other);
    HOLDS(deleted == 2);
    MPI_Keyval_free(&key);
    HOLDS(key == MPI_KEYVAL_INVALID);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &value);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_get_attr(MPI_COMM_SELF, key, &bound, &flag);
    HOLDS(!flag && deleted == 3);
    MPI_Comm_free_keyval(&key);
    MPI_Datatype type, twin;
    MPI_Type_create_keyval(copy_type, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, key, &value);
    MPI_Type_dup(type, &twin);
    MPI_Type_get_attr(twin, key, &bound, &flag);
    HOLDS(flag && *bound == 5);
    MPI_Type_free(&type);
    MPI_Type_free(&twin);
    MPI_Type_free_keyval(&key);
}

static void datatypes(void) {
    struct { double d; int i[3]; char c; } value[2], got[2];
    int lengths[3] = {1, 3, 1}, length, integers, addresses, types, combiner, count;
    MPI_Aint places[3], base, lower, extent, upper;
    MPI_Datatype type, part, parts[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Status status;
    memset(value, 0, sizeof value);
    memset(got, 0, sizeof got);
    MPI_Address(value, &base);
    MPI_Get_address(value[0].i, &places[1]);
    MPI_Get_address(&value[0].c, &places[2]);
    HOLDS(MPI_Aint_add(base, 8) == places[1]);
    places[0] = 0, places[1] -= base, places[2] -= base;
    MPI_Type_struct(3, lengths, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Type_extent(type, &extent);
    MPI_Type_lb(type, &lower);
    MPI_Type_ub(type, &upper);
    HOLDS(extent == sizeof value[0] && lower == 0 && upper == extent);
    MPI_Type_get_true_extent(type, &lower, &extent);
    HOLDS(lower == 0 && extent == 21);
    value[1].d = rank + 0.5, value[1].i[2] = 7, value[1].c = 'x';
    MPI_Sendrecv(value, 2, type, (rank + 1) % size, 0, got, 2, type, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &status);
    HOLDS(got[1].d == (rank + size - 1) % size + 0.5 && got[1].i[2] == 7 && got[1].c == 'x');
    MPI_Type_set_name(type, "mine");
    MPI_Type_get_name(type, name, &length);
    HOLDS(length == 4 && !strcmp(name, "mine"));
    MPI_Pack_size(2, type, MPI_COMM_WORLD, &length);
    HOLDS(length >= 42);
    MPI_Type_free(&type);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    MPI_Type_size(type, &length);
    HOLDS(length == 8);
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &type);
    MPI_Type_size(type, &length);
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    HOLDS(length == 8 && combiner == MPI_COMBINER_F90_REAL && integers == 2);
    MPI_Type_create_f90_integer(5, &type);
    MPI_Type_size(type, &length);
    HOLDS(length == 4);
    MPI_Type_create_f90_complex(5, 30, &type);
    MPI_Type_size(type, &length);
    HOLDS(length == 8);
    /* The same four of sixteen integers, in five ways. */
    int all[16], four[4], ones[4] = {1, 1, 1, 1}, spots[4] = {0, 4, 8, 12};
    MPI_Aint far[4] = {0, 16, 32, 48};
    for (int i = 0; i < 16; i++) all[i] = 100 * rank + i;
    for (int way = 0; way < 7; way++) {
        switch (way) {
        case 0: MPI_Type_hvector(4, 1, 16, MPI_INT, &part); break;
        case 1: MPI_Type_hindexed(4, ones, far, MPI_INT, &part); break;
        case 2: MPI_Type_create_hvector(4, 1, 16, MPI_INT, &part); break;
        case 3: MPI_Type_create_hindexed(4, ones, far, MPI_INT, &part); break;
        case 4: MPI_Type_create_hindexed_block(4, 1, far, MPI_INT, &part); break;
        case 5: MPI_Type_create_indexed_block(4, 1, spots, MPI_INT, &part); break;
        default: MPI_Type_indexed(4, ones, spots, MPI_INT, &part);
        }
        MPI_Type_commit(&part);
        int other = (rank + size - 1) % size;
        MPI_Sendrecv(all, 1, part, (rank + 1) % size, way, four, 4, MPI_INT, other, way, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        HOLDS(count == 4 && four[0] == 100 * other && four[1] == 100 * other + 4 && four[3] == 100 * other + 12);
        MPI_Type_free(&part);
    }
}

static void groups(void) {
    MPI_Group world, first, last, group;
    int ranks[2] = {0, size - 1}, range[1][3] = {{0, size - 1, 2}}, value, s;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, ranks, &first);
    MPI_Group_incl(world, 1, ranks + 1, &last);
    MPI_Group_union(first, last, &group);
    MPI_Group_size(group, &s);
    MPI_Group_rank(group, &value);
    HOLDS(s == 2 && value == (rank == 0 ? 0 : rank == size - 1 ? 1 : MPI_UNDEFINED));
    MPI_Group_free(&group);
    MPI_Group_intersection(first, last, &group);
    MPI_Group_compare(group, MPI_GROUP_EMPTY, &value);
    HOLDS(value == MPI_IDENT);
    MPI_Group_excl(world, 1, ranks, &group);
    MPI_Group_size(group, &s);
    HOLDS(s == size - 1);
    MPI_Group_free(&group);
    MPI_Group_range_incl(world, 1, range, &group);
    MPI_Group_size(group, &s);
    HOLDS(s == (size + 1) / 2);
    MPI_Group_free(&group);
    MPI_Group_range_excl(world, 1, range, &group);
    MPI_Group_size(group, &s);
    HOLDS(s == size / 2);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group_rank(group, &value);
    if (value != MPI_UNDEFINED) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &made);
        MPI_Comm_size(made, &s);
        MPI_Allreduce(&value, &ranks[0], 1, MPI_INT, MPI_MAX, made);
        HOLDS(s == size / 2 && ranks[0] == s - 1);
        MPI_Comm_disconnect(&made);
    }
    HOLDS(made == MPI_COMM_NULL);
    MPI_Group_free(&group);
    MPI_Group_free(&first);
    MPI_Group_free(&last);
    MPI_Group_free(&world);
    HOLDS(world == MPI_GROUP_NULL);
}

static void communicators(void) {
    MPI_Comm shared, copy, parent;
    MPI_Info info;
    MPI_Request request;
    int value, s, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Comm_size(shared, &s);
    HOLDS(s >= 1);
    MPI_Comm_free(&shared);
    MPI_Info_create(&info);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
    MPI_Comm_set_info(copy, info);
    MPI_Info_free(&info);
    MPI_Comm_get_info(copy, &info);
    MPI_Info_free(&info);
    MPI_Comm_set_name(copy, "copy");
    MPI_Comm_get_name(copy, name, &length);
    HOLDS(!strcmp(name, "copy") && length == 4);
    MPI_Comm_compare(copy, MPI_COMM_WORLD, &value);
    HOLDS(value == MPI_CONGRUENT);
    MPI_Comm_free(&copy);
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_get_parent(&parent);
    HOLDS(parent == MPI_COMM_NULL);
}

static void intercommunicators(void) {
    /* Even and odd ranks. */
    int colour = rank % 2, local, other, s, r, flag, got, value, expected = colour ? (size + 1) / 2 : size / 2;
    MPI_Comm half, inter, twin, whole;
    MPI_Group group;
    MPI_Status status;
    MPI_Comm_split(MPI_COMM_WORLD, colour, rank, &half);
    MPI_Comm_test_inter(half, &flag);
    HOLDS(!flag);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - colour, 12, &inter);
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_size(inter, &s);
    MPI_Comm_rank(inter, &r);
    MPI_Comm_remote_size(inter, &other);
    HOLDS(flag && s + other == size && other == expected && r == rank / 2);
    MPI_Comm_remote_group(inter, &group);
    MPI_Group_size(group, &local);
    MPI_Group_rank(group, &value);
    HOLDS(local == other && value == MPI_UNDEFINED);
    MPI_Group_free(&group);
    /* Each sends to the rank of the same number on the other side, if there is one. */
    for (MPI_Comm comm = inter;; comm = twin) {
        value = 10 * rank;
        if (r < other) {
            MPI_Sendrecv(&value, 1, MPI_INT, r, 4, &got, 1, MPI_INT, r, MPI_ANY_TAG, comm, &status);
            HOLDS(got == 10 * (colour ? rank - 1 : rank + 1) && status.MPI_SOURCE == r && status.MPI_TAG == 4);
        }
        if (comm != inter) break;
        MPI_Comm_dup(inter, &twin);
        MPI_Comm_compare(inter, twin, &value);
        HOLDS(value == MPI_CONGRUENT);
    }
    MPI_Comm_free(&twin);
    for (int high = 0; high < 2; high++) {
        MPI_Intercomm_merge(inter, high ? !colour : colour, &whole);
        MPI_Comm_size(whole, &s);
        MPI_Comm_rank(whole, &r);
        MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_SUM, whole);
        /* The group that is not high comes first. */
        int before = (high ? !colour : colour) ? expected : 0;
        HOLDS(s == size && r == before + rank / 2 && got == size * (size - 1) / 2);
        MPI_Comm_free(&whole);
    }
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void requests(void) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size, data[3], into[3] = {-1, -1, -1}, flag, count, indices[6], index;
    char room[1000];
    void *at;
    MPI_Request all[6], general;
    MPI_Status status, statuses[6];
    MPI_Message message;
    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < 3; i++) data[i] = 10 * rank + i;
    MPI_Bsend_init(data, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &all[0]);
    MPI_Ssend_init(data + 1, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &all[1]);
    MPI_Rsend_init(data + 2, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &all[2]);
    for (int i = 0; i < 3; i++) MPI_Recv_init(into + i, 1, MPI_INT, before, i, MPI_COMM_WORLD, &all[3 + i]);
    for (int lap = 0; lap < 2; lap++) {
        for (int i = 3; i < 6; i++) MPI_Start(&all[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Startall(3, all);
        do MPI_Testall(6, all, &flag, statuses);
        while (!flag);
        for (int i = 0; i < 3; i++) { HOLDS(into[i] == 10 * before + i); into[i] = -1; }
    }
    for (int i = 0; i < 6; i++) MPI_Request_free(&all[i]);
    for (int i = 0; i < 3; i++) MPI_Irecv(into + i, 1, MPI_INT, before, i, MPI_COMM_WORLD, &all[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibsend(data, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &all[3]);
    MPI_Irsend(data + 1, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &all[4]);
    MPI_Isend(data + 2, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &all[5]);
    do MPI_Testany(3, all, &index, &flag, &status);
    while (!flag);
    HOLDS(index >= 0 && index < 3 && all[index] == MPI_REQUEST_NULL && status.MPI_TAG == index);
    for (int left = 5; left > 0; left -= count) {
        MPI_Testsome(6, all, &count, indices, statuses);
        HOLDS(count != MPI_UNDEFINED && count >= 0);
    }
    MPI_Testsome(6, all, &count, indices, statuses);
    HOLDS(count == MPI_UNDEFINED && into[2] == 10 * before + 2);
    MPI_Buffer_detach(&at, &count);
    HOLDS(at == room && count == sizeof room);
    MPI_Grequest_start(query, no_free, no_cancel, NULL, &general);
    MPI_Test(&general, &flag, &status);
    HOLDS(!flag);
    MPI_Grequest_complete(general);
    MPI_Request_get_status(general, &flag, &status);
    HOLDS(flag);
    MPI_Wait(&general, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Test_cancelled(&status, &flag);
    HOLDS(count == 3 && !flag);
    MPI_Isend(data, 3, MPI_INT, next, 5, MPI_COMM_WORLD, &all[0]);
    do MPI_Improbe(before, 5, MPI_COMM_WORLD, &flag, &message, &status);
    while (!flag);
    MPI_Imrecv(into, 3, MPI_INT, &message, &all[1]);
    MPI_Waitall(2, all, statuses);
    HOLDS(into[2] == 10 * before + 2 && statuses[1].MPI_TAG == 5 && message == MPI_MESSAGE_NULL);
    data[0] = rank;
    MPI_Isendrecv_replace(data, 1, MPI_INT, next, 6, before, 6, MPI_COMM_WORLD, all);
    MPI_Wait(all, &status);
    HOLDS(data[0] == before);
}

static void nonblocking(void) {
    int sum = size * (size - 1) / 2, got = -1, all[64], out[64], counts[64], places[64], sizes[64], value = rank;
    MPI_Datatype types[64];
    MPI_Request request;
#define DONE MPI_Wait(&request, MPI_STATUS_IGNORE)
    for (int i = 0; i < size; i++) counts[i] = 1, places[i] = i, sizes[i] = 4 * i, types[i] = MPI_INT, out[i] = 100 * rank + i;
    MPI_Ibcast(memcpy(&got, &rank, sizeof rank), 1, MPI_INT, size - 1, MPI_COMM_WORLD, &request), DONE;
    HOLDS(got == size - 1);
    MPI_Iallreduce(&value, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), DONE;
    HOLDS(got == sum);
    MPI_Ireduce(&value, &got, 1, MPI_INT, MPI_MAX, 1, MPI_COMM_WORLD, &request), DONE;
    HOLDS(rank != 1 || got == size - 1);
    MPI_Iallgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request), DONE;
    for (int i = 0; i < size; i++) { HOLDS(all[i] == i); all[i] = -1; }
    MPI_Iallgatherv(&value, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD, &request), DONE;
    for (int i = 0; i < size; i++) { HOLDS(all[i] == i); all[i] = -1; }
    MPI_Igather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &request), DONE;
    HOLDS(rank || all[size - 1] == size - 1);
    MPI_Igatherv(&value, 1, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD, &request), DONE;
    HOLDS(rank || all[1] == 1);
    MPI_Iscatter(out, 1, MPI_INT, &got, 1, MPI_INT, 0, MPI_COMM_WORLD, &request), DONE;
    HOLDS(got == rank);
    MPI_Iscatterv(out, counts, places, MPI_INT, &got, 1, MPI_INT, 1, MPI_COMM_WORLD, &request), DONE;
    HOLDS(got == 100 + rank);
    MPI_Ialltoallv(out, counts, places, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD, &request), DONE;
    for (int i = 0; i < size; i++) { HOLDS(all[i] == 100 * i + rank); all[i] = -1; }
    MPI_Ialltoallw(out, counts, sizes, types, all, counts, sizes, types, MPI_COMM_WORLD, &request), DONE;
    for (int i = 0; i < size; i++) { HOLDS(all[i] == 100 * i + rank); all[i] = -1; }
    MPI_Alltoallw(out, counts, sizes, types, all, counts, sizes, types, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) { HOLDS(all[i] == 100 * i + rank); all[i] = -1; }
    MPI_Iscan(&value, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), DONE;
    HOLDS(got == rank * (rank + 1) / 2);
    MPI_Iexscan(&value, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), DONE;
    HOLDS(rank == 0 || got == rank * (rank - 1) / 2);
    for (int i = 0; i < size; i++) out[i] = i;
    MPI_Ireduce_scatter(out, &got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), DONE;
    HOLDS(got == size * rank);
    MPI_Ireduce_scatter_block(out, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), DONE;
    HOLDS(got == size * rank);
    got = 5;
    MPI_Reduce_local(&value, &got, 1, MPI_INT, MPI_SUM);
    HOLDS(got == 5 + rank);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int lap = 0; lap < 2; lap++) MPI_Start(&request), DONE;
    MPI_Request_free(&request);
    MPI_Allgather_init(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request), DONE;
    HOLDS(all[size - 1] == size - 1);
    MPI_Request_free(&request);
}

static void topologies(void) {
    int sides[1] = {size}, periods[1] = {1}, at[1], kind, count, value, flag, index[64], edges[128], found[2], weights[2] = {3, 4};
    MPI_Comm ring, graph, distributed;
    MPI_Cart_create(MPI_COMM_WORLD, 1, sides, periods, 0, &ring);
    MPI_Topo_test(ring, &kind);
    MPI_Cartdim_get(ring, &count);
    HOLDS(kind == MPI_CART && count == 1);
    MPI_Cart_get(ring, 1, sides, periods, at);
    HOLDS(sides[0] == size && periods[0] && at[0] == rank);
    at[0] = -1;
    MPI_Cart_rank(ring, at, &value);
    HOLDS(value == size - 1);
    MPI_Cart_map(MPI_COMM_WORLD, 1, sides, periods, &value);
    HOLDS(value == rank);
    MPI_Comm_free(&ring);
    for (int i = 0; i < size; i++) index[i] = 2 * (i + 1), edges[2 * i] = (i + 1) % size, edges[2 * i + 1] = (i + size - 1) % size;
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
    MPI_Topo_test(graph, &kind);
    MPI_Graphdims_get(graph, &count, &value);
    HOLDS(kind == MPI_GRAPH && count == size && value == 2 * size);
    int index2[64], edges2[128];
    MPI_Graph_get(graph, size, 2 * size, index2, edges2);
    HOLDS(!memcmp(index, index2, 4 * size) && !memcmp(edges, edges2, 8 * size));
    MPI_Graph_neighbors_count(graph, rank, &count);
    MPI_Graph_neighbors(graph, rank, 2, found);
    HOLDS(count == 2 && found[0] == (rank + 1) % size);
    MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &value);
    HOLDS(value == rank);
    MPI_Comm_free(&graph);
    /* A ring of which each rank describes the edges of the next one. */
    int node = (rank + 1) % size, degree = 2, to[2] = {(rank + 2) % size, rank}, sources[2], came[2] = {-1, -1}, incoming, outgoing;
    int from_weights[2], to_weights[2], ones[2] = {1, 1}, places[2] = {0, 1};
    MPI_Aint far[2] = {0, 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &node, &degree, to, weights, MPI_INFO_NULL, 0, &distributed);
    MPI_Topo_test(distributed, &kind);
    MPI_Dist_graph_neighbors_count(distributed, &incoming, &outgoing, &flag);
    HOLDS(kind == MPI_DIST_GRAPH && incoming == 2 && outgoing == 2 && flag);
    MPI_Dist_graph_neighbors(distributed, 2, sources, from_weights, 2, found, to_weights);
    HOLDS(found[0] == (rank + 1) % size && to_weights[0] == 3 && from_weights[0] + from_weights[1] == 7);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, came, 1, MPI_INT, distributed);
    HOLDS(came[0] == sources[0] && came[1] == sources[1]);
    came[0] = came[1] = -1;
    MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, came, ones, places, MPI_INT, distributed);
    HOLDS(came[0] == sources[0] && came[1] == sources[1]);
    int mine[2] = {rank, rank};
    came[0] = came[1] = -1;
    MPI_Neighbor_alltoallv(mine, ones, places, MPI_INT, came, ones, places, MPI_INT, distributed);
    HOLDS(came[0] == sources[0] && came[1] == sources[1]);
    came[0] = came[1] = -1;
    MPI_Neighbor_alltoallw(mine, ones, far, types, came, ones, far, types, distributed);
    HOLDS(came[0] == sources[0] && came[1] == sources[1]);
    MPI_Comm_free(&distributed);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, found, weights, 2, found, weights, MPI_INFO_NULL, 0, &distributed);
    MPI_Comm_free(&distributed);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    environment();
    attributes();
    datatypes();
    groups();
    communicators();
    intercommunicators();
    requests();
    nonblocking();
    topologies();
    MPI_Finalize();
    if (rank == 0) printf("more VERIFIED\n");
    return 0;
}
