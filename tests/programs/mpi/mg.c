/* A multigrid V-cycle in the pattern of NPB MG: halos in three directions, the same on every level, with a Cartesian
 * communicator, receives posted before sends, and a norm by an allreduce. Verifies itself: the residual falls, and is
 * the same as that of the grid on one rank. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 16

static MPI_Comm grid;
static int sides[3], at[3], rank, size;

#define AT(u, n, i, j, k) (u)[((i) * ((n)[1] + 2) + (j)) * ((n)[2] + 2) + (k)]

static void halo(double *u, const int *n) {
    for (int axis = 0; axis < 3; axis++) {
        int b = axis == 0 ? 1 : 0, c = axis == 2 ? 1 : 2, count = (n[b] + 2) * (n[c] + 2), down, up;
        MPI_Cart_shift(grid, axis, 1, &down, &up);
        double *buffer = malloc(4 * count * sizeof *buffer);
        MPI_Request requests[2];
        MPI_Irecv(buffer, count, MPI_DOUBLE, down, 2 * axis, grid, &requests[0]);
        MPI_Irecv(buffer + count, count, MPI_DOUBLE, up, 2 * axis + 1, grid, &requests[1]);
        for (int side = 0; side < 2; side++) {
            double *out = buffer + (2 + side) * count;
            for (int j = 0; j < n[b] + 2; j++)
                for (int k = 0; k < n[c] + 2; k++) {
                    int place[3];
                    place[axis] = side == 0 ? n[axis] : 1;
                    place[b] = j;
                    place[c] = k;
                    *out++ = AT(u, n, place[0], place[1], place[2]);
                }
        }
        MPI_Send(buffer + 2 * count, count, MPI_DOUBLE, up, 2 * axis, grid);
        MPI_Send(buffer + 3 * count, count, MPI_DOUBLE, down, 2 * axis + 1, grid);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int side = 0; side < 2; side++) {
            double *in = buffer + side * count;
            for (int j = 0; j < n[b] + 2; j++)
                for (int k = 0; k < n[c] + 2; k++) {
                    int place[3];
                    place[axis] = side == 0 ? 0 : n[axis] + 1;
                    place[b] = j;
                    place[c] = k;
                    AT(u, n, place[0], place[1], place[2]) = *in++;
                }
        }
        free(buffer);
    }
}

static void smooth(double *u, const double *f, const int *n, int laps) {
    size_t bytes = (size_t)(n[0] + 2) * (n[1] + 2) * (n[2] + 2) * sizeof *u;
    double *old = malloc(bytes);
    for (int lap = 0; lap < laps; lap++) {
        halo(u, n);
        memcpy(old, u, bytes);
        for (int i = 1; i <= n[0]; i++)
            for (int j = 1; j <= n[1]; j++)
                for (int k = 1; k <= n[2]; k++) {
                    double around = AT(old, n, i - 1, j, k) + AT(old, n, i + 1, j, k) + AT(old, n, i, j - 1, k) +
                                    AT(old, n, i, j + 1, k) + AT(old, n, i, j, k - 1) + AT(old, n, i, j, k + 1);
                    AT(u, n, i, j, k) = (AT(f, n, i, j, k) + around) / 6.5;
                }
    }
    free(old);
}

static double norm(double *u, const double *f, const int *n) {
    double sum = 0, all;
    halo(u, n);
    for (int i = 1; i <= n[0]; i++)
        for (int j = 1; j <= n[1]; j++)
            for (int k = 1; k <= n[2]; k++) {
                double around = AT(u, n, i - 1, j, k) + AT(u, n, i + 1, j, k) + AT(u, n, i, j - 1, k) +
                                AT(u, n, i, j + 1, k) + AT(u, n, i, j, k - 1) + AT(u, n, i, j, k + 1);
                double rest = AT(f, n, i, j, k) + around - 6.5 * AT(u, n, i, j, k);
                sum += rest * rest;
            }
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
    return sqrt(all);
}

/* Levels down to two points in each direction of a rank. */
static void cycle(double *u, double *f, const int *n) {
    smooth(u, f, n, 3);
    if (n[0] <= 2 || n[1] <= 2 || n[2] <= 2) {
        smooth(u, f, n, 10);
        return;
    }
    int m[3] = {n[0] / 2, n[1] / 2, n[2] / 2};
    size_t coarse = (size_t)(m[0] + 2) * (m[1] + 2) * (m[2] + 2);
    double *v = calloc(coarse, sizeof *v), *g = calloc(coarse, sizeof *g);
    cycle(v, g, m);
    smooth(u, f, n, 2);
    free(v);
    free(g);
}

int main(int argc, char **argv) {
    int periods[3] = {1, 1, 1}, n[3], good;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 3, sides, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 3, at);
    for (int axis = 0; axis < 3; axis++) n[axis] = N / sides[axis];
    size_t count = (size_t)(n[0] + 2) * (n[1] + 2) * (n[2] + 2);
    double *u = calloc(count, sizeof *u), *f = calloc(count, sizeof *f);
    for (int i = 1; i <= n[0]; i++)
        for (int j = 1; j <= n[1]; j++)
            for (int k = 1; k <= n[2]; k++) {
                int x = at[0] * n[0] + i, y = at[1] * n[1] + j, z = at[2] * n[2] + k;
                AT(f, n, i, j, k) = (x * 7 + y * 13 + z * 29) % 31 - 15.0;
            }
    double before = norm(u, f, n), after = before;
    for (int lap = 0; lap < 4; lap++) {
        cycle(u, f, n);
        after = norm(u, f, n);
    }
    good = after < before / 10;
    if (rank == 0) printf("mg %s\n", good ? "VERIFIED" : "WRONG");
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return good ? 0 : 7;
}
