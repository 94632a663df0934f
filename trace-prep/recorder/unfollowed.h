/* Unsupported calls, which the recorder passes on unchanged, with their numbers of arguments. The including file
 * defines
 *     UNFOLLOWED(CALL, COUNT)  carries messages, or creates a communicator, in an unsupported way;
 *     EXTENSION(CALL, COUNT)   the same, outside of the standard: not every library declares it;
 *     MPI_4(CALL, COUNT)       the same, since MPI 4.0;
 *     LEFT_OUT(CALL, COUNT)    exchanges data without messages;
 *     LEFT_OUT_4(CALL, COUNT)  the same, since MPI 4.0. */

/* Calls that are supported with counts of type `int`, but not with larger ones. */
#define LARGE(NAME, COUNT) MPI_4(MPI_##NAME##_c, COUNT)
LARGE(Send, 6) LARGE(Bsend, 6) LARGE(Ssend, 6) LARGE(Rsend, 6) LARGE(Recv, 7)
LARGE(Isend, 7) LARGE(Ibsend, 7) LARGE(Issend, 7) LARGE(Irsend, 7) LARGE(Irecv, 7)
LARGE(Send_init, 7) LARGE(Bsend_init, 7) LARGE(Ssend_init, 7) LARGE(Rsend_init, 7) LARGE(Recv_init, 7)
LARGE(Sendrecv, 12) LARGE(Sendrecv_replace, 9)

/* Operations whose parts begin and end separately. */
MPI_4(MPI_Isendrecv, 12) LARGE(Isendrecv, 12) MPI_4(MPI_Isendrecv_replace, 9) LARGE(Isendrecv_replace, 9)
MPI_4(MPI_Psend_init, 9) MPI_4(MPI_Precv_init, 9)

/* The message is chosen by one call and received by another. */
UNFOLLOWED(MPI_Mprobe, 5) UNFOLLOWED(MPI_Improbe, 6)
UNFOLLOWED(MPI_Mrecv, 5) LARGE(Mrecv, 5) UNFOLLOWED(MPI_Imrecv, 5) LARGE(Imrecv, 5)

/* A non-blocking collective has an additional request, a persistent one also an info. */
#define FORMS(NAME, INAME, ICOUNT, PCOUNT)                                                                 \
    UNFOLLOWED(MPI_##INAME, ICOUNT) MPI_4(MPI_##NAME##_init, PCOUNT) EXTENSION(MPIX_##NAME##_init, PCOUNT)
#define COLLECTIVE(NAME, INAME, COUNT, ICOUNT, PCOUNT)                                                     \
    FORMS(NAME, INAME, ICOUNT, PCOUNT)                                                                     \
    LARGE(NAME, COUNT) LARGE(INAME, ICOUNT) LARGE(NAME##_init, PCOUNT)
FORMS(Barrier, Ibarrier, 2, 3)
COLLECTIVE(Bcast, Ibcast, 5, 6, 7)
COLLECTIVE(Gather, Igather, 8, 9, 10)
COLLECTIVE(Gatherv, Igatherv, 9, 10, 11)
COLLECTIVE(Scatter, Iscatter, 8, 9, 10)
COLLECTIVE(Scatterv, Iscatterv, 9, 10, 11)
COLLECTIVE(Allgather, Iallgather, 7, 8, 9)
COLLECTIVE(Allgatherv, Iallgatherv, 8, 9, 10)
COLLECTIVE(Alltoall, Ialltoall, 7, 8, 9)
COLLECTIVE(Alltoallv, Ialltoallv, 9, 10, 11)
COLLECTIVE(Alltoallw, Ialltoallw, 9, 10, 11)
COLLECTIVE(Reduce, Ireduce, 7, 8, 9)
COLLECTIVE(Allreduce, Iallreduce, 6, 7, 8)
COLLECTIVE(Reduce_scatter, Ireduce_scatter, 6, 7, 8)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, 6, 7, 8)
COLLECTIVE(Scan, Iscan, 6, 7, 8)
COLLECTIVE(Exscan, Iexscan, 6, 7, 8)

#define NEIGHBOURS(NAME, COUNT, ICOUNT, PCOUNT)                                                            \
    UNFOLLOWED(MPI_Neighbor_##NAME, COUNT) COLLECTIVE(Neighbor_##NAME, Ineighbor_##NAME, COUNT, ICOUNT, PCOUNT)
NEIGHBOURS(allgather, 7, 8, 9)
NEIGHBOURS(allgatherv, 8, 9, 10)
NEIGHBOURS(alltoall, 7, 8, 9)
NEIGHBOURS(alltoallv, 9, 10, 11)
NEIGHBOURS(alltoallw, 9, 10, 11)

/* One-sided messages, and calls that begin an access to any window, including shared memory. */
#define ONE_SIDED(NAME, COUNT) UNFOLLOWED(MPI_##NAME, COUNT) LARGE(NAME, COUNT)
ONE_SIDED(Put, 8) ONE_SIDED(Get, 8) ONE_SIDED(Accumulate, 9) ONE_SIDED(Get_accumulate, 12)
ONE_SIDED(Rput, 9) ONE_SIDED(Rget, 9) ONE_SIDED(Raccumulate, 10) ONE_SIDED(Rget_accumulate, 13)
UNFOLLOWED(MPI_Fetch_and_op, 7) UNFOLLOWED(MPI_Compare_and_swap, 7)
UNFOLLOWED(MPI_Win_fence, 2) UNFOLLOWED(MPI_Win_post, 3) UNFOLLOWED(MPI_Win_start, 3)
UNFOLLOWED(MPI_Win_lock, 4)

/* Processes that join later, and communicators that only some members of another one create. */
UNFOLLOWED(MPI_Comm_spawn, 8) UNFOLLOWED(MPI_Comm_spawn_multiple, 9)
UNFOLLOWED(MPI_Comm_accept, 5) UNFOLLOWED(MPI_Comm_connect, 5) UNFOLLOWED(MPI_Comm_join, 2)
UNFOLLOWED(MPI_Intercomm_create, 6) UNFOLLOWED(MPI_Intercomm_merge, 3)
UNFOLLOWED(MPI_Comm_create_group, 4) UNFOLLOWED(MPI_Comm_idup, 3) MPI_4(MPI_Comm_idup_with_info, 4)
MPI_4(MPI_Comm_create_from_group, 5) MPI_4(MPI_Intercomm_create_from_groups, 8)

/* Files, and memory shared between ranks. */
#define WITH_LARGE(NAME, COUNT) LEFT_OUT(MPI_##NAME, COUNT) LEFT_OUT_4(MPI_##NAME##_c, COUNT)
#define FILES(READ)                                                                                        \
    WITH_LARGE(File_##READ, 5) WITH_LARGE(File_##READ##_all, 5) WITH_LARGE(File_##READ##_shared, 5)        \
    WITH_LARGE(File_##READ##_ordered, 5) WITH_LARGE(File_##READ##_at, 6) WITH_LARGE(File_##READ##_at_all, 6) \
    WITH_LARGE(File_i##READ, 5) WITH_LARGE(File_i##READ##_all, 5) WITH_LARGE(File_i##READ##_shared, 5)     \
    WITH_LARGE(File_i##READ##_at, 6) WITH_LARGE(File_i##READ##_at_all, 6)                                  \
    WITH_LARGE(File_##READ##_all_begin, 4) LEFT_OUT(MPI_File_##READ##_all_end, 3)                          \
    WITH_LARGE(File_##READ##_at_all_begin, 5) LEFT_OUT(MPI_File_##READ##_at_all_end, 3)                    \
    WITH_LARGE(File_##READ##_ordered_begin, 4) LEFT_OUT(MPI_File_##READ##_ordered_end, 3)
FILES(read) FILES(write)
LEFT_OUT(MPI_File_open, 5) LEFT_OUT(MPI_File_close, 1) LEFT_OUT(MPI_File_sync, 1) LEFT_OUT(MPI_File_delete, 2)
LEFT_OUT(MPI_File_set_view, 6) LEFT_OUT(MPI_File_set_size, 2) LEFT_OUT(MPI_File_preallocate, 2)
LEFT_OUT(MPI_File_set_info, 2) LEFT_OUT(MPI_File_set_atomicity, 2) LEFT_OUT(MPI_File_seek_shared, 3)
LEFT_OUT(MPI_File_get_position_shared, 2)
WITH_LARGE(Win_allocate_shared, 6)
