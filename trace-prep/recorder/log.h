/* The log of a rank: a file, a buffer, and handlers that write the buffer when the process ends. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int file = -1;
/* The rank of the process in MPI_COMM_WORLD. */
static int own_number;
/* The recording process: its forked children have copies of the buffer. */
static pid_t owner;
/* Complete lines, `used` bytes, of which the first `written` are in the file. */
static char buffer[1 << 16];
static size_t used, written;
/* Held by the thread that adds to the buffer or empties it; never by a signal handler, which may run while it is held.
 * */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int depth;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

/* A termination signal that arrives during writing is handled afterwards. */
static volatile sig_atomic_t asked;
static int writing;

/* Whether this thread may write to the file; it may until `writing` is 0 again. */
static int begin_to_write(void) { return !__atomic_exchange_n(&writing, 1, __ATOMIC_ACQUIRE); }
static void end_to_write(void) { __atomic_store_n(&writing, 0, __ATOMIC_RELEASE); }

static void leave(int number) {
    signal(number, SIG_DFL);
    raise(number);
}

/* Writes to the file; returns whether that succeeded. */
static int write_all(const char *bytes, size_t length) {
    for (size_t done = 0; file >= 0 && done < length;) {
        ssize_t n = write(file, bytes + done, length - done);
        if (n > 0) done += (size_t)n;
        else if (n == 0 || errno != EINTR) file = -1;
    }
    return file >= 0;
}

/* Writes the rest of the buffer to the file. */
static void write_buffer(void) {
    size_t whole = used;
    write_all(buffer + written, whole - written);
    written = whole;
}

/* The caller holds the lock. */
static void flush_with(const char *line, size_t length) {
    /* Another thread is writing because the process ends. */
    while (!begin_to_write()) sched_yield();
    int was_open = file >= 0;
    write_buffer();
    used = written = 0;
    if (!write_all(line, length) && was_open) perror("trace-prep recorder: cannot write");
    end_to_write();
    if (asked) leave(asked);
}

static void on_signal(int number) {
    if (!begin_to_write()) {
        asked = number;
        return;
    }
    write_buffer();
    /* Lines begun now by other threads are not written in part. */
    file = -1;
    /* Some launchers pass the signal on rank by rank, and kill the others when the first one has gone. */
    poll(NULL, 0, 200);
    leave(number);
}

/* Does not replace a handler of the program or its MPI library. */
static void listen_to(int number) {
    struct sigaction there, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    if (sigaction(number, NULL, &there) == 0 && !(there.sa_flags & SA_SIGINFO) && there.sa_handler == SIG_DFL)
        sigaction(number, &ours, NULL);
}

/* Writes the complete lines, whatever the program was doing: a line counts as used once it is complete. Safe within a
 * signal handler. */
static void flush_rest(void) {
    if (getpid() != owner || !begin_to_write()) return;
    write_buffer();
    end_to_write();
}

/* Signals that end the process at once. The previous handler, of the program or its MPI library, runs afterwards. */
static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { FATAL = sizeof fatal / sizeof *fatal };
static struct sigaction before[FATAL];

static void on_fatal(int number, siginfo_t *info, void *context) {
    (void)context;
    flush_rest();
    for (int i = 0; i < FATAL; i++)
        if (fatal[i] == number) sigaction(number, &before[i], NULL);
    /* A fault recurs by itself, with its address; a signal that was sent, for example by abort, is sent again. */
    if (info->si_code <= 0) raise(number);
}

static void listen_to_fatal(void) {
    /* After a stack overflow there is no room for a handler on that stack. */
    static char room[1 << 16];
    stack_t there, ours = {.ss_sp = room, .ss_size = sizeof room};
    if (sigaltstack(NULL, &there) == 0 && (there.ss_flags & SS_DISABLE)) sigaltstack(&ours, NULL);
    for (int i = 0; i < FATAL; i++) {
        struct sigaction action = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        if (sigaction(fatal[i], NULL, &before[i]) == 0) sigaction(fatal[i], &action, NULL);
    }
}

/* Ends the process without the handlers of exit. */
void _exit(int code) {
    flush_rest();
    for (;;) syscall(SYS_exit_group, code);
}
void _Exit(int code) { _exit(code); }

__attribute__((destructor)) static void at_exit(void) { flush_rest(); }

static void put(const char *format, ...) {
    pthread_mutex_lock(&lock);
    for (int attempt = 0; attempt < 2 && file >= 0; attempt++) {
        va_list arguments;
        va_start(arguments, format);
        int n = vsnprintf(buffer + used, sizeof buffer - used, format, arguments);
        va_end(arguments);
        if (n >= 0 && (size_t)n < sizeof buffer - used) {
            used += (size_t)n;
            /* A killed rank loses at most this. */
            if (used > 4096) flush_with("", 0);
            break;
        }
        flush_with("", 0);
    }
    pthread_mutex_unlock(&lock);
}

static void flush(void) {
    pthread_mutex_lock(&lock);
    flush_with("", 0);
    pthread_mutex_unlock(&lock);
}

/* Nothing is recorded after this. */
static void end_file(void) {
    put("MPI_Finalize:%.3f:-\n", now());
    pthread_mutex_lock(&lock);
    flush_with("", 0);
    if (file >= 0) close(file);
    file = -1;
    pthread_mutex_unlock(&lock);
}

/* A line that may be long: written in full, after the contents of the buffer. */
static void put_long(const char *format, ...) {
    char *line;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&line, format, arguments);
    va_end(arguments);
    if (length < 0) abort();
    if ((size_t)length < sizeof buffer / 2) {
        put("%s", line);
    } else {
        pthread_mutex_lock(&lock);
        flush_with(line, (size_t)length);
        pthread_mutex_unlock(&lock);
    }
    free(line);
}

static void *room_for(size_t bytes) {
    void *room = malloc(bytes);
    if (!room) abort();
    return room;
}

static void begin_file(double t) {
    const char *folder = getenv("TRACE_PREP_RECORD");
    MPI_Comm parent = MPI_COMM_NULL;
    if (!folder || file >= 0) return;
    /* Processes created by MPI_Comm_spawn have their own ranks from 0; that call is rejected. */
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &own_number);
    char name[4096];
    snprintf(name, sizeof name, "%s/rank-%d.txt", folder, own_number);
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) perror(name);
    put("MPI_Init:-:0:0:%.3f\n", t);
    owner = getpid();
    flush();
    listen_to(SIGINT);
    listen_to(SIGTERM);
    listen_to_fatal();
}

/* Only calls of the program itself are recorded, not calls within another call of the library. */
static int recording(void) { return depth == 0 && file >= 0; }

/* Records a call by its name only. */
static void put_name(const char *call, double t) {
    if (recording()) put("%s:%.3f:%.3f\n", call, t, now());
}

/* The same for a call that the reader rejects, before the call is made. The first rank that meets one reports it: the
 * program may have days to go. */
static void refuse(const char *call) {
    static int met;
    put_name(call, now());
    if (!recording() || __atomic_exchange_n(&met, 1, __ATOMIC_RELAXED)) return;
    flush();
    char name[4096];
    snprintf(name, sizeof name, "%s/refused", getenv("TRACE_PREP_RECORD"));
    int mark = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (mark < 0 && errno == EEXIST) return;
    if (mark >= 0) close(mark);
    fprintf(stderr, "trace-prep recorder: rank %d calls %s, which is not followed: the trace will be refused\n", own_number,
            call);
}
