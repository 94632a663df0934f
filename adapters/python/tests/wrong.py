"""Twenty wrong names, one in each of the last twenty lines: `mypy --strict` finds an error in each, and none elsewhere."""

import fsin

r = fsin.run(topology="torus:4x4", load=0.1)
s = fsin.sweep(topology="torus:4x4", load=[0.1, 0.2])
t = fsin.topology("torus:4x4")
f = fsin.saturation(topology="torus:4x4")
c = fsin.explain("torus")[0]
# Names of arguments.
fsin.run(topolgy=1)
fsin.run(topology="torus:4x4", laod=0.2)
fsin.run(network="wormhole", vc=2)
fsin.run(warm_up=100)
fsin.sweep(routings=["bubble:smart"])
fsin.sweep(load=[0.1], stopafter=2)
fsin.saturation(tolerence=0.1)
fsin.mpirun("./app", ranks=2, topologie="torus:2")
# Types of arguments.
fsin.run(cycles=["2000"])
fsin.run(link_loads=3)
# Names of figures.
r.latency_maen_cycles
r.completion_second
r.accepted_load
r.digests
print(f.laod)
print(t.diameter)
print(c.parameter)
# Names of the package and of its tables.
fsin.ran(topology="torus:4x4")
s.faild
fsin.plot(s)["latency"].sav("a.svg")
