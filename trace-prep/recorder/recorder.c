/* Records the MPI calls of an unmodified program, one file per rank and one call per line, in the format that
 * `trace-prep import` knows as liballprof. Built by `trace-prep record` with the user's mpicc, loaded by LD_PRELOAD.
 *
 * Times are the CPU time of the thread, in microseconds: the time between two calls is computing, however busy the
 * machine is. Only complete lines are written: a rank that is killed (SIGKILL) leaves a file that ends with a complete
 * line and lacks at most its last 4 KiB. A rank that ends by exit, _exit, abort, MPI_Abort, a fault (SIGSEGV and the
 * like) or a termination signal (SIGINT, SIGTERM) loses nothing. Forked child processes write nothing.
 *
 * Both names of a call, MPI_Send and PMPI_Send, lead here, and from here to the PMPI_Send of the library: programs in
 * Fortran (mpif.h, use mpi, use mpi_f08) end up at one or the other, with the arguments of C. A call within a call is
 * not recorded. Unsupported calls (unfollowed.h) are passed on unchanged and recorded by name only: the reader rejects
 * them, or counts them if they may be omitted, so that no trace is silently incomplete. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

#if MPI_VERSION < 3
#error "the recorder needs an MPI library of version 3.0 or later"
#endif
#include "log.h"

static long long type_size(MPI_Datatype type) {
    MPI_Count size = 0;
    if (type != MPI_DATATYPE_NULL) PMPI_Type_size_x(type, &size);
    return size;
}

/* Whether a call took effect. It did not if the library rejected it and returned to a program that requests that
 * (MPI_ERRORS_RETURN): its output arguments are then undefined. A message longer than its receive has arrived
 * nevertheless; if some of several requests failed, all of them were processed. */
static int done_by(int result) {
    int class = MPI_SUCCESS;
    if (result != MPI_SUCCESS) PMPI_Error_class(result, &class);
    return class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE || class == MPI_ERR_IN_STATUS;
}

/* `id,rank,size` of a communicator. */
static const char *comm_name(MPI_Comm comm, char *text) {
    int rank = 0, size = 1;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    sprintf(text, "%u,%d,%d", (unsigned)PMPI_Comm_c2f(comm), rank, size);
    return text;
}

static int peer(int rank) { return rank == MPI_ANY_SOURCE ? -1 : rank == MPI_PROC_NULL ? -2 : rank; }
static int tag_of(int tag) { return tag == MPI_ANY_TAG ? -1 : tag; }
/* Handles of MPICH have their highest bit set. */
static long long handle(MPI_Request request) { return (long long)(unsigned)PMPI_Request_c2f(request); }

/* The handles of requests before a call that may complete them, with -1 for null requests; NULL if nothing is recorded.
 * */
static long long *handles(int count, const MPI_Request *requests) {
    if (!recording()) return NULL;
    long long *all = room_for(sizeof *all * (size_t)(count > 0 ? count : 1));
    for (int i = 0; i < count; i++) all[i] = requests[i] == MPI_REQUEST_NULL ? -1 : handle(requests[i]);
    return all;
}

/* A line with a list `h;h;` of the handles other than -1. */
static void put_handles(const char *name, double t, int count, const long long *handles, const char *rest) {
    char *list = room_for((size_t)count * 22 + 2), *end = list;
    for (int i = 0; i < count; i++)
        if (handles[i] >= 0) end += sprintf(end, "%lld;", handles[i]);
    if (end == list) strcpy(list, ";");
    put_long("%s:%.3f:%d:%s:%s:%.3f\n", name, t, count, list, rest, now());
    free(list);
}

/* The library's entry point, which is the next one after this. */
static void *library(const char *name) {
    void *entry = dlsym(RTLD_NEXT, name);
    if (entry) return entry;
    fprintf(stderr, "trace-prep recorder: the MPI library has no %s\n", name);
    abort();
}

/* Begins the definition of a call, under both of its names. */
#define CALL(NAME, ...)                                                                          \
    extern __typeof__(MPI_##NAME) PMPI_##NAME __attribute__((alias("MPI_" #NAME)));              \
    int MPI_##NAME(__VA_ARGS__)

/* Calls the library. */
#define ENTRY(TYPE, NAME, ...)                         \
    ({                                                 \
        static TYPE entry;                             \
        if (!entry) entry = (TYPE)library(NAME);       \
        depth++;                                       \
        int done = entry(__VA_ARGS__);                 \
        depth--;                                       \
        done;                                          \
    })
#define LIBRARY(NAME, ...) ENTRY(__typeof__(&MPI_##NAME), "PMPI_" #NAME, ##__VA_ARGS__)

/* Makes `call` to the library and then, if it took effect, `line`, unless this is within another call. */
#define RECORD(call, line)          \
    char c[80];                     \
    double t = now();               \
    (void)c; (void)t;               \
    int result = (call);            \
    if (recording() && done_by(result)) { \
        line;                       \
    }                               \
    return result

/* Requests that the program wants to cancel. Their final status shows whether they were cancelled; only then is that
 * recorded. A request that is freed before, or never waited for, counts as cancelled. */
static long long *to_cancel;
static int called_off;
#define PUT_CANCEL(t, h) put("MPI_Cancel:%.3f:%lld:0:%.3f\n", t, h, now())

static void call_off(long long h) {
    pthread_mutex_lock(&lock);
    to_cancel = realloc(to_cancel, sizeof *to_cancel * (size_t)(called_off + 1));
    if (!to_cancel) abort();
    to_cancel[called_off++] = h;
    pthread_mutex_unlock(&lock);
}
/* Whether the request was to be cancelled; removes it from the list. */
static int was_called_off(long long h) {
    int found = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < called_off; i++)
        if (to_cancel[i] == h) {
            to_cancel[i--] = to_cancel[--called_off];
            found = 1;
        }
    pthread_mutex_unlock(&lock);
    return found;
}
/* The statuses of completed requests; our own ones if the program ignores them and some requests are to be cancelled.
 * */
static void free_own(MPI_Status **own) { free(*own); }
static MPI_Status *own_statuses(int n) {
    size_t bytes = sizeof(MPI_Status) * (size_t)(n > 0 ? n : 1);
    return memset(room_for(bytes), 0, bytes);
}
#define STATUSES(n, IGNORE)                                        \
    MPI_Status *own __attribute__((cleanup(free_own))) = NULL;     \
    if (called_off && s == IGNORE) s = own = own_statuses(n);      \
    const MPI_Status *statuses = s == IGNORE ? NULL : s
static void put_cancelled(double t, long long h, const MPI_Status *status) {
    int cancelled = 0;
    if (!called_off || !was_called_off(h) || !status) return;
    PMPI_Test_cancelled(status, &cancelled);
    if (cancelled) PUT_CANCEL(t, h);
}
static void put_all_cancelled(double t, int n, const long long *list, const MPI_Status *statuses) {
    for (int i = 0; called_off && i < n; i++)
        if (list[i] >= 0) put_cancelled(t, list[i], statuses ? &statuses[i] : NULL);
}

CALL(Init, int *argc, char ***argv) {
    int result = LIBRARY(Init, argc, argv);
    if (depth == 0 && result == MPI_SUCCESS) begin_file(now());
    return result;
}
CALL(Init_thread, int *argc, char ***argv, int required, int *provided) {
    int result = LIBRARY(Init_thread, argc, argv, required, provided);
    if (depth == 0 && result == MPI_SUCCESS) begin_file(now());
    return result;
}
CALL(Finalize, void) {
    if (depth == 0) {
        for (int i = 0; i < called_off; i++) PUT_CANCEL(now(), to_cancel[i]);
        end_file();
    }
    return LIBRARY(Finalize);
}
CALL(Abort, MPI_Comm k, int code) {
    flush_rest();
    return LIBRARY(Abort, k, code);
}

#define MESSAGE(name, buf, count, type, other, tag, comm, rest, ...)                                          \
    put("MPI_" name ":%.3f:0:%d:0,%lld,0:%d:%d:%s" rest ":%.3f\n", t, count, type_size(type), peer(other), tag_of(tag), \
        comm_name(comm, c), ##__VA_ARGS__, now())
#define SEND(NAME)                                                                                             \
    CALL(NAME, const void *b, int n, MPI_Datatype d, int p, int g, MPI_Comm k) {                               \
        RECORD(LIBRARY(NAME, b, n, d, p, g, k), MESSAGE(#NAME, b, n, d, p, g, k, ""));                         \
    }
#define WITH_REQUEST(NAME, BUFFER)                                                                             \
    CALL(NAME, BUFFER b, int n, MPI_Datatype d, int p, int g, MPI_Comm k, MPI_Request *r) {                    \
        RECORD(LIBRARY(NAME, b, n, d, p, g, k, r), MESSAGE(#NAME, b, n, d, p, g, k, ":%lld", handle(*r)));     \
    }
SEND(Send) SEND(Bsend) SEND(Ssend) SEND(Rsend)
WITH_REQUEST(Isend, const void *) WITH_REQUEST(Ibsend, const void *) WITH_REQUEST(Issend, const void *)
WITH_REQUEST(Irsend, const void *) WITH_REQUEST(Irecv, void *)

/* Persistent requests keep their handles. */
static int persistent;
#define PERSISTENT(NAME, BUFFER)                                                                               \
    CALL(NAME, BUFFER b, int n, MPI_Datatype d, int p, int g, MPI_Comm k, MPI_Request *r) {                    \
        persistent = 1;                                                                                        \
        RECORD(LIBRARY(NAME, b, n, d, p, g, k, r), MESSAGE(#NAME, b, n, d, p, g, k, ":%lld", handle(*r)));     \
    }
PERSISTENT(Send_init, const void *) PERSISTENT(Bsend_init, const void *) PERSISTENT(Ssend_init, const void *)
PERSISTENT(Rsend_init, const void *) PERSISTENT(Recv_init, void *)

CALL(Recv, void *b, int n, MPI_Datatype d, int p, int g, MPI_Comm k, MPI_Status *s) {
    RECORD(LIBRARY(Recv, b, n, d, p, g, k, s), MESSAGE("Recv", b, n, d, p, g, k, ":0"));
}
#define SENDRECV_LINE(n1, d1, p1, g1, n2, d2, p2, g2, k)                                                         \
    put("MPI_Sendrecv:%.3f:0:%d:0,%lld,0:%d:%d:0:%d:0,%lld,0:%d:%d:%s:0:%.3f\n", t, n1, type_size(d1), peer(p1), tag_of(g1), \
        n2, type_size(d2), peer(p2), tag_of(g2), comm_name(k, c), now())
CALL(Sendrecv, const void *b1, int n1, MPI_Datatype d1, int p1, int g1, void *b2, int n2, MPI_Datatype d2, int p2, int g2,
     MPI_Comm k, MPI_Status *s) {
    RECORD(LIBRARY(Sendrecv, b1, n1, d1, p1, g1, b2, n2, d2, p2, g2, k, s),
           SENDRECV_LINE(n1, d1, p1, g1, n2, d2, p2, g2, k));
}
CALL(Sendrecv_replace, void *b, int n, MPI_Datatype d, int p1, int g1, int p2, int g2, MPI_Comm k, MPI_Status *s) {
    RECORD(LIBRARY(Sendrecv_replace, b, n, d, p1, g1, p2, g2, k, s), SENDRECV_LINE(n, d, p1, g1, n, d, p2, g2, k));
}

/* A call on one request, whose handle must be read before the call; null requests are skipped. */
#define ONE_REQUEST(call, line)                                                                                \
    long long h = *r == MPI_REQUEST_NULL ? -1 : handle(*r);                                                    \
    RECORD(call, if (h >= 0) line)
#define PUT_ONE(name, h) put(name ":%.3f:%lld:0:%.3f\n", t, h, now())
static void put_wait(double t, long long h, const MPI_Status *status) {
    put_cancelled(t, h, status);
    PUT_ONE("MPI_Wait", h);
}
CALL(Wait, MPI_Request *r, MPI_Status *s) {
    STATUSES(1, MPI_STATUS_IGNORE);
    ONE_REQUEST(LIBRARY(Wait, r, s), put_wait(t, h, statuses));
}
CALL(Test, MPI_Request *r, int *flag, MPI_Status *s) {
    STATUSES(1, MPI_STATUS_IGNORE);
    ONE_REQUEST(LIBRARY(Test, r, flag, s), if (*flag) put_wait(t, h, statuses));
}
CALL(Start, MPI_Request *r) { ONE_REQUEST(LIBRARY(Start, r), PUT_ONE("MPI_Start", h)); }
CALL(Cancel, MPI_Request *r) { ONE_REQUEST(LIBRARY(Cancel, r), call_off(h)); }
CALL(Request_free, MPI_Request *r) {
    ONE_REQUEST(LIBRARY(Request_free, r), {
        if (was_called_off(h)) PUT_CANCEL(t, h);
        PUT_ONE("MPI_Request_free", h);
    });
}

/* The same for several requests. */
#define REQUESTS(call, line)                                              \
    long long *list = handles(n, r);                                      \
    double t = now();                                                     \
    int result = (call);                                                  \
    if (list && done_by(result)) {                                                           \
        line;                                                             \
    }                                                                     \
    free(list);                                                           \
    return result
CALL(Startall, int n, MPI_Request *r) {
    REQUESTS(LIBRARY(Startall, n, r), put_handles("MPI_Startall", t, n, list, "0"));
}
static void put_all(double t, int n, const long long *list, const MPI_Status *statuses) {
    put_all_cancelled(t, n, list, statuses);
    put_handles("MPI_Waitall", t, n, list, "0");
}
CALL(Waitall, int n, MPI_Request *r, MPI_Status *s) {
    STATUSES(n, MPI_STATUSES_IGNORE);
    REQUESTS(LIBRARY(Waitall, n, r, s), put_all(t, n, list, statuses));
}
CALL(Testall, int n, MPI_Request *r, int *flag, MPI_Status *s) {
    STATUSES(n, MPI_STATUSES_IGNORE);
    REQUESTS(LIBRARY(Testall, n, r, flag, s), if (*flag) put_all(t, n, list, statuses));
}
/* False for MPI_UNDEFINED. */
#define WITHIN(index, n) ((index) >= 0 && (index) < (n))
/* The handles of persistent requests do not show whether they have completed, and a request to be cancelled may not
 * become an event of the trace: in these cases the line waits for the completed one. */
CALL(Waitany, int n, MPI_Request *r, int *index, MPI_Status *s) {
    STATUSES(1, MPI_STATUS_IGNORE);
    REQUESTS(LIBRARY(Waitany, n, r, index, s),
             if (WITHIN(*index, n) && !persistent && !called_off) put_handles("MPI_Waitany", t, n, list, "0:0");
             else if (WITHIN(*index, n)) put_wait(t, list[*index], statuses));
}
CALL(Testany, int n, MPI_Request *r, int *index, int *flag, MPI_Status *s) {
    STATUSES(1, MPI_STATUS_IGNORE);
    REQUESTS(LIBRARY(Testany, n, r, index, flag, s),
             if (*flag && WITHIN(*index, n)) put_wait(t, list[*index], statuses));
}
/* A wait for some requests is recorded as a wait for all that it completed. */
static void put_some(double t, int n, const long long *all, int count, const int *indices, const MPI_Status *statuses) {
    if (!WITHIN(count - 1, n)) return;
    long long *done = room_for(sizeof *done * (size_t)count);
    for (int i = 0; i < count; i++) done[i] = WITHIN(indices[i], n) ? all[indices[i]] : -1;
    put_all(t, count, done, statuses);
    free(done);
}
CALL(Waitsome, int n, MPI_Request *r, int *count, int *indices, MPI_Status *s) {
    STATUSES(n, MPI_STATUSES_IGNORE);
    REQUESTS(LIBRARY(Waitsome, n, r, count, indices, s), put_some(t, n, list, *count, indices, statuses));
}
CALL(Testsome, int n, MPI_Request *r, int *count, int *indices, MPI_Status *s) {
    STATUSES(n, MPI_STATUSES_IGNORE);
    REQUESTS(LIBRARY(Testsome, n, r, count, indices, s), put_some(t, n, list, *count, indices, statuses));
}

CALL(Barrier, MPI_Comm k) {
    RECORD(LIBRARY(Barrier, k), put("MPI_Barrier:%.3f:%s:%.3f\n", t, comm_name(k, c), now()));
}
CALL(Bcast, void *b, int n, MPI_Datatype d, int root, MPI_Comm k) {
    RECORD(LIBRARY(Bcast, b, n, d, root, k),
           put("MPI_Bcast:%.3f:0:%d:0,%lld,0:%d:%s:%.3f\n", t, n, type_size(d), root, comm_name(k, c), now()));
}
CALL(Reduce, const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, int root, MPI_Comm k) {
    RECORD(LIBRARY(Reduce, a, b, n, d, o, root, k),
           put("MPI_Reduce:%.3f:0:0:%d:0,%lld,0:0:%d:%s:%.3f\n", t, n, type_size(d), root, comm_name(k, c), now()));
}
#define REDUCTION(NAME)                                                                                            \
    CALL(NAME, const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm k) {                              \
        RECORD(LIBRARY(NAME, a, b, n, d, o, k),                                                                    \
               put("MPI_" #NAME ":%.3f:0:0:%d:0,%lld,0:0:%s:%.3f\n", t, n, type_size(d), comm_name(k, c), now()));   \
    }
REDUCTION(Allreduce) REDUCTION(Scan) REDUCTION(Exscan)
/* With MPI_IN_PLACE the arguments of the send side are meaningless: those of the receive side apply to both. */
#define BOTH(NAME)                                                                                                 \
    CALL(NAME, const void *a, int n, MPI_Datatype d, void *b, int m, MPI_Datatype e, MPI_Comm k) {                 \
        RECORD(LIBRARY(NAME, a, n, d, b, m, e, k),                                                                 \
               if (a == MPI_IN_PLACE) { n = m; d = e; }                                                            \
               put("MPI_" #NAME ":%.3f:0:%d:0,%lld,0:0:%d:0,%lld,0:%s:%.3f\n", t, n, type_size(d), m, type_size(e),    \
                   comm_name(k, c), now()));                                                                       \
    }
BOTH(Alltoall) BOTH(Allgather)

static int size_of(MPI_Comm k) { int size = 0; PMPI_Comm_size(k, &size); return size; }
static int is_root(int root, MPI_Comm k) { int rank = 0; PMPI_Comm_rank(k, &rank); return rank == root; }

/* One side of a collective, `n;n;...:datatype`: blocks of one datatype, or blocks with their own datatypes, in bytes.
 * */
static char *blocks(int count, const int *counts, MPI_Datatype type, const MPI_Datatype *types) {
    char *text = room_for((size_t)count * 22 + 40), *end = text;
    for (int i = 0; i < count; i++)
        end += sprintf(end, i ? ";%lld" : "%lld", (long long)counts[i] * (types ? type_size(types[i]) : 1));
    sprintf(end, count ? ":0,%lld,0" : "0:0,0,0", types ? 1LL : type_size(type));
    return text;
}
#define ONE(n, d) blocks(1, &n, d, NULL)
#define EACH(n, d) blocks(size_of(k), n, d, NULL)
/* A side without meaning. */
#define NONE blocks(0, NULL, MPI_DATATYPE_NULL, NULL)

/* Only the root has the arguments of its other side; data in place are not sent. */
static void put_rooted(const char *name, double t, char *send, char *receive, int root, MPI_Comm k) {
    char c[80];
    put_long("%s:%.3f:0:%s:0:%s:%d:%s:%.3f\n", name, t, send, receive, root, comm_name(k, c), now());
    free(send);
    free(receive);
}
CALL(Gather, const void *a, int n, MPI_Datatype d, void *b, int m, MPI_Datatype e, int root, MPI_Comm k) {
    RECORD(LIBRARY(Gather, a, n, d, b, m, e, root, k),
           put_rooted("MPI_Gather", t, a == MPI_IN_PLACE ? NONE : ONE(n, d), is_root(root, k) ? ONE(m, e) : NONE, root, k));
}
CALL(Gatherv, const void *a, int n, MPI_Datatype d, void *b, const int *m, const int *y, MPI_Datatype e, int root,
     MPI_Comm k) {
    RECORD(LIBRARY(Gatherv, a, n, d, b, m, y, e, root, k),
           put_rooted("MPI_Gatherv", t, a == MPI_IN_PLACE ? NONE : ONE(n, d), is_root(root, k) ? EACH(m, e) : NONE, root, k));
}
CALL(Scatter, const void *a, int n, MPI_Datatype d, void *b, int m, MPI_Datatype e, int root, MPI_Comm k) {
    RECORD(LIBRARY(Scatter, a, n, d, b, m, e, root, k),
           put_rooted("MPI_Scatter", t, is_root(root, k) ? ONE(n, d) : NONE, b == MPI_IN_PLACE ? NONE : ONE(m, e), root, k));
}
CALL(Scatterv, const void *a, const int *n, const int *x, MPI_Datatype d, void *b, int m, MPI_Datatype e, int root,
     MPI_Comm k) {
    RECORD(LIBRARY(Scatterv, a, n, x, d, b, m, e, root, k),
           put_rooted("MPI_Scatterv", t, is_root(root, k) ? EACH(n, d) : NONE, b == MPI_IN_PLACE ? NONE : ONE(m, e), root, k));
}

/* A call with a block for each rank of the communicator. */
static void put_table(const char *name, double t, char *table, MPI_Comm k) {
    char c[80];
    put_long("%s:%.3f:0:%s:%s:%.3f\n", name, t, table, comm_name(k, c), now());
    free(table);
}
CALL(Alltoallv, const void *a, const int *n, const int *x, MPI_Datatype d, void *b, const int *m, const int *y,
     MPI_Datatype e, MPI_Comm k) {
    RECORD(LIBRARY(Alltoallv, a, n, x, d, b, m, y, e, k),
           put_table("MPI_Alltoallv", t, a == MPI_IN_PLACE ? EACH(m, e) : EACH(n, d), k));
}
CALL(Alltoallw, const void *a, const int *n, const int *x, const MPI_Datatype *d, void *b, const int *m, const int *y,
     const MPI_Datatype *e, MPI_Comm k) {
    RECORD(LIBRARY(Alltoallw, a, n, x, d, b, m, y, e, k),
           if (a == MPI_IN_PLACE) { n = m; d = e; }
           put_table("MPI_Alltoallv", t, blocks(size_of(k), n, MPI_DATATYPE_NULL, d), k));
}
CALL(Allgatherv, const void *a, int n, MPI_Datatype d, void *b, const int *m, const int *y, MPI_Datatype e, MPI_Comm k) {
    RECORD(LIBRARY(Allgatherv, a, n, d, b, m, y, e, k), put_table("MPI_Allgatherv", t, EACH(m, e), k));
}
CALL(Reduce_scatter, const void *a, void *b, const int *m, MPI_Datatype d, MPI_Op o, MPI_Comm k) {
    RECORD(LIBRARY(Reduce_scatter, a, b, m, d, o, k), put_table("MPI_Reduce_scatter", t, EACH(m, d), k));
}
static void put_equal(double t, int n, MPI_Datatype d, MPI_Comm k) {
    int size = size_of(k), *equal = room_for(sizeof *equal * (size_t)size);
    for (int i = 0; i < size; i++) equal[i] = n;
    put_table("MPI_Reduce_scatter", t, EACH(equal, d), k);
    free(equal);
}
CALL(Reduce_scatter_block, const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm k) {
    RECORD(LIBRARY(Reduce_scatter_block, a, b, n, d, o, k), put_equal(t, n, d, k));
}

/* Every derivation of a communicator is recorded as a split: the colour is the rank, in the old communicator, of the
 * first member of the new one; the key is the rank in the new one. */
static void put_created(double t, MPI_Comm old, MPI_Comm new) {
    char c[80];
    int color = -1, key = 0, first = 0;
    unsigned id = 0;
    if (new != MPI_COMM_NULL) {
        MPI_Group a, b;
        PMPI_Comm_group(new, &a);
        PMPI_Comm_group(old, &b);
        PMPI_Group_translate_ranks(a, 1, &first, b, &color);
        PMPI_Group_free(&a);
        PMPI_Group_free(&b);
        PMPI_Comm_rank(new, &key);
        id = (unsigned)PMPI_Comm_c2f(new);
    }
    put("MPI_Comm_split:%.3f:%s:%d:%d:%u:%.3f\n", t, comm_name(old, c), color, key, id, now());
}
CALL(Comm_split, MPI_Comm k, int color, int key, MPI_Comm *new) {
    RECORD(LIBRARY(Comm_split, k, color, key, new), put_created(t, k, *new));
}
CALL(Comm_split_type, MPI_Comm k, int type, int key, MPI_Info i, MPI_Comm *new) {
    RECORD(LIBRARY(Comm_split_type, k, type, key, i, new), put_created(t, k, *new));
}
CALL(Comm_dup, MPI_Comm k, MPI_Comm *new) { RECORD(LIBRARY(Comm_dup, k, new), put_created(t, k, *new)); }
CALL(Comm_dup_with_info, MPI_Comm k, MPI_Info i, MPI_Comm *new) {
    RECORD(LIBRARY(Comm_dup_with_info, k, i, new), put_created(t, k, *new));
}
CALL(Comm_create, MPI_Comm k, MPI_Group g, MPI_Comm *new) {
    RECORD(LIBRARY(Comm_create, k, g, new), put_created(t, k, *new));
}
CALL(Cart_create, MPI_Comm k, int n, const int *sizes, const int *round, int reorder, MPI_Comm *new) {
    RECORD(LIBRARY(Cart_create, k, n, sizes, round, reorder, new), put_created(t, k, *new));
}
CALL(Cart_sub, MPI_Comm k, const int *keep, MPI_Comm *new) {
    RECORD(LIBRARY(Cart_sub, k, keep, new), put_created(t, k, *new));
}
CALL(Graph_create, MPI_Comm k, int n, const int *index, const int *edges, int reorder, MPI_Comm *new) {
    RECORD(LIBRARY(Graph_create, k, n, index, edges, reorder, new), put_created(t, k, *new));
}
CALL(Dist_graph_create, MPI_Comm k, int n, const int *from, const int *degrees, const int *to, const int *weights, MPI_Info i,
     int reorder, MPI_Comm *new) {
    RECORD(LIBRARY(Dist_graph_create, k, n, from, degrees, to, weights, i, reorder, new), put_created(t, k, *new));
}
CALL(Dist_graph_create_adjacent, MPI_Comm k, int n, const int *from, const int *weights, int m, const int *to,
     const int *others, MPI_Info i, int reorder, MPI_Comm *new) {
    RECORD(LIBRARY(Dist_graph_create_adjacent, k, n, from, weights, m, to, others, i, reorder, new), put_created(t, k, *new));
}

/* Calls that are passed on unchanged: each argument is a word, since none is a floating-point number or a structure. So
 * the list may contain calls that the library does not have. */
_Static_assert(sizeof(long) >= sizeof(void *) && sizeof(long) >= sizeof(MPI_Offset), "arguments are words of 64 bits");
#define WORDS_1 long a1
#define WORDS_2 WORDS_1, long a2
#define WORDS_3 WORDS_2, long a3
#define WORDS_4 WORDS_3, long a4
#define WORDS_5 WORDS_4, long a5
#define WORDS_6 WORDS_5, long a6
#define WORDS_7 WORDS_6, long a7
#define WORDS_8 WORDS_7, long a8
#define WORDS_9 WORDS_8, long a9
#define WORDS_10 WORDS_9, long a10
#define WORDS_11 WORDS_10, long a11
#define WORDS_12 WORDS_11, long a12
#define WORDS_13 WORDS_12, long a13
#define NAMES_1 a1
#define NAMES_2 NAMES_1, a2
#define NAMES_3 NAMES_2, a3
#define NAMES_4 NAMES_3, a4
#define NAMES_5 NAMES_4, a5
#define NAMES_6 NAMES_5, a6
#define NAMES_7 NAMES_6, a7
#define NAMES_8 NAMES_7, a8
#define NAMES_9 NAMES_8, a9
#define NAMES_10 NAMES_9, a10
#define NAMES_11 NAMES_10, a11
#define NAMES_12 NAMES_11, a12
#define NAMES_13 NAMES_12, a13
#define PASS_ON(NAME, COUNT, before, after)                                                               \
    int passed_##NAME(WORDS_##COUNT) __asm__(#NAME);                                                      \
    extern __typeof__(passed_##NAME) passed_P##NAME __asm__("P" #NAME) __attribute__((alias(#NAME)));     \
    int passed_##NAME(WORDS_##COUNT) {                                                                    \
        double t = now();                                                                                 \
        (void)t;                                                                                          \
        before;                                                                                           \
        int result = ENTRY(__typeof__(&passed_##NAME), "P" #NAME, NAMES_##COUNT);                         \
        after;                                                                                            \
        return result;                                                                                    \
    }
#define UNFOLLOWED(NAME, COUNT) PASS_ON(NAME, COUNT, refuse(#NAME), )
#define EXTENSION(NAME, COUNT) UNFOLLOWED(NAME, COUNT)
#define MPI_4(NAME, COUNT) UNFOLLOWED(NAME, COUNT)
#define LEFT_OUT(NAME, COUNT) PASS_ON(NAME, COUNT, , put_name(#NAME, t))
#define LEFT_OUT_4(NAME, COUNT) LEFT_OUT(NAME, COUNT)
#include "unfollowed.h"
