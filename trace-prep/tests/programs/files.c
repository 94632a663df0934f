/* Every rank writes its number into a file, together, and reads the next one's; then a message goes around. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_File file;
    int rank, size, next, token;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)) exit(8);
    MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, (rank + 1) % size * (MPI_Offset)sizeof rank, &next, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (next != (rank + 1) % size) exit(9);
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &token, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
