/* Files (MPI-IO): PROGRAM write FILE, PROGRAM read FILE, PROGRAM calls FILE, PROGRAM errors FILE. What N ranks write M ranks read, here and
   with other MPI libraries. Prints "files VERIFIED". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) do { if (!(what)) { printf("%d: line %d: " #what "\n", rank, __LINE__); fflush(stdout); abort(); } } while (0)

/* Integers of the strided part, which ranks write in turns of 3, and where the next parts begin, in integers. */
enum { STRIDED = 3 * 16 * 7, BLOCK = 40, ORDERED = STRIDED + 1024, LAST = ORDERED + 4096 };

static int rank, size;

static int value(int at) { return at * 7 + 3; }

/* A view of 3 integers of every 3 n, for rank r of n. */
static MPI_Datatype stripes(void) {
    MPI_Datatype three, tile;
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_create_resized(three, 0, 3 * size * sizeof(int), &tile);
    MPI_Type_commit(&tile);
    MPI_Type_free(&three);
    return tile;
}

static void write_all(const char *name) {
    MPI_File file;
    MPI_Datatype tile = stripes(), column;
    MPI_Status status;
    MPI_Request request;
    int count, own[STRIDED], gaps[2 * BLOCK];
    CHECK(STRIDED % (3 * size) == 0);
    CHECK(!MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK(!MPI_File_set_size(file, 0));
    /* The strided part, in two collective writes. */
    CHECK(!MPI_File_set_view(file, 3 * rank * sizeof(int), MPI_INT, tile, "native", MPI_INFO_NULL));
    int half = STRIDED / size / 2;
    for (int at = 0; at < 2 * half; at++) own[at] = value((at / 3 * size + rank) * 3 + at % 3);
    CHECK(!MPI_File_write_all(file, own, half, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == half);
    CHECK(!MPI_File_write_all_begin(file, own + half, STRIDED / size - half, MPI_INT));
    CHECK(!MPI_File_write_all_end(file, own + half, &status));
    /* Blocks at explicit offsets, from memory with gaps. */
    CHECK(!MPI_File_set_view(file, STRIDED * sizeof(int), MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    MPI_Type_vector(BLOCK, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int at = 0; at < BLOCK; at++) gaps[2 * at] = value(1000 + rank * BLOCK + at), gaps[2 * at + 1] = -1;
    if (rank % 2) CHECK(!MPI_File_write_at(file, rank * BLOCK, gaps, 1, column, &status));
    else {
        CHECK(!MPI_File_iwrite_at(file, rank * BLOCK, gaps, 1, column, &request));
        MPI_Wait(&request, &status);
    }
    MPI_Get_count(&status, column, &count);
    CHECK(count == 1);
    MPI_Type_free(&column);
    /* In the order of ranks, of different lengths. */
    CHECK(!MPI_File_set_view(file, ORDERED * sizeof(int), MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int at = 0; at <= rank; at++) own[at] = rank * 100 + at;
    for (int lap = 0; lap < 3; lap++) CHECK(!MPI_File_write_ordered(file, own, rank + 1, MPI_INT, &status));
    /* Whoever comes first. */
    CHECK(!MPI_File_set_view(file, LAST * sizeof(int), MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int lap = 0; lap < 4; lap++) {
        own[0] = rank, own[1] = lap;
        CHECK(!MPI_File_write_shared(file, own, 2, MPI_INT, &status));
    }
    CHECK(!MPI_File_sync(file));
    CHECK(!MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
    MPI_Type_free(&tile);
}

/* Any number of ranks reads what `writers` have written. */
static void read_all(const char *name, int writers) {
    MPI_File file;
    MPI_Datatype tile = stripes();
    MPI_Status status;
    MPI_Request request;
    MPI_Offset length, place;
    int count, own[STRIDED], seen[64][4] = {{0}};
    CHECK(!MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CHECK(!MPI_File_get_size(file, &length) && length == (LAST + 8 * writers) * (MPI_Offset)sizeof(int));
    CHECK(!MPI_File_set_view(file, 3 * rank * sizeof(int), MPI_INT, tile, "native", MPI_INFO_NULL));
    int mine = STRIDED / 3 / size * 3;
    CHECK(!MPI_File_read_all(file, own, mine, MPI_INT, &status));
    for (int at = 0; at < mine; at++) CHECK(own[at] == value((at / 3 * size + rank) * 3 + at % 3));
    CHECK(!MPI_File_get_position(file, &place) && place == mine);
    CHECK(!MPI_File_get_byte_offset(file, 4, &place) && place == (MPI_Offset)((3 * size + 3 * rank + 1) * sizeof(int)));
    CHECK(!MPI_File_seek(file, -2, MPI_SEEK_CUR) && !MPI_File_read(file, own, 1, MPI_INT, &status));
    CHECK(own[0] == value(((mine - 2) / 3 * size + rank) * 3 + (mine - 2) % 3));
    CHECK(!MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK(!MPI_File_iread_at(file, STRIDED, own, BLOCK, MPI_INT, &request));
    MPI_Wait(&request, &status);
    for (int at = 0; at < BLOCK; at++) CHECK(own[at] == value(1000 + at));
    for (int writer = 0, at = ORDERED; writer < writers; writer++)
        for (int item = 0; item <= writer; item++, at++) {
            CHECK(!MPI_File_read_at_all(file, at, own, 1, MPI_INT, &status));
            CHECK(own[0] == writer * 100 + item);
        }
    /* Beyond the end there is nothing. */
    CHECK(!MPI_File_seek(file, -1, MPI_SEEK_END) && !MPI_File_read(file, own, 5, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 1);
    /* The end is the same for all ranks, and the size of the file. */
    MPI_Offset end, size;
    CHECK(!MPI_File_seek_shared(file, 0, MPI_SEEK_END) && !MPI_File_get_position_shared(file, &end));
    CHECK(!MPI_File_get_size(file, &size) && end * (MPI_Offset)sizeof(int) == size);
    MPI_Barrier(MPI_COMM_WORLD);
    /* All ranks together read each pair of the last part once, by the shared pointer. */
    CHECK(!MPI_File_seek_shared(file, LAST, MPI_SEEK_SET));
    for (;;) {
        CHECK(!MPI_File_read_shared(file, own, 2, MPI_INT, &status));
        MPI_Get_count(&status, MPI_INT, &count);
        if (count < 2) break;
        seen[own[0]][own[1]]++;
    }
    MPI_Allreduce(MPI_IN_PLACE, seen, 64 * 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int writer = 0; writer < writers; writer++)
        for (int lap = 0; lap < 4; lap++) CHECK(seen[writer][lap] == 1);
    CHECK(!MPI_File_close(&file));
    MPI_Type_free(&tile);
}

/* Calls that neither read nor write. */
static void calls(const char *name) {
    MPI_File file, same;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype etype, filetype;
    MPI_Offset place, length;
    MPI_Aint extent;
    MPI_Status status;
    int mode, flag, count, data[4] = {1, 2, 3, 4}, got[4] = {0};
    char word[MPI_MAX_DATAREP_STRING], found[MPI_MAX_INFO_VAL + 1];
    CHECK(!MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    same = MPI_File_f2c(MPI_File_c2f(file));
    CHECK(same == file && MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(!MPI_File_get_amode(file, &mode) && mode == (MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
    CHECK(!MPI_File_get_group(file, &group) && !MPI_Group_size(group, &count) && count == size);
    MPI_Group_free(&group);
    CHECK(!MPI_File_preallocate(file, 64) && !MPI_File_get_size(file, &length) && length == 64);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!MPI_File_set_size(file, 16) && !MPI_File_get_size(file, &length) && length == 16);
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "sequential");
    CHECK(!MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    CHECK(!MPI_File_get_info(file, &info) && info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    CHECK(!MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK(!MPI_File_get_view(file, &place, &etype, &filetype, word));
    CHECK(place == 8 && etype == MPI_INT && filetype == MPI_INT && !strcmp(word, "native"));
    CHECK(!MPI_File_get_type_extent(file, MPI_DOUBLE, &extent) && extent == 8);
    CHECK(!MPI_File_get_atomicity(file, &flag) && !flag);
    CHECK(!MPI_File_set_atomicity(file, 1) && !MPI_File_get_atomicity(file, &flag) && flag);
    /* In atomic mode a rank sees what another one has written before it. */
    if (rank == 0) {
        CHECK(!MPI_File_write(file, data, 4, MPI_INT, &status));
        if (size > 1) MPI_Send(data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status);
        CHECK(!MPI_File_read_at(file, 0, got, 4, MPI_INT, &status) && !memcmp(data, got, sizeof data));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!MPI_File_get_position_shared(file, &place) && place == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!MPI_File_read_ordered_begin(file, got, 1, MPI_INT) && !MPI_File_read_ordered_end(file, got, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == (rank < 4) && (!count || got[0] == rank + 1));
    CHECK(!MPI_File_close(&file));
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    /* What is appended begins at the end. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK(!MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
        CHECK(!MPI_File_write(file, data, 2, MPI_INT, &status) && !MPI_File_close(&file));
        CHECK(!MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_APPEND | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
        CHECK(!MPI_File_get_position(file, &place) && place == 8);
        CHECK(!MPI_File_write(file, data, 1, MPI_INT, &status) && !MPI_File_get_size(file, &length) && length == 12);
        CHECK(!MPI_File_close(&file));
        CHECK(!MPI_File_delete(name, MPI_INFO_NULL));
    }
}

static int handled;

static void handler(MPI_File *file, int *code, ...) {
    int class;
    MPI_Error_class(*code, &class);
    handled += class == MPI_ERR_READ_ONLY;
}

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* Errors have their classes, and files return them by default. */
static void errors(const char *name) {
    MPI_File file;
    MPI_Errhandler own, got;
    MPI_Status status;
    int data = 0;
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) == MPI_ERR_NO_SUCH_FILE);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &file)) == MPI_ERR_AMODE);
    CHECK(class_of(MPI_File_delete("no/such/file", MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
    CHECK(!MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    CHECK(class_of(MPI_File_read(file, &data, 1, MPI_INT, &status)) == MPI_ERR_ACCESS);
    CHECK(class_of(MPI_File_write(file, &data, -1, MPI_INT, &status)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "nonsense", MPI_INFO_NULL)) == MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK(!MPI_File_close(&file));
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, &file)) == MPI_ERR_FILE_EXISTS);
    CHECK(!MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CHECK(!MPI_File_create_errhandler(handler, &own) && !MPI_File_set_errhandler(file, own));
    CHECK(!MPI_File_get_errhandler(file, &got) && got == own);
    CHECK(class_of(MPI_File_write(file, &data, 1, MPI_INT, &status)) == MPI_ERR_READ_ONLY && handled == 1);
    MPI_Errhandler_free(&own);
    CHECK(!MPI_File_get_errhandler(MPI_FILE_NULL, &got) && got == MPI_ERRORS_RETURN);
    CHECK(!MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(!MPI_File_delete(name, MPI_INFO_NULL));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(argv[1], "write")) write_all(argv[2]);
    else if (!strcmp(argv[1], "read")) read_all(argv[2], atoi(argv[3]));
    else if (!strcmp(argv[1], "calls")) calls(argv[2]);
    else errors(argv[2]);
    MPI_Finalize();
    if (rank == 0) puts("files VERIFIED");
    return 0;
}
