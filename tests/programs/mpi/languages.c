/* The part of languages.f90 in C. */
#include <mpi.h>

/* 19.3.7: an attribute that Fortran has set is a pointer to an MPI_Aint here. */
void found_in_c(int *key, int *wanted, int *wrong) {
    MPI_Aint *value = 0;
    MPI_Comm copy;
    int flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, *key, &value, &flag);
    if (!flag || *value != *wanted) ++*wrong;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    value = 0;
    MPI_Comm_get_attr(copy, *key, &value, &flag);
    if (!flag || *value != *wanted) ++*wrong;
    MPI_Comm_free(&copy);
}

void set_in_c(int *key) { MPI_Comm_set_attr(MPI_COMM_WORLD, *key, (void *)4096); }
