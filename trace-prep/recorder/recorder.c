/* Records the MPI calls of an unmodified program, one file per rank and one call per line, in the format that
 * `trace-prep import` knows as liballprof. Built by `trace-prep record` with the user's mpicc, loaded by LD_PRELOAD.
 *
 * Times are the processor time of the thread, in microseconds: what passes between two calls is computing, however busy
 * the machine is. Lines are written whole: a rank that is killed (SIGKILL) leaves a file that ends with a line, without its
 * last 4 KiB. One that ends by exit, _exit, abort, MPI_Abort, a fault (SIGSEGV and the like), or a signal that asks it to
 * (SIGINT, SIGTERM) leaves everything; processes that it has forked write nothing.
 *
 * Calls from C and from Fortran (mpif.h, use mpi) are seen; Fortran's entry points call the library's own, and a call
 * within a call is not written twice. Persistent and non-blocking collective operations are written down as calls that
 * the reader refuses, so that no trace is silently incomplete. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int file = -1;
/* The process that records: what it has forked has a copy of the buffer. */
static pid_t owner;
static char buffer[1 << 16];
static size_t used;
static __thread int depth;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

/* A signal that asks to end waits until what is being written is whole. */
static volatile sig_atomic_t writing, asked;

static void leave(int number) {
    signal(number, SIG_DFL);
    raise(number);
}

/* Writes to the file; returns whether that went well. */
static int write_all(const char *bytes, size_t length) {
    for (size_t done = 0; file >= 0 && done < length;) {
        ssize_t n = write(file, bytes + done, length - done);
        if (n > 0) done += (size_t)n;
        else if (n == 0 || errno != EINTR) file = -1;
    }
    return file >= 0;
}

static void flush_with(const char *line, size_t length) {
    int was_open = file >= 0;
    writing = 1;
    write_all(buffer, used);
    used = 0;
    if (!write_all(line, length) && was_open) perror("trace-prep recorder: cannot write");
    writing = 0;
    if (asked) leave(asked);
}

static void flush(void) { flush_with("", 0); }

static void on_signal(int number) {
    if (writing) {
        asked = number;
        return;
    }
    write_all(buffer, used);
    used = 0;
    /* Some launchers pass the signal on rank by rank, and kill the others when the first one has gone. */
    poll(NULL, 0, 200);
    leave(number);
}

/* Not where the program, or its MPI library, does something of its own. */
static void listen_to(int number) {
    struct sigaction there, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    if (sigaction(number, NULL, &there) == 0 && !(there.sa_flags & SA_SIGINFO) && there.sa_handler == SIG_DFL)
        sigaction(number, &ours, NULL);
}

/* Writes what is complete, whatever the program was doing: a line counts as used once it is. Safe within a signal handler. */
static void flush_rest(void) {
    if (writing || getpid() != owner) return;
    writing = 1;
    write_all(buffer, used);
    used = 0;
    writing = 0;
}

/* What ends the process at once. The handler that was there before comes next: that of the program, or of its MPI library. */
static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { FATAL = sizeof fatal / sizeof *fatal };
static struct sigaction before[FATAL];

static void on_fatal(int number, siginfo_t *info, void *context) {
    (void)context;
    flush_rest();
    for (int i = 0; i < FATAL; i++)
        if (fatal[i] == number) sigaction(number, &before[i], NULL);
    /* A fault comes again by itself, with its address; what was sent, by abort for one, is sent again. */
    if (info->si_code <= 0) raise(number);
}

static void listen_to_fatal(void) {
    /* Where a stack has overflown there is no room for a handler on it. */
    static char room[1 << 16];
    stack_t there, ours = {.ss_sp = room, .ss_size = sizeof room};
    if (sigaltstack(NULL, &there) == 0 && (there.ss_flags & SS_DISABLE)) sigaltstack(&ours, NULL);
    for (int i = 0; i < FATAL; i++) {
        struct sigaction action = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        if (sigaction(fatal[i], NULL, &before[i]) == 0) sigaction(fatal[i], &action, NULL);
    }
}

/* Ends without what exit does. */
void _exit(int code) {
    flush_rest();
    for (;;) syscall(SYS_exit_group, code);
}
void _Exit(int code) { _exit(code); }

__attribute__((destructor)) static void at_exit(void) { flush_rest(); }

static void put(const char *format, ...) {
    for (int attempt = 0; attempt < 2 && file >= 0; attempt++) {
        va_list arguments;
        va_start(arguments, format);
        int n = vsnprintf(buffer + used, sizeof buffer - used, format, arguments);
        va_end(arguments);
        if (n >= 0 && (size_t)n < sizeof buffer - used) {
            used += (size_t)n;
            /* What a killed rank loses. */
            if (used > 4096) flush();
            return;
        }
        flush();
    }
}

/* A long line: written in full, after what is in the buffer. */
static void put_long(char *line) {
    size_t length = strlen(line);
    if (length < sizeof buffer / 2) {
        put("%s", line);
    } else {
        flush_with(line, length);
    }
    free(line);
}

static void begin_file(double t) {
    const char *folder = getenv("TRACE_PREP_RECORD");
    int rank = 0;
    if (!folder || file >= 0) return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[4096];
    snprintf(name, sizeof name, "%s/rank-%d.txt", folder, rank);
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) perror(name);
    put("MPI_Init:-:0:0:%.3f\n", t);
    owner = getpid();
    flush();
    listen_to(SIGINT);
    listen_to(SIGTERM);
    listen_to_fatal();
}

static int type_size(MPI_Datatype type) {
    int size = 0;
    if (type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &size);
    return size;
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

/* `h;h;` of the requests that are not null. */
static char *handles(int count, const MPI_Request *requests) {
    char *text = malloc((size_t)count * 22 + 2), *end = text;
    if (!text) abort();
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL) end += sprintf(end, "%lld;", handle(requests[i]));
    if (end == text) strcpy(text, ";");
    return text;
}

static char *counts_of(int count, const int *counts) {
    char *text = malloc((size_t)count * 12 + 2), *end = text;
    if (!text) abort();
    *text = 0;
    for (int i = 0; i < count; i++) end += sprintf(end, i ? ";%d" : "%d", counts[i]);
    return text;
}

/* A wait: line with the handles as they were before it. */
static void put_wait(const char *name, double t, int count, const char *list, const char *rest) {
    size_t room = strlen(list) + 200;
    char *line = malloc(room);
    if (!line) abort();
    snprintf(line, room, "%s:%.3f:%d:%s:%s:%.3f\n", name, t, count, list, rest, now());
    put_long(line);
}

/* Runs `call` of the library and then `line`, unless this is within another call. */
#define RECORD(call, line)          \
    char c[80];                     \
    double t = now();               \
    (void)c; (void)t;               \
    depth++;                        \
    int result = (call);            \
    depth--;                        \
    if (depth == 0 && file >= 0) {  \
        line;                       \
    }                               \
    return result

int MPI_Init(int *argc, char ***argv) {
    depth++;
    int result = PMPI_Init(argc, argv);
    depth--;
    if (depth == 0) begin_file(now());
    return result;
}
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    depth++;
    int result = PMPI_Init_thread(argc, argv, required, provided);
    depth--;
    if (depth == 0) begin_file(now());
    return result;
}
static void end_file(void) {
    put("MPI_Finalize:%.3f:-\n", now());
    flush();
    if (file >= 0) close(file);
    file = -1;
}
int MPI_Finalize(void) {
    if (depth == 0) end_file();
    depth++;
    int result = PMPI_Finalize();
    depth--;
    return result;
}

int MPI_Abort(MPI_Comm k, int code) {
    flush();
    return PMPI_Abort(k, code);
}

#define MESSAGE(name, buf, count, type, other, tag, comm, rest, ...)                                          \
    put("MPI_" name ":%.3f:0:%d:0,%d,0:%d:%d:%s" rest ":%.3f\n", t, count, type_size(type), peer(other), tag_of(tag), \
        comm_name(comm, c), ##__VA_ARGS__, now())
#define SEND(NAME)                                                                                             \
    int MPI_##NAME(const void *b, int n, MPI_Datatype d, int p, int g, MPI_Comm k) {                          \
        RECORD(PMPI_##NAME(b, n, d, p, g, k), MESSAGE(#NAME, b, n, d, p, g, k, ""));                          \
    }
#define ISEND(NAME)                                                                                            \
    int MPI_##NAME(const void *b, int n, MPI_Datatype d, int p, int g, MPI_Comm k, MPI_Request *r) {          \
        RECORD(PMPI_##NAME(b, n, d, p, g, k, r), MESSAGE(#NAME, b, n, d, p, g, k, ":%lld", handle(*r)));      \
    }
SEND(Send) SEND(Bsend) SEND(Ssend) SEND(Rsend)
ISEND(Isend) ISEND(Ibsend) ISEND(Issend) ISEND(Irsend)

int MPI_Recv(void *b, int n, MPI_Datatype d, int p, int g, MPI_Comm k, MPI_Status *s) {
    RECORD(PMPI_Recv(b, n, d, p, g, k, s), MESSAGE("Recv", b, n, d, p, g, k, ":0"));
}
int MPI_Irecv(void *b, int n, MPI_Datatype d, int p, int g, MPI_Comm k, MPI_Request *r) {
    RECORD(PMPI_Irecv(b, n, d, p, g, k, r), MESSAGE("Irecv", b, n, d, p, g, k, ":%lld", handle(*r)));
}
#define SENDRECV_LINE(n1, d1, p1, g1, n2, d2, p2, g2, k)                                                         \
    put("MPI_Sendrecv:%.3f:0:%d:0,%d,0:%d:%d:0:%d:0,%d,0:%d:%d:%s:0:%.3f\n", t, n1, type_size(d1), peer(p1), tag_of(g1), \
        n2, type_size(d2), peer(p2), tag_of(g2), comm_name(k, c), now())
int MPI_Sendrecv(const void *b1, int n1, MPI_Datatype d1, int p1, int g1, void *b2, int n2, MPI_Datatype d2, int p2,
                 int g2, MPI_Comm k, MPI_Status *s) {
    RECORD(PMPI_Sendrecv(b1, n1, d1, p1, g1, b2, n2, d2, p2, g2, k, s),
           SENDRECV_LINE(n1, d1, p1, g1, n2, d2, p2, g2, k));
}

int MPI_Wait(MPI_Request *r, MPI_Status *s) {
    long long h = handle(*r);
    int real = *r != MPI_REQUEST_NULL;
    RECORD(PMPI_Wait(r, s), if (real) put("MPI_Wait:%.3f:%lld:0:%.3f\n", t, h, now()));
}
int MPI_Test(MPI_Request *r, int *flag, MPI_Status *s) {
    long long h = handle(*r);
    int real = *r != MPI_REQUEST_NULL;
    RECORD(PMPI_Test(r, flag, s), if (real && *flag) put("MPI_Wait:%.3f:%lld:0:%.3f\n", t, h, now()));
}

/* A call that waits for several requests, whose handles must be noted before it. */
#define WAITS(name, call, when)                                           \
    char *list = depth == 0 && file >= 0 ? handles(n, r) : NULL;          \
    double t = now();                                                     \
    depth++;                                                              \
    int result = (call);                                                  \
    depth--;                                                              \
    if (list && (when)) put_wait(name, t, n, list, "0");                  \
    free(list);                                                           \
    return result
int MPI_Waitall(int n, MPI_Request *r, MPI_Status *s) { WAITS("MPI_Waitall", PMPI_Waitall(n, r, s), 1); }
int MPI_Testall(int n, MPI_Request *r, int *flag, MPI_Status *s) {
    WAITS("MPI_Waitall", PMPI_Testall(n, r, flag, s), *flag);
}
int MPI_Waitany(int n, MPI_Request *r, int *index, MPI_Status *s) {
    char *list = depth == 0 && file >= 0 ? handles(n, r) : NULL;
    double t = now();
    depth++;
    int result = PMPI_Waitany(n, r, index, s);
    depth--;
    if (list && *index != MPI_UNDEFINED) put_wait("MPI_Waitany", t, n, list, "0:0");
    free(list);
    return result;
}
/* What a wait for some has completed is written as a wait for all of those. */
static int some(int (*call)(int, MPI_Request *, int *, int *, MPI_Status *), int n, MPI_Request *r, int *outcount,
                int *indices, MPI_Status *s) {
    MPI_Request *before = malloc(sizeof *before * (size_t)(n + 1)), *done = malloc(sizeof *done * (size_t)(n + 1));
    if (!before || !done) abort();
    memcpy(before, r, sizeof *before * (size_t)n);
    double t = now();
    depth++;
    int result = call(n, r, outcount, indices, s);
    depth--;
    if (depth == 0 && file >= 0 && *outcount != MPI_UNDEFINED && *outcount > 0) {
        for (int i = 0; i < *outcount; i++) done[i] = before[indices[i]];
        char *list = handles(*outcount, done);
        put_wait("MPI_Waitall", t, *outcount, list, "0");
        free(list);
    }
    free(before);
    free(done);
    return result;
}
int MPI_Waitsome(int n, MPI_Request *r, int *outcount, int *indices, MPI_Status *s) {
    return some(PMPI_Waitsome, n, r, outcount, indices, s);
}
int MPI_Testsome(int n, MPI_Request *r, int *outcount, int *indices, MPI_Status *s) {
    return some(PMPI_Testsome, n, r, outcount, indices, s);
}

int MPI_Barrier(MPI_Comm k) {
    RECORD(PMPI_Barrier(k), put("MPI_Barrier:%.3f:%s:%.3f\n", t, comm_name(k, c), now()));
}
int MPI_Bcast(void *b, int n, MPI_Datatype d, int root, MPI_Comm k) {
    RECORD(PMPI_Bcast(b, n, d, root, k),
           put("MPI_Bcast:%.3f:0:%d:0,%d,0:%d:%s:%.3f\n", t, n, type_size(d), root, comm_name(k, c), now()));
}
int MPI_Reduce(const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, int root, MPI_Comm k) {
    RECORD(PMPI_Reduce(a, b, n, d, o, root, k),
           put("MPI_Reduce:%.3f:0:0:%d:0,%d,0:0:%d:%s:%.3f\n", t, n, type_size(d), root, comm_name(k, c), now()));
}
#define REDUCTION(NAME)                                                                                            \
    int MPI_##NAME(const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm k) {                          \
        RECORD(PMPI_##NAME(a, b, n, d, o, k),                                                                      \
               put("MPI_" #NAME ":%.3f:0:0:%d:0,%d,0:0:%s:%.3f\n", t, n, type_size(d), comm_name(k, c), now()));   \
    }
REDUCTION(Allreduce) REDUCTION(Scan) REDUCTION(Exscan)
/* With MPI_IN_PLACE the arguments of the send side mean nothing: those of the receive side hold for both. */
#define BOTH(NAME)                                                                                                 \
    int MPI_##NAME(const void *a, int n, MPI_Datatype d, void *b, int m, MPI_Datatype e, MPI_Comm k) {             \
        RECORD(PMPI_##NAME(a, n, d, b, m, e, k),                                                                   \
               if (a == MPI_IN_PLACE) { n = m; d = e; }                                                            \
               put("MPI_" #NAME ":%.3f:0:%d:0,%d,0:0:%d:0,%d,0:%s:%.3f\n", t, n, type_size(d), m, type_size(e),    \
                   comm_name(k, c), now()));                                                                       \
    }
BOTH(Alltoall) BOTH(Allgather)
static int own_rank(MPI_Comm k) { int rank = 0; PMPI_Comm_rank(k, &rank); return rank; }
/* Only the root looks at the arguments of its other side. */
int MPI_Gather(const void *a, int n, MPI_Datatype d, void *b, int m, MPI_Datatype e, int root, MPI_Comm k) {
    RECORD(PMPI_Gather(a, n, d, b, m, e, root, k),
           int at_root = own_rank(k) == root;
           put("MPI_Gather:%.3f:0:%d:0,%d,0:0:%d:0,%d,0:%d:%s:%.3f\n", t, a == MPI_IN_PLACE ? 0 : n,
               a == MPI_IN_PLACE ? 0 : type_size(d), at_root ? m : 0, at_root ? type_size(e) : 0, root, comm_name(k, c),
               now()));
}
int MPI_Scatter(const void *a, int n, MPI_Datatype d, void *b, int m, MPI_Datatype e, int root, MPI_Comm k) {
    RECORD(PMPI_Scatter(a, n, d, b, m, e, root, k),
           int at_root = own_rank(k) == root;
           put("MPI_Scatter:%.3f:0:%d:0,%d,0:0:%d:0,%d,0:%d:%s:%.3f\n", t, at_root ? n : 0, at_root ? type_size(d) : 0,
               b == MPI_IN_PLACE ? 0 : m, b == MPI_IN_PLACE ? 0 : type_size(e), root, comm_name(k, c), now()));
}
/* A call with a table of counts for the ranks of the communicator. */
static void put_table(const char *name, double t, const int *counts, MPI_Datatype d, MPI_Comm k) {
    int size = 0;
    char c[80];
    PMPI_Comm_size(k, &size);
    char *list = counts_of(size, counts);
    size_t room = strlen(list) + 200;
    char *line = malloc(room);
    if (!line) abort();
    snprintf(line, room, "%s:%.3f:0:%s:0,%d,0:%s:%.3f\n", name, t, list, type_size(d), comm_name(k, c), now());
    free(list);
    put_long(line);
}
int MPI_Alltoallv(const void *a, const int *n, const int *x, MPI_Datatype d, void *b, const int *m, const int *y,
                  MPI_Datatype e, MPI_Comm k) {
    RECORD(PMPI_Alltoallv(a, n, x, d, b, m, y, e, k),
           put_table("MPI_Alltoallv", t, a == MPI_IN_PLACE ? m : n, a == MPI_IN_PLACE ? e : d, k));
}
int MPI_Allgatherv(const void *a, int n, MPI_Datatype d, void *b, const int *m, const int *y, MPI_Datatype e,
                   MPI_Comm k) {
    RECORD(PMPI_Allgatherv(a, n, d, b, m, y, e, k), put_table("MPI_Allgatherv", t, m, e, k));
}
int MPI_Reduce_scatter(const void *a, void *b, const int *m, MPI_Datatype d, MPI_Op o, MPI_Comm k) {
    RECORD(PMPI_Reduce_scatter(a, b, m, d, o, k), put_table("MPI_Reduce_scatter", t, m, d, k));
}

/* However a communicator was made of another, it is written as a split: the colour is the rank, in the old one, of the
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
int MPI_Comm_split(MPI_Comm k, int color, int key, MPI_Comm *new) {
    RECORD(PMPI_Comm_split(k, color, key, new), put_created(t, k, *new));
}
int MPI_Comm_split_type(MPI_Comm k, int type, int key, MPI_Info i, MPI_Comm *new) {
    RECORD(PMPI_Comm_split_type(k, type, key, i, new), put_created(t, k, *new));
}
int MPI_Comm_dup(MPI_Comm k, MPI_Comm *new) { RECORD(PMPI_Comm_dup(k, new), put_created(t, k, *new)); }
int MPI_Comm_create(MPI_Comm k, MPI_Group g, MPI_Comm *new) {
    RECORD(PMPI_Comm_create(k, g, new), put_created(t, k, *new));
}
int MPI_Cart_create(MPI_Comm k, int n, const int *dims, const int *periods, int reorder, MPI_Comm *new) {
    RECORD(PMPI_Cart_create(k, n, dims, periods, reorder, new), put_created(t, k, *new));
}
int MPI_Cart_sub(MPI_Comm k, const int *keep, MPI_Comm *new) {
    RECORD(PMPI_Cart_sub(k, keep, new), put_created(t, k, *new));
}

/* Not followed: the reader refuses these lines. */
#define REFUSED(NAME) put("MPI_" NAME ":%.3f:%.3f\n", t, now())
int MPI_Start(MPI_Request *r) { RECORD(PMPI_Start(r), REFUSED("Start")); }
int MPI_Startall(int n, MPI_Request *r) { RECORD(PMPI_Startall(n, r), REFUSED("Startall")); }
int MPI_Ibarrier(MPI_Comm k, MPI_Request *r) { RECORD(PMPI_Ibarrier(k, r), REFUSED("Ibarrier")); }
int MPI_Ibcast(void *b, int n, MPI_Datatype d, int root, MPI_Comm k, MPI_Request *r) {
    RECORD(PMPI_Ibcast(b, n, d, root, k, r), REFUSED("Ibcast"));
}
int MPI_Iallreduce(const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm k, MPI_Request *r) {
    RECORD(PMPI_Iallreduce(a, b, n, d, o, k, r), REFUSED("Iallreduce"));
}

/* Fortran: handles are numbers, arguments are addresses, and the library's own profiling entry does the work. */
typedef MPI_Fint F;
#define K(f) PMPI_Comm_f2c(*(f))
#define D(f) PMPI_Type_f2c(*(f))
#define WEAK __attribute__((weak))
#define FORTRAN(call, line)          \
    char c[80];                      \
    double t = now();                \
    (void)c; (void)t;                \
    depth++;                         \
    call;                            \
    depth--;                         \
    if (depth == 0 && file >= 0) {   \
        line;                        \
    }
extern void WEAK pmpi_init_(F *);
void mpi_init_(F *e) { depth++; pmpi_init_(e); depth--; if (depth == 0) begin_file(now()); }
extern void WEAK pmpi_init_thread_(F *, F *, F *);
void mpi_init_thread_(F *r, F *p, F *e) { depth++; pmpi_init_thread_(r, p, e); depth--; if (depth == 0) begin_file(now()); }
extern void WEAK pmpi_finalize_(F *);
void mpi_finalize_(F *e) { if (depth == 0) end_file(); depth++; pmpi_finalize_(e); depth--; }
extern void WEAK pmpi_abort_(F *, F *, F *);
void mpi_abort_(F *k, F *code, F *e) { flush(); pmpi_abort_(k, code, e); }
#define F_SEND(lower, NAME)                                                                                \
    extern void WEAK pmpi_##lower##_(void *, F *, F *, F *, F *, F *, F *);                                \
    void mpi_##lower##_(void *b, F *n, F *d, F *p, F *g, F *k, F *e) {                                     \
        FORTRAN(pmpi_##lower##_(b, n, d, p, g, k, e), MESSAGE(NAME, b, *n, D(d), *p, *g, K(k), ""))        \
    }
F_SEND(send, "Send") F_SEND(bsend, "Bsend") F_SEND(ssend, "Ssend") F_SEND(rsend, "Rsend")
#define F_REQUEST(lower, NAME)                                                                             \
    extern void WEAK pmpi_##lower##_(void *, F *, F *, F *, F *, F *, F *, F *);                           \
    void mpi_##lower##_(void *b, F *n, F *d, F *p, F *g, F *k, F *r, F *e) {                               \
        FORTRAN(pmpi_##lower##_(b, n, d, p, g, k, r, e),                                                   \
                MESSAGE(NAME, b, *n, D(d), *p, *g, K(k), ":%lld", (long long)(unsigned)*r))                          \
    }
F_REQUEST(isend, "Isend") F_REQUEST(issend, "Issend") F_REQUEST(irecv, "Irecv")
extern void WEAK pmpi_recv_(void *, F *, F *, F *, F *, F *, F *, F *);
void mpi_recv_(void *b, F *n, F *d, F *p, F *g, F *k, F *s, F *e) {
    FORTRAN(pmpi_recv_(b, n, d, p, g, k, s, e), MESSAGE("Recv", b, *n, D(d), *p, *g, K(k), ":0"))
}
extern void WEAK pmpi_sendrecv_(void *, F *, F *, F *, F *, void *, F *, F *, F *, F *, F *, F *, F *);
void mpi_sendrecv_(void *b1, F *n1, F *d1, F *p1, F *g1, void *b2, F *n2, F *d2, F *p2, F *g2, F *k, F *s, F *e) {
    FORTRAN(pmpi_sendrecv_(b1, n1, d1, p1, g1, b2, n2, d2, p2, g2, k, s, e),
            SENDRECV_LINE(*n1, D(d1), *p1, *g1, *n2, D(d2), *p2, *g2, K(k)))
}
static F null_request(void) { return PMPI_Request_c2f(MPI_REQUEST_NULL); }
static char *f_handles(int n, const F *r) {
    char *text = malloc((size_t)n * 22 + 2), *end = text;
    if (!text) abort();
    for (int i = 0; i < n; i++)
        if (r[i] != null_request()) end += sprintf(end, "%lld;", (long long)(unsigned)r[i]);
    if (end == text) strcpy(text, ";");
    return text;
}
extern void WEAK pmpi_wait_(F *, F *, F *);
void mpi_wait_(F *r, F *s, F *e) {
    F h = *r;
    FORTRAN(pmpi_wait_(r, s, e), if (h != null_request()) put("MPI_Wait:%.3f:%lld:0:%.3f\n", t, (long long)(unsigned)h, now()))
}
extern void WEAK pmpi_test_(F *, F *, F *, F *);
void mpi_test_(F *r, F *flag, F *s, F *e) {
    F h = *r;
    FORTRAN(pmpi_test_(r, flag, s, e),
            if (*flag && h != null_request()) put("MPI_Wait:%.3f:%lld:0:%.3f\n", t, (long long)(unsigned)h, now()))
}
extern void WEAK pmpi_waitall_(F *, F *, F *, F *);
void mpi_waitall_(F *n, F *r, F *s, F *e) {
    char *list = f_handles(*n, r);
    FORTRAN(pmpi_waitall_(n, r, s, e), put_wait("MPI_Waitall", t, *n, list, "0"))
    free(list);
}
extern void WEAK pmpi_waitany_(F *, F *, F *, F *, F *);
void mpi_waitany_(F *n, F *r, F *index, F *s, F *e) {
    char *list = f_handles(*n, r);
    FORTRAN(pmpi_waitany_(n, r, index, s, e),
            if (*index != MPI_UNDEFINED) put_wait("MPI_Waitany", t, *n, list, "0:0"))
    free(list);
}
extern void WEAK pmpi_barrier_(F *, F *);
void mpi_barrier_(F *k, F *e) {
    FORTRAN(pmpi_barrier_(k, e), put("MPI_Barrier:%.3f:%s:%.3f\n", t, comm_name(K(k), c), now()))
}
extern void WEAK pmpi_bcast_(void *, F *, F *, F *, F *, F *);
void mpi_bcast_(void *b, F *n, F *d, F *root, F *k, F *e) {
    FORTRAN(pmpi_bcast_(b, n, d, root, k, e),
            put("MPI_Bcast:%.3f:0:%d:0,%d,0:%d:%s:%.3f\n", t, *n, type_size(D(d)), *root, comm_name(K(k), c), now()))
}
extern void WEAK pmpi_reduce_(void *, void *, F *, F *, F *, F *, F *, F *);
void mpi_reduce_(void *a, void *b, F *n, F *d, F *o, F *root, F *k, F *e) {
    FORTRAN(pmpi_reduce_(a, b, n, d, o, root, k, e),
            put("MPI_Reduce:%.3f:0:0:%d:0,%d,0:0:%d:%s:%.3f\n", t, *n, type_size(D(d)), *root, comm_name(K(k), c), now()))
}
extern void WEAK pmpi_allreduce_(void *, void *, F *, F *, F *, F *, F *);
void mpi_allreduce_(void *a, void *b, F *n, F *d, F *o, F *k, F *e) {
    FORTRAN(pmpi_allreduce_(a, b, n, d, o, k, e),
            put("MPI_Allreduce:%.3f:0:0:%d:0,%d,0:0:%s:%.3f\n", t, *n, type_size(D(d)), comm_name(K(k), c), now()))
}
#define F_BOTH(lower, NAME)                                                                                        \
    extern void WEAK pmpi_##lower##_(void *, F *, F *, void *, F *, F *, F *, F *);                                \
    void mpi_##lower##_(void *a, F *n, F *d, void *b, F *m, F *y, F *k, F *e) {                                    \
        FORTRAN(pmpi_##lower##_(a, n, d, b, m, y, k, e),                                                           \
                put("MPI_" NAME ":%.3f:0:%d:0,%d,0:0:%d:0,%d,0:%s:%.3f\n", t, *m, type_size(D(y)), *m,             \
                    type_size(D(y)), comm_name(K(k), c), now()))                                                   \
    }
F_BOTH(alltoall, "Alltoall") F_BOTH(allgather, "Allgather")
extern void WEAK pmpi_alltoallv_(void *, F *, F *, F *, void *, F *, F *, F *, F *, F *);
void mpi_alltoallv_(void *a, F *n, F *x, F *d, void *b, F *m, F *y, F *z, F *k, F *e) {
    FORTRAN(pmpi_alltoallv_(a, n, x, d, b, m, y, z, k, e), put_table("MPI_Alltoallv", t, n, D(d), K(k)))
}
extern void WEAK pmpi_comm_split_(F *, F *, F *, F *, F *);
void mpi_comm_split_(F *k, F *color, F *key, F *new, F *e) {
    FORTRAN(pmpi_comm_split_(k, color, key, new, e), put_created(t, K(k), K(new)))
}
extern void WEAK pmpi_comm_dup_(F *, F *, F *);
void mpi_comm_dup_(F *k, F *new, F *e) { FORTRAN(pmpi_comm_dup_(k, new, e), put_created(t, K(k), K(new))) }
