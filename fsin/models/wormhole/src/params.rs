//! The settings of a router, and the checks of their values.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::rules::batch::TraverseMode;
use crate::rules::buffers::BufferPolicy;
use crate::rules::channels::{SourceOrder, VcRanges};
use crate::rules::priority::Priority;
use fsin_core::failures::Timetable;
use fsin_core::interface::Interface;
use fsin_core::route::RouteTable;
use trgen::Message;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;

/// Names of routings, and how the virtual channels of a ring are divided into two classes.
pub use fsin_core::route::{Name as Routing, RingClasses as VcClasses};

/// Maximum number of virtual channels of a port.
pub const MAX_VCS: usize = 32;

/// \[steps, cycles\] Longest delay of a stage, a link or a credit.
pub const MAX_DELAY: u32 = 1 << 12;

/// \[flits\] Largest buffer of a virtual channel.
pub const MAX_BUFFER: u32 = 1 << 12;

/// \[flits\] Largest buffer that the virtual channels of a port share.
pub const MAX_PORT_BUFFER: u32 = 1 << 15;

/// Most copies of a network.
pub const MAX_SUBNETS: usize = 16;

/// Largest speedup of the crossbar.
pub const MAX_SPEEDUP: u32 = 16;

/// How requests are matched with resources: input VCs with output VCs, or input ports with output ports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Allocator {
    /// Input-first: each requester picks one resource, each resource one of those requesters, both round robin.
    /// Pointers move past the winner, and only when a request is granted (Dally and Towles, 2004, section 19.3).
    Separable,
    /// Resources grant, requesters accept, both round robin; pointers move only with accepted grants of the first
    /// iteration (McKeown, The iSLIP scheduling algorithm for input-queued switches, ToN 7(2), 1999).
    Islip {
        /// 1 or more; unmatched requesters and resources take part in the next one.
        iterations: u32,
    },
    /// Diagonals of the request matrix, from one that moves on with each step (Tamir and Chi, TPDS 4(1), 1993).
    Wavefront,
    /// Requests in the order in which their packets were created, each granted if its resource is still free.
    OldestFirst,
}

impl FromStr for Allocator {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (name, count) = text.split_once(':').map_or((text, None), |(name, count)| (name, Some(count)));
        let plain = |allocator| match count {
            None => Ok(allocator),
            Some(_) => Err(SpecError::new(
                ErrorKind::Malformed,
                format!("allocator `{name}` takes no number"),
                format!("write `{name}`"),
            )),
        };
        match name {
            "separable" => plain(Self::Separable),
            "wavefront" => plain(Self::Wavefront),
            "oldest-first" => plain(Self::OldestFirst),
            "islip" => match count.map_or(Ok(1), str::parse) {
                Ok(iterations @ 1..=16) => Ok(Self::Islip { iterations }),
                _ => Err(SpecError::new(
                    ErrorKind::OutOfRange,
                    format!("`{text}`: iterations of iSLIP"),
                    "use islip:1 to islip:16",
                )),
            },
            _ => Err(SpecError::unknown("allocator", name, &["separable", "islip", "wavefront", "oldest-first"])),
        }
    }
}

impl fmt::Display for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Separable => f.write_str("separable"),
            Self::Islip { iterations } => write!(f, "islip:{iterations}"),
            Self::Wavefront => f.write_str("wavefront"),
            Self::OldestFirst => f.write_str("oldest-first"),
        }
    }
}

/// How long a connection through the crossbar lasts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Hold {
    /// Every flit is arbitrated.
    Flit,
    /// A connection is kept until the tail of the packet has used it, or until the next flit of the packet cannot move.
    Packet,
}

impl FromStr for Hold {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text {
            "flit" => Ok(Self::Flit),
            "packet" => Ok(Self::Packet),
            _ => Err(SpecError::unknown("hold", text, &["flit", "packet"])),
        }
    }
}

/// Steps of a router in each cycle of its links, as a fraction: 3/2 alternates 1 and 2.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Speedup {
    /// Steps in `denominator` cycles.
    numerator: u32,
    /// \[cycles\] Cycles in which `numerator` steps are made.
    denominator: u32,
}

impl Speedup {
    /// One step a cycle.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// `None` unless it is at least 1 and at most [`MAX_SPEEDUP`], in thousandths at the finest.
    #[must_use]
    pub const fn new(numerator: u32, denominator: u32) -> Option<Self> {
        let fits = denominator >= 1 && denominator <= 1000 && numerator / 1000 <= MAX_SPEEDUP;
        if fits && numerator >= denominator && numerator <= MAX_SPEEDUP * denominator {
            let (mut divisor, mut rest) = (numerator, denominator);
            while rest > 0 {
                (divisor, rest) = (rest, divisor % rest);
            }
            Some(Self { numerator: numerator / divisor, denominator: denominator / divisor })
        } else {
            None
        }
    }

    /// Numerator and denominator: steps in so many cycles, in lowest terms.
    #[must_use]
    pub const fn ratio(self) -> (u32, u32) {
        (self.numerator, self.denominator)
    }

    /// True if the router makes one step a cycle.
    #[must_use]
    pub const fn is_one(self) -> bool {
        self.numerator == self.denominator
    }

    /// \[steps\] Number of steps before cycle `cycle`, counted from cycle 0.
    #[must_use]
    #[inline]
    pub const fn before(self, cycle: u64) -> u64 {
        if self.is_one() {
            return cycle;
        }
        (cycle as u128 * self.numerator as u128 / self.denominator as u128) as u64
    }
}

impl FromStr for Speedup {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let parsed = match text.split_once('/') {
            Some((over, under)) => over.parse().ok().zip(under.parse().ok()),
            None => text.parse::<f64>().ok().and_then(|value| {
                let thousandths = value * 1000.0;
                let is_whole = (thousandths - thousandths.round()).abs() < 1e-9;
                (is_whole && (1000.0..=16_000.0).contains(&thousandths)).then(|| (thousandths.round() as u32, 1000))
            }),
        };
        parsed.and_then(|(over, under)| Self::new(over, under)).ok_or_else(|| {
            let remedy = format!("use 1 to {MAX_SPEEDUP}, such as 2, 1.5 or 3/2");
            SpecError::new(ErrorKind::OutOfRange, phrase![["speedup" => text], " is out of range"], remedy)
                .of("speedup")
                .given(text)
        })
    }
}

/// All settings of the routers.
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    /// How the interface of a node shares its links among its messages.
    pub interface: Interface,
    /// Ports through which a node of a direct network takes flits, one a cycle each; 0: as many as it has links. Flits
    /// of a packet that comes over link number i take port i modulo this number.
    pub ejection_ports: usize,
    /// \[bytes\] Size of a flit, 1 or more.
    pub flit_bytes: u32,
    /// \[flits\] Length of the longest packet, head and tail included. Messages are cut into packets of this length;
    /// the last one is as long as the rest requires.
    pub packet_flits: u32,
    /// Virtual channels of each port, 1 to [`MAX_VCS`].
    pub vcs: usize,
    /// Number of message classes, 1 to the number of VCs, which are divided evenly: messages of different classes never
    /// share a VC. Classes of [`trgen::Message`] beyond the last one count as the last.
    pub message_classes: usize,
    /// The VCs of each message class. Classes that share VCs are kept apart by nothing.
    pub vc_ranges: VcRanges,
    /// The order of message classes at their source.
    pub source_order: SourceOrder,
    /// \[flits\] Size of the buffer of each VC, 1 to [`MAX_BUFFER`].
    pub buffer: u32,
    /// How the VCs of an input share its buffer.
    pub buffer_policy: BufferPolicy,
    /// \[flits\] Size of the buffer of an input that its VCs share, at least one for each and at most
    /// [`MAX_PORT_BUFFER`]; `None` for [`buffer`](Self::buffer) times VCs.
    pub shared_buffer: Option<u32>,
    /// Number of groups of VCs that have places of their own in a shared buffer; `None` for one for each VC.
    pub private_buffers: Option<usize>,
    /// \[flits\] Places of each of these groups.
    pub private_buffer: u32,
    /// \[flits\] The most of a VC with [`BufferPolicy::Limited`]; `None` for the whole buffer.
    pub held_slots: Option<u32>,
    /// \[steps\] Time of route computation; 0 for lookahead routing.
    pub route_delay: u32,
    /// \[steps\] Time of VC allocation, 1 or more.
    pub vc_alloc_delay: u32,
    /// \[steps\] Time of switch allocation, 1 or more.
    pub switch_alloc_delay: u32,
    /// \[steps\] Time of switch traversal, 1 or more.
    pub traverse_delay: u32,
    /// Whether route computation and switch traversal of more than one step work as pipelines or in batches.
    pub traverse_mode: TraverseMode,
    /// True if heads request the switch in the same step as a VC (Peh and Dally, HPCA 2001).
    pub speculative: bool,
    /// Steps of a router in each cycle.
    pub speedup: Speedup,
    /// Number of copies of the network, each with its own links to the nodes: a packet is in one of them, which is
    /// drawn. 1 to [`MAX_SUBNETS`].
    pub subnets: usize,
    /// Inputs of the switch for each input port, 1 to [`MAX_SPEEDUP`]; a VC takes one by its number.
    pub input_speedup: usize,
    /// Outputs of the switch for each output port, 1 to [`MAX_SPEEDUP`]; an input port takes one by its number.
    pub output_speedup: usize,
    /// \[cycles\] Delay of a link, without the cycle in which the next router takes the flit: 1 or more.
    pub link_delay: u32,
    /// \[cycles\] Time from the arrival of a credit at a router until it counts; at a source, credits count at once.
    pub credit_delay: u32,
    /// Allocator of output VCs to input VCs.
    pub vc_allocator: Allocator,
    /// Allocator of output ports to input ports.
    pub switch_allocator: Allocator,
    /// Which requests are preferred in allocation.
    pub priority: Priority,
    /// By class of messages: its priority by [`Priority::Class`]; 0 for others.
    pub class_priorities: Vec<i64>,
    /// How long a connection through the crossbar lasts.
    pub hold: Hold,
    /// \[flits\] An output takes grants while its queue holds fewer flits than this; always if `None`. Flits in the
    /// crossbar do not count, so that a queue may hold one flit more.
    pub output_queue: Option<u32>,
    /// Division of the VCs of the rings of a torus.
    pub vc_classes: VcClasses,
    /// True if an output VC is available again only when all its credits have returned, and not as soon as the tail has
    /// been granted.
    pub wait_for_tail_credit: bool,
    /// True if an output VC without a credit is not available.
    pub vc_busy_when_full: bool,
    /// The routing function.
    pub routing: Routing,
    /// The routes of [`Routing::ROUTES`].
    pub routes: Option<Arc<RouteTable>>,
    /// True if routings that are not free of deadlock may run.
    pub unsafe_routing: bool,
    /// Links that die and are repaired during the run. The topology has them all.
    pub timetable: Timetable,
    /// Seed of all draws.
    pub seed: u64,
    /// \[cycles\] Time without any movement of a flit after which the network counts as being in deadlock.
    pub watchdog_cycles: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            interface: Interface::Serial,
            ejection_ports: 1,
            flit_bytes: 4,
            packet_flits: 16,
            vcs: 2,
            message_classes: 1,
            vc_ranges: VcRanges::Apart,
            source_order: SourceOrder::InTurn,
            buffer: 8,
            buffer_policy: BufferPolicy::Private,
            shared_buffer: None,
            private_buffers: None,
            private_buffer: 1,
            held_slots: None,
            route_delay: 1,
            vc_alloc_delay: 1,
            switch_alloc_delay: 1,
            traverse_delay: 1,
            traverse_mode: TraverseMode::Pipeline,
            speculative: false,
            speedup: Speedup::ONE,
            subnets: 1,
            input_speedup: 1,
            output_speedup: 1,
            link_delay: 1,
            credit_delay: 0,
            vc_allocator: Allocator::Separable,
            switch_allocator: Allocator::Separable,
            priority: Priority::None,
            class_priorities: Vec::new(),
            hold: Hold::Flit,
            output_queue: None,
            vc_classes: VcClasses::PerDimension,
            wait_for_tail_credit: false,
            vc_busy_when_full: false,
            routing: Routing::DOR,
            routes: None,
            unsafe_routing: false,
            timetable: Timetable::default(),
            seed: 1,
            watchdog_cycles: 10_000,
        }
    }
}

impl Params {
    /// The router of BookSim 2 (`iq_router`), in the two-stage pipeline that its users compare with: lookahead,
    /// speculation, iSLIP of one iteration, unbounded output queues.
    #[must_use]
    pub fn booksim() -> Self {
        Self {
            route_delay: 0,
            speculative: true,
            vc_allocator: Allocator::Islip { iterations: 1 },
            switch_allocator: Allocator::Islip { iterations: 1 },
            ..Self::default()
        }
    }

    /// A preset by its name.
    ///
    /// # Errors
    /// An unknown name.
    pub fn preset(name: &str) -> Result<Self, SpecError> {
        match name {
            "default" => Ok(Self::default()),
            "booksim" => Ok(Self::booksim()),
            _ => Err(SpecError::unknown("preset", name, &["default", "booksim"])),
        }
    }

    /// Number of ports of ejection of a node with so many links.
    pub(crate) const fn ejections(&self, links: usize) -> usize {
        if self.ejection_ports == 0 { links } else { self.ejection_ports }
    }

    /// Number of ports of a router of a direct network with so many links that lead to its own endpoint, in each
    /// direction. Some are unused where there are not as many ports of ejection as of injection.
    pub(crate) fn own_ports(&self, links: usize) -> usize {
        self.interface.lanes(links).max(self.ejections(links))
    }

    /// The priority of a class of messages.
    pub(crate) fn class_priority(&self, class: u8) -> i64 {
        self.class_priorities.get(usize::from(class)).copied().unwrap_or(0)
    }

    /// \[flits\] Size of the buffer of an input, of all its VCs.
    pub(crate) fn port_buffer(&self) -> u32 {
        match self.buffer_policy {
            BufferPolicy::Private => self.buffer * self.vcs as u32,
            _ => self.shared_buffer.unwrap_or(self.buffer * self.vcs as u32),
        }
    }

    /// \[flits\] The most that one VC of an input can hold.
    pub(crate) fn deepest(&self) -> u32 {
        if self.shares_buffers() { self.port_buffer() } else { self.buffer }
    }

    /// True if the VCs of an input share its buffer.
    pub(crate) fn shares_buffers(&self) -> bool {
        self.buffer_policy != BufferPolicy::Private
    }

    /// True if the switch has more inputs or outputs than the router has ports.
    pub(crate) const fn is_widened(&self) -> bool {
        self.input_speedup * self.output_speedup > 1
    }

    /// The first VC of a message class, and their number.
    pub(crate) fn vcs_of(&self, class: u8) -> (usize, usize) {
        let range = self.vc_ranges.of(class.into(), self.vcs, self.message_classes);
        (*range.start(), range.end() + 1 - range.start())
    }

    /// The least number of VCs of a message class.
    pub(crate) fn vcs_of_class(&self) -> usize {
        (0..self.message_classes).map(|class| self.vcs_of(class as u8).1).min().unwrap_or(self.vcs)
    }

    /// Number of queues of a source, of which each sends one packet after the other.
    pub(crate) fn queues(&self) -> usize {
        if self.source_order == SourceOrder::RepliesFirst { 1 } else { self.message_classes }
    }

    /// The message class of a message.
    pub(crate) fn class_of(&self, message: &Message) -> u8 {
        usize::from(message.class).min(self.message_classes - 1) as u8
    }

    /// \[steps\] Delay of route computation, where that is in batches.
    pub(crate) fn route_batch(&self) -> Option<u64> {
        (self.traverse_mode == TraverseMode::Batch && self.route_delay > 1).then_some(self.route_delay.into())
    }

    /// \[steps\] Delay of switch traversal, where that is in batches.
    pub(crate) fn traverse_batch(&self) -> Option<u64> {
        (self.traverse_mode == TraverseMode::Batch && self.traverse_delay > 1).then_some(self.traverse_delay.into())
    }

    /// True if packets on channel 0 stay there, and a speculation needs both channel 0 and another one.
    pub(crate) fn keeps_channel_0(&self) -> bool {
        self.routing == Routing::BOOKSIM_MIN_ADAPT
    }

    /// \[steps\] Time from the step in which a head comes to the front of its buffer to the first step in which it can
    /// be given an output VC.
    #[must_use]
    pub(crate) fn head_delay(&self) -> u64 {
        let alloc = match self.speculative {
            true => self.vc_alloc_delay.max(self.switch_alloc_delay),
            false => self.vc_alloc_delay,
        };
        u64::from(self.route_delay + alloc - 1)
    }

    /// \[steps\] Time from winning an output VC to the first step in which the head can be granted the switch without
    /// speculation.
    #[must_use]
    pub(crate) fn switch_delay(&self) -> u64 {
        if self.speculative { 1 } else { self.switch_alloc_delay.into() }
    }

    /// \[cycles\] Latency of a packet of `flits` flits that is alone in a direct network, from its creation to the
    /// arrival of its tail at the sink, through `routers` routers. The speedup must be a whole number, and buffers must
    /// be long enough to cover the round trip of a credit.
    #[must_use]
    pub fn zero_load_latency(&self, routers: u64, flits: u64) -> u64 {
        let alloc = match self.speculative {
            true => self.vc_alloc_delay.max(self.switch_alloc_delay),
            false => self.vc_alloc_delay + self.switch_alloc_delay,
        };
        let steps = u64::from(self.route_delay + alloc + self.traverse_delay);
        let router = steps.div_ceil(self.speedup.before(1).max(1));
        routers * router + (routers - 1) * u64::from(self.link_delay) + 3 + flits - 1
    }

    /// Number of flits of a message of `bytes` bytes; a message of 0 bytes is one flit.
    #[must_use]
    pub const fn flits_of(&self, bytes: u64) -> u64 {
        let flits = bytes.div_ceil(self.flit_bytes as u64);
        if flits == 0 { 1 } else { flits }
    }

    /// Number of packets into which a message of `flits` flits is cut.
    #[must_use]
    pub const fn packets_of(&self, flits: u64) -> u64 {
        flits.div_ceil(self.packet_flits as u64)
    }

    /// Refuses values out of range. Checks that depend on the topology are made by [`check`](crate::check).
    ///
    /// # Errors
    /// The first value that cannot be used.
    pub fn check(&self) -> Result<(), SpecError> {
        let delays = 1..=u64::from(MAX_DELAY);
        let ranges = [
            ("phit-bytes", u64::from(self.flit_bytes), 1..=1 << 20),
            ("packet", self.packet_flits.into(), 1..=1 << 24),
            ("vcs", self.vcs as u64, 1..=MAX_VCS as u64),
            ("message-classes", self.message_classes as u64, 1..=MAX_VCS as u64),
            ("buffer", self.buffer.into(), 1..=MAX_BUFFER.into()),
            ("route-delay", self.route_delay.into(), 0..=MAX_DELAY.into()),
            ("vc-alloc-delay", self.vc_alloc_delay.into(), delays.clone()),
            ("switch-alloc-delay", self.switch_alloc_delay.into(), delays.clone()),
            ("traverse-delay", self.traverse_delay.into(), delays.clone()),
            ("link-delay", self.link_delay.into(), delays),
            ("credit-delay", self.credit_delay.into(), 0..=MAX_DELAY.into()),
            ("output-queue", self.output_queue.unwrap_or(1).into(), 1..=1 << 20),
            ("subnets", self.subnets as u64, 1..=MAX_SUBNETS as u64),
            ("input-speedup", self.input_speedup as u64, 1..=MAX_SPEEDUP.into()),
            ("output-speedup", self.output_speedup as u64, 1..=MAX_SPEEDUP.into()),
            ("watchdog", self.watchdog_cycles, 1..=u64::MAX),
        ];
        for (key, value, range) in ranges {
            if !range.contains(&value) {
                return Err(SpecError::out_of_range(key, value, range));
            }
        }
        self.check_ranges()?;
        self.check_shared_buffer()?;
        if self.is_widened() && self.hold == Hold::Packet {
            let key = if self.input_speedup > 1 { "input-speedup" } else { "output-speedup" };
            let what =
                phrase![[key], " with connections that are kept, which have one input of the switch for each port"];
            return Err(SpecError::new(ErrorKind::Conflict, what, phrase!["use ", ["switch-hold" => "flit"]]).of(key));
        }
        if self.vc_ranges == VcRanges::Apart && !self.vcs.is_multiple_of(self.message_classes) {
            let what = phrase![
                ["message-classes" => self.message_classes],
                " cannot be given the same number of VCs each, ",
                ["vcs"],
                (" is {}", self.vcs)
            ];
            let remedy = phrase!["use as many ", ["vcs"], (" as a multiple of {}", self.message_classes)];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("message-classes"));
        }
        self.check_watchdog()
    }

    /// Refuses ranges of channels that do not exist, of classes that do not exist.
    fn check_ranges(&self) -> Result<(), SpecError> {
        let VcRanges::Given(ranges) = &self.vc_ranges else { return Ok(()) };
        let refuse =
            |what: Phrase, remedy: Phrase| Err(SpecError::new(ErrorKind::OutOfRange, what, remedy).of("vc-range"));
        if ranges.len() > self.message_classes {
            let class = ranges.len() - 1;
            let what = phrase![
                ["vc-range"],
                (" of class {class}, and "),
                ["message-classes"],
                (" is {}", self.message_classes)
            ];
            return refuse(what, phrase!["use ", ["message-classes" => class + 1], ", or leave the range out"]);
        }
        match ranges.iter().flatten().find(|(_, last)| usize::from(*last) >= self.vcs) {
            Some((_, last)) => {
                let what = phrase![["vc-range"], (" names channel {last}, and "), ["vcs"], (" is {}", self.vcs)];
                refuse(what, phrase!["use ", ["vcs" => last + 1], ", or channels 0 to ", ("{}", self.vcs - 1)])
            }
            None => Ok(()),
        }
    }

    /// Refuses shared buffers that are too small or too large.
    fn check_shared_buffer(&self) -> Result<(), SpecError> {
        if !self.shares_buffers() {
            return Ok(());
        }
        if self.output_speedup > 1 {
            let what = phrase![
                ["buffer-policy" => self.buffer_policy.name()],
                " with ",
                ["output-speedup" => self.output_speedup],
                ": flits of two channels might take the same place"
            ];
            let remedy = phrase!["use ", ["output-speedup" => 1], " or ", ["buffer-policy" => "private"]];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("buffer-policy"));
        }
        let (vcs, size) = (self.vcs as u64, u64::from(self.port_buffer()));
        // With shifting, the buffer halved for each bit of the number of other channels must leave a place.
        let each = if self.buffer_policy == BufferPolicy::Shifting { vcs.next_power_of_two() } else { vcs };
        let least = each.max(self.private_buffers.unwrap_or(self.vcs) as u64 * u64::from(self.private_buffer));
        let ranges = [
            ("private-buffers", self.private_buffers.unwrap_or(1) as u64, 1..=vcs),
            ("private-buffer", self.private_buffer.into(), 0..=MAX_PORT_BUFFER.into()),
            ("held-slots", self.held_slots.unwrap_or(1).into(), 1..=MAX_PORT_BUFFER.into()),
            ("shared-buffer", size, least..=MAX_PORT_BUFFER.into()),
        ];
        match ranges.into_iter().find(|(_, value, range)| !range.contains(value)) {
            Some((key, value, range)) => Err(SpecError::out_of_range(key, value, range)),
            None => Ok(()),
        }
    }

    /// Refuses a watchdog that fires while all is well.
    fn check_watchdog(&self) -> Result<(), SpecError> {
        let stages = self.route_delay + self.vc_alloc_delay + self.switch_alloc_delay + self.traverse_delay;
        let still = u64::from(stages + 2 * self.link_delay + self.credit_delay) + 16;
        if self.watchdog_cycles < still {
            let what = phrase![["watchdog" => self.watchdog_cycles], ": flits may rightly stand still for so long"];
            return Err(SpecError::new(ErrorKind::OutOfRange, what, format!("use {still} or more")).of("watchdog"));
        }
        Ok(())
    }
}
