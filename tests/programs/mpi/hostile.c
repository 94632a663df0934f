/* Random calls with bad arguments: `./hostile SEED CALLS`. Handles are null, freed, of another kind or numbers of chance;
   counts, ranks, tags and roots are negative or too large; addresses are null. Each call returns an error class or succeeds.
   All ranks make the same calls, so that no collective and no blocking call can wait for ever by itself; buffers are as long as
   valid counts say, so that no fault is the program's own. */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 6, ROOM = 4096 };
static uint64_t state;
static int data[ROOM], result[ROOM], more[ROOM];
static MPI_Aint places[ROOM];
static MPI_Comm comms[SLOTS];
static MPI_Datatype types[SLOTS];
static MPI_Group groups[SLOTS];
static MPI_Op ops[SLOTS];
static MPI_Info infos[SLOTS];
static MPI_Errhandler handlers[SLOTS];
static MPI_Request requests[SLOTS];
static int keys[SLOTS];
static MPI_Win windows[SLOTS];
static long errors, successes;

static unsigned below(unsigned bound) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 33) % bound;
}
static int number(void) {
    static const int all[] = {0, 1, 2, 3, -1, -2, -3, -7, 17, 1000, INT_MAX, INT_MIN, 1 << 14};
    return all[below(sizeof all / sizeof *all)];
}
/* A valid count of the buffers, or a negative one. */
static int count(void) {
    static const int all[] = {0, 1, 2, 3, 5, -1, -5, INT_MIN};
    return all[below(sizeof all / sizeof *all)];
}
static int small(void) { return (int)below(6) - 1; }
/* A handle of the wrong kind, freed, or none at all. */
static int garbage(void) {
    static const int all[] = {0, -1, 1, INT_MAX, INT_MIN, 0x04000000, 0x0c000000, 0x18000000, 0x2c000000, 0x44000000, 0x4c000405,
                              0x58000003, (int)0x84000001, (int)0x84ffffff, (int)0x8c000010, (int)0x98000001, (int)0xacffffff,
                              (int)0xac800001, (int)0x9c000001, (int)0xa4000001, (int)0x88000001, 0x6400000b, 0x4c000010};
    return all[below(sizeof all / sizeof *all)];
}
static int is_bad(void) { return below(3) == 0; }
static MPI_Comm comm(void) {
    static const MPI_Comm all[] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL, 0x04000001, -5};
    return is_bad() ? all[2 + below(3)] : below(2) ? comms[below(SLOTS)] : all[below(2)];
}
/* A predefined datatype: data of others could lie anywhere. */
static MPI_Datatype type(void) {
    static const MPI_Datatype all[] = {MPI_INT, MPI_FLOAT, MPI_CHAR, MPI_SHORT, MPI_BYTE, MPI_LB, MPI_UB, MPI_PACKED};
    static const MPI_Datatype wrong[] = {MPI_DATATYPE_NULL, 0, -1, 0x4c00ffff, MPI_COMM_WORLD, 0x4cffffff};
    return is_bad() ? wrong[below(6)] : all[below(8)];
}
static MPI_Datatype made(void) { return is_bad() ? garbage() : below(2) ? types[below(SLOTS)] : type(); }
static MPI_Op op(void) {
    static const MPI_Op all[] = {MPI_SUM, MPI_MAX, MPI_BAND, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP, MPI_LXOR};
    return is_bad() ? garbage() : all[below(7)];
}
static MPI_Group group(void) { return is_bad() ? garbage() : below(3) ? groups[below(SLOTS)] : MPI_GROUP_EMPTY; }
static MPI_Win window(void) { return is_bad() ? garbage() : windows[below(SLOTS)]; }
static MPI_Info info(void) { return is_bad() ? garbage() : infos[below(SLOTS)]; }
static int key(void) { return is_bad() ? garbage() : keys[below(SLOTS)]; }
static void *buffer(void) { return is_bad() ? NULL : data; }
static void *into(void) { return is_bad() ? NULL : result; }
static int *out(void) { return is_bad() ? NULL : more; }
static int *array(void) {
    for (int i = 0; i < 16; i++) more[i] = below(4) ? (int)below(3) : -1;
    return is_bad() ? NULL : more;
}

static void sum(void *a, void *b, int *n, MPI_Datatype *t) {}
static int copied(MPI_Comm c, int k, void *e, void *v, void *n, int *f) { return *f = 1, *(void **)n = v, below(2) ? 0 : MPI_ERR_OTHER; }
static int dropped(MPI_Comm c, int k, void *v, void *e) { return below(3) ? 0 : MPI_ERR_OTHER; }
static void handled(MPI_Comm *c, int *e, ...) {}

/* What a failed call has not written must not be used as if it had. */
#define NEW(slots, fresh, call)                                                                              \
    do {                                                                                                     \
        int at = below(SLOTS);                                                                               \
        __typeof__(slots[0]) value = slots[at];                                                              \
        __typeof__(slots[0]) *to = is_bad() ? NULL : &value;                                                 \
        code = call;                                                                                         \
        if (code == MPI_SUCCESS && to) slots[at] = value;                                                    \
    } while (0)
/* A communicator that not all ranks have is given back: later calls would not be those of all ranks. */
static void agree(MPI_Comm *made) {
    int has = *made != MPI_COMM_NULL, all = 0;
    MPI_Allreduce(&has, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (has && !all) MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), MPI_Comm_free(made);
    if (!all) *made = MPI_COMM_NULL;
}
#define MAKE(call)                                                                                           \
    do {                                                                                                     \
        int at = below(SLOTS);                                                                               \
        MPI_Comm value = comms[at], *to = is_bad() ? NULL : &value;                                          \
        code = call;                                                                                         \
        if (code == MPI_SUCCESS && to) agree(&value), comms[at] = value;                                     \
    } while (0)
/* Ranks that make communicators of different groups do not make the same calls: a group of one rank is given back. */
#define KEEP(call)                                                                                           \
    do {                                                                                                     \
        int all = 0, kept = below(SLOTS);                                                                    \
        MPI_Group value = groups[kept], *to = is_bad() ? NULL : &value;                                      \
        code = call;                                                                                         \
        if (code == MPI_SUCCESS && to) MPI_Group_size(value, &all), groups[kept] = all == 1 ? MPI_GROUP_EMPTY : value; \
    } while (0)
#define FREE(slots, call)                                                                                    \
    do {                                                                                                     \
        int at = below(SLOTS);                                                                               \
        __typeof__(slots[0]) value = is_bad() ? garbage() : slots[at];                                       \
        code = call(is_bad() ? NULL : &value);                                                               \
    } while (0)

static int step(unsigned kind, int rank) {
    int code = 0, flag, length;
    char text[MPI_MAX_ERROR_STRING + 1024];
    MPI_Status status;
    memset(&status, 0, sizeof status);
    switch (kind) {
    case 0: return MPI_Isend(buffer(), count(), type(), small(), number(), comm(), &requests[below(SLOTS)]);
    case 1: {
        MPI_Request request = MPI_REQUEST_NULL;
        code = MPI_Irecv(into(), count(), type(), small(), number(), comm(), is_bad() ? NULL : &request);
        if (code == MPI_SUCCESS && request != MPI_REQUEST_NULL) {
            MPI_Cancel(&request);
            return MPI_Wait(&request, below(2) ? &status : MPI_STATUS_IGNORE);
        }
        return code;
    }
    case 2: return MPI_Recv(into(), count(), type(), small(), -5, comm(), &status);
    case 3: return MPI_Ssend(buffer(), count(), type(), 77, number(), comm());
    case 4: return MPI_Probe(small(), -9, comm(), &status);
    case 5: return MPI_Iprobe(small(), number(), comm(), out(), below(2) ? &status : NULL);
    case 6: { int request = garbage(); return MPI_Wait(is_bad() ? NULL : &request, &status); }
    case 7: { int request = garbage(); return MPI_Test(is_bad() ? NULL : &request, out(), &status); }
    case 8: { int all[3] = {garbage(), MPI_REQUEST_NULL, garbage()}; return MPI_Waitall(count(), is_bad() ? NULL : all, MPI_STATUSES_IGNORE); }
    case 9: { int all[3] = {garbage(), MPI_REQUEST_NULL, garbage()}; return MPI_Testsome(count() % 4, is_bad() ? NULL : all, out(), out(), MPI_STATUSES_IGNORE); }
    case 10: { int request = garbage(); return MPI_Start(is_bad() ? NULL : &request); }
    case 11: { int request = garbage(); return MPI_Cancel(is_bad() ? NULL : &request); }
    case 12: { int request = garbage(); return MPI_Request_free(is_bad() ? NULL : &request); }
    case 13: return MPI_Barrier(comm());
    case 14: return MPI_Bcast(data, count(), type(), small(), comm());
    case 15: return MPI_Reduce(data, result, count(), type(), op(), small(), comm());
    case 16: return MPI_Allreduce(buffer(), into(), count(), type(), op(), comm());
    case 17: return MPI_Scan(buffer(), into(), count(), type(), op(), comm());
    case 18: { int n = count(); MPI_Datatype t = type(); return MPI_Allgather(buffer(), n, t, into(), n, t, comm()); }
    case 19: { int n = count(); MPI_Datatype t = type(); return MPI_Alltoall(buffer(), n, t, into(), n, t, comm()); }
    case 20: {
        int counts[16], at[16], bad = is_bad() ? -1 : 1;
        for (int i = 0; i < 16; i++) counts[i] = bad, at[i] = 2 * i;
        int *given = is_bad() ? NULL : counts, *shifts = is_bad() ? NULL : at;
        return MPI_Alltoallv(buffer(), given, shifts, type(), into(), given, shifts, MPI_INT, comm());
    }
    case 21: {
        int counts[16], bad = is_bad() ? -1 : 1;
        for (int i = 0; i < 16; i++) counts[i] = bad;
        return MPI_Reduce_scatter(buffer(), into(), is_bad() ? NULL : counts, type(), op(), comm());
    }
    case 22: { MPI_Request request = MPI_REQUEST_NULL; code = MPI_Iallreduce(buffer(), into(), count(), type(), op(), comm(), is_bad() ? NULL : &request); return code ? code : MPI_Wait(&request, &status); }
    case 23: { MPI_Request request = MPI_REQUEST_NULL; code = MPI_Allreduce_init(buffer(), into(), count(), type(), op(), comm(), MPI_INFO_NULL, &request); return code ? code : MPI_Request_free(&request); }
    case 24: MAKE(MPI_Comm_dup(comm(), to)); return code;
    case 25: MAKE(MPI_Comm_split(comm(), small(), number(), to)); return code;
    case 26: {
        /* In a communicator of one rank a group may be right on one rank only. */
        MPI_Comm of = comm();
        if (MPI_Comm_size(of, &length) == MPI_SUCCESS && length == 1) of = MPI_COMM_WORLD;
        MAKE(MPI_Comm_create(of, group(), to));
        return code;
    }
    case 27: {
        int at = below(SLOTS);
        MPI_Comm value = is_bad() ? type() : comms[at];
        code = MPI_Comm_free(is_bad() ? NULL : &value);
        if (value == MPI_COMM_NULL) comms[at] = MPI_COMM_NULL;
        return code;
    }
    case 28: KEEP(MPI_Comm_group(comm(), to)); return code;
    case 29: NEW(groups, group, MPI_Group_incl(group(), count(), array(), to)); return code;
    case 30: { int triplets[2][3] = {{small(), number(), small()}, {0, 1, 1}}; NEW(groups, group, MPI_Group_range_incl(group(), count() % 3, is_bad() ? NULL : triplets, to)); return code; }
    case 31: FREE(groups, MPI_Group_free); return code;
    case 32: return MPI_Group_translate_ranks(group(), count(), array(), group(), is_bad() ? NULL : result);
    case 33: NEW(types, type, MPI_Type_contiguous(number(), made(), to)); return code;
    case 34: NEW(types, type, MPI_Type_vector(number(), number(), number(), made(), to)); return code;
    case 35: { int *lengths = array(); int starts[16]; memset(starts, 0, sizeof starts); NEW(types, type, MPI_Type_indexed(count(), lengths, is_bad() ? NULL : starts, made(), to)); return code; }
    case 36: { int kinds[5] = {made(), made(), made(), made(), made()}; NEW(types, type, MPI_Type_create_struct(count(), array(), is_bad() ? NULL : places, is_bad() ? NULL : kinds, to)); return code; }
    case 37: { int sizes[3] = {4, number(), 3}, parts[3] = {2, number(), 1}, starts[3] = {1, small(), 0}; NEW(types, type, MPI_Type_create_subarray(small() % 4, is_bad() ? NULL : sizes, parts, starts, below(2) ? MPI_ORDER_C : number(), made(), to)); return code; }
    case 38: NEW(types, type, MPI_Type_create_resized(made(), number(), number(), to)); return code;
    case 39: { int value = made(); return MPI_Type_commit(is_bad() ? NULL : &value); }
    case 40: FREE(types, MPI_Type_free); return code;
    case 41: return MPI_Type_size(made(), out());
    case 42: { MPI_Aint a, b; return MPI_Type_get_extent(made(), is_bad() ? NULL : &a, &b); }
    case 43: return MPI_Type_get_contents(made(), small(), small(), small(), out(), is_bad() ? NULL : places, is_bad() ? NULL : result);
    case 44: { int at = small(); return MPI_Pack(buffer(), count(), type(), into(), ROOM, is_bad() ? NULL : &at, comm()); }
    case 45: { int at = number(); return MPI_Unpack(buffer(), 8, &at, into(), count(), type(), comm()); }
    case 46: return MPI_Pack_size(number(), made(), comm(), out());
    case 47: return MPI_Get_count(is_bad() ? NULL : &status, made(), out());
    case 48: return MPI_Get_elements(is_bad() ? NULL : &status, made(), out());
    case 49: return MPI_Status_set_elements(is_bad() ? NULL : &status, made(), number());
    case 50: NEW(ops, op, MPI_Op_create(is_bad() ? NULL : sum, number(), to)); return code;
    case 51: FREE(ops, MPI_Op_free); return code;
    case 52: return MPI_Op_commutative(op(), out());
    case 53: return MPI_Reduce_local(buffer(), into(), count(), type(), op());
    case 54: NEW(infos, info, MPI_Info_create(to)); return code;
    case 55: return MPI_Info_set(info(), is_bad() ? NULL : "key", is_bad() ? NULL : "value");
    case 56: return MPI_Info_get(info(), is_bad() ? NULL : "key", 9, is_bad() ? NULL : text, out());
    case 57: return MPI_Info_get_nthkey(info(), number(), is_bad() ? NULL : text);
    case 58: FREE(infos, MPI_Info_free); return code;
    case 59: NEW(keys, key, MPI_Comm_create_keyval(is_bad() ? NULL : copied, is_bad() ? NULL : dropped, to, NULL)); return code;
    case 60: return MPI_Comm_set_attr(comm(), key(), data);
    case 61: { void *value; return MPI_Comm_get_attr(comm(), below(4) ? key() : MPI_TAG_UB, is_bad() ? NULL : &value, out()); }
    case 62: return MPI_Comm_delete_attr(comm(), key());
    case 63: NEW(handlers, handler, MPI_Comm_create_errhandler(is_bad() ? NULL : handled, to)); return code;
    case 64: return MPI_Comm_set_errhandler(comm(), is_bad() ? garbage() : MPI_ERRORS_RETURN);
    case 65: { int sizes[4] = {small(), small(), 0, 0}; return MPI_Dims_create(number(), count() % 4, is_bad() ? NULL : sizes); }
    case 66: { int sizes[2] = {small(), small()}, periods[2] = {1, 0}; MAKE(MPI_Cart_create(comm(), count() % 3, is_bad() ? NULL : sizes, is_bad() ? NULL : periods, 0, to)); return code; }
    case 67: return MPI_Cart_rank(comm(), array(), is_bad() ? NULL : &flag);
    case 68: return MPI_Cart_coords(comm(), small(), small(), out());
    case 69: return MPI_Cart_shift(comm(), small(), number(), is_bad() ? NULL : &flag, &length);
    case 70: MAKE(MPI_Cart_sub(comm(), array(), to)); return code;
    case 71: { int index[2] = {small(), small()}; int edges[8] = {0, 1, 0, 1, small(), 0, 0, 0}; MAKE(MPI_Graph_create(comm(), small(), is_bad() ? NULL : index, is_bad() ? NULL : edges, 0, to)); return code; }
    case 72: return MPI_Graph_neighbors(comm(), small(), small(), out());
    case 73: { int around[2] = {small(), small()}; MAKE(MPI_Dist_graph_create_adjacent(comm(), count() % 3, is_bad() ? NULL : around, MPI_UNWEIGHTED, count() % 3, around, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, to)); return code; }
    case 74: return MPI_Topo_test(comm(), out());
    case 75: return MPI_Comm_rank(comm(), out());
    case 76: { MPI_Comm other = comm(); return MPI_Comm_compare(other, comm(), out()); }
    case 77: return MPI_Comm_remote_size(comm(), out());
    case 78: return MPI_Comm_get_name(comm(), is_bad() ? NULL : text, out());
    case 79: return MPI_Comm_set_name(comm(), is_bad() ? NULL : "name");
    case 80: return MPI_Error_string(number(), is_bad() ? NULL : text, &length);
    case 81: return MPI_Buffer_detach(is_bad() ? NULL : text, is_bad() ? NULL : &length);
    case 82: { MPI_Message message = garbage(); return MPI_Mrecv(into(), count(), type(), is_bad() ? NULL : &message, &status); }
    case 83: { MPI_Request request = garbage(); return MPI_Grequest_complete(request); }
    case 84: return MPI_Sendrecv(buffer(), count(), type(), 55, small(), into(), count(), type(), small(), small(), comm(), &status);
    case 85: return MPI_Type_match_size(small(), number(), out());
    case 86: NEW(types, type, MPI_Type_create_f90_real(number(), number(), to)); return code;
    case 87: {
        static const int sizes[] = {0, 64, -1, 4 * ROOM}, units[] = {1, 4, 0, -1};
        int at = below(SLOTS);
        MPI_Win made = MPI_WIN_NULL, *to = is_bad() ? NULL : &made;
        if (windows[at] != MPI_WIN_NULL) return MPI_Win_free(&windows[at]);
        code = MPI_Win_create(buffer(), sizes[below(4)], units[below(4)], MPI_INFO_NULL, comm(), to);
        if (code == MPI_SUCCESS && to) MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN), windows[at] = made;
        return code;
    }
    case 88: return MPI_Win_fence(number(), window());
    case 89: return MPI_Put(buffer(), count(), type(), small(), small(), count(), type(), window());
    case 90: return MPI_Get(into(), count(), type(), small(), number(), count(), type(), window());
    case 91: return MPI_Accumulate(buffer(), count(), type(), small(), small(), count(), type(), op(), window());
    case 92: return MPI_Fetch_and_op(buffer(), into(), type(), small(), number(), op(), window());
    case 93: return MPI_Compare_and_swap(buffer(), buffer(), into(), type(), small(), small(), window());
    case 94: { MPI_Request request = MPI_REQUEST_NULL; code = MPI_Rget(into(), count(), type(), small(), small(), count(), type(), window(), is_bad() ? NULL : &request); return code ? code : MPI_Wait(&request, &status); }
    case 95: return MPI_Win_lock(is_bad() ? number() : MPI_LOCK_SHARED, small(), 0, window());
    case 96: return MPI_Win_unlock(small(), window());
    case 97: return below(2) ? MPI_Win_lock_all(0, window()) : MPI_Win_unlock_all(window());
    case 98: return below(2) ? MPI_Win_flush(small(), window()) : MPI_Win_flush_local_all(window());
    case 99: return MPI_Win_start(below(2) ? MPI_GROUP_NULL : MPI_COMM_WORLD, 0, window());
    case 100: return MPI_Win_complete(window());
    case 101: return MPI_Win_wait(window());
    case 102: { MPI_Win none = garbage(); return MPI_Win_free(is_bad() ? NULL : &none); }
    case 103: return MPI_Win_attach(window(), buffer(), small());
    case 104: { void *value; return MPI_Win_get_attr(window(), below(2) ? MPI_WIN_SIZE : key(), is_bad() ? NULL : &value, out()); }
    case 105: KEEP(MPI_Win_get_group(window(), to)); return code;
    default: NEW(types, type, MPI_Type_dup(made(), to)); return code;
    }
}

int main(int words, char **word) {
    int rank, class, length;
    char text[MPI_MAX_ERROR_STRING];
    long calls = atol(word[2]);
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    state = atol(word[1]) * 0x9e3779b97f4a7c15u + 1;
    for (int i = 0; i < SLOTS; i++)
        comms[i] = MPI_COMM_NULL, types[i] = MPI_DATATYPE_NULL, groups[i] = MPI_GROUP_NULL, ops[i] = MPI_OP_NULL,
        infos[i] = MPI_INFO_NULL, requests[i] = MPI_REQUEST_NULL, keys[i] = MPI_KEYVAL_INVALID,
        windows[i] = MPI_WIN_NULL;
    for (long i = 0; i < calls; i++) {
        unsigned kind = below(107);
        uint64_t next = state * 0x2545f4914f6cdd1du + i;
        if (getenv("SHOW")) fprintf(stderr, "[%d] %ld: %u\n", rank, i, kind);
        int code = step(kind, rank);
        /* The ranks go on alike, whatever functions have been called on each. */
        state = next | 1;
        if (code == MPI_SUCCESS) {
            successes++;
            continue;
        }
        errors++;
        if (MPI_Error_class(code, &class) || class < 1 || class > MPI_ERR_LASTCODE) printf("call %ld: code %d\n", i, code);
        MPI_Error_string(code, text, &length);
        if (length < 1) printf("call %ld: no text for %d\n", i, code);
    }
    if (rank == 0) printf("%ld errors, %ld successes\nhostile VERIFIED\n", errors, successes);
    MPI_Finalize();
    return 0;
}
