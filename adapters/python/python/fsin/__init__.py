"""Evaluates interconnection networks: routers and topologies under synthetic traffic and MPI traces.

>>> import fsin
>>> result = fsin.run(topology="torus:4x4", load=0.1, samples=2)
>>> result.complete
True

Arguments have the names of the command's flags, with ``_`` for ``-``; so have the figures of results. ``fsin.keys()``
lists the arguments, ``fsin.figures()`` the figures, ``fsin.list()`` and ``fsin.explain(NAME)`` the components.
"""

import warnings as _warnings

from fsin._error import Error, RunFailed
from fsin._fsin import __optimised__ as _optimised
from fsin._fsin import __version__
from fsin._generator import Batch, Generator
from fsin._picture import Picture, Pictures
from fsin._catalogue import Component, explain, figures, keys, list
from fsin._run import Result, run
from fsin._folders import compare, read, report, rerun, resume
from fsin._programs import Trace, mpirun, trace
from fsin._saturation import Saturations, saturation
from fsin._sweep import Sweep, plot, sweep
from fsin._topology import Topology, topology

if not _optimised:
    _warnings.warn(
        "this build of fsin is not optimised, and runs take many times as long: `pip install` and `maturin develop --release` optimise",
        RuntimeWarning,
        stacklevel=2,
    )

__all__ = [
    "Batch",
    "Component",
    "Error",
    "Generator",
    "Picture",
    "Pictures",
    "Result",
    "RunFailed",
    "Saturations",
    "Sweep",
    "Topology",
    "Trace",
    "__version__",
    "compare",
    "explain",
    "figures",
    "keys",
    "list",
    "mpirun",
    "plot",
    "read",
    "report",
    "rerun",
    "resume",
    "run",
    "saturation",
    "sweep",
    "topology",
    "trace",
]
