/* Packs and unpacks a vector: number of blocks, values in a block, values between blocks, laps, and d, i or c for the
   type, or p or f for the pairs MPI_DOUBLE_INT and MPI_FLOAT_INT. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int c, char **v) {
    MPI_Init(&c, &v);
    int count = atoi(v[1]), block = atoi(v[2]), stride = atoi(v[3]), laps = atoi(v[4]);
    MPI_Datatype base = v[5][0] == 'd' ? MPI_DOUBLE : v[5][0] == 'i' ? MPI_INT : v[5][0] == 'p' ? MPI_DOUBLE_INT : v[5][0] == 'f' ? MPI_FLOAT_INT : MPI_CHAR, ty;
    int size; MPI_Aint lower, extent;
    MPI_Type_size(base, &size); MPI_Type_get_extent(base, &lower, &extent);
    MPI_Type_vector(count, block, stride, base, &ty); MPI_Type_commit(&ty);
    char *from = malloc((size_t)count * stride * extent), *to = malloc((size_t)count * block * size);
    memset(from, 1, (size_t)count * stride * extent);
    for (int i = 0; i < laps; i++) {
        int at = 0; MPI_Pack(from, 1, ty, to, count * block * size, &at, MPI_COMM_WORLD);
        at = 0; MPI_Unpack(to, count * block * size, &at, from, 1, ty, MPI_COMM_WORLD);
    }
    MPI_Finalize();
}
