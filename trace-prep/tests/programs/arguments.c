/* Checks the table of calls against the declarations of the MPI library: only calls with the right number of arguments
 * compile. Prints their names. */
#include <mpi.h>
#include <stdio.h>

#define Z1 0
#define Z2 Z1, 0
#define Z3 Z2, 0
#define Z4 Z3, 0
#define Z5 Z4, 0
#define Z6 Z5, 0
#define Z7 Z6, 0
#define Z8 Z7, 0
#define Z9 Z8, 0
#define Z10 Z9, 0
#define Z11 Z10, 0
#define Z12 Z11, 0
#define Z13 Z12, 0
#define PRINT(CALL) puts(#CALL);
#define DECLARED(CALL, COUNT) (void)sizeof(CALL(Z##COUNT)); PRINT(CALL)

#define UNFOLLOWED(CALL, COUNT) DECLARED(CALL, COUNT)
#define LEFT_OUT(CALL, COUNT) DECLARED(CALL, COUNT)
#define EXTENSION(CALL, COUNT) PRINT(CALL)
#if MPI_VERSION >= 4
#define MPI_4(CALL, COUNT) DECLARED(CALL, COUNT)
#else
#define MPI_4(CALL, COUNT) PRINT(CALL)
#endif
#define LEFT_OUT_4(CALL, COUNT) MPI_4(CALL, COUNT)

int main(void) {
#include "../../recorder/unfollowed.h"
    return 0;
}
