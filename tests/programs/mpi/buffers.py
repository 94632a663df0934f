# Buffers of numpy, and objects.
from mpi4py import MPI
import numpy as np
c = MPI.COMM_WORLD
a = np.arange(1000, dtype='d') + c.rank
b = np.empty_like(a)
c.Allreduce(a, b)
assert abs(b[3] - (3 * c.size + c.size * (c.size - 1) / 2)) < 1e-9
n = (c.rank + 1) % c.size
r = c.Irecv(b, source=MPI.ANY_SOURCE)
c.Send(a, dest=n)
r.Wait()
o = c.allgather({'rank': c.rank})
assert [x['rank'] for x in o] == list(range(c.size))
s = c.Split(c.rank % 2)
assert s.allreduce(1) == (c.size + 1 - c.rank % 2) // 2
t = MPI.DOUBLE.Create_vector(4, 1, 10).Commit()
c.Barrier()
if c.rank == 0: print('mpi4py VERIFIED')
