"""Names and types of arguments and figures. Made by `fsin generate python`; do not edit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional, Protocol, SupportsFloat, SupportsIndex, TypedDict, Union

if TYPE_CHECKING:
    from fsin._topology import Topology


class Graph(Protocol):
    """A graph of networkx."""

    @property
    def adjacency(self) -> Any: ...


class Table(Protocol):
    """An array of numpy, a table of pandas, or what becomes one."""

    def __array__(self) -> Any: ...


Number = Union[SupportsFloat, SupportsIndex, str]
Switch = Union[bool, str]
Word = Union[str, SupportsFloat, SupportsIndex]
Path = Union[str, "os.PathLike[str]"]
Network = Union[str, "Topology", Mapping[str, Any], Graph]
Pattern = Union[str, Callable[[int], Any], Table, Sequence[Sequence[float]]]
Routes = Union[Path, Mapping[str, Any], Table, Callable[[int, int], Optional[Sequence[int]]]]


class RunKeys(TypedDict, total=False):
    """Arguments of a run."""

    network: Optional[Word]
    """network model, and its settings: vct (the default), wormhole, constant-delay:delay=1us, loggops:L=2500,G=6 (for traces); fsin list networks"""

    topology: Optional[Network]
    """shape and sizes: torus:16x16, mesh:8x8x8, twisted:16x8:8; fsin list topologies (default torus:8x8)"""

    ways: Optional[Number]
    """directions of the links of each dimension (default 2)"""

    fail: Optional[Word]
    """failures of links by name and time, separated by commas or in a file: link:A-B@5us, node:A@1ms, class:NAME#N@0 (N links, drawn by the seed), repair:link:A-B@9us; @0 is dead from the start; none, as one of several values"""

    vcs: Optional[Number]
    """virtual channels of each link (default 3)"""

    routing: Optional[Word]
    """routing, such as dally:trc with vct, dor with wormhole; that of the topology if absent: fsin list routings"""

    order: Optional[Word]
    """order of deterministic and escape routes: X Y Z, X+ Y+ Z+ X- Y- Z-, or the longest dimension first; long in slices, tpu:..., if absent (default dim)"""

    faults: Optional[Number]
    """dead links, drawn by the seed: of a direct network, or between switches with graph:updown or graph:shortest; 0 if absent"""

    fault_ways: Optional[Number]
    """directions of a link that die together; 1: for direct networks; 2 if absent"""

    link_delay: Optional[Word]
    """[cycles] delay of links beyond one cycle, of all or of each dimension or class of links, 1:1:8 (dragonfly: to endpoints : within : between groups; fsin topology names them); without load H hops of L phits take H (1 + link-delay + router-delay) + L - 1; 0 if absent; in the model flow times with their units, 100ns:100ns:2us, in place of --propagation"""

    router_delay: Optional[Number]
    """[cycles] delay of each router that a hop leads to, before a header can ask there; 0 if absent"""

    alternatives: Optional[Number]
    """with graph:shortest: links of a switch that packets of one destination are spread over; all if absent"""

    packet: Optional[Number]
    """[phits] length of every packet (default 16)"""

    phit_bytes: Optional[Number]
    """[bytes] payload of a phit (default 4)"""

    queue: Optional[Number]
    """[packets] room of each transit and injection queue; fewer phits than the delay of a link cannot keep a channel of it busy (default 4)"""

    injection_queue: Optional[Number]
    """[packets] room of each source buffer (default 8)"""

    injectors: Optional[Number]
    """injection queues of each node (default 1)"""

    injection: Optional[Word]
    """injector of a new packet: shortest (the least occupied), dor, longest-path, ...; fsin list injections (default shortest)"""

    inject: Optional[Word]
    """from source buffer to injection queue: whatever fits at once, or a phit per cycle (default parallel)"""

    interface: Optional[Word]
    """messages that an interface sends at a time: one; up to N to different destinations, packets in turn; or on each link those whose routes begin there; per-port in slices, tpu:..., if this, injectors and injection are absent. Of models without packets: per-destination, one of each source, destination and class; serial or serial:N, up to N of a node; at-once, all (default serial)"""

    consumption: Optional[Word]
    """consumption ports: one for each queue, or one or N per node (default multiple)"""

    arbitration: Optional[Word]
    """who gets a contended output: rr (round robin), fifo, longest, random, age, highest-vc (default rr)"""

    bubble: Optional[Number]
    """[packets] room that a packet must find, its own place included, where it enters a ring or, on a mesh, a row; 0: none, and a torus may deadlock (default 2)"""

    lbr: Optional[Number]
    """[packets] local bubble restriction: room that an injected packet must find, its own place included, on every channel (default 0)"""

    in_transit_priority: Optional[Number]
    """probability, 0 to 1, that transit queues are served before injection queues (default 0)"""

    global_cc: Optional[Number]
    """[percent] congestion control: nothing enters while packets in the network exceed this share of the room of all transit queues"""

    global_cc_period: Optional[Number]
    """[cycles] time between two counts of packets for global control; every cycle if absent"""

    timeout_upper: Optional[Number]
    """[cycles] lbr and in-transit-priority act at congested nodes only: where a header has waited for longer than this"""

    timeout_lower: Optional[Number]
    """[cycles] a node is no longer congested when a header has waited for less than this; 75 % of timeout-upper if absent"""

    preset: Optional[Word]
    """settings to begin with: default, or booksim (two stages, speculation, iSLIP)"""

    buffer: Optional[Number]
    """[flits or bytes] wormhole: flits of each virtual channel of an input; that of the preset if absent, as for all of these. Ethernet: bytes of a switch that its ports share (32MB); a queue of frames for each port if absent"""

    route_delay: Optional[Number]
    """[cycles] stage of route computation; 0 is lookahead routing"""

    vc_alloc_delay: Optional[Number]
    """[cycles] stage of virtual channel allocation"""

    switch_alloc_delay: Optional[Number]
    """[cycles] stage of switch allocation"""

    traverse_delay: Optional[Number]
    """[cycles] stage of switch traversal"""

    traverse_mode: Optional[Word]
    """how route computation and switch traversal of more than one step take what comes: pipeline, batch; pipeline if absent"""

    speculative: Optional[Word]
    """heads ask for the switch together with a virtual channel"""

    speedup: Optional[Word]
    """steps of a router in a cycle of its links: 2, 1.5, 3/2"""

    subnets: Optional[Number]
    """copies of the network, of which each packet draws one; a node has links to all of them and sends one packet after the other, by one thread; 1 if absent"""

    input_speedup: Optional[Number]
    """inputs of the switch for each input port; channel v has input v modulo S; 1 if absent"""

    output_speedup: Optional[Number]
    """outputs of the switch for each output port; input port i has output i modulo S, and flits queue for the link; 1 if absent"""

    buffer_policy: Optional[Word]
    """how the channels of an input share its buffer: private, shared, limited, dynamic, shifting; private if absent"""

    shared_buffer: Optional[Number]
    """[flits] buffer of an input, of all its channels, where they share it; --buffer times --vcs if absent"""

    private_buffers: Optional[Number]
    """groups of channels with places of their own in a shared buffer; one for each channel if absent"""

    private_buffer: Optional[Number]
    """[flits] places of such a group; 1 if absent"""

    held_slots: Optional[Number]
    """[flits] places that a channel holds at most; all if absent"""

    credit_delay: Optional[Number]
    """[cycles] time until a credit counts, beyond the delay of the link"""

    vc_allocator: Optional[Word]
    """separable, islip:ITERATIONS, wavefront, oldest-first"""

    switch_allocator: Optional[Word]
    """as for virtual channels"""

    priority: Optional[Word]
    """requests that separable allocators and input ports prefer: none, class, age, network-age, local-age, queue-length, hop-count, sequence; none if absent"""

    class_priority: Optional[Word]
    """by class of messages: its priority; 0 if absent"""

    switch_hold: Optional[Word]
    """how long a connection through the switch lasts"""

    output_queue: Optional[Number]
    """[flits] room of an output's queue; unbounded if absent"""

    vc_classes: Optional[Word]
    """of rings: per-dimension, dateline, balanced"""

    message_classes: Optional[Number]
    """sets of virtual channels, of equal size, that messages and reactions (class 1) do not share; 1 if absent"""

    vc_range: Optional[Word]
    """channels A to B of a class of messages, by its number, or as read-request, read-reply, write-request, write-reply; apart: an equal part for each class; together: all for all; apart if absent"""

    source_order: Optional[Word]
    """how classes of messages take turns at their source: in-turn, replies-first; in-turn if absent"""

    wait_for_tail_credit: Optional[Word]
    """a virtual channel is free again when all its credits are back, not when the tail has left"""

    vc_busy_when_full: Optional[Word]
    """a virtual channel without a credit is not allocated"""

    routes: Optional[Routes]
    """paths and virtual channels of all packets instead, .csv or .csv.gz: current,destination,next[,vc][,source] or source,destination,path[,vcs]; fsin routes"""

    unsafe_routing: Optional[Word]
    """runs what is not free of deadlock as well"""

    link_rate: Optional[Word]
    """data rate of links of which the topology says nothing (default 1Gb/s)"""

    propagation: Optional[Word]
    """propagation delay of links of which the topology says nothing (default 500ns)"""

    port_queue: Optional[Number]
    """[frames, or bytes with a unit] room of a port's queue, or of an input where links pause; with --trim bytes too, as in 64500B, of a port of the fastest host (what a round trip holds) (default 1000)"""

    trim: Optional[Word]
    """queues of two levels, which cut the data off frames that find no room: coin (the one that arrives or the last, the default of uec and ndp), arriving, or off (frames are dropped)"""

    trim_size: Optional[Number]
    """[bytes] what is left of a frame whose data were cut off (default 64)"""

    headers_per_frame: Optional[Number]
    """[headers] uec and ndp: what is left of trimmed frames, and control frames, go before data; after so many while data wait, a frame of data is sent (htsim: 100000; the switch of NDP's paper: 10) (default 100000)"""

    switch_latency: Optional[Word]
    """time from the choice of an output to the queue before it (default 0ns)"""

    ecn_hosts: Optional[Word]
    """ports to hosts mark frames (true; uec with rccc or both: false)"""

    entropy: Optional[Word]
    """uec and ndp: how a sender chooses the entropy of each frame, by which switches choose its path: mixed (the default of uec), oblivious, bitmap, reps, reps-legacy, single, or cycle (the default of ndp)"""

    switching: Optional[Word]
    """when a switch forwards: store-and-forward, or cut-through (after the header) (default store-and-forward)"""

    forwarding: Optional[Word]
    """how a switch finds the port: learning (unknown addresses are flooded), or static (routes of the file, or shortest paths) (default learning)"""

    spanning_tree: Optional[Word]
    """loops are cut, for learning; without it frames may circulate, which is reported (default true)"""

    ageing: Optional[Word]
    """time after which a learnt address is forgotten (default 300s)"""

    ecmp: Optional[Word]
    """static: flows are spread over all shortest paths by a hash; the same as --spread ecmp (default false)"""

    spread: Optional[Word]
    """static: which of several shortest paths a frame takes: one (the same for all), ecmp (by a hash of flow and entropy), adaptive, round-robin, or hash-adaptive (default one)"""

    per: Optional[Number]
    """share of frames that a link damages, 0 or more and less than 1 (default 0)"""

    transport: Optional[Word]
    """how hosts handle lost frames: oracle (the sender knows at once and repeats at once), backoff (the same, with a drawn wait after a further loss), none, window (sliding window of TCP), roce (paced frames, acknowledged; back to a gap), uec (Ultra Ethernet: sprayed over paths), or ndp (sprayed and pulled) (default oracle)"""

    cc: Optional[Word]
    """congestion control of a connection: newreno (the default of window), dctcp with window; dcqcn, hpcc with roce; nscc (the default of uec), rccc, both with uec; or none"""

    in_flight: Optional[Word]
    """roce: limit of what a connection has sent and that is not acknowledged: none, bdp, or bdp-scaled (by its rate) (default none)"""

    ack_every: Optional[Number]
    """[frames] to an acknowledgement; window: 1 or 2 (default 1)"""

    ack_class: Optional[Word]
    """class of acknowledgements: that of their data, or control, the default of roce"""

    cnp_interval: Optional[Word]
    """roce: least time between two marks of a connection that its receiver returns (0ns; dcqcn of sigcomm2015: 50us)"""

    rto: Optional[Word]
    """roce: time without an acknowledgement after which a connection goes back, 0ns for never (the default where links lose nothing; else 1ms)"""

    pause: Optional[Word]
    """link-level flow control: of IEEE 802.3 (true), or by class (pfc, 802.1Qbb; with --buffer): nothing is dropped, and a deadlock is possible (default false)"""

    classes: Optional[Word]
    """how a port serves traffic classes, as in 1:strict;2:drr=1600;3:drr=3200: strict by number, then the others in turn, by frame or by a quantum of bytes; rr for all by frame"""

    traffic_class: Optional[Number]
    """class (802.1Q) of the messages of a source, 0 to 7; lists of flows and files of jobs give one to each flow or job (default 0)"""

    ecn: Optional[Word]
    """which frames are marked, by what waits of their class: step:BYTES, or red:BYTES:BYTES:PROBABILITY; CLASS= before it and @RATE behind it are for one class or rate, and ; joins several"""

    mark: Optional[Word]
    """when that is decided: departure (as sending begins), sent (as it ends, the default with --trim), or arrival (default departure)"""

    buffer_alpha: Optional[Word]
    """share of what is free in the --buffer that one queue may have, or one class of an input with pfc (default 1/8)"""

    reserve: Optional[Number]
    """[bytes] pfc: what each class of a port has for itself (default 4096)"""

    headroom: Optional[Word]
    """pfc: room of each class of a port for what comes after it is paused; auto is what its link can bring (default auto)"""

    xon_offset: Optional[Number]
    """[bytes] pfc: how far below the threshold a class must be for its sender to go on (default 3072)"""

    pause_quanta: Optional[Word]
    """pfc: a pause lasts so many times 512 bits, and is renewed at half of it (default inf)"""

    pfc_response: Optional[Word]
    """pfc: time from the arrival of a pause frame until it takes effect (default 0ns)"""

    pfc_watchdog: Optional[Word]
    """pfc: a class of a port that is paused so long loses what waits, and what comes until it goes on"""

    pfc_classes: Optional[Word]
    """pfc: the classes that are paused (all of data)"""

    xoff: Optional[Number]
    """[frames] of an input, with which it pauses the sender (default 500)"""

    xon: Optional[Number]
    """[frames] of an input, with which it lets the sender go on (default 250)"""

    frames: Optional[Word]
    """sizes of frames, each of which can be set by itself too: thesis, roce, tcp, hpcc, uec (its default) or ndp (its default) (default thesis)"""

    mtu: Optional[Number]
    """[bytes] data of a frame, at most (1497; hpcc: 1000)"""

    overhead: Optional[Number]
    """[bytes] what a data frame has beside its data, preamble included (29; roce: 70, tcp: 66, hpcc: 48)"""

    min_frame: Optional[Number]
    """[bytes] size of the shortest frame, preamble included (72; hpcc: 48)"""

    gap: Optional[Number]
    """[bits] between two frames (96; hpcc: 0)"""

    pause_bytes: Optional[Number]
    """[bytes] size of a PAUSE frame, preamble included (72; hpcc: 43)"""

    ties: Optional[Word]
    """order of frames that reach a switch at one instant: port; or hash, the default where --frames, --mtu, --overhead, --min-frame, --gap, --cc, --classes, --ecn, --buffer, --trim, uec, ndp or pause=pfc is set, flows are listed, or sizes are by cdf"""

    segment: Optional[Number]
    """[bytes] window: of a message in a segment, at most (what a frame has room for beside headers: 1457)"""

    segment_header: Optional[Number]
    """[bytes] window: headers in each segment (40; 0 with the sizes of roce, tcp and hpcc, whose overhead contains them)"""

    ack_bytes: Optional[Number]
    """[bytes] length of an acknowledgement (default 40)"""

    ack_frame: Optional[Number]
    """[bytes] size of an acknowledgement, preamble included (that of a frame with it; roce: 74, tcp: 72, hpcc: 60)"""

    window: Optional[Number]
    """[bytes] window: the largest, that of the receiver (default 65535)"""

    initial_window: Optional[Number]
    """[segments] window: at the beginning, and after idle time (default 3)"""

    dup_acks: Optional[Number]
    """window: duplicate acknowledgements that start a fast retransmit (default 3)"""

    rto_initial: Optional[Word]
    """window: time-out before a round trip has been measured (default 1s)"""

    rto_min: Optional[Word]
    """window: shortest time-out; one that is repeated lasts up to 1/8 longer, by a draw (default 1s)"""

    rto_max: Optional[Word]
    """window: longest time-out (default 60s)"""

    completion: Optional[Word]
    """what ends the time of a message: last-byte (its arrival), or acked (its acknowledgement comes to the sender) (default last-byte)"""

    port_stats: Optional[Word]
    """of each port in results: none, figures (losses, queue, utilisation), or histogram (and how long its queue had which length) (default figures)"""

    cable_length: Optional[Number]
    """[m] length of every cable of which the topology does not give the propagation delay (default 10)"""

    cable_velocity: Optional[Number]
    """[m/s] velocity of propagation in cables (default 180000000)"""

    slack: Optional[Number]
    """[characters] room of the slack buffer at each input of a switch; too little for marks and cable is refused, with the least that is safe (default 96)"""

    high_mark: Optional[Number]
    """[characters] high-water mark: an input that holds more sends STOP (default 56)"""

    low_mark: Optional[Number]
    """[characters] low-water mark: a stopped input that holds fewer sends GO (default 40)"""

    payload: Optional[Number]
    """[bytes] of a message in a packet, at most (default 4096)"""

    store_character: Optional[Word]
    """a switch passes a character on after its end, not with its leading edge: a character time more for each switch (default false)"""

    beat: Optional[Word]
    """between two BEATs on each channel; a dead link is seen after two (default 1s)"""

    packet_timeout: Optional[Word]
    """from a packet's first character: one that has not arrived by then is removed everywhere, and lost (default 1s)"""

    flow_preset: Optional[Word]
    """settings to begin with: simgrid-cm02, simgrid-lv08 or inrflow"""

    fairness: Optional[Word]
    """how flows share a link: maxmin, rtt or split; that of the preset if absent, else maxmin"""

    paths: Optional[Word]
    """paths of a flow among those that the routing permits: hash, adaptive or spray (default hash)"""

    node_rate: Optional[Word]
    """rate of a node's own link in a direct network; that of --injectors links if absent, in slices that of all its links"""

    hop_delay: Optional[Word]
    """delay of each router on a path (default 0ns)"""

    weight_s: Optional[Number]
    """[bytes] rtt: what each link adds to a round trip, at its rate; that of the preset if absent, else 0"""

    tcp_gamma: Optional[Number]
    """[bytes] rtt: greatest window, 0 for none; that of the preset if absent, else 0"""

    latency_factor: Optional[Number]
    """of the latency of a path when a flow enters; that of the preset if absent, else 1"""

    bandwidth_factor: Optional[Number]
    """of a rate after sharing; that of the preset if absent, else 1"""

    cross_traffic: Optional[Number]
    """what a flow uses of the other direction of its links, as a share of its rate; that of the preset if absent, else 0"""

    tick: Optional[Word]
    """ends of flows are multiples of this: a longer one merges instants, and each end is off by half of it at most (default 1ps)"""

    packet_bytes: Optional[Number]
    """[bytes] payload of the packets in which messages are counted (default 4096)"""

    header_bytes: Optional[Number]
    """[bytes] that pass over the links for each packet as well (default 0)"""

    bus_arbitration: Optional[Number]
    """[cycles] before each packet on the bus (default 1)"""

    delay: Optional[Word]
    """time that every message takes: whole ns, with a unit (default 100ns)"""

    rate: Optional[Word]
    """rate of a link, with a unit: a message takes its bytes at this rate longer, and occupies its link for them; without limit if absent"""

    links: Optional[Word]
    """links that the rate limits: that of the sending node, or one between each pair of nodes (default node)"""

    nodes: Optional[Number]
    """nodes of a network without a topology; those of the topology if absent"""

    wire_latency: Optional[Number]
    """[ns] L of LogGOPS: time from the end of a send to the arrival (default 2500)"""

    wire_gap: Optional[Word]
    """[ns/byte] G of LogGOPS: time of a byte on the wire (default 6)"""

    source: Optional[Word]
    """what a full source buffer does: messages queue without bound (open loop), or the node generates nothing (throttled; the default of tasks, shots and guests) (default open)"""

    traffic: Optional[Pattern]
    """destinations: transpose, hotspot(0.1,0), A + B, A@1000 then B@500 (default uniform)"""

    temporal: Optional[Word]
    """when: bernoulli, cburst(8), markov(2,0.01), reactive(0.5,1), shot(10) (default bernoulli)"""

    shot: Optional[Number]
    """[messages] bursts: every node sends so many, and again when all have arrived"""

    size: Optional[Word]
    """message sizes: constant, uniform(4,64), bimodal(4,64,0.2), ... (default constant)"""

    load: Optional[Number]
    """[phits/node/cycle] offered load; other networks have a unit of their own (fsin explain ethernet) (default 0.3)"""

    scale: Optional[Number]
    """of the demands of the network's file, with --traffic demands: a factor in place of --load"""

    trace: Optional[Path]
    """replay a trace instead: .trg, .trc, SimGrid TI, GOAL, Chakra, or an archive (.tar.xz) of one"""

    hosts: Optional[Word]
    """hosts of a GOAL graph, and, where one of these is given, of a program or Chakra trace (ns, ns, ns/byte, bytes; streams=true: a calculation holds back its dependents until it ends), absent ones: o=1500,g=1000,O=0,S=65535,streams=false; or ranks of a Chakra trace: deps=all|data, engines=N computations and communications=N sends and collectives at a time, least=TIME of one without duration, group-delay=TIME, algorithm=ring|hierarchical of collectives; absent ones: deps=all,engines=1,communications=1,least=0ns,group-delay=0ns, and hierarchical where nodes of the network have several GPUs"""

    groups: Optional[Path]
    """groups of ranks that the collectives of a Chakra trace name, as JSON: {'0': [0, 1], ...}; those beside or in the trace if absent"""

    peak: Optional[Word]
    """rate of the computations of a Chakra trace that have no recorded duration: 100Tflop/s"""

    memory_bandwidth: Optional[Word]
    """rate of the memory of a Chakra trace's ranks, for tensors (with peak) and for adding what collectives combine: 2TB/s"""

    eager: Optional[Number]
    """[bytes] largest message of a trace or kernel that is sent without a rendezvous; all if absent"""

    tasks_per_node: Optional[Number]
    """tasks of a trace or kernel that share a node; 1 if absent"""

    kernel: Optional[Word]
    """run an application kernel instead: all-to-all:tasks=64,bytes=4096"""

    job_mix: Optional[Path]
    """run several applications instead, which arrive and wait for nodes: a TOML file of jobs"""

    flows: Optional[Path]
    """send the messages of a list instead, each at its start: CSV with src,dst,bytes,start[,class], the list of HPCC and SimAI, or .cm of htsim; FILE,ignore=class takes all as class 0"""

    cm_unit: Optional[Word]
    """unit of starts in a .cm of htsim, whose programs differ: us (UEC) or ps (NDP)"""

    scheduler: Optional[Word]
    """which job that waits starts next: fcfs, first-fit, easy (backfilling) (default fcfs)"""

    allocation: Optional[Word]
    """which free nodes a job gets: contiguous, quasi-contiguous, random (default contiguous)"""

    collectives: Optional[Word]
    """algorithms of collectives of a trace or kernel: all-reduce=double-tree; of programs of MPI also rules: mpich (by size and ranks; the default) or basic, alone or before the others"""

    placement: Optional[Word]
    """nodes of the tasks of a trace or kernel: consecutive, greedy, optimise, column, diagonal, quadrant, shuffle, shift:S, random, file:F, ... (default consecutive)"""

    bandwidth: Optional[Word]
    """rate of a link, where a file gives it none; a cycle is one phit on the fastest link (default 10Gb/s)"""

    compute: Optional[Number]
    """factor on computing times of a trace: 0 removes, 1 keeps (default 1)"""

    slow: Optional[Word]
    """factors of the computing times of ranks of a trace or kernel: rank:3x1.2, rank:8-11x2"""

    flop_rate: Optional[Word]
    """speed of a task, for traces that count flops (default 5Gflop/s)"""

    trace_unit: Optional[Word]
    """unit of computing times in .trc files (default ns)"""

    recv_order: Optional[Word]
    """order of tasks in receive lines of .trc files: src-dst, dst-src, detect (default detect)"""

    warmup: Optional[Number]
    """[cycles] time before anything is measured (default 5000)"""

    conv_period: Optional[Number]
    """[cycles] time between two looks at whether the state is steady (default 1000)"""

    conv_threshold: Optional[Number]
    """change of load and delay, as a share, that counts as steady (default 0.05)"""

    max_conv_time: Optional[Number]
    """[cycles] longest wait for a steady state after the warm-up; 0 does not wait (default 20000)"""

    samples: Optional[Number]
    """batches to measure, 1 to 100000; with shots, how many of them (default 10)"""

    sample_size: Optional[Number]
    """[cycles] length of each batch (default 2000)"""

    min_batch_packets: Optional[Number]
    """[packets] a batch grows, up to 10 times, until it has received so many (default 30)"""

    cycles: Optional[Number]
    """[cycles] a fixed run instead: no warm-up, everything is counted"""

    max_cycles: Optional[Number]
    """[cycles] limit of a trace, kernel or shots"""

    strict: Optional[Switch]
    """exit with status 3 when --max-cycles ends a run (default false)"""

    no_skip: Optional[Switch]
    """simulate every iteration of a kernel and every packet of long messages, also where they repeat each other exactly: the same results, later"""

    no_digest: Optional[Switch]
    """no digest of a kernel: iterations that repeat each other are skipped without hashing their deliveries"""

    watchdog: Optional[Number]
    """[cycles] time without any phit moving that means deadlock (default 10000)"""

    engine: Optional[Word]
    """fast (packet by packet) or reference (phit by phit): the same results (default fast)"""

    threads: Optional[Number]
    """threads to simulate with; results do not depend on it; myrinet takes 1 (default 1)"""

    seed: Optional[Number]
    """seed of every random draw (default 1)"""

    link_loads: Optional[Switch]
    """keep how many packets each link carried while measuring: heat maps of fsin plot and fsin report"""

    node_stats: Optional[Switch]
    """keep the traffic and latency of each node: `per_node` in JSON, nodes.csv in -o DIR"""

    flow_stats: Optional[Switch]
    """keep the traffic and latency of each pair of nodes: `flows` in JSON, flows.csv in -o DIR"""

    message_stats: Optional[Switch]
    """keep the time that each message takes: percentiles, slow-down against the message alone, classes of sizes"""

    ideal: Optional[Word]
    """what slow-downs of messages are measured against: alone (the message alone in the same network), or hpcc (twice the delays of the path, a full frame on each link, all frames on the slowest; with acknowledged messages of ethernet) (default alone)"""

    size_classes: Optional[Word]
    """classes of messages by size: decades, or their greatest sizes, as in 10kB:100kB:1MB; the last has all above (default decades)"""

    energy: Optional[Word]
    """estimate energy and power by a table: events:fabric-400g, events:FILE, booksim (chips, with --network wormhole), booksim:FILE,width=64, noxim:FILE; fsin list energy-models"""

    latency_histogram: Optional[Switch]
    """keep the histogram of packet latencies: `latency_histogram` in JSON"""


class ManyKeys(TypedDict, total=False):
    """Arguments of a sweep and of a search: a value, or several."""

    network: Union[None, Word, Iterable[Word]]
    """network model, and its settings: vct (the default), wormhole, constant-delay:delay=1us, loggops:L=2500,G=6 (for traces); fsin list networks"""

    topology: Union[None, Network, Iterable[Network]]
    """shape and sizes: torus:16x16, mesh:8x8x8, twisted:16x8:8; fsin list topologies (default torus:8x8)"""

    ways: Union[None, Number, Iterable[Number]]
    """directions of the links of each dimension (default 2)"""

    fail: Union[None, Word, Iterable[Word]]
    """failures of links by name and time, separated by commas or in a file: link:A-B@5us, node:A@1ms, class:NAME#N@0 (N links, drawn by the seed), repair:link:A-B@9us; @0 is dead from the start; none, as one of several values"""

    vcs: Union[None, Number, Iterable[Number]]
    """virtual channels of each link (default 3)"""

    routing: Union[None, Word, Iterable[Word]]
    """routing, such as dally:trc with vct, dor with wormhole; that of the topology if absent: fsin list routings"""

    order: Union[None, Word, Iterable[Word]]
    """order of deterministic and escape routes: X Y Z, X+ Y+ Z+ X- Y- Z-, or the longest dimension first; long in slices, tpu:..., if absent (default dim)"""

    faults: Union[None, Number, Iterable[Number]]
    """dead links, drawn by the seed: of a direct network, or between switches with graph:updown or graph:shortest; 0 if absent"""

    fault_ways: Union[None, Number, Iterable[Number]]
    """directions of a link that die together; 1: for direct networks; 2 if absent"""

    link_delay: Union[None, Word, Iterable[Word]]
    """[cycles] delay of links beyond one cycle, of all or of each dimension or class of links, 1:1:8 (dragonfly: to endpoints : within : between groups; fsin topology names them); without load H hops of L phits take H (1 + link-delay + router-delay) + L - 1; 0 if absent; in the model flow times with their units, 100ns:100ns:2us, in place of --propagation"""

    router_delay: Union[None, Number, Iterable[Number]]
    """[cycles] delay of each router that a hop leads to, before a header can ask there; 0 if absent"""

    alternatives: Union[None, Number, Iterable[Number]]
    """with graph:shortest: links of a switch that packets of one destination are spread over; all if absent"""

    packet: Union[None, Number, Iterable[Number]]
    """[phits] length of every packet (default 16)"""

    phit_bytes: Union[None, Number, Iterable[Number]]
    """[bytes] payload of a phit (default 4)"""

    queue: Union[None, Number, Iterable[Number]]
    """[packets] room of each transit and injection queue; fewer phits than the delay of a link cannot keep a channel of it busy (default 4)"""

    injection_queue: Union[None, Number, Iterable[Number]]
    """[packets] room of each source buffer (default 8)"""

    injectors: Union[None, Number, Iterable[Number]]
    """injection queues of each node (default 1)"""

    injection: Union[None, Word, Iterable[Word]]
    """injector of a new packet: shortest (the least occupied), dor, longest-path, ...; fsin list injections (default shortest)"""

    inject: Union[None, Word, Iterable[Word]]
    """from source buffer to injection queue: whatever fits at once, or a phit per cycle (default parallel)"""

    interface: Union[None, Word, Iterable[Word]]
    """messages that an interface sends at a time: one; up to N to different destinations, packets in turn; or on each link those whose routes begin there; per-port in slices, tpu:..., if this, injectors and injection are absent. Of models without packets: per-destination, one of each source, destination and class; serial or serial:N, up to N of a node; at-once, all (default serial)"""

    consumption: Union[None, Word, Iterable[Word]]
    """consumption ports: one for each queue, or one or N per node (default multiple)"""

    arbitration: Union[None, Word, Iterable[Word]]
    """who gets a contended output: rr (round robin), fifo, longest, random, age, highest-vc (default rr)"""

    bubble: Union[None, Number, Iterable[Number]]
    """[packets] room that a packet must find, its own place included, where it enters a ring or, on a mesh, a row; 0: none, and a torus may deadlock (default 2)"""

    lbr: Union[None, Number, Iterable[Number]]
    """[packets] local bubble restriction: room that an injected packet must find, its own place included, on every channel (default 0)"""

    in_transit_priority: Union[None, Number, Iterable[Number]]
    """probability, 0 to 1, that transit queues are served before injection queues (default 0)"""

    global_cc: Union[None, Number, Iterable[Number]]
    """[percent] congestion control: nothing enters while packets in the network exceed this share of the room of all transit queues"""

    global_cc_period: Union[None, Number, Iterable[Number]]
    """[cycles] time between two counts of packets for global control; every cycle if absent"""

    timeout_upper: Union[None, Number, Iterable[Number]]
    """[cycles] lbr and in-transit-priority act at congested nodes only: where a header has waited for longer than this"""

    timeout_lower: Union[None, Number, Iterable[Number]]
    """[cycles] a node is no longer congested when a header has waited for less than this; 75 % of timeout-upper if absent"""

    preset: Union[None, Word, Iterable[Word]]
    """settings to begin with: default, or booksim (two stages, speculation, iSLIP)"""

    buffer: Union[None, Number, Iterable[Number]]
    """[flits or bytes] wormhole: flits of each virtual channel of an input; that of the preset if absent, as for all of these. Ethernet: bytes of a switch that its ports share (32MB); a queue of frames for each port if absent"""

    route_delay: Union[None, Number, Iterable[Number]]
    """[cycles] stage of route computation; 0 is lookahead routing"""

    vc_alloc_delay: Union[None, Number, Iterable[Number]]
    """[cycles] stage of virtual channel allocation"""

    switch_alloc_delay: Union[None, Number, Iterable[Number]]
    """[cycles] stage of switch allocation"""

    traverse_delay: Union[None, Number, Iterable[Number]]
    """[cycles] stage of switch traversal"""

    traverse_mode: Union[None, Word, Iterable[Word]]
    """how route computation and switch traversal of more than one step take what comes: pipeline, batch; pipeline if absent"""

    speculative: Union[None, Word, Iterable[Word]]
    """heads ask for the switch together with a virtual channel"""

    speedup: Union[None, Word, Iterable[Word]]
    """steps of a router in a cycle of its links: 2, 1.5, 3/2"""

    subnets: Union[None, Number, Iterable[Number]]
    """copies of the network, of which each packet draws one; a node has links to all of them and sends one packet after the other, by one thread; 1 if absent"""

    input_speedup: Union[None, Number, Iterable[Number]]
    """inputs of the switch for each input port; channel v has input v modulo S; 1 if absent"""

    output_speedup: Union[None, Number, Iterable[Number]]
    """outputs of the switch for each output port; input port i has output i modulo S, and flits queue for the link; 1 if absent"""

    buffer_policy: Union[None, Word, Iterable[Word]]
    """how the channels of an input share its buffer: private, shared, limited, dynamic, shifting; private if absent"""

    shared_buffer: Union[None, Number, Iterable[Number]]
    """[flits] buffer of an input, of all its channels, where they share it; --buffer times --vcs if absent"""

    private_buffers: Union[None, Number, Iterable[Number]]
    """groups of channels with places of their own in a shared buffer; one for each channel if absent"""

    private_buffer: Union[None, Number, Iterable[Number]]
    """[flits] places of such a group; 1 if absent"""

    held_slots: Union[None, Number, Iterable[Number]]
    """[flits] places that a channel holds at most; all if absent"""

    credit_delay: Union[None, Number, Iterable[Number]]
    """[cycles] time until a credit counts, beyond the delay of the link"""

    vc_allocator: Union[None, Word, Iterable[Word]]
    """separable, islip:ITERATIONS, wavefront, oldest-first"""

    switch_allocator: Union[None, Word, Iterable[Word]]
    """as for virtual channels"""

    priority: Union[None, Word, Iterable[Word]]
    """requests that separable allocators and input ports prefer: none, class, age, network-age, local-age, queue-length, hop-count, sequence; none if absent"""

    class_priority: Union[None, Word, Iterable[Word]]
    """by class of messages: its priority; 0 if absent"""

    switch_hold: Union[None, Word, Iterable[Word]]
    """how long a connection through the switch lasts"""

    output_queue: Union[None, Number, Iterable[Number]]
    """[flits] room of an output's queue; unbounded if absent"""

    vc_classes: Union[None, Word, Iterable[Word]]
    """of rings: per-dimension, dateline, balanced"""

    message_classes: Union[None, Number, Iterable[Number]]
    """sets of virtual channels, of equal size, that messages and reactions (class 1) do not share; 1 if absent"""

    vc_range: Union[None, Word, Iterable[Word]]
    """channels A to B of a class of messages, by its number, or as read-request, read-reply, write-request, write-reply; apart: an equal part for each class; together: all for all; apart if absent"""

    source_order: Union[None, Word, Iterable[Word]]
    """how classes of messages take turns at their source: in-turn, replies-first; in-turn if absent"""

    wait_for_tail_credit: Union[None, Word, Iterable[Word]]
    """a virtual channel is free again when all its credits are back, not when the tail has left"""

    vc_busy_when_full: Union[None, Word, Iterable[Word]]
    """a virtual channel without a credit is not allocated"""

    routes: Union[None, Routes, Iterable[Routes]]
    """paths and virtual channels of all packets instead, .csv or .csv.gz: current,destination,next[,vc][,source] or source,destination,path[,vcs]; fsin routes"""

    unsafe_routing: Union[None, Word, Iterable[Word]]
    """runs what is not free of deadlock as well"""

    link_rate: Union[None, Word, Iterable[Word]]
    """data rate of links of which the topology says nothing (default 1Gb/s)"""

    propagation: Union[None, Word, Iterable[Word]]
    """propagation delay of links of which the topology says nothing (default 500ns)"""

    port_queue: Union[None, Number, Iterable[Number]]
    """[frames, or bytes with a unit] room of a port's queue, or of an input where links pause; with --trim bytes too, as in 64500B, of a port of the fastest host (what a round trip holds) (default 1000)"""

    trim: Union[None, Word, Iterable[Word]]
    """queues of two levels, which cut the data off frames that find no room: coin (the one that arrives or the last, the default of uec and ndp), arriving, or off (frames are dropped)"""

    trim_size: Union[None, Number, Iterable[Number]]
    """[bytes] what is left of a frame whose data were cut off (default 64)"""

    headers_per_frame: Union[None, Number, Iterable[Number]]
    """[headers] uec and ndp: what is left of trimmed frames, and control frames, go before data; after so many while data wait, a frame of data is sent (htsim: 100000; the switch of NDP's paper: 10) (default 100000)"""

    switch_latency: Union[None, Word, Iterable[Word]]
    """time from the choice of an output to the queue before it (default 0ns)"""

    ecn_hosts: Union[None, Word, Iterable[Word]]
    """ports to hosts mark frames (true; uec with rccc or both: false)"""

    entropy: Union[None, Word, Iterable[Word]]
    """uec and ndp: how a sender chooses the entropy of each frame, by which switches choose its path: mixed (the default of uec), oblivious, bitmap, reps, reps-legacy, single, or cycle (the default of ndp)"""

    switching: Union[None, Word, Iterable[Word]]
    """when a switch forwards: store-and-forward, or cut-through (after the header) (default store-and-forward)"""

    forwarding: Union[None, Word, Iterable[Word]]
    """how a switch finds the port: learning (unknown addresses are flooded), or static (routes of the file, or shortest paths) (default learning)"""

    spanning_tree: Union[None, Word, Iterable[Word]]
    """loops are cut, for learning; without it frames may circulate, which is reported (default true)"""

    ageing: Union[None, Word, Iterable[Word]]
    """time after which a learnt address is forgotten (default 300s)"""

    ecmp: Union[None, Word, Iterable[Word]]
    """static: flows are spread over all shortest paths by a hash; the same as --spread ecmp (default false)"""

    spread: Union[None, Word, Iterable[Word]]
    """static: which of several shortest paths a frame takes: one (the same for all), ecmp (by a hash of flow and entropy), adaptive, round-robin, or hash-adaptive (default one)"""

    per: Union[None, Number, Iterable[Number]]
    """share of frames that a link damages, 0 or more and less than 1 (default 0)"""

    transport: Union[None, Word, Iterable[Word]]
    """how hosts handle lost frames: oracle (the sender knows at once and repeats at once), backoff (the same, with a drawn wait after a further loss), none, window (sliding window of TCP), roce (paced frames, acknowledged; back to a gap), uec (Ultra Ethernet: sprayed over paths), or ndp (sprayed and pulled) (default oracle)"""

    cc: Union[None, Word, Iterable[Word]]
    """congestion control of a connection: newreno (the default of window), dctcp with window; dcqcn, hpcc with roce; nscc (the default of uec), rccc, both with uec; or none"""

    in_flight: Union[None, Word, Iterable[Word]]
    """roce: limit of what a connection has sent and that is not acknowledged: none, bdp, or bdp-scaled (by its rate) (default none)"""

    ack_every: Union[None, Number, Iterable[Number]]
    """[frames] to an acknowledgement; window: 1 or 2 (default 1)"""

    ack_class: Union[None, Word, Iterable[Word]]
    """class of acknowledgements: that of their data, or control, the default of roce"""

    cnp_interval: Union[None, Word, Iterable[Word]]
    """roce: least time between two marks of a connection that its receiver returns (0ns; dcqcn of sigcomm2015: 50us)"""

    rto: Union[None, Word, Iterable[Word]]
    """roce: time without an acknowledgement after which a connection goes back, 0ns for never (the default where links lose nothing; else 1ms)"""

    pause: Union[None, Word, Iterable[Word]]
    """link-level flow control: of IEEE 802.3 (true), or by class (pfc, 802.1Qbb; with --buffer): nothing is dropped, and a deadlock is possible (default false)"""

    classes: Union[None, Word, Iterable[Word]]
    """how a port serves traffic classes, as in 1:strict;2:drr=1600;3:drr=3200: strict by number, then the others in turn, by frame or by a quantum of bytes; rr for all by frame"""

    traffic_class: Union[None, Number, Iterable[Number]]
    """class (802.1Q) of the messages of a source, 0 to 7; lists of flows and files of jobs give one to each flow or job (default 0)"""

    ecn: Union[None, Word, Iterable[Word]]
    """which frames are marked, by what waits of their class: step:BYTES, or red:BYTES:BYTES:PROBABILITY; CLASS= before it and @RATE behind it are for one class or rate, and ; joins several"""

    mark: Union[None, Word, Iterable[Word]]
    """when that is decided: departure (as sending begins), sent (as it ends, the default with --trim), or arrival (default departure)"""

    buffer_alpha: Union[None, Word, Iterable[Word]]
    """share of what is free in the --buffer that one queue may have, or one class of an input with pfc (default 1/8)"""

    reserve: Union[None, Number, Iterable[Number]]
    """[bytes] pfc: what each class of a port has for itself (default 4096)"""

    headroom: Union[None, Word, Iterable[Word]]
    """pfc: room of each class of a port for what comes after it is paused; auto is what its link can bring (default auto)"""

    xon_offset: Union[None, Number, Iterable[Number]]
    """[bytes] pfc: how far below the threshold a class must be for its sender to go on (default 3072)"""

    pause_quanta: Union[None, Word, Iterable[Word]]
    """pfc: a pause lasts so many times 512 bits, and is renewed at half of it (default inf)"""

    pfc_response: Union[None, Word, Iterable[Word]]
    """pfc: time from the arrival of a pause frame until it takes effect (default 0ns)"""

    pfc_watchdog: Union[None, Word, Iterable[Word]]
    """pfc: a class of a port that is paused so long loses what waits, and what comes until it goes on"""

    pfc_classes: Union[None, Word, Iterable[Word]]
    """pfc: the classes that are paused (all of data)"""

    xoff: Union[None, Number, Iterable[Number]]
    """[frames] of an input, with which it pauses the sender (default 500)"""

    xon: Union[None, Number, Iterable[Number]]
    """[frames] of an input, with which it lets the sender go on (default 250)"""

    frames: Union[None, Word, Iterable[Word]]
    """sizes of frames, each of which can be set by itself too: thesis, roce, tcp, hpcc, uec (its default) or ndp (its default) (default thesis)"""

    mtu: Union[None, Number, Iterable[Number]]
    """[bytes] data of a frame, at most (1497; hpcc: 1000)"""

    overhead: Union[None, Number, Iterable[Number]]
    """[bytes] what a data frame has beside its data, preamble included (29; roce: 70, tcp: 66, hpcc: 48)"""

    min_frame: Union[None, Number, Iterable[Number]]
    """[bytes] size of the shortest frame, preamble included (72; hpcc: 48)"""

    gap: Union[None, Number, Iterable[Number]]
    """[bits] between two frames (96; hpcc: 0)"""

    pause_bytes: Union[None, Number, Iterable[Number]]
    """[bytes] size of a PAUSE frame, preamble included (72; hpcc: 43)"""

    ties: Union[None, Word, Iterable[Word]]
    """order of frames that reach a switch at one instant: port; or hash, the default where --frames, --mtu, --overhead, --min-frame, --gap, --cc, --classes, --ecn, --buffer, --trim, uec, ndp or pause=pfc is set, flows are listed, or sizes are by cdf"""

    segment: Union[None, Number, Iterable[Number]]
    """[bytes] window: of a message in a segment, at most (what a frame has room for beside headers: 1457)"""

    segment_header: Union[None, Number, Iterable[Number]]
    """[bytes] window: headers in each segment (40; 0 with the sizes of roce, tcp and hpcc, whose overhead contains them)"""

    ack_bytes: Union[None, Number, Iterable[Number]]
    """[bytes] length of an acknowledgement (default 40)"""

    ack_frame: Union[None, Number, Iterable[Number]]
    """[bytes] size of an acknowledgement, preamble included (that of a frame with it; roce: 74, tcp: 72, hpcc: 60)"""

    window: Union[None, Number, Iterable[Number]]
    """[bytes] window: the largest, that of the receiver (default 65535)"""

    initial_window: Union[None, Number, Iterable[Number]]
    """[segments] window: at the beginning, and after idle time (default 3)"""

    dup_acks: Union[None, Number, Iterable[Number]]
    """window: duplicate acknowledgements that start a fast retransmit (default 3)"""

    rto_initial: Union[None, Word, Iterable[Word]]
    """window: time-out before a round trip has been measured (default 1s)"""

    rto_min: Union[None, Word, Iterable[Word]]
    """window: shortest time-out; one that is repeated lasts up to 1/8 longer, by a draw (default 1s)"""

    rto_max: Union[None, Word, Iterable[Word]]
    """window: longest time-out (default 60s)"""

    completion: Union[None, Word, Iterable[Word]]
    """what ends the time of a message: last-byte (its arrival), or acked (its acknowledgement comes to the sender) (default last-byte)"""

    port_stats: Union[None, Word, Iterable[Word]]
    """of each port in results: none, figures (losses, queue, utilisation), or histogram (and how long its queue had which length) (default figures)"""

    cable_length: Union[None, Number, Iterable[Number]]
    """[m] length of every cable of which the topology does not give the propagation delay (default 10)"""

    cable_velocity: Union[None, Number, Iterable[Number]]
    """[m/s] velocity of propagation in cables (default 180000000)"""

    slack: Union[None, Number, Iterable[Number]]
    """[characters] room of the slack buffer at each input of a switch; too little for marks and cable is refused, with the least that is safe (default 96)"""

    high_mark: Union[None, Number, Iterable[Number]]
    """[characters] high-water mark: an input that holds more sends STOP (default 56)"""

    low_mark: Union[None, Number, Iterable[Number]]
    """[characters] low-water mark: a stopped input that holds fewer sends GO (default 40)"""

    payload: Union[None, Number, Iterable[Number]]
    """[bytes] of a message in a packet, at most (default 4096)"""

    store_character: Union[None, Word, Iterable[Word]]
    """a switch passes a character on after its end, not with its leading edge: a character time more for each switch (default false)"""

    beat: Union[None, Word, Iterable[Word]]
    """between two BEATs on each channel; a dead link is seen after two (default 1s)"""

    packet_timeout: Union[None, Word, Iterable[Word]]
    """from a packet's first character: one that has not arrived by then is removed everywhere, and lost (default 1s)"""

    flow_preset: Union[None, Word, Iterable[Word]]
    """settings to begin with: simgrid-cm02, simgrid-lv08 or inrflow"""

    fairness: Union[None, Word, Iterable[Word]]
    """how flows share a link: maxmin, rtt or split; that of the preset if absent, else maxmin"""

    paths: Union[None, Word, Iterable[Word]]
    """paths of a flow among those that the routing permits: hash, adaptive or spray (default hash)"""

    node_rate: Union[None, Word, Iterable[Word]]
    """rate of a node's own link in a direct network; that of --injectors links if absent, in slices that of all its links"""

    hop_delay: Union[None, Word, Iterable[Word]]
    """delay of each router on a path (default 0ns)"""

    weight_s: Union[None, Number, Iterable[Number]]
    """[bytes] rtt: what each link adds to a round trip, at its rate; that of the preset if absent, else 0"""

    tcp_gamma: Union[None, Number, Iterable[Number]]
    """[bytes] rtt: greatest window, 0 for none; that of the preset if absent, else 0"""

    latency_factor: Union[None, Number, Iterable[Number]]
    """of the latency of a path when a flow enters; that of the preset if absent, else 1"""

    bandwidth_factor: Union[None, Number, Iterable[Number]]
    """of a rate after sharing; that of the preset if absent, else 1"""

    cross_traffic: Union[None, Number, Iterable[Number]]
    """what a flow uses of the other direction of its links, as a share of its rate; that of the preset if absent, else 0"""

    tick: Union[None, Word, Iterable[Word]]
    """ends of flows are multiples of this: a longer one merges instants, and each end is off by half of it at most (default 1ps)"""

    packet_bytes: Union[None, Number, Iterable[Number]]
    """[bytes] payload of the packets in which messages are counted (default 4096)"""

    header_bytes: Union[None, Number, Iterable[Number]]
    """[bytes] that pass over the links for each packet as well (default 0)"""

    bus_arbitration: Union[None, Number, Iterable[Number]]
    """[cycles] before each packet on the bus (default 1)"""

    delay: Union[None, Word, Iterable[Word]]
    """time that every message takes: whole ns, with a unit (default 100ns)"""

    rate: Union[None, Word, Iterable[Word]]
    """rate of a link, with a unit: a message takes its bytes at this rate longer, and occupies its link for them; without limit if absent"""

    links: Union[None, Word, Iterable[Word]]
    """links that the rate limits: that of the sending node, or one between each pair of nodes (default node)"""

    nodes: Union[None, Number, Iterable[Number]]
    """nodes of a network without a topology; those of the topology if absent"""

    wire_latency: Union[None, Number, Iterable[Number]]
    """[ns] L of LogGOPS: time from the end of a send to the arrival (default 2500)"""

    wire_gap: Union[None, Word, Iterable[Word]]
    """[ns/byte] G of LogGOPS: time of a byte on the wire (default 6)"""

    source: Union[None, Word, Iterable[Word]]
    """what a full source buffer does: messages queue without bound (open loop), or the node generates nothing (throttled; the default of tasks, shots and guests) (default open)"""

    traffic: Union[None, Pattern, Iterable[Pattern]]
    """destinations: transpose, hotspot(0.1,0), A + B, A@1000 then B@500 (default uniform)"""

    temporal: Union[None, Word, Iterable[Word]]
    """when: bernoulli, cburst(8), markov(2,0.01), reactive(0.5,1), shot(10) (default bernoulli)"""

    shot: Union[None, Number, Iterable[Number]]
    """[messages] bursts: every node sends so many, and again when all have arrived"""

    size: Union[None, Word, Iterable[Word]]
    """message sizes: constant, uniform(4,64), bimodal(4,64,0.2), ... (default constant)"""

    load: Union[None, Number, Iterable[Number]]
    """[phits/node/cycle] offered load; other networks have a unit of their own (fsin explain ethernet) (default 0.3)"""

    scale: Union[None, Number, Iterable[Number]]
    """of the demands of the network's file, with --traffic demands: a factor in place of --load"""

    trace: Union[None, Path, Iterable[Path]]
    """replay a trace instead: .trg, .trc, SimGrid TI, GOAL, Chakra, or an archive (.tar.xz) of one"""

    hosts: Union[None, Word, Iterable[Word]]
    """hosts of a GOAL graph, and, where one of these is given, of a program or Chakra trace (ns, ns, ns/byte, bytes; streams=true: a calculation holds back its dependents until it ends), absent ones: o=1500,g=1000,O=0,S=65535,streams=false; or ranks of a Chakra trace: deps=all|data, engines=N computations and communications=N sends and collectives at a time, least=TIME of one without duration, group-delay=TIME, algorithm=ring|hierarchical of collectives; absent ones: deps=all,engines=1,communications=1,least=0ns,group-delay=0ns, and hierarchical where nodes of the network have several GPUs"""

    groups: Union[None, Path, Iterable[Path]]
    """groups of ranks that the collectives of a Chakra trace name, as JSON: {'0': [0, 1], ...}; those beside or in the trace if absent"""

    peak: Union[None, Word, Iterable[Word]]
    """rate of the computations of a Chakra trace that have no recorded duration: 100Tflop/s"""

    memory_bandwidth: Union[None, Word, Iterable[Word]]
    """rate of the memory of a Chakra trace's ranks, for tensors (with peak) and for adding what collectives combine: 2TB/s"""

    eager: Union[None, Number, Iterable[Number]]
    """[bytes] largest message of a trace or kernel that is sent without a rendezvous; all if absent"""

    tasks_per_node: Union[None, Number, Iterable[Number]]
    """tasks of a trace or kernel that share a node; 1 if absent"""

    kernel: Union[None, Word, Iterable[Word]]
    """run an application kernel instead: all-to-all:tasks=64,bytes=4096"""

    job_mix: Union[None, Path, Iterable[Path]]
    """run several applications instead, which arrive and wait for nodes: a TOML file of jobs"""

    flows: Union[None, Path, Iterable[Path]]
    """send the messages of a list instead, each at its start: CSV with src,dst,bytes,start[,class], the list of HPCC and SimAI, or .cm of htsim; FILE,ignore=class takes all as class 0"""

    cm_unit: Union[None, Word, Iterable[Word]]
    """unit of starts in a .cm of htsim, whose programs differ: us (UEC) or ps (NDP)"""

    scheduler: Union[None, Word, Iterable[Word]]
    """which job that waits starts next: fcfs, first-fit, easy (backfilling) (default fcfs)"""

    allocation: Union[None, Word, Iterable[Word]]
    """which free nodes a job gets: contiguous, quasi-contiguous, random (default contiguous)"""

    collectives: Union[None, Word, Iterable[Word]]
    """algorithms of collectives of a trace or kernel: all-reduce=double-tree; of programs of MPI also rules: mpich (by size and ranks; the default) or basic, alone or before the others"""

    placement: Union[None, Word, Iterable[Word]]
    """nodes of the tasks of a trace or kernel: consecutive, greedy, optimise, column, diagonal, quadrant, shuffle, shift:S, random, file:F, ... (default consecutive)"""

    bandwidth: Union[None, Word, Iterable[Word]]
    """rate of a link, where a file gives it none; a cycle is one phit on the fastest link (default 10Gb/s)"""

    compute: Union[None, Number, Iterable[Number]]
    """factor on computing times of a trace: 0 removes, 1 keeps (default 1)"""

    slow: Union[None, Word, Iterable[Word]]
    """factors of the computing times of ranks of a trace or kernel: rank:3x1.2, rank:8-11x2"""

    flop_rate: Union[None, Word, Iterable[Word]]
    """speed of a task, for traces that count flops (default 5Gflop/s)"""

    trace_unit: Union[None, Word, Iterable[Word]]
    """unit of computing times in .trc files (default ns)"""

    recv_order: Union[None, Word, Iterable[Word]]
    """order of tasks in receive lines of .trc files: src-dst, dst-src, detect (default detect)"""

    warmup: Union[None, Number, Iterable[Number]]
    """[cycles] time before anything is measured (default 5000)"""

    conv_period: Union[None, Number, Iterable[Number]]
    """[cycles] time between two looks at whether the state is steady (default 1000)"""

    conv_threshold: Union[None, Number, Iterable[Number]]
    """change of load and delay, as a share, that counts as steady (default 0.05)"""

    max_conv_time: Union[None, Number, Iterable[Number]]
    """[cycles] longest wait for a steady state after the warm-up; 0 does not wait (default 20000)"""

    samples: Union[None, Number, Iterable[Number]]
    """batches to measure, 1 to 100000; with shots, how many of them (default 10)"""

    sample_size: Union[None, Number, Iterable[Number]]
    """[cycles] length of each batch (default 2000)"""

    min_batch_packets: Union[None, Number, Iterable[Number]]
    """[packets] a batch grows, up to 10 times, until it has received so many (default 30)"""

    cycles: Union[None, Number, Iterable[Number]]
    """[cycles] a fixed run instead: no warm-up, everything is counted"""

    max_cycles: Union[None, Number, Iterable[Number]]
    """[cycles] limit of a trace, kernel or shots"""

    strict: Union[None, Switch, Iterable[Switch]]
    """exit with status 3 when --max-cycles ends a run (default false)"""

    no_skip: Union[None, Switch, Iterable[Switch]]
    """simulate every iteration of a kernel and every packet of long messages, also where they repeat each other exactly: the same results, later"""

    no_digest: Union[None, Switch, Iterable[Switch]]
    """no digest of a kernel: iterations that repeat each other are skipped without hashing their deliveries"""

    watchdog: Union[None, Number, Iterable[Number]]
    """[cycles] time without any phit moving that means deadlock (default 10000)"""

    engine: Union[None, Word, Iterable[Word]]
    """fast (packet by packet) or reference (phit by phit): the same results (default fast)"""

    threads: Union[None, Number, Iterable[Number]]
    """threads to simulate with; results do not depend on it; myrinet takes 1 (default 1)"""

    seed: Union[None, Number, Iterable[Number]]
    """seed of every random draw (default 1)"""

    link_loads: Union[None, Switch, Iterable[Switch]]
    """keep how many packets each link carried while measuring: heat maps of fsin plot and fsin report"""

    node_stats: Union[None, Switch, Iterable[Switch]]
    """keep the traffic and latency of each node: `per_node` in JSON, nodes.csv in -o DIR"""

    flow_stats: Union[None, Switch, Iterable[Switch]]
    """keep the traffic and latency of each pair of nodes: `flows` in JSON, flows.csv in -o DIR"""

    message_stats: Union[None, Switch, Iterable[Switch]]
    """keep the time that each message takes: percentiles, slow-down against the message alone, classes of sizes"""

    ideal: Union[None, Word, Iterable[Word]]
    """what slow-downs of messages are measured against: alone (the message alone in the same network), or hpcc (twice the delays of the path, a full frame on each link, all frames on the slowest; with acknowledged messages of ethernet) (default alone)"""

    size_classes: Union[None, Word, Iterable[Word]]
    """classes of messages by size: decades, or their greatest sizes, as in 10kB:100kB:1MB; the last has all above (default decades)"""

    energy: Union[None, Word, Iterable[Word]]
    """estimate energy and power by a table: events:fabric-400g, events:FILE, booksim (chips, with --network wormhole), booksim:FILE,width=64, noxim:FILE; fsin list energy-models"""

    latency_histogram: Union[None, Switch, Iterable[Switch]]
    """keep the histogram of packet latencies: `latency_histogram` in JSON"""

    seeds: Optional[Number]
    """replicas of every point, with K seeds from --seed on: 1 to 10000"""

    stop_after: Optional[Number]
    """[loads] of a sweep: ends a curve after N saturated loads in a row; it goes to its last load if absent"""

    skip_invalid: Optional[Switch]
    """leave out combinations that are no valid experiments, instead of refusing all"""

    lengthen: Optional[Number]
    """of a search for saturation: factor by which warm-up and batches are lengthened at most where a load is undecided: 1 to 1000000; 32 if absent"""

    tolerance: Optional[Number]
    """of a search for saturation: width of the interval that is found, in the unit of loads: 0.000001 to 0.5; 0.005 if absent"""


class Figures:
    """Figures of a result. One that cannot be computed is ``None``."""

    schema: Union[int, Any]
    """version of the names and meanings of figures"""

    complete: Union[bool, Any]
    """whether the run came to its planned end"""

    converged: Union[bool, Any]
    """whether the measured state is steady; null where no steady state was waited for and no trend is seen"""

    verdict: Union[str, Any]
    """whether the network carries the load that is asked for: carried, saturated, or undecided where the run is too short to tell; null where no load is asked for"""

    deciding_cycles: Union[int, Any]
    """[cycles] measured time that is expected to decide; null unless the verdict is undecided, and where too little was measured to say"""

    saturated: Union[bool, Any]
    """true if the verdict is saturated; null where there is none, or too little was measured to judge at all"""

    failure: Union[dict[str, Any], Any]
    """why the run failed; null if it did not"""

    warnings: Union[list[Any], Any]
    """what a reader of the figures must know"""

    warning_kinds: Union[list[Any], Any]
    """what each of the warnings is about, in the same order"""

    notes: Union[list[Any], Any]
    """what a reader may want to know without being warned: decisions of the trace reader"""

    cycles: Union[int, Any]
    """[cycles] simulated in all"""

    measured_cycles: Union[int, Any]
    """[cycles] over which was measured"""

    warmup_cycles: Union[int, Any]
    """[cycles] before measuring began; null of runs that are not measured in batches"""

    nodes: Union[int, Any]
    """[nodes] endpoints of the network"""

    node_ejection_phits_per_cycle: Union[float, Any]
    """[phits/cycle] greatest rate at which a node takes packets: that of its links, or of its ports of consumption if they are slower; null of networks without links"""

    offered_load_phits_per_node_cycle: Union[float, Any]
    """[phits/node/cycle] load asked for, over all nodes; null where none is asked for, or where it changes with time"""

    generated_load_phits_per_node_cycle: Union[float, Any]
    """[phits/node/cycle] load that sources generated while measuring"""

    injected_load_phits_per_node_cycle: Union[float, Any]
    """[phits/node/cycle] load that entered the source buffers while measuring"""

    accepted_load_phits_per_node_cycle: Union[float, Any]
    """[phits/node/cycle] load that was received while measuring"""

    accepted_load_ci95: Union[float, Any]
    """[phits/node/cycle] half the 95 % confidence interval of the accepted load, widened by the correlation in time"""

    accepted_load_lag1: Union[float, Any]
    """correlation of the accepted load of a batch with that of the next, -1 to 1"""

    offered_load_of_senders_phits_per_node_cycle: Union[float, Any]
    """[phits/node/cycle] load asked for, over the nodes that send"""

    accepted_load_of_senders_phits_per_node_cycle: Union[float, Any]
    """[phits/node/cycle] accepted load, over the nodes that send"""

    accepted_load_of_senders_ci95: Union[float, Any]
    """[phits/node/cycle] half the 95 % confidence interval of the accepted load over the nodes that send"""

    queue_growth_phits_per_node_cycle: Union[float, Any]
    """[phits/node/cycle] growth of the queues at sources and in the network: phits generated and not received"""

    queue_growth_ci95: Union[float, Any]
    """[phits/node/cycle] half the 95 % confidence interval of that growth"""

    latency_mean_cycles: Union[float, Any]
    """[cycles] mean packet latency, from generation (throttled sources: from entering the source buffer) to the arrival of the last phit, of packets received while measuring"""

    latency_std_cycles: Union[float, Any]
    """[cycles] standard deviation of the packet latency"""

    latency_max_cycles: Union[int, Any]
    """[cycles] greatest packet latency"""

    latency_ci95: Union[float, Any]
    """[cycles] half the 95 % confidence interval of the mean latency, widened by the correlation in time; null where queues grow, since there is no steady mean"""

    latency_drift: Union[float, Any]
    """change of the mean latency over the measured time, as a share of its mean"""

    latency_drift_ci95: Union[float, Any]
    """half the 95 % confidence interval of that change"""

    latency_lag1: Union[float, Any]
    """correlation of the mean latency of a batch with that of the next, -1 to 1"""

    latency_p50_cycles: Union[int, Any]
    """[cycles] median packet latency"""

    latency_p90_cycles: Union[int, Any]
    """[cycles] 90th percentile of the packet latency"""

    latency_p99_cycles: Union[int, Any]
    """[cycles] 99th percentile of the packet latency"""

    latency_p999_cycles: Union[int, Any]
    """[cycles] 99.9th percentile of the packet latency"""

    injection_latency_mean_cycles: Union[float, Any]
    """[cycles] mean time from the same moment to that in which the header leaves the injection queue"""

    injection_latency_std_cycles: Union[float, Any]
    """[cycles] standard deviation of the injection latency"""

    injection_latency_max_cycles: Union[int, Any]
    """[cycles] greatest injection latency"""

    hops_mean: Union[float, Any]
    """[links] mean path length of the packets received while measuring"""

    packets_generated: Union[int, Any]
    """[packets] generated in the whole run, warm-up included"""

    packets_injected: Union[int, Any]
    """[packets] that entered the source buffers in the whole run"""

    packets_received: Union[int, Any]
    """[packets] received in the whole run"""

    packets_dropped: Union[int, Any]
    """[packets] dropped in the whole run"""

    packets_in_flight: Union[int, Any]
    """[packets] generated and neither received nor dropped at the end"""

    packet_hops: Union[int, Any]
    """[packets x links] links that headers crossed in the whole run"""

    silent_nodes: Union[int, Any]
    """[nodes] that never send under this pattern"""

    fairness_min: Union[float, Any]
    """packets received from the least served source, as a share of the mean"""

    fairness_jain: Union[float, Any]
    """Jain's index of the packets received from each source, 1 where all are served alike"""

    samples: Union[list[Any], Any]
    """figures of each measured batch, in order"""

    shots: Union[list[Any], Any]
    """each shot, in order; null of traffic without shots"""

    shot_cycles_mean: Union[float, Any]
    """[cycles] mean length of a shot"""

    shot_cycles_ci95: Union[float, Any]
    """[cycles] half the 95 % confidence interval of the mean length of a shot"""

    round_trips: Union[int, Any]
    """[replies] that arrived in the whole run; null of traffic without requests and replies"""

    round_trip_mean_cycles: Union[float, Any]
    """[cycles] mean time from the generation of a request to the arrival of its reply in full"""

    round_trip_min_cycles: Union[int, Any]
    """[cycles] least of these times"""

    round_trip_max_cycles: Union[int, Any]
    """[cycles] greatest of these times"""

    link_load_mean_phits_per_cycle: Union[float, Any]
    """[phits/cycle] share of the measured cycles in which a link carries a phit, mean over links; where link loads are kept"""

    link_load_max_phits_per_cycle: Union[float, Any]
    """[phits/cycle] the same of the busiest link; where link loads are kept"""

    link_packets: Union[list[Any], Any]
    """[packets] whose header crossed each link while measuring, by router and port, null where there is no link; where link loads are kept"""

    per_node: Union[list[Any], Any]
    """traffic and latency of each node while measuring, by number; where node statistics are kept"""

    flows: Union[list[Any], Any]
    """traffic and latency of each pair of nodes with traffic while measuring; where flow statistics are kept"""

    latency_histogram: Union[list[Any], Any]
    """packets received while measuring by their latency; where the histogram is kept"""

    message_completion_mean_cycles: Union[float, Any]
    """[cycles] mean time from the generation of a message to its arrival in full, of messages that arrived while measuring; where message statistics are kept"""

    message_completion_p50_cycles: Union[int, Any]
    """[cycles] median of these times"""

    message_completion_p90_cycles: Union[int, Any]
    """[cycles] 90th percentile of these times"""

    message_completion_p95_cycles: Union[int, Any]
    """[cycles] 95th percentile of these times"""

    message_completion_p99_cycles: Union[int, Any]
    """[cycles] 99th percentile of these times"""

    message_completion_p999_cycles: Union[int, Any]
    """[cycles] 99.9th percentile of these times"""

    message_completion_max_cycles: Union[int, Any]
    """[cycles] greatest of these times"""

    message_slowdown_mean: Union[float, Any]
    """mean of these times over that of the same message alone in an empty network; null if one of them is not known"""

    message_slowdown_p50: Union[float, Any]
    """median of the same"""

    message_slowdown_p95: Union[float, Any]
    """95th percentile of the same"""

    message_slowdown_p99: Union[float, Any]
    """99th percentile of the same"""

    message_slowdown_p999: Union[float, Any]
    """99.9th percentile of the same"""

    message_slowdown_max: Union[float, Any]
    """greatest of the same"""

    messages_unfinished: Union[int, Any]
    """[messages] generated and still on their way at the end of the run, of which no time is known; where message statistics are kept"""

    message_classes: Union[list[Any], Any]
    """the same figures of messages by their size, in classes"""

    message_deciles: Union[list[Any], Any]
    """the same figures of each tenth of the messages, in the order of their sizes"""

    dead_links: Union[list[Any], Any]
    """each dead link by its ends and ports; of networks that have some"""

    phases: Union[list[Any], Any]
    """the run between failures and repairs of links; of runs in which some happened"""

    completion_cycles: Union[int, Any]
    """[cycles] clock when the last task was done, which starts at 1, or at 0 where a cycle is 1 ps; null of traffic that does not end"""

    completion_seconds: Union[float, Any]
    """[s] the same as time"""

    periods_skipped: Union[int, Any]
    """[periods] in which the run repeated itself exactly, and which were not simulated; of kernels with several iterations"""

    completion_bound_cycles: Union[int, Any]
    """[cycles] greatest of the bounds below which the completion cannot be"""

    completion_bound_by: Union[str, Any]
    """name of that bound"""

    completion_bounds_cycles: Union[dict[str, Any], Any]
    """[cycles] each bound below which the completion cannot be"""

    tasks: Union[int, Any]
    """[tasks] of the application; null of synthetic traffic"""

    messages: Union[int, Any]
    """[messages] sent in all; of live guests, that entered the network"""

    messages_point_to_point: Union[int, Any]
    """[messages] sent by point-to-point operations"""

    messages_collective: Union[int, Any]
    """[messages] sent by collective operations"""

    messages_received: Union[int, Any]
    """[messages] received by tasks"""

    message_bytes: Union[int, Any]
    """[bytes] of all messages sent"""

    hop_bytes: Union[float, Any]
    """[bytes x links] bytes of each message times the length of its shortest path, summed"""

    hops_per_byte: Union[float, Any]
    """[links] mean length of the shortest path of a byte"""

    collective_calls: Union[dict[str, Any], Any]
    """[calls] collective operations by name, summed over tasks"""

    per_task: Union[list[Any], Any]
    """figures of each task, by number"""

    collectives: Union[list[Any], Any]
    """times and bandwidths of each collective, in the order in which they begin; of kernels that are collectives, and of traces that name them"""

    jobs_finished: Union[int, Any]
    """[jobs] of the mix, that came to their end"""

    job_wait_mean_cycles: Union[float, Any]
    """[cycles] mean time from the arrival of a job to its start"""

    job_run_mean_cycles: Union[float, Any]
    """[cycles] mean time from the start of a job to its end"""

    job_slowdown_mean: Union[float, Any]
    """mean run time of a job over that of the same job alone on the same nodes"""

    node_utilization: Union[float, Any]
    """share of nodes and cycles in which there was a job"""

    jobs: Union[list[Any], Any]
    """figures of each job of the mix"""

    model_figures: Union[list[Any], Any]
    """figures that only this network model has, over the whole run"""

    pause_frames: Union[int, Any]
    """[frames] that ports sent to stop and to go on, over the whole run; of networks whose ports have classes"""

    classes: Union[list[Any], Any]
    """figures of each traffic class, over the whole run; of networks whose ports have classes"""

    buffers: Union[list[Any], Any]
    """what the buffer of each switch held, over the whole run; of networks whose ports share one"""

    ports: Union[list[Any], Any]
    """figures of each output port and of its link, over the whole run; of network models that keep them"""

    energy_joules: Union[float, Any]
    """[J] energy of links, routers and hosts, as a table estimates it, while measuring (ethernet: over the whole run); of runs with a table"""

    energy_joules_low: Union[float, Any]
    """[J] least value of that energy in the ranges of the table"""

    energy_joules_high: Union[float, Any]
    """[J] greatest value of that energy in the ranges of the table"""

    energy_watts: Union[float, Any]
    """[W] the same energy for each second of simulated time"""

    energy_pj_per_bit: Union[float, Any]
    """[pJ/bit] the same energy for each bit that nodes received"""

    energy_pj_per_flit: Union[float, Any]
    """[pJ/flit] the same energy for each flit that nodes received; null where there are no flits"""

    energy: Union[dict[str, Any], Any]
    """the estimate with its parts; of runs with a table"""

    cpu_seconds: Union[float, Any]
    """[s] processor time of all threads; depends on the machine"""

    wall_seconds: Union[float, Any]
    """[s] wall-clock time; depends on the machine"""

    cycles_per_second: Union[float, Any]
    """[cycles/s] simulated, per second of processor time (several threads: wall-clock time); depends on the machine"""

    peak_memory_bytes: Union[int, Any]
    """[bytes] most memory that the process held; depends on the machine"""

    digest: Union[str, Any]
    """hash over every delivery (cycle, source, destination, sequence), 16 hexadecimal digits"""

    experiment: Union[dict[str, Any], Any]
    """the resolved experiment: the value of each key that has a meaning in it"""

    manifest: Union[dict[str, Any], Any]
    """what is needed to run it again, and to believe it"""

    network_latency_ns: Union[int, Any]
    """[ns] LogGOPS L: latency of the ideal network"""

    network_gap_per_byte_ns: Union[float, Any]
    """[ns/byte] LogGOPS G: time of a byte on the network"""

    host_overhead_ns: Union[int, Any]
    """[ns] LogGOPS o: processor time of a message"""

    host_gap_ns: Union[int, Any]
    """[ns] LogGOPS g: least time between two messages of a host"""

    host_overhead_per_byte_ns: Union[float, Any]
    """[ns/byte] LogGOPS O: processor time of a byte"""

    host_eager_bytes: Union[int, Any]
    """[bytes] LogGOPS S: largest message that is sent without waiting for its receiver"""

    host_streams: Union[bool, Any]
    """true if the CPUs of a host are streams: a calculation holds back its dependents until it ends"""

    events: Union[int, Any]
    """[events] worked through by the simulation"""

    finish_max_ns: Union[float, Any]
    """[ns] when the last task was done"""

    finish_max_task: Union[int, Any]
    """number of that task"""

    finish_min_ns: Union[float, Any]
    """[ns] when the first task was done"""

    finish_sum_ns: Union[float, Any]
    """[ns] sum of the times when tasks were done"""

    operations_not_started: Union[int, Any]
    """[operations] that waited for something to the end"""

    receives_without_message: Union[int, Any]
    """[receives] that got no message"""

    messages_without_receive: Union[int, Any]
    """[messages] that no task received"""

    events_per_second: Union[float, Any]
    """[events/s] worked through, per second of processor time; depends on the machine"""

    guests_lost: Union[int, Any]
    """[guests] that ended without saying goodbye"""

    messages_delivered: Union[int, Any]
    """[messages] handed over to guests"""

    messages_undelivered: Union[int, Any]
    """[messages] that arrived where no guest was, or none any more"""

    messages_late: Union[int, Any]
    """[messages] handed over later than they arrived"""

    late_mean_ps: Union[float, Any]
    """[ps] mean lateness of the late messages"""

    late_max_ps: Union[int, Any]
    """[ps] greatest lateness of a message"""

    behind_max_ps: Union[int, Any]
    """[ps] most that virtual time was behind the wall clock, over all grants; of runs in real time"""

    behind_mean_ps: Union[float, Any]
    """[ps] mean of the same"""

    messages_measured: Union[int, Any]
    """[messages] whose latency was measured"""

    message_latency_mean_ps: Union[float, Any]
    """[ps] mean time from sending a message to its being handed over"""

    message_latency_p50_ps: Union[int, Any]
    """[ps] median message latency"""

    message_latency_p99_ps: Union[int, Any]
    """[ps] 99th percentile of the message latency"""

    message_latency_max_ps: Union[int, Any]
    """[ps] greatest message latency"""

    packets_measured: Union[int, Any]
    """[packets] delivered while measuring"""

    turns: Union[int, Any]
    """[turns] of all guests"""

    turns_per_second: Union[float, Any]
    """[turns/s] per second of wall-clock time"""

    messages_per_second: Union[float, Any]
    """[messages/s] per second of wall-clock time"""

    guest_digest: Union[str, Any]
    """hash over all that guests injected and were delivered, 16 hexadecimal digits"""

    running_digests: Union[list[Any], Any]
    """the same hash at regular moments"""

    guests: Union[list[Any], Any]
    """figures of each guest, in the order of their nodes"""

    messages_expected: Union[int, Any]
    """[messages] that arrived after the program had posted their receive"""

    messages_unexpected: Union[int, Any]
    """[messages] that arrived before the program had posted their receive"""

    boot_seconds: Union[float, Any]
    """[s] of wall-clock time, until every virtual machine had booted"""

    steps: Union[int, Any]
    """[steps] after that, of the virtual machine that took most"""

    steps_per_second: Union[float, Any]
    """[steps/s] the same, for each second of wall-clock time"""

    machines: Union[list[Any], Any]
    """what each virtual machine ran"""

    ranks: Union[list[Any], Any]
    """figures of each rank of an MPI program"""


#: Figures that are tables, a row for each node, rank, collective, ...
Tables = Literal[
    "warnings",
    "warning_kinds",
    "notes",
    "samples",
    "shots",
    "link_packets",
    "per_node",
    "flows",
    "latency_histogram",
    "message_classes",
    "message_deciles",
    "dead_links",
    "phases",
    "per_task",
    "collectives",
    "jobs",
    "model_figures",
    "classes",
    "buffers",
    "ports",
    "running_digests",
    "guests",
    "machines",
    "ranks",
]
