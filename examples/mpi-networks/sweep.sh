#!/bin/sh
# One MPI program on several networks: `sh sweep.sh` in a copy of this folder. Results go to the folder results.
set -eu
mpicc.mpich -O2 -o spectrum spectrum.c
mkdir -p results

# The value of a figure in a result.
figure() { sed -n "s/^  \"$2\": \([^,]*\),*$/\1/p" "results/$1.json"; }

run() {
    name=$1
    shift
    fsin mpirun -q -n 16 --compute fixed:20us "$@" -o "results/$name.json" --heat-map "results/$name.svg" -- ./spectrum > results/out
    grep -q VERIFIED results/out
    waiting=$(sed -n 's/^      "waiting_ps": \([0-9]*\),$/\1/p' "results/$name.json" | awk '{ sum += $1 } END { print sum / NR }')
    echo "$name $(figure "$name" completion_seconds) $waiting $(figure "$name" messages)" |
        awk '{ printf "%-14s %7.1f us %6.1f %% waiting %6d messages\n", $1, 1e6 * $2, 1e-10 * $3 / $2, $4 }'
}

for rate in 10Gb/s 100Gb/s; do
    at=$(echo "$rate" | tr -d '/')
    run "torus-$at" --topology torus:4x4 --bandwidth "$rate"
    run "mesh-$at" --topology mesh:4x4 --bandwidth "$rate"
    run "fattree-$at" --topology fattree:4,2 --bandwidth "$rate"
done
run "delay-1us" --network switch:delay=1us,nodes=16
run "delay-10us" --network switch:delay=10us,nodes=16
