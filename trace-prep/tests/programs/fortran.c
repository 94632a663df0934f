/* The ring, through the entry points that a Fortran program (mpif.h, use mpi) calls: no Fortran compiler is needed. */
#include <mpi.h>

extern void mpi_init_(MPI_Fint *);
extern void mpi_finalize_(MPI_Fint *);
extern void mpi_comm_rank_(MPI_Fint *, MPI_Fint *, MPI_Fint *);
extern void mpi_comm_size_(MPI_Fint *, MPI_Fint *, MPI_Fint *);
extern void mpi_comm_split_(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
extern void mpi_send_(void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
extern void mpi_irecv_(void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
extern void mpi_wait_(MPI_Fint *, MPI_Fint *, MPI_Fint *);
extern void mpi_allreduce_(void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);

int main(void) {
    MPI_Fint error, rank, size, half, request, status[16];
    mpi_init_(&error);
    MPI_Fint world = MPI_Comm_c2f(MPI_COMM_WORLD), real8 = MPI_Type_c2f(MPI_DOUBLE), sum = MPI_Op_c2f(MPI_SUM);
    mpi_comm_rank_(&world, &rank, &error);
    mpi_comm_size_(&world, &size, &error);
    double out[50] = {0}, in[50];
    MPI_Fint count = 50, tag = 3, next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int round = 0; round < 5; round++) {
        mpi_irecv_(in, &count, &real8, &before, &tag, &world, &request, &error);
        mpi_send_(out, &count, &real8, &next, &tag, &world, &error);
        mpi_wait_(&request, status, &error);
    }
    MPI_Fint color = rank % 2;
    mpi_comm_split_(&world, &color, &rank, &half, &error);
    mpi_allreduce_(out, in, &count, &real8, &sum, &half, &error);
    mpi_finalize_(&error);
    return 0;
}
