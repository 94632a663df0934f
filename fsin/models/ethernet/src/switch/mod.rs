//! Settings of switches with classes, marking, shared buffers and PFC, and their checks.

pub(crate) mod keys;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use crate::cc::Signal;
use crate::params::{MAX_TIME, Params, Switching};
pub use crate::rules::buffer::{Buffer, Pfc};
use crate::rules::buffer::{headroom, headrooms, set_aside};
use crate::rules::frame::CLASSES;
pub use crate::rules::marking::{MARK_AT, MarkAt, MarkRule, Marking, Thresholds};
pub use crate::rules::schedule::{Schedule, Service};
pub use crate::rules::trim::{TRIM_MODES, Trim, TrimMode};
use crate::rules::wiring::Wiring;

/// \[bytes\] Largest buffer, and largest number of bytes of other settings.
const MOST: u64 = 1 << 40;

/// \[bytes\] Smallest size of a trimmed frame.
const LEAST_LEFT: u32 = 30;

/// What switches do beyond first in, first out. Without any of it, ports have one queue.
#[derive(Clone, PartialEq, Debug)]
pub struct Switch {
    /// The class of messages whose source has no classes of its own.
    pub class: u8,
    /// Classes that frames of the run have, a bit for each.
    pub used: u8,
    /// How classes are served; `None` for a frame of each in turn.
    pub schedule: Option<Schedule>,
    /// Which frames are marked.
    pub marking: Option<Marking>,
    /// When that is decided.
    pub mark_at: MarkAt,
    /// Whether ports to hosts mark frames; `None`: true unless the transport uses credits of the receiver.
    pub marks_at_hosts: Option<bool>,
    /// Queues of two levels, which cut off the data of frames; `None` for queues of one.
    pub trim: Option<Trim>,
    /// \[frames\] Maximum number of control frames and headers that a port sends in succession while data wait, 1 or
    /// more. Headers of trimmed frames can take the whole rate of a link: if no data passed, they would be sent again,
    /// and trimmed again, without end. Sources: htsim (100 000); Handley et al., *Re-architecting Datacenter Networks
    /// and Stacks for Low Latency and High Performance*, SIGCOMM 2017, section 3.1 (10).
    pub headers_per_frame: u32,
    /// The buffer that the ports of a switch share; `None` if each port has a queue of frames.
    pub buffer: Option<Buffer>,
    /// Priority-based flow control, which needs a shared buffer.
    pub pfc: Option<Pfc>,
}

impl Default for Switch {
    fn default() -> Self {
        Self {
            class: 0,
            used: 1,
            schedule: None,
            marking: None,
            mark_at: MarkAt::Departure,
            marks_at_hosts: None,
            trim: None,
            headers_per_frame: 100_000,
            buffer: None,
            pfc: None,
        }
    }
}

impl Params {
    /// True if ports have classes.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        let Switch { schedule, marking, buffer, pfc, .. } = &self.switch;
        schedule.is_some()
            || self.switch.trim.is_some()
            || marking.is_some()
            || buffer.is_some()
            || pfc.is_some()
            || self.transport.acknowledges() && self.acks_in_control()
            || self.needs(Signal::Stamps)
    }

    /// True if ports may be paused.
    #[must_use]
    pub const fn can_pause(&self) -> bool {
        self.pause || self.switch.pfc.is_some()
    }

    /// True if frames wait in queues that are emptied frame by frame.
    #[must_use]
    pub fn has_queues(&self) -> bool {
        self.pause || self.is_managed()
    }

    /// Checks what switches do.
    pub(crate) fn check_switch(&self) -> Result<(), SpecError> {
        let Switch { class, marking, buffer, pfc, .. } = &self.switch;
        let refuse = |key: &'static str, what, remedy| Err(SpecError::new(ErrorKind::Conflict, what, remedy).of(key));
        if self.is_managed() && self.switching == Switching::CutThrough {
            let what = phrase![
                ["switching" => "cut-through"],
                ": classes, marks, buffers and control frames of a switch are those of frames that have arrived completely"
            ];
            return refuse("switching", what, phrase!["use ", ["switching" => "store-and-forward"]]);
        }
        if usize::from(*class) >= CLASSES {
            return Err(SpecError::out_of_range("traffic-class", u64::from(*class), 0..=CLASSES as u64 - 1));
        }
        if *class > 0 && !self.is_managed() {
            let what = phrase![["traffic-class" => class], ": ports have one queue, whatever the class"];
            let remedy = phrase!["set ", ["classes"], ", ", ["ecn"], " or ", ["buffer"], ", or leave it out"];
            return refuse("traffic-class", what, remedy);
        }
        if self.switch.marks_at_hosts.is_some() && !self.has_marks() {
            let what = phrase![["ecn-hosts"], ": no switch marks frames"];
            return refuse("ecn-hosts", what, phrase!["set ", ["ecn" => "step:100kB"], ", or leave it out"]);
        }
        if self.switch.headers_per_frame == 0 {
            return Err(SpecError::out_of_range("headers-per-frame", 0, 1..=u64::from(u32::MAX)));
        }
        if let Some(Trim { mode, room, size }) = self.switch.trim {
            let with = [
                ("buffer", buffer.is_some()),
                ("classes", self.switch.schedule.is_some()),
                ("pause", self.pause || pfc.is_some()),
            ];
            if let Some((key, _)) = with.into_iter().find(|(_, is_set)| *is_set) {
                let what = phrase![["trim"], ": queues of two levels, and ", [key], " is about others"];
                return refuse(key, what, phrase!["leave out one of them"]);
            }
            let longest = self.frames.longest();
            if !(LEAST_LEFT..=longest).contains(&size) {
                return Err(SpecError::out_of_range("trim-size", size.into(), LEAST_LEFT.into()..=longest.into()));
            }
            // The frame that arrives may take the place of another one.
            let least = if mode == TrimMode::Coin { 2 } else { 1 } * u64::from(longest);
            if let Some(room) = room.filter(|room| !(least..=MOST).contains(room)) {
                return Err(SpecError::out_of_range("port-queue", room, least..=MOST));
            }
        }
        if self.pause && self.is_managed() {
            let what = phrase![["pause" => true], " stops all classes, and counts frames of each input"];
            let remedy = phrase!["use ", ["pause" => "pfc"], ", which counts bytes of each class"];
            return refuse("pause", what, remedy);
        }
        if let Some(Buffer { bytes, alpha, reserve }) = *buffer {
            for (key, value, least) in [("buffer", bytes, 1), ("reserve", reserve, 0)] {
                if !(least..=MOST).contains(&value) {
                    return Err(SpecError::out_of_range(key, value, least..=MOST));
                }
            }
            if !(alpha > 0.0 && alpha <= 1_024.0) {
                let what = phrase![["buffer-alpha" => alpha], " is out of range"];
                let error = SpecError::new(ErrorKind::OutOfRange, what, "use more than 0, and at most 1024");
                return Err(error.of("buffer-alpha").given(alpha));
            }
            if let Some(most) = marking.as_ref().and_then(Marking::most).filter(|&most| most > bytes) {
                let what = phrase![["ecn"], (" marks from {most} bytes on, and "), ["buffer" => bytes], " holds fewer"];
                return refuse("ecn", what, phrase!["use thresholds below the buffer, or a larger ", ["buffer"]]);
            }
            let longest = f64::from(self.frames.longest());
            if pfc.is_none() && alpha * (bytes as f64) < longest {
                let what = phrase![
                    ["buffer" => bytes],
                    " and ",
                    ["buffer-alpha" => alpha],
                    (": a frame of {longest} bytes never fits")
                ];
                let least = (longest / alpha).ceil();
                return refuse(
                    "buffer",
                    what,
                    phrase!["use ", ["buffer" => least], " or more, or a larger ", ["buffer-alpha"]],
                );
            }
        }
        let Some(pfc) = pfc else { return Ok(()) };
        if buffer.is_none() {
            let what = phrase![["pause" => "pfc"], ": thresholds are shares of a buffer, and switches have none"];
            return refuse("pause", what, phrase!["set ", ["buffer" => "32MB"]]);
        }
        if pfc.headroom == Some(0) {
            let what = phrase![["headroom" => 0], ": what arrives until a pause acts would be lost"];
            return refuse(
                "headroom",
                what,
                phrase!["use ", ["headroom" => "auto"], ", or bytes for each port and class"],
            );
        }
        let ranges = [
            ("headroom", pfc.headroom.unwrap_or(1), 1, MOST),
            ("xon-offset", pfc.xon_offset, 0, MOST),
            ("pause-quanta", pfc.quanta.map_or(1, u64::from), 1, 65_535),
            ("pfc-response", pfc.response, 0, MAX_TIME),
            ("pfc-watchdog", pfc.watchdog.unwrap_or(1), 1, MAX_TIME),
        ];
        for (key, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                return Err(SpecError::out_of_range(key, value, least..=most));
            }
        }
        Ok(())
    }
}

/// Checks that the buffers of all switches have room for what is set aside and, of each class, for a full frame.
///
/// # Errors
/// A buffer that is too small.
pub(crate) fn check_buffers(params: &Params, wiring: &Wiring) -> Result<(), SpecError> {
    let Some(buffer) = params.switch.buffer else { return Ok(()) };
    let headrooms = headrooms(params, &wiring.links);
    let aside = |switch: usize| set_aside(params, &headrooms, wiring.ports(wiring.hosts + switch));
    let Some((switch, most)) = (0..wiring.switches).map(|switch| (switch, aside(switch))).max_by_key(|of| of.1) else {
        return Ok(());
    };
    let lossless = params.switch.pfc.map_or(0, |pfc| pfc.classes);
    let node = wiring.node(wiring.hosts + switch);
    if most > buffer.bytes {
        let (classes, ports) =
            ((lossless & params.switch.used).count_ones(), wiring.ports(wiring.hosts + switch).len());
        let what = phrase![
            ["buffer" => buffer.bytes],
            (": headrooms and reserves of {ports} ports and {classes} classes of node {node} are {most} bytes")
        ];
        let remedy = phrase!["use ", ["buffer" => most], " or more, or smaller ", ["headroom"], " or ", ["reserve"]];
        return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("buffer"));
    }
    // Every full frame of a class without such a room would be dropped, and sent again for ever.
    let frame = u64::from(params.frames.of(params.frames.mtu));
    let shared_by_pfc = buffer.reserve.saturating_add((buffer.alpha * (buffer.bytes - most) as f64) as u64);
    let ports = wiring.ports(wiring.hosts + switch);
    if params.switch.used & lossless != 0
        && let Some(headroom) = headrooms[ports].iter().copied().min()
        && frame > shared_by_pfc.max(headroom)
    {
        let what = phrase![
            ["headroom" => headroom],
            (": an empty port of node {node} takes a frame of up to {shared_by_pfc} bytes, or of its headroom, and frames of {frame} bytes are lost")
        ];
        let remedy = phrase!["use ", ["headroom" => frame], " or more, or a greater ", ["buffer-alpha"]];
        return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("headroom"));
    }
    let has_room = |shared: u64| frame <= shared && frame as f64 <= buffer.alpha * shared as f64;
    if params.switch.used & !lossless == 0 || has_room(buffer.bytes - most) {
        return Ok(());
    }
    let mut least = frame.max((frame as f64 / buffer.alpha) as u64);
    while !has_room(least) {
        least += 1;
    }
    let shared = buffer.bytes - most;
    let what = phrase![
        ["buffer" => buffer.bytes],
        (": a queue of a class without PFC may hold "),
        ["buffer-alpha" => buffer.alpha],
        (" of the {shared} bytes that node {node} shares, which is less than a frame of {frame} bytes")
    ];
    let remedy = phrase!["use ", ["buffer" => most + least], " or more, or a greater ", ["buffer-alpha"]];
    Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("buffer"))
}

/// The least and the greatest headroom \[bytes\] of a class at ports of switches, as set, and the greatest that a link
/// may need beyond it; `None` without PFC.
pub(crate) fn headrooms_of_switches(params: &Params, wiring: &Wiring) -> Option<([u64; 2], Option<u64>)> {
    let pfc = params.switch.pfc?;
    let all = headrooms(params, &wiring.links);
    let of_switches = || (0..all.len()).filter(|&port| !wiring.is_host(wiring.links[port].owner));
    let [least, most] = [of_switches().map(|port| all[port]).min()?, of_switches().map(|port| all[port]).max()?];
    let others = u64::from((pfc.classes & params.switch.used).count_ones()).saturating_sub(1);
    let needs = |port: usize| {
        let back = &wiring.links[wiring.links[port].peer as usize];
        headroom(params, back.rate, back.delay, pfc.response, others)
    };
    let short = of_switches().filter(|&port| all[port] < needs(port)).map(needs).max();
    Some(([least, most], short))
}
