/* Every kind of function that MPI calls calls MPI itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, seen[8];

/* What each function does: calls that read the state, and two that change it. */
static void call(int kind) {
    int own, all, in, out = -1;
    MPI_Request requests[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (own != rank || all != size || MPI_Wtime() < 0) abort();
    MPI_Comm_rank(MPI_COMM_SELF, &in);
    MPI_Irecv(&out, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(&in, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (out != in) abort();
    seen[kind]++;
}

static void add(void *from, void *to, int *count, MPI_Datatype *type) {
    int bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count * bytes / 4; i++) ((int *)to)[i] += ((int *)from)[i];
    call(0);
}
static int copy(MPI_Comm comm, int key, void *extra, void *value, void *new, int *flag) {
    call(1);
    *(void **)new = value;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete(MPI_Comm comm, int key, void *value, void *extra) { return call(2), MPI_SUCCESS; }
static void handler(MPI_Comm *comm, int *code, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(*code, text, &length);
    call(3);
}
static int query(void *extra, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    return call(4), MPI_SUCCESS;
}
static int release(void *extra) { return call(5), MPI_SUCCESS; }
static int cancel(void *extra, int done) { return call(6), MPI_SUCCESS; }
static void at_exit(void) {
    int flag;
    MPI_Finalized(&flag);
    printf("rank %d at exit: %d\n", rank, flag);
    fflush(stdout);
}

int main(int argc, char **argv) {
    int key, count, pair[2] = {1, 2}, sums[2];
    MPI_Op op;
    MPI_Comm other;
    MPI_Errhandler errors;
    MPI_Request request;
    MPI_Status status;
    MPI_Datatype two;
    MPI_Init(&argc, &argv);
    atexit(at_exit);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    MPI_Op_create(add, 1, &op);
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Allreduce(pair, sums, 1, two, op, MPI_COMM_WORLD);
    if (sums[0] != size || sums[1] != 2 * size) abort();
    MPI_Iallreduce(pair, sums, 2, MPI_INT, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (sums[0] != size || sums[1] != 2 * size) abort();
    MPI_Reduce_local(pair, sums, 2, MPI_INT, op);
    if (sums[0] != size + 1) abort();

    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_create_errhandler(handler, &errors);
    MPI_Comm_set_errhandler(other, errors);
    MPI_Send(pair, 1, MPI_INT, size, 0, other);
    MPI_Comm_free(&other);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);

    MPI_Grequest_start(query, release, cancel, NULL, &request);
    MPI_Cancel(&request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_elements(&status, MPI_INT, &count);
    if (count != 3) abort();

    printf("rank %d: %d %d %d %d %d %d %d\n", rank, seen[0] > 2, seen[1], seen[2], seen[3], seen[4], seen[5], seen[6]);
    fflush(stdout);
    if (argc > 1 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Finalize();
    return 0;
}
