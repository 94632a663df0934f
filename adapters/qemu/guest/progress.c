/* Keeps UCX going while a rank of MPICH waits for its process manager.
 *
 * At its end MPICH closes its connections, then waits in a barrier of the process manager, a plain read. To close a
 * connection over TCP, UCX needs an answer of the peer; a peer that is already in the barrier never gives it, and four ranks
 * end only by luck (openucx/ucx issue 8738). This library, loaded before the others, lets such a read wait for at most a
 * millisecond at a time, and has UCX answer in between. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static void *worker;

/* The function that has this name without this library. */
static void *original(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

int ucp_worker_create(void *context, const void *parameters, void **made) {
    int (*create)(void *, const void *, void **) = original(__func__);
    int status = create(context, parameters, made);
    if (status == 0) worker = *made;
    return status;
}

void ucp_worker_destroy(void *destroyed) {
    void (*destroy)(void *) = original(__func__);
    if (destroyed == worker) worker = 0;
    destroy(destroyed);
}

ssize_t read(int from, void *bytes, size_t room) {
    static ssize_t (*plain)(int, void *, size_t);
    if (!plain) plain = original(__func__);
    const char *manager = worker ? getenv("PMI_FD") : 0;
    if (manager && from == atoi(manager)) {
        unsigned (*progress)(void *) = original("ucp_worker_progress");
        struct pollfd input = {.fd = from, .events = POLLIN};
        while (poll(&input, 1, 1) == 0)
            while (progress(worker)) {}
    }
    return plain(from, bytes, room);
}
