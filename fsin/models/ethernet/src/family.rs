//! The Ethernet model as a member of the family of models: its settings, and what they mean.

use std::collections::HashSet;
use std::sync::Arc;

use fsin_core::capture::{Capture, Place};
use fsin_core::failures::Failures;
use fsin_core::family::{
    Discipline, Ends, IdealTime, Key, Kind, ModelFamily, Need, NetworkSpec, Rates, Room, Units, Unloaded, Values,
    other_rates,
};
use fsin_core::network::Network;
use fsin_core::parallel;
use fsin_core::topology::switched::parse_rate;
use fsin_core::topology::{Port, Spans, Topology};
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::units;
use trgen::{Geometry, NodeId};

use crate::cc::{Control, STAMP_BYTES, Signal};
use crate::components::{
    ACK_CLASSES, COMPLETIONS, FORWARDINGS, FRAMES, LIMITS, MARKS, PORT_STATISTICS, SWITCHINGS, TIES, TRIMS,
};
use crate::entropy;
use crate::ideal::Ideal;
use crate::params::{InFlight, TieOrder};
use crate::rules::frame::Frames;
use crate::rules::trim::TwoLevels;
use crate::rules::wiring::{ROUTED, Wiring};
use crate::switch::{self, MarkAt, Switch, TRIM_MODES, Trim, TrimMode};
use crate::transport::{self, Built};
use crate::wire::FrameBytes;
use crate::{
    CONTROLS, ENTROPIES, Ethernet, Forwarding, Params, Prepared, SPREADS, Spread, Switching, TRANSPORTS, Transport,
    fast, prepare, reference,
};

/// Settings of the sliding window.
const WINDOW: &[Need] = &[Need::names("transport", || vec!["window"])];
/// Settings of transports with acknowledgements.
const ACKNOWLEDGED: &[Need] = &[Need::names("transport", || transport::names(Transport::acknowledges))];
/// Settings of acknowledgements, for transports without parameters for them.
const OF_ACKS: &[Need] = &[Need::names("transport", || vec!["window", "roce"])];
/// Settings of transports that spray frames over paths.
const SPRAYING: &[Need] = &[Need::names("transport", || transport::names(Transport::sprays))];
/// Settings of connections for each message.
const ROCE: &[Need] = &[Need::names("transport", || vec!["roce"])];
/// Settings of link-level flow control.
const PAUSE: &[Need] = &[Need::value("pause", "true")];
/// Settings of any link-level flow control.
const ANY_PAUSE: &[Need] = &[Need::names("pause", || vec!["true", "pfc"])];
/// Settings of flow control by class.
const PFC: &[Need] = &[Need::value("pause", "pfc")];
/// Settings of shared buffers.
const BUFFER: &[Need] = &[Need::set("buffer")];
/// Settings of switches that learn addresses.
const LEARNING: &[Need] = &[Need::value("forwarding", "learning")];
/// Settings of switches with tables.
const STATIC: &[Need] = &[Need::value("forwarding", "static")];

#[rustfmt::skip]
const KEYS: &[Key] = &[
    Key::of_network("link-rate", "RATE", Kind::Word, Some("1Gb/s"), "", "data rate of links of which the topology says nothing"),
    Key::of_network("propagation", "TIME", Kind::Word, Some("500ns"), "", "propagation delay of links of which the topology says nothing"),
    Key::of_network("port-queue", "FRAMES|BYTES", Kind::Integer, Some("1000"), "frames, or bytes with a unit", "room of a port's queue, or of an input where links pause; with {trim} bytes too, as in 64500B, of a port of the fastest host (what a round trip holds)"),
    Key::of_network("trim", "NAME", Kind::Word, None, "", "queues of two levels, which cut the data off frames that find no room: coin (the one that arrives or the last, the default of uec and ndp), arriving, or off (frames are dropped)").naming(TRIMS),
    Key::of_network("trim-size", "BYTES", Kind::Integer, Some("64"), "bytes", "what is left of a frame whose data were cut off").needing(&[Need::set("trim")]),
    Key::of_network("headers-per-frame", "N", Kind::Integer, Some("100000"), "headers", "uec and ndp: what is left of trimmed frames, and control frames, go before data; after so many while data wait, a frame of data is sent (htsim: 100000; the switch of NDP's paper: 10)").needing(SPRAYING),
    Key::of_network("switch-latency", "TIME", Kind::Word, Some("0ns"), "", "time from the choice of an output to the queue before it"),
    Key::of_network("ecn-hosts", "true|false", Kind::Word, None, "", "ports to hosts mark frames (true; uec with rccc or both: false)").needing(&[Need::set("ecn")]),
    Key::of_network("entropy", "NAME[:key=value,...]", Kind::Word, None, "", "uec and ndp: how a sender chooses the entropy of each frame, by which switches choose its path: mixed (the default of uec), oblivious, bitmap, reps, reps-legacy, single, or cycle (the default of ndp)").naming_rows("balancers", balancers).needing(SPRAYING),
    Key::of_network("switching", "NAME", Kind::Word, Some("store-and-forward"), "", "when a switch forwards: store-and-forward, or cut-through (after the header)").naming(SWITCHINGS),
    Key::of_network("forwarding", "NAME", Kind::Word, Some("learning"), "", "how a switch finds the port: learning (unknown addresses are flooded), or static (routes of the file, or shortest paths)").naming(FORWARDINGS),
    Key::of_network("spanning-tree", "true|false", Kind::Word, Some("true"), "", "loops are cut, for learning; without it frames may circulate, which is reported").needing(LEARNING),
    Key::of_network("ageing", "TIME", Kind::Word, Some("300s"), "", "time after which a learnt address is forgotten").needing(LEARNING),
    Key::of_network("ecmp", "true|false", Kind::Word, Some("false"), "", "static: flows are spread over all shortest paths by a hash; the same as {spread} ecmp").needing(STATIC),
    Key::of_network("spread", "NAME[:key=value]", Kind::Word, Some("one"), "", "static: which of several shortest paths a frame takes: one (the same for all), ecmp (by a hash of flow and entropy), adaptive, round-robin, or hash-adaptive").naming_rows("spreads", spreads).needing(STATIC),
    Key::of_network("per", "X", Kind::Number, Some("0"), "", "share of frames that a link damages, 0 or more and less than 1"),
    Key::of_network("transport", "NAME[:key=value,...]", Kind::Word, Some("oracle"), "", "how hosts handle lost frames: oracle (the sender knows at once and repeats at once), backoff (the same, with a drawn wait after a further loss), none, window (sliding window of TCP), roce (paced frames, acknowledged; back to a gap), uec (Ultra Ethernet: sprayed over paths), or ndp (sprayed and pulled)").naming_rows("transports", transports),
    Key::of_network("cc", "NAME[:key=value,...]", Kind::Word, None, "", "congestion control of a connection: newreno (the default of window), dctcp with window; dcqcn, hpcc with roce; nscc (the default of uec), rccc, both with uec; or none").naming_rows("congestion-controls", controls).needing(ACKNOWLEDGED),
    Key::of_network("in-flight", "NAME", Kind::Word, Some("none"), "", "roce: limit of what a connection has sent and that is not acknowledged: none, bdp, or bdp-scaled (by its rate)").naming(LIMITS).needing(ROCE),
    Key::of_network("ack-every", "N", Kind::Integer, Some("1"), "frames", "to an acknowledgement; window: 1 or 2").needing(OF_ACKS),
    Key::of_network("ack-class", "NAME", Kind::Word, None, "", "class of acknowledgements: that of their data, or control, the default of roce").naming(ACK_CLASSES).needing(OF_ACKS),
    Key::of_network("cnp-interval", "TIME", Kind::Word, None, "", "roce: least time between two marks of a connection that its receiver returns (0ns; dcqcn of sigcomm2015: 50us)").needing(ROCE),
    Key::of_network("rto", "TIME", Kind::Word, None, "", "roce: time without an acknowledgement after which a connection goes back, 0ns for never (the default where links lose nothing; else 1ms)").needing(ROCE),
    Key::of_network("pause", "true|false|pfc", Kind::Word, Some("false"), "", "link-level flow control: of IEEE 802.3 (true), or by class (pfc, 802.1Qbb; with {buffer}): nothing is dropped, and a deadlock is possible"),
    Key::of_network("classes", "RULES", Kind::Word, None, "", "how a port serves traffic classes, as in 1:strict;2:drr=1600;3:drr=3200: strict by number, then the others in turn, by frame or by a quantum of bytes; rr for all by frame"),
    Key::of_network("traffic-class", "CLASS", Kind::Integer, Some("0"), "", "class (802.1Q) of the messages of a source, 0 to 7; lists of flows and files of jobs give one to each flow or job"),
    Key::of_network("ecn", "RULES", Kind::Word, None, "", "which frames are marked, by what waits of their class: step:BYTES, or red:BYTES:BYTES:PROBABILITY; CLASS= before it and @RATE behind it are for one class or rate, and ; joins several"),
    Key::of_network("mark", "NAME", Kind::Word, Some("departure"), "", "when that is decided: departure (as sending begins), sent (as it ends, the default with {trim}), or arrival").naming(MARKS).needing(&[Need::set("ecn")]),
    Key::of_network("buffer-alpha", "X|1/N", Kind::Word, Some("1/8"), "", "share of what is free in the {buffer} that one queue may have, or one class of an input with pfc").needing(BUFFER),
    Key::of_network("reserve", "BYTES", Kind::Integer, Some("4096"), "bytes", "pfc: what each class of a port has for itself").needing(PFC),
    Key::of_network("headroom", "BYTES|auto", Kind::Word, Some("auto"), "", "pfc: room of each class of a port for what comes after it is paused; auto is what its link can bring").needing(PFC),
    Key::of_network("xon-offset", "BYTES", Kind::Integer, Some("3072"), "bytes", "pfc: how far below the threshold a class must be for its sender to go on").needing(PFC),
    Key::of_network("pause-quanta", "N|inf", Kind::Word, Some("inf"), "", "pfc: a pause lasts so many times 512 bits, and is renewed at half of it").needing(PFC),
    Key::of_network("pfc-response", "TIME", Kind::Word, Some("0ns"), "", "pfc: time from the arrival of a pause frame until it takes effect").needing(PFC),
    Key::of_network("pfc-watchdog", "TIME", Kind::Word, None, "", "pfc: a class of a port that is paused so long loses what waits, and what comes until it goes on").needing(PFC),
    Key::of_network("pfc-classes", "C;C", Kind::Word, None, "", "pfc: the classes that are paused (all of data)").needing(PFC),
    Key::of_network("xoff", "FRAMES", Kind::Integer, Some("500"), "frames", "of an input, with which it pauses the sender").needing(PAUSE),
    Key::of_network("xon", "FRAMES", Kind::Integer, Some("250"), "frames", "of an input, with which it lets the sender go on").needing(PAUSE),
    Key::of_network("frames", "NAME", Kind::Word, Some("thesis"), "", "sizes of frames, each of which can be set by itself too: thesis, roce, tcp, hpcc, uec (its default) or ndp (its default)").naming(FRAMES),
    Key::of_network("mtu", "BYTES", Kind::Integer, None, "bytes", "data of a frame, at most (1497; hpcc: 1000)"),
    Key::of_network("overhead", "BYTES", Kind::Integer, None, "bytes", "what a data frame has beside its data, preamble included (29; roce: 70, tcp: 66, hpcc: 48)"),
    Key::of_network("min-frame", "BYTES", Kind::Integer, None, "bytes", "size of the shortest frame, preamble included (72; hpcc: 48)"),
    Key::of_network("gap", "BITS", Kind::Integer, None, "bits", "between two frames (96; hpcc: 0)"),
    Key::of_network("pause-bytes", "BYTES", Kind::Integer, None, "bytes", "size of a PAUSE frame, preamble included (72; hpcc: 43)").needing(ANY_PAUSE),
    Key::of_network("ties", "NAME", Kind::Word, None, "", "order of frames that reach a switch at one instant: port; or hash, the default where {frames}, {mtu}, {overhead}, {min-frame}, {gap}, {cc}, {classes}, {ecn}, {buffer}, {trim}, uec, ndp or pause=pfc is set, flows are listed, or sizes are by cdf").naming(TIES),
    Key::of_network("segment", "BYTES", Kind::Integer, None, "bytes", "window: of a message in a segment, at most (what a frame has room for beside headers: 1457)").needing(WINDOW),
    Key::of_network("segment-header", "BYTES", Kind::Integer, None, "bytes", "window: headers in each segment (40; 0 with the sizes of roce, tcp and hpcc, whose overhead contains them)").needing(WINDOW),
    Key::of_network("ack-bytes", "BYTES", Kind::Integer, Some("40"), "bytes", "length of an acknowledgement").needing(ACKNOWLEDGED),
    Key::of_network("ack-frame", "BYTES", Kind::Integer, None, "bytes", "size of an acknowledgement, preamble included (that of a frame with it; roce: 74, tcp: 72, hpcc: 60)").needing(ACKNOWLEDGED),
    Key::of_network("window", "BYTES", Kind::Integer, Some("65535"), "bytes", "window: the largest, that of the receiver").needing(WINDOW),
    Key::of_network("initial-window", "N", Kind::Integer, Some("3"), "segments", "window: at the beginning, and after idle time").needing(WINDOW),
    Key::of_network("dup-acks", "N", Kind::Integer, Some("3"), "", "window: duplicate acknowledgements that start a fast retransmit").needing(WINDOW),
    Key::of_network("rto-initial", "TIME", Kind::Word, Some("1s"), "", "window: time-out before a round trip has been measured").needing(WINDOW),
    Key::of_network("rto-min", "TIME", Kind::Word, Some("1s"), "", "window: shortest time-out; one that is repeated lasts up to 1/8 longer, by a draw").needing(WINDOW),
    Key::of_network("rto-max", "TIME", Kind::Word, Some("60s"), "", "window: longest time-out").needing(WINDOW),
    Key::of_network("completion", "NAME", Kind::Word, Some("last-byte"), "", "what ends the time of a message: last-byte (its arrival), or acked (its acknowledgement comes to the sender)").naming(COMPLETIONS).needing(ACKNOWLEDGED),
    Key::of_network("port-stats", "NAME", Kind::Word, Some("figures"), "", "of each port in results: none, figures (losses, queue, utilisation), or histogram (and how long its queue had which length)").naming(PORT_STATISTICS).keeping(),
];

/// The rows of the table of transports.
fn transports() -> Vec<(&'static Component, &'static [&'static str])> {
    TRANSPORTS.rows().iter().map(|row| (&row.component, row.aliases)).collect()
}

/// The rows of the table of congestion controls.
fn controls() -> Vec<(&'static Component, &'static [&'static str])> {
    CONTROLS.rows().iter().map(|row| (&row.component, row.aliases)).collect()
}

/// The rows of the table of balancers.
fn balancers() -> Vec<(&'static Component, &'static [&'static str])> {
    ENTROPIES.rows().iter().map(|row| (&row.component, row.aliases)).collect()
}

/// The rows of the table of spreads.
fn spreads() -> Vec<(&'static Component, &'static [&'static str])> {
    SPREADS.rows().iter().map(|row| (&row.component, row.aliases)).collect()
}

/// The row of this model in the table of models.
pub static FAMILY: ModelFamily = ModelFamily {
    component: Component {
        name: "ethernet",
        about: "a switched, congested, lossy Ethernet, frame by frame: a cycle is 1 ps, a phit a byte, and load 1 what the \
                {link-rate} carries in full frames",
        parameters: &[],
        source: "IEEE 802.3 and 802.1D; RFC 5681, RFC 6298; Hoefler, Schneider, Lumsdaine, LogGOPSim, HPDC 2010, with OMNeT++",
    },
    discipline: Discipline {
        order: "frames of a pair keep their order on one path; {forwarding} over several paths, or frames sent again, let them pass each other",
        sharing: "ports, frame by frame in the order of arrival, with drops where a queue is full",
        busy: "a host sends one frame at a time, of its messages in their order; a send ends when its last frame has left the host for the first time",
    },
    aliases: &[],
    keys: KEYS,
    shared: &["topology", "ways", "fail", "routes", "interface", "engine", "threads", "link-loads", "buffer"],
    // A cycle is a picosecond: the usual lengths of a run would be those of a few bits.
    defaults: &[
        ("warmup", "5000000000"),
        ("conv-period", "1000000000"),
        ("max-conv-time", "20000000000"),
        ("sample-size", "2000000000"),
    ],
    short: &[
        ("rate", "link-rate"),
        ("delay", "propagation"),
        ("queue", "port-queue"),
        ("header", "segment-header"),
        ("ack", "ack-bytes"),
    ],
    load_unit: "fraction of capacity",
    routings: Vec::new,
    parse: |values| Ok(Arc::new(Spec::from_values(values)?)),
};

/// Checked settings.
#[derive(Debug)]
struct Spec {
    /// The topology with all its links.
    topology: Arc<dyn Topology>,
    /// The topology at the start.
    at_first: Arc<dyn Topology>,
    params: Params,
    prepared: Prepared,
    /// True if the reference engine simulates the network, false for the fast engine.
    is_reference: bool,
    /// Number of threads of the fast engine.
    threads: usize,
    /// True if the spread is set by its former key alone.
    by_former_key: bool,
}

impl Spec {
    fn from_values(values: &dyn Values) -> Result<Self, SpecError> {
        // Forwarding decides whether routes of the description are used: it is checked with the wiring.
        let topology: Arc<dyn Topology> = values.topology(&ROUTED)?.into();
        let failures = values.failures(&*topology)?;
        let forwarding: Forwarding = values.parsed("forwarding")?;
        let routes = values.routes(&*topology)?;
        let transport: Transport = values.parsed("transport")?;
        let Built { spraying, connections } = built(values)?;
        let control = control(values, transport)?;
        let frames = frames(values, transport)?;
        let has_stamps = control.as_ref().is_some_and(|control| control.needs(Signal::Stamps));
        let frames = Frames { stamps: if has_stamps { STAMP_BYTES } else { 0 }, ..frames };
        let is_thesis = values.word("frames") == FRAMES[0].name && !transport.sprays();
        let segment_header = values.integer_or("segment-header", if is_thesis { 40 } else { 0 })?;
        let params = Params {
            link_rate: rate(values, "link-rate")?,
            propagation: values.span("propagation")?,
            port_queue: if room_in_bytes(values)?.is_some() { 1_000 } else { values.integer("port-queue")? },
            switch_latency: values.span("switch-latency")?,
            spraying,
            connections,
            balancing: balancing(values, transport)?,
            switching: values.parsed("switching")?,
            forwarding,
            spanning_tree: values.switch("spanning-tree")?,
            ageing: values.span("ageing")?,
            spread: spread(values, forwarding, transport)?,
            routes,
            per: values.number("per")?,
            transport,
            control,
            in_flight: if transport == Transport::Roce { values.parsed("in-flight")? } else { InFlight::None },
            ack_every: if transport.acknowledges() { values.integer("ack-every")? } else { 1 },
            cnp_interval: span(values, "cnp-interval", transport)?,
            rto: span(values, "rto", transport)?,
            acks_in_control: match values.is_set("ack-class") {
                true => Some(values.choice("ack-class", &[(ACK_CLASSES[0].name, false), (ACK_CLASSES[1].name, true)])?),
                false => None,
            },
            pause: values.choice("pause", &[("false", false), ("true", true), (switch::keys::PFC, false)])?,
            switch: Switch { trim: trim(values, transport, &frames)?, ..switch::keys::read(values, transport)? },
            xoff: values.integer("xoff")?,
            xon: values.integer("xon")?,
            frames,
            ties: ties(values, transport)?,
            interface: values.parsed("interface")?,
            segment: values.integer_or("segment", frames.mtu.saturating_sub(segment_header))?,
            segment_header,
            ack_bytes: values.integer("ack-bytes")?,
            window: values.integer("window")?,
            initial_window: values.integer("initial-window")?,
            dup_acks: values.integer("dup-acks")?,
            rto_initial: values.span("rto-initial")?,
            rto_min: values.span("rto-min")?,
            rto_max: values.span("rto-max")?,
            is_acked: values.choice("completion", &[(COMPLETIONS[0].name, false), (COMPLETIONS[1].name, true)])?
                && (transport.acknowledges() || values.is_insisted("completion")),
            port_stats: values.parsed("port-stats")?,
            failures,
            seed: values.integer("seed")?,
        };
        let prepared = prepare(&*topology, &params)?;
        let is_reference = values.choice("engine", &[("fast", false), ("reference", true)])?;
        let threads = parallel::threads(values, is_reference)?;
        if threads > 1
            && params.switch.marking.is_some()
            && params.switch.mark_at == MarkAt::Sent
            && params.switch.trim.is_none()
        {
            let what = phrase![["mark" => "sent"], ": threads hand frames over when they begin to be sent"];
            return Err(SpecError::new(ErrorKind::Conflict, what, phrase!["use ", ["threads" => 1]]).of("threads"));
        }
        let at_first = params.failures.at_first(&topology);
        let by_former_key = params.spread.is_several() && values.switch("ecmp")? && !values.is_set("spread");
        Ok(Self { topology, at_first, params, prepared, is_reference, threads, by_former_key })
    }
}

/// The congestion control that is set; `None` if none is, or the transport has no connections.
fn control(values: &dyn Values, transport: Transport) -> Result<Option<Control>, SpecError> {
    if !values.is_set("cc") || !transport.acknowledges() && !values.is_insisted("cc") {
        return Ok(None);
    }
    let parsed = Control::parse(values.word("cc"));
    parsed.map(Some).map_err(|refusal| refusal.within(phrase![["cc"], ": "]).of("cc"))
}

/// The transport with its parameters.
fn built(values: &dyn Values) -> Result<Built, SpecError> {
    let parsed = Built::parse(values.word("transport"));
    parsed.map_err(|refusal| refusal.within(phrase![["transport"], ": "]).of("transport"))
}

/// How senders choose entropies.
fn balancing(values: &dyn Values, transport: Transport) -> Result<entropy::Balancing, SpecError> {
    if !values.is_set("entropy") || !transport.sprays() && !values.is_insisted("entropy") {
        return Ok(entropy::usual(transport));
    }
    let parsed = entropy::parse(values.word("entropy"));
    parsed.map_err(|refusal| refusal.within(phrase![["entropy"], ": "]).of("entropy"))
}

/// \[bytes\] The room of a port's queue, if the value has a unit.
fn room_in_bytes(values: &dyn Values) -> Result<Option<u64>, SpecError> {
    let word = values.word("port-queue");
    if !word.ends_with('B') {
        return Ok(None);
    }
    units::bytes(word).map(Some).ok_or_else(|| {
        let what = phrase![["port-queue"], (" takes a number of frames, or a size such as 64kB, not `{word}`")];
        let remedy = values.write("port-queue", "64kB");
        SpecError::new(ErrorKind::Malformed, what, remedy).of("port-queue").given(word)
    })
}

/// The queues of two levels: as they are set, or as the transport implies them; `None` for queues of one level.
fn trim(values: &dyn Values, transport: Transport, frames: &Frames) -> Result<Option<Trim>, SpecError> {
    let in_bytes = room_in_bytes(values)?;
    let mode = match values.is_set("trim") {
        true => Some(values.choice("trim", &TRIM_MODES)?),
        false => (transport.sprays() && !values.is_set("buffer")).then_some(TrimMode::Coin),
    };
    let Some(mode) = mode else {
        return match in_bytes {
            None => Ok(None),
            Some(bytes) => {
                let what = phrase![["port-queue"], (" in bytes ({bytes}): this queue counts frames")];
                let remedy =
                    phrase!["write a number of frames, or set ", ["trim" => "off"], ", whose queue counts bytes"];
                Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("port-queue"))
            }
        };
    };
    let frame = u64::from(frames.of(frames.mtu));
    let room = match in_bytes {
        Some(bytes) => Some(bytes),
        None if values.is_set("port-queue") => Some(values.integer::<u64>("port-queue")?.saturating_mul(frame)),
        None => None,
    };
    let size = if values.is_set("trim") { values.integer("trim-size")? } else { 64 };
    Ok(Some(Trim { mode, room, size }))
}

/// \[ps\] The value of a setting of connections for each message, if it is set.
fn span(values: &dyn Values, key: &'static str, transport: Transport) -> Result<Option<u64>, SpecError> {
    if transport != Transport::Roce || !values.is_set(key) { Ok(None) } else { values.span(key).map(Some) }
}

/// The spread that is set, by its name or by its former key. In a file it may stand without its condition, and has no
/// effect then: a flag is refused.
fn spread(values: &dyn Values, forwarding: Forwarding, transport: Transport) -> Result<Spread, SpecError> {
    let counts = |key| forwarding == Forwarding::Static || values.is_insisted(key);
    let by_key = values.switch("ecmp")? && counts("ecmp");
    if by_key && forwarding == Forwarding::Learning {
        let what = phrase![["ecmp"], ": switches that learn addresses know one path"];
        let remedy = phrase!["set ", ["forwarding" => "static"], ", or leave it out"];
        return Err(SpecError::new(ErrorKind::Meaningless, what, remedy).of("ecmp"));
    }
    let named: Spread = values.parsed("spread")?;
    if values.is_set("spread") && by_key && !named.is_several() {
        let what = phrase![["ecmp" => true], " and ", ["spread" => named.name()], " contradict each other"];
        return Err(SpecError::new(ErrorKind::Conflict, what, "leave out one of them").of("spread"));
    }
    if transport.sprays() && !values.is_set("spread") {
        return Ok(Spread::ECMP);
    }
    Ok(match (counts("spread"), by_key) {
        (true, _) if named.is_several() => named,
        (_, true) => Spread::ECMP,
        _ => Spread::ONE,
    })
}

/// The sizes of frames: those of `frames`, and those that are set.
fn frames(values: &dyn Values, transport: Transport) -> Result<Frames, SpecError> {
    let presets = [Frames::THESIS, Frames::ROCE, Frames::TCP, Frames::HPCC, Frames::UEC, Frames::NDP];
    let named: Vec<(&str, Frames)> = FRAMES.iter().map(|one| one.name).zip(presets).collect();
    let preset = match transport {
        Transport::Uec if !values.is_set("frames") => Frames::UEC,
        Transport::Ndp if !values.is_set("frames") => Frames::NDP,
        Transport::Own(_) if !values.is_set("frames") => Frames::UEC,
        _ => values.choice("frames", &named)?,
    };
    Ok(Frames {
        mtu: values.integer_or("mtu", preset.mtu)?,
        overhead: values.integer_or("overhead", preset.overhead)?,
        min: values.integer_or("min-frame", preset.min)?,
        gap: values.integer_or("gap", preset.gap)?,
        ack: if values.is_set("ack-frame") { Some(values.integer("ack-frame")?) } else { preset.ack },
        pause: values.integer_or("pause-bytes", preset.pause)?,
        stamps: 0,
    })
}

/// The order of frames that arrive at one instant. Where a setting tells of a data centre, hosts of equal rates are the
/// rule, and their frames arrive at equal instants again and again. A congestion control in a file has no effect if the
/// transport has none.
fn ties(values: &dyn Values, transport: Transport) -> Result<TieOrder, SpecError> {
    const TELL: &[&str] = &["classes", "ecn", "buffer", "trim", "mtu", "overhead", "min-frame", "gap"];
    if values.is_set("ties") {
        return values.choice("ties", &[(TIES[0].name, TieOrder::Port), (TIES[1].name, TieOrder::Hash)]);
    }
    let tells = TELL.iter().any(|key| values.is_set(key))
        || values.is_set("cc") && transport.acknowledges()
        || transport.sprays()
        || values.word("pause") == switch::keys::PFC
        || values.word("frames") != FRAMES[0].name
        || values.is_set("flows")
        || values.word("size").starts_with("cdf");
    Ok(if tells { TieOrder::Hash } else { TieOrder::Port })
}

/// \[b/s\] The data rate that a key gives.
fn rate(values: &dyn Values, key: &'static str) -> Result<u64, SpecError> {
    let word = values.word(key);
    parse_rate(word).ok_or_else(|| {
        let what = phrase![[key], " takes a data rate, not `{word}`"];
        let remedy = phrase![values.write(key, "1Gb/s"), " (b/s, kb/s, Mb/s, Gb/s, Tb/s)"];
        SpecError::new(ErrorKind::Malformed, what, remedy).of(key).given(word)
    })
}

impl Spec {
    /// \[bytes/ps\] Payload that a link of `rate` b/s carries in full frames.
    fn payload_rate(&self, rate: u64) -> f64 {
        let payload = self.params.payload();
        let header = if self.params.transport == Transport::Window { self.params.segment_header } else { 0 };
        let bits = 8 * self.params.frames.of(payload + header) + self.params.frames.gap;
        f64::from(payload) / (f64::from(bits) / 8.0) * rate as f64 / 8e12
    }

    /// As [`switch::headrooms_of_switches`].
    fn headrooms(&self) -> Option<([u64; 2], Option<u64>)> {
        switch::headrooms_of_switches(&self.params, &self.prepared.wiring)
    }

    /// Queues of two levels as settings: which frames are cut, and the room.
    fn two_levels(&self) -> Vec<(&'static str, String)> {
        let Some(trim) = self.params.switch.trim else { return Vec::new() };
        let name = TRIM_MODES.iter().find(|(_, mode)| *mode == trim.mode).map_or("", |(name, _)| *name);
        let Prepared { wiring, alive, .. } = &self.prepared;
        let room = TwoLevels::new(&self.params, wiring, alive).room;
        vec![("trim", name.to_owned()), ("port-queue", format!("{room}B"))]
    }

    /// Builds the network with the engine that is set.
    fn network(&self) -> Box<dyn Ethernet> {
        let (prepared, params) = (self.prepared.clone(), self.params.clone());
        match self.is_reference {
            true => reference::build_prepared(prepared, params),
            false => fast::build_prepared(prepared, params, self.threads, fast::EVENTS_WORTH_THREADS),
        }
    }

    /// Checks that a host or switch exists in this network.
    fn check_place(&self, place: Place) -> Result<(), SpecError> {
        let (hosts, nodes) = (self.topology.endpoints(), self.topology.nodes());
        let switches = if self.topology.switched().is_some() { hosts..nodes } else { 0..nodes };
        let (of, known) = match place {
            Place::Host(_) => ("host", 0..hosts),
            Place::Switch(_) => ("switch", switches),
        };
        let (Place::Host(node) | Place::Switch(node)) = place;
        if known.contains(&node.index()) {
            return Ok(());
        }
        let what = format!("there is no {of} {node} in {}", self.topology.spec());
        let remedy = match known.is_empty() {
            true => format!("it has no {of}"),
            false => format!("name one of {} to {}", known.start, known.end - 1),
        };
        Err(SpecError::new(ErrorKind::UnknownName, what, remedy))
    }
}

impl NetworkSpec for Spec {
    fn build(&self) -> Result<Box<dyn Network>, SpecError> {
        Ok(self.network())
    }

    fn captured(&self, places: &[Place], observer: Box<dyn Capture>) -> Result<Box<dyn Network>, SpecError> {
        places.iter().try_for_each(|&place| self.check_place(place))?;
        if self.threads > 1 {
            let what = phrase![
                ["threads" => self.threads],
                ": frames are captured in one order, and threads simulate switches ahead of hosts"
            ];
            return Err(SpecError::new(ErrorKind::Conflict, what, phrase!["use ", ["threads" => 1]]).of("threads"));
        }
        let mut network = self.network();
        network.capture(places, Box::new(FrameBytes { observer, frames: self.params.frames }));
        Ok(network)
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn completes_when_acknowledged(&self) -> bool {
        self.params.is_acked
    }

    fn hpcc_ideal(&self) -> Option<IdealTime> {
        let applies = self.params.is_acked
            && self.params.forwarding == Forwarding::Static
            && self.params.routes.is_none()
            && self.params.failures.is_empty();
        let mut ideal = applies.then(|| Ideal::new(&*self.topology, &self.params).ok())??;
        Some(Box::new(move |message| ideal.time(message)))
    }

    fn geometry(&self) -> &Geometry {
        self.topology.geometry()
    }

    fn topology(&self) -> Option<&Arc<dyn Topology>> {
        Some(&self.at_first)
    }

    fn failures(&self) -> Option<&Failures> {
        Some(&self.params.failures)
    }

    fn unreachable(&self) -> Option<SpecError> {
        self.params.failures.unreachable(&*self.topology)
    }

    fn blocked_links(&self) -> Option<Vec<Ends>> {
        let has_tree = self.params.forwarding == Forwarding::Learning && self.params.spanning_tree;
        has_tree.then(|| self.prepared.blocked_links())
    }

    /// Names links that carry nothing because of the choice of routes: their capacity is missing from the figures.
    fn warnings(&self) -> Vec<Phrase> {
        let rates = self.prepared.host_rates();
        let mut warnings: Vec<Phrase> =
            other_rates(&rates, self.params.link_rate, "in full frames").into_iter().collect();
        warnings.extend(self.params.failures.warnings(&*self.topology));
        if self.threads > 1 && self.params.is_of_one_thread() {
            warnings.push(phrase![
                ["threads" => self.threads],
                ": one of them simulates all, since queues of two levels and choices that switches keep need the present"
            ]);
        }
        if let Some((_, Some(needed))) = self.headrooms() {
            let word = self.params.switch.pfc.and_then(|pfc| pfc.headroom).unwrap_or(0);
            warnings.push(phrase![
                ["headroom" => word],
                (": a link may bring {needed} bytes after it is paused, and frames beyond the headroom are dropped; "),
                ["headroom" => "auto"],
                " has what each link needs"
            ]);
        }
        if self.params.spread.is_several() {
            return warnings;
        }
        let [links, unused] = self.prepared.unused_links();
        let spec = self.topology.spec();
        let text = match self.params.forwarding {
            _ if unused == 0 => return warnings,
            Forwarding::Static => phrase![
                ["forwarding" => "static"],
                " takes the first of several shortest paths: {unused} of {links} links between the switches of {spec} on such \
                 paths carry nothing (each direction counts); to use all of them, set ",
                ["spread" => "ecmp"]
            ],
            Forwarding::Learning => phrase![
                ["forwarding" => "learning"],
                ": the spanning tree blocks {unused} of {links} links between the switches of {spec}, which carry nothing \
                 (each direction counts); to use all of them, set ",
                ["forwarding" => "static"],
                " and ",
                ["spread" => "ecmp"]
            ],
        };
        warnings.push(text);
        warnings
    }

    /// A phit is a byte of a message, a packet a full frame.
    fn units(&self) -> Units {
        let capacity = self.payload_rate(self.params.link_rate);
        Units { phit_bytes: 1, packet_phits: self.params.payload(), is_padded: false, capacity }
    }

    /// Frames are stored at each switch, or pass it after their header; those of a message follow each other. Windows
    /// open by the round trip, and what a link damages waits for a time-out.
    fn unloaded(&self, phits: f64) -> Unloaded {
        let params = &self.params;
        let is_whole = Arc::ptr_eq(&self.at_first, &self.topology);
        let damaged = if is_whole { None } else { Some(Wiring::new(&*self.at_first, params)) };
        let wiring = match &damaged {
            None => &self.prepared.wiring,
            Some(Ok(wiring)) => wiring,
            Some(Err(_)) => return Unloaded::shared(0),
        };
        let blocked: HashSet<(NodeId, Port)> = self.blocked_links().into_iter().flatten().flatten().collect();
        let is_windowed = params.transport == Transport::Window;
        let header = if is_windowed { params.segment_header } else { 0 };
        let payload = (phits.ceil() as u32).clamp(1, params.payload());
        let frame = |port: usize| wiring.links[port].time(params.frames.of(payload + header) as u16);
        let span = |port: usize| {
            let link = &wiring.links[port];
            let is_open = !blocked.contains(&(wiring.node(link.owner as usize), Port(link.number)));
            let passes = params.switching == Switching::CutThrough && link.is_to_switch;
            is_open.then(|| link.delay + if passes { link.header() } else { frame(port) })
        };
        let frames = params.frames_of(phits.ceil() as u64) - 1;
        let rest = frames.saturating_mul((0..wiring.links.len()).map(frame).max().unwrap_or(0));
        let unloaded = Unloaded::shared(Spans::of_wiring(wiring, span).farthest().saturating_add(rest));
        match params.transport {
            Transport::Oracle | Transport::Backoff | Transport::None => return unloaded,
            // Rates of connections are adapted by the round trip.
            Transport::Roce | Transport::Uec | Transport::Ndp | Transport::Own(_) => {
                return Unloaded { settles: unloaded.latency.saturating_mul(8), ..unloaded };
            }
            Transport::Window => {}
        }
        let segments = params.window / u64::from(params.segment.max(1)) / u64::from(params.initial_window.max(1));
        let rounds = 1 + u64::from(segments.max(1).ilog2());
        let waits = if params.per > 0.0 { params.rto_initial } else { 0 };
        let settles = (2 + 2 * rounds).saturating_mul(unloaded.latency).saturating_add(waits);
        Unloaded { settles, ..unloaded }
    }

    fn packets_are_payload(&self) -> bool {
        !self.params.transport.acknowledges()
    }

    fn chooses_by_hash(&self) -> bool {
        self.params.spread.is_several()
    }

    fn rates(&self) -> Option<Rates> {
        let Params { link_rate, .. } = self.params;
        let network = self.topology.switched();
        let rate = |node: NodeId, port: Port| network.and_then(|network| network.link(node, port).rate);
        let nodes = (0..self.topology.nodes()).map(NodeId::at);
        let links = nodes.flat_map(|node| self.topology.ports_of(node).filter_map(move |port| rate(node, port)));
        let fastest = links.fold(link_rate, u64::max);
        // By host: the rates of the only link, from it and to it.
        let of_host = |host: usize| {
            let Some(network) = network else { return [link_rate; 2] };
            let (host, (switch, port)) = (NodeId::at(host), network.fabric().home(NodeId::at(host)));
            let from = rate(host, network.fabric().port(host, 0));
            [from, rate(switch, port)].map(|rate| rate.unwrap_or(link_rate))
        };
        let hosts: Vec<[u64; 2]> = (0..self.topology.endpoints()).map(of_host).collect();
        let [injection, ejection] = [0, 1].map(|way| hosts.iter().map(|host| self.payload_rate(host[way])).collect());
        Some(Rates { link: self.payload_rate(fastest), injection, ejection, queued_phits: 0, is_serial: false })
    }

    fn cycle(&self) -> Option<(u64, u64)> {
        Some((1, 1))
    }

    /// All sizes of frames, so that nothing that determines a result stands behind the name of a preset.
    fn settled(&self) -> Vec<(&'static str, String)> {
        let Params { frames, segment, segment_header, ties, .. } = self.params;
        let numbers = [
            ("mtu", frames.mtu),
            ("overhead", frames.overhead),
            ("min-frame", frames.min),
            ("gap", frames.gap),
            ("pause-bytes", frames.pause),
            ("segment", segment),
            ("segment-header", segment_header),
        ];
        let ack = frames.ack.map(|bytes| ("ack-frame", bytes));
        let numbers = numbers.into_iter().chain(ack).map(|(key, value)| (key, value.to_string()));
        // Where links differ, each port has its own.
        let same = self.headrooms().filter(|([least, most], _)| least == most);
        let headroom = same.map(|([bytes, _], _)| ("headroom", bytes.to_string()));
        let numbers = numbers.chain(headroom);
        let order = TIES[usize::from(ties == TieOrder::Hash)].name;
        let spread = self.params.transport.sprays() && self.params.spread == Spread::ECMP;
        let words = [("ties", order.to_owned())].into_iter();
        let words = words.chain(spread.then(|| ("spread", self.params.spread.name().to_owned())));
        numbers.chain(words).chain(self.two_levels()).collect()
    }

    fn unused(&self) -> Vec<(&'static str, Phrase)> {
        let why = |bytes: u32| ("ack-bytes", phrase!["with acknowledgements of ", ["ack-frame" => bytes], " in all"]);
        let of_bytes = self.params.frames.ack.map(why);
        // The effective experiment has one of the two keys: the default of the other would contradict it.
        let of_spread = self.by_former_key.then(|| ("spread", phrase!["with ", ["ecmp" => true]]));
        let of_queues =
            self.params.switch.buffer.map(|_| ("port-queue", phrase!["with ", ["buffer"], ", which ports share"]));
        of_bytes.into_iter().chain(of_spread).chain(of_queues).collect()
    }

    /// \[frames\] What a view of this model shows.
    fn room(&self) -> Option<Room> {
        Some(Room { transit_phits: self.params.port_queue, injection_phits: self.params.port_queue })
    }
}
