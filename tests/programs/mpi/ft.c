/* A Fourier transform in the pattern of NPB FT: transforms of whole rows, a transposition by an all-to-all of blocks
 * that are described by derived datatypes, and a broadcast of the parameters. Verifies itself by the inverse. */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

static int rank, size, rows;

static void transform(double complex *x, int sign) {
    double complex out[N];
    for (int k = 0; k < N; k++) {
        out[k] = 0;
        for (int j = 0; j < N; j++) out[k] += x[j] * cexp(sign * 2.0 * M_PI * I * ((j * k) % N) / N);
    }
    for (int k = 0; k < N; k++) x[k] = out[k] / sqrt(N);
}

/* The block for a rank is `rows` columns of the local rows; it arrives transposed. */
static void transpose(double complex *from, double complex *to) {
    MPI_Datatype column, columns;
    MPI_Type_vector(rows, 1, N, MPI_C_DOUBLE_COMPLEX, &column);
    MPI_Type_create_resized(column, 0, sizeof(double complex), &columns);
    MPI_Type_commit(&columns);
    double complex *block = malloc(sizeof *block * rows * N);
    MPI_Alltoall(from, rows, columns, block, rows * rows, MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
    for (int other = 0; other < size; other++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < rows; j++) to[i * N + other * rows + j] = block[(other * rows + i) * rows + j];
    free(block);
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
}

int main(int argc, char **argv) {
    int parameters[2] = {0, 0}, good;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) parameters[0] = N, parameters[1] = 3;
    MPI_Bcast(parameters, 2, MPI_INT, 0, MPI_COMM_WORLD);
    rows = parameters[0] / size;
    double complex *x = malloc(sizeof *x * rows * N), *y = malloc(sizeof *y * rows * N), *first = malloc(sizeof *x * rows * N);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < N; j++) first[i * N + j] = x[i * N + j] = ((rank * rows + i) * 31 + j * 17) % 101 + I * (j % 5);
    double worst = 0, power[2] = {0, 0}, all[2];
    for (int i = 0; i < rows * N; i++) power[0] += creal(x[i] * conj(x[i]));
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < rows; i++) transform(x + i * N, sign);
        transpose(x, y);
        for (int i = 0; i < rows; i++) transform(y + i * N, sign);
        transpose(y, x);
        if (sign < 0)
            for (int i = 0; i < rows * N; i++) power[1] += creal(x[i] * conj(x[i]));
    }
    MPI_Allreduce(power, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < rows * N; i++) worst = fmax(worst, cabs(x[i] - first[i]));
    /* Parseval: the transform keeps the power. */
    good = worst < 1e-9 && fabs(all[0] - all[1]) < 1e-6 * all[0];
    int everyone;
    MPI_Allreduce(&good, &everyone, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (rank == 0) printf("ft %s\n", everyone ? "VERIFIED" : "WRONG");
    MPI_Finalize();
    return everyone ? 0 : 7;
}
