/* Conjugate gradient in the pattern of NPB CG: a matrix by blocks of rows and columns, sums along rows of ranks by
 * exchanges with ever farther partners, and a transposition of the vector. The number of ranks is a power of two.
 * Verifies itself against the same iteration on every rank alone. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 256
#define STEPS 12

static int rank, size, rows, columns, row, column;
static double a[N][N];

static void matrix(void) {
    unsigned state = 12345;
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            state = state * 1103515245u + 12345u;
            double value = (state >> 16) % 97 < 6 ? ((state >> 8) % 1000) / 5000.0 : 0.0;
            a[i][j] = a[j][i] = i == j ? 30.0 + i % 7 : value;
        }
}

static void serial(double *x) {
    double r[N], p[N], q[N], rho = 0;
    memset(x, 0, N * sizeof *x);
    for (int i = 0; i < N; i++) r[i] = p[i] = 1.0, rho += 1.0;
    for (int step = 0; step < STEPS; step++) {
        double d = 0, next = 0;
        for (int i = 0; i < N; i++) {
            q[i] = 0;
            for (int j = 0; j < N; j++) q[i] += a[i][j] * p[j];
            d += p[i] * q[i];
        }
        double alpha = rho / d;
        for (int i = 0; i < N; i++) x[i] += alpha * p[i], r[i] -= alpha * q[i], next += r[i] * r[i];
        for (int i = 0; i < N; i++) p[i] = r[i] + next / rho * p[i];
        rho = next;
    }
}

/* The sum over the ranks of a row, by exchanges. */
static void sum_row(double *data, int count) {
    double *other = malloc(count * sizeof *other);
    for (int bit = 1; bit < columns; bit *= 2) {
        int partner = row * columns + (column ^ bit);
        MPI_Request request;
        MPI_Irecv(other, count, MPI_DOUBLE, partner, bit, MPI_COMM_WORLD, &request);
        MPI_Send(data, count, MPI_DOUBLE, partner, bit, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++) data[i] += other[i];
    }
    free(other);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (rows = 1; rows * rows * 4 <= size; rows *= 2)
        ;
    columns = size / rows;
    row = rank / columns;
    column = rank % columns;
    matrix();
    /* Rank (r, c) multiplies the rows of block r with the columns of block c. */
    int height = N / rows, width = N / columns, first_row = row * height, first_column = column * width;
    double *x = calloc(N, sizeof *x), *r = malloc(N * sizeof *r), *p = malloc(N * sizeof *p), *q = malloc(N * sizeof *q);
    for (int i = 0; i < N; i++) r[i] = p[i] = 1.0;
    double rho = N;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < height; i++) {
            q[i] = 0;
            for (int j = 0; j < width; j++) q[i] += a[first_row + i][first_column + j] * p[first_column + j];
        }
        sum_row(q, height);
        /* Every rank needs the part of q for its columns: the owner is a rank of the row that has it. */
        double whole[N];
        for (int block = 0; block < rows; block++) {
            double *at = whole + block * height;
            if (block == row) memcpy(at, q, height * sizeof *q);
        }
        for (int bit = 1; bit < rows; bit *= 2) {
            int partner = (row ^ bit) * columns + column, base = row & ~(bit - 1), theirs = (row ^ bit) & ~(bit - 1);
            MPI_Request request;
            MPI_Irecv(whole + theirs * height, bit * height, MPI_DOUBLE, partner, 100 + bit, MPI_COMM_WORLD, &request);
            MPI_Send(whole + base * height, bit * height, MPI_DOUBLE, partner, 100 + bit, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        double d = 0, next = 0, part = 0;
        for (int j = 0; j < width; j++) part += p[first_column + j] * whole[first_column + j];
        sum_row(&part, 1);
        d = part;
        double alpha = rho / d;
        for (int i = 0; i < N; i++) x[i] += alpha * p[i], r[i] -= alpha * whole[i], next += r[i] * r[i];
        for (int i = 0; i < N; i++) p[i] = r[i] + next / rho * p[i];
        rho = next;
    }
    double expected[N], worst = 0, all;
    serial(expected);
    for (int i = 0; i < N; i++) worst = fmax(worst, fabs(x[i] - expected[i]));
    MPI_Reduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("cg %s\n", all < 1e-10 ? "VERIFIED" : "WRONG");
    int good = worst < 1e-10;
    MPI_Finalize();
    return good ? 0 : 7;
}
