//! The buffer that all ports of a switch share, with dynamic thresholds; and when the sender at the other end of a link
//! is paused.
//!
//! Classes with PFC are counted where they come in: up to a reserve for free, then against a threshold that is a share
//! of what is free, then in the headroom, which takes what arrives until the sender has stopped. Other classes are
//! counted where they go out. Sizes are bytes on the wire.
//!
//! Sources: Choudhury, Hahne, *Dynamic Queue Length Thresholds for Shared-Memory Packet Switches*, ToN 6(2), 1998; IEEE
//! 802.1Qbb, and annex N of IEEE 802.1Q (headroom); Zhu and others, *Congestion Control for Large-Scale RDMA
//! Deployments*, SIGCOMM 2015, section 4 (thresholds).

use crate::params::Params;
use crate::rules::frame::CLASSES;
use crate::rules::wiring::{Link, Wiring};

/// The buffer of a switch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Buffer {
    /// \[bytes\] Its size, reserves and headrooms included.
    pub bytes: u64,
    /// The threshold as a share of what is free.
    pub alpha: f64,
    /// \[bytes\] With PFC: what each class of a port has for itself.
    pub reserve: u64,
}

/// Priority-based flow control.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pfc {
    /// The classes that are paused, a bit for each.
    pub classes: u8,
    /// \[bytes\] Room of each class of a port for what arrives after the decision to pause it; `None` for what the link
    /// can bring.
    pub headroom: Option<u64>,
    /// \[bytes\] How far below the threshold a class must be for its sender to go on.
    pub xon_offset: u64,
    /// \[512 bit times\] After so long a pause ends; it is renewed before. `None` if a pause lasts until it is lifted.
    pub quanta: Option<u32>,
    /// \[ps\] Time from the arrival of a pause frame until it takes effect.
    pub response: u64,
    /// \[ps\] After so long, what waits for a paused class of a port is dropped; `None` for never.
    pub watchdog: Option<u64>,
}

impl Pfc {
    /// \[ps\] How long a pause lasts on a link of `rate` b/s.
    pub(crate) fn duration(&self, rate: u64) -> Option<u64> {
        let bits = |quanta: u32| u128::from(quanta) * 512 * 1_000_000_000_000;
        self.quanta.map(|quanta| u64::try_from(bits(quanta) / u128::from(rate)).unwrap_or(u64::MAX).max(2))
    }
}

/// \[bytes\] The most that may arrive over a link of `rate` b/s and `delay` ps after the decision to pause it, in
/// frames of the longest size that classes of data carry, acknowledgements included where they travel there: the pause
/// frame waits for the longest frame of the other direction and its gap, and for the pause frames of `others` further
/// classes; the sender completes its frame; the delay passes twice.
pub(crate) fn headroom(params: &Params, rate: u64, delay: u64, response: u64, others: u64) -> u64 {
    const SECOND: u128 = 1_000_000_000_000;
    let frames = &params.frames;
    let (longest, pause, gap) = (u64::from(frames.longest()), u64::from(frames.pause), u64::from(frames.gap));
    let frame = 8 * if params.acks_in_control() { u64::from(frames.of(frames.mtu)) } else { longest };
    let reverse = 8 * longest + gap + others * (8 * pause + gap);
    let bits = u128::from(frame + 8 * pause + reverse) * SECOND
        + u128::from(rate) * (2 * u128::from(delay) + u128::from(response));
    let count = bits / (u128::from(frame + gap) * SECOND) + 1;
    u64::try_from(count * u128::from(frame / 8)).unwrap_or(u64::MAX)
}

/// What is counted of a class at an input.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Ingress {
    /// \[bytes\] Frames that are not in the headroom.
    counted: u64,
    /// \[bytes\] Frames in the headroom.
    headroom: u64,
    /// True if its sender has last been told to pause.
    is_off: bool,
}

/// The buffer of a switch.
#[derive(Clone, Copy, Default, Debug)]
struct Pool {
    /// \[bytes\] B': what is shared.
    size: u64,
    /// \[bytes\] Of it, what is occupied.
    used: u64,
    /// \[bytes\] All frames in the switch, reserves and headrooms included.
    held: u64,
    /// \[bytes\] T: the threshold of classes with PFC, kept since most frames leave it as it is.
    threshold: u64,
}

impl Pool {
    fn new(size: u64, alpha: f64) -> Self {
        let mut pool = Self { size, used: 0, held: 0, threshold: 0 };
        pool.occupy(0, alpha);
        pool
    }

    /// So many bytes of what is shared are occupied now.
    #[inline]
    fn occupy(&mut self, used: u64, alpha: f64) {
        self.used = used;
        self.threshold = (alpha * self.size.saturating_sub(used) as f64) as u64;
    }
}

/// What becomes of a frame that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    /// There is no room.
    Dropped,
    /// It is in the buffer.
    Taken,
    /// It is in the buffer, and its sender must pause.
    TakenAndOff,
}

/// The buffers of all switches.
#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    alpha: f64,
    reserve: u64,
    xon_offset: u64,
    /// Classes with PFC, a bit for each.
    lossless: u16,
    /// By switch.
    pools: Vec<Pool>,
    /// \[bytes\] By port: the headroom of each class with PFC.
    headrooms: Vec<u64>,
    /// By port and class; empty without PFC.
    ingress: Vec<[Ingress; CLASSES]>,
}

impl Buffers {
    /// The empty buffers of a network; `None` where queues have no common buffer.
    pub(crate) fn new(params: &Params, wiring: &Wiring) -> Option<Self> {
        let buffer = params.switch.buffer?;
        let pfc = params.switch.pfc;
        let headrooms = headrooms(params, &wiring.links);
        let pool = |switch: usize| {
            let ports = wiring.ports(wiring.hosts + switch);
            let size = buffer.bytes.saturating_sub(set_aside(params, &headrooms, ports));
            Pool::new(size, buffer.alpha)
        };
        Some(Self {
            alpha: buffer.alpha,
            reserve: if pfc.is_some() { buffer.reserve } else { 0 },
            xon_offset: pfc.map_or(0, |pfc| pfc.xon_offset),
            lossless: pfc.map_or(0, |pfc| pfc.classes.into()),
            pools: (0..wiring.switches).map(pool).collect(),
            ingress: if pfc.is_some() { vec![[Ingress::default(); CLASSES]; wiring.links.len()] } else { Vec::new() },
            headrooms,
        })
    }

    /// True if frames of a class are counted where they come in.
    #[inline]
    pub(crate) const fn is_lossless(&self, class: u8) -> bool {
        self.lossless >> class & 1 == 1
    }

    /// Takes in a frame of a class with PFC that has come through an input.
    #[inline]
    pub(crate) fn take(&mut self, switch: usize, input: usize, class: u8, bytes: u64) -> Admission {
        let (alpha, reserve) = (self.alpha, self.reserve);
        let (pool, ingress) = (&mut self.pools[switch], &mut self.ingress[input][usize::from(class)]);
        let before = ingress.counted.saturating_sub(reserve);
        let after = (ingress.counted + bytes).saturating_sub(reserve);
        if after > pool.threshold {
            if ingress.headroom + bytes > self.headrooms[input] {
                return Admission::Dropped;
            }
            ingress.headroom += bytes;
        } else {
            ingress.counted += bytes;
            if after > before {
                pool.occupy(pool.used + (after - before), alpha);
            }
        }
        pool.held += bytes;
        if ingress.is_off {
            return Admission::Taken;
        }
        let excess = ingress.counted.saturating_sub(reserve);
        ingress.is_off = ingress.headroom > 0 || excess >= pool.threshold;
        if ingress.is_off { Admission::TakenAndOff } else { Admission::Taken }
    }

    /// Releases a frame of a class with PFC that came through an input. True if its sender may go on again.
    #[inline]
    pub(crate) fn give_back(&mut self, switch: usize, input: usize, class: u8, bytes: u64) -> bool {
        let (alpha, reserve) = (self.alpha, self.reserve);
        let (pool, ingress) = (&mut self.pools[switch], &mut self.ingress[input][usize::from(class)]);
        let of_headroom = bytes.min(ingress.headroom);
        ingress.headroom -= of_headroom;
        let before = ingress.counted.saturating_sub(reserve);
        ingress.counted -= bytes - of_headroom;
        let excess = ingress.counted.saturating_sub(reserve);
        if before > excess {
            pool.occupy(pool.used - (before - excess), alpha);
        }
        pool.held -= bytes;
        if !ingress.is_off || ingress.headroom > 0 {
            return false;
        }
        let may_go_on = excess == 0 || excess + self.xon_offset <= pool.threshold;
        ingress.is_off = !may_go_on;
        may_go_on
    }

    /// Takes in a frame of a class without PFC, of which `queue` bytes wait at its output. False if there is no room.
    pub(crate) fn join(&mut self, switch: usize, queue: u64, bytes: u64) -> bool {
        let pool = self.pools[switch];
        let is_full = pool.used + bytes > pool.size;
        if is_full || (queue + bytes) as f64 > self.alpha * (pool.size - pool.used) as f64 {
            return false;
        }
        let pool = &mut self.pools[switch];
        pool.occupy(pool.used + bytes, self.alpha);
        pool.held += bytes;
        true
    }

    /// Releases a frame of a class without PFC.
    pub(crate) fn leave(&mut self, switch: usize, bytes: u64) {
        let pool = &mut self.pools[switch];
        pool.occupy(pool.used - bytes, self.alpha);
        pool.held -= bytes;
    }

    /// \[bytes\] All frames in a switch.
    #[inline]
    pub(crate) fn held(&self, switch: usize) -> u64 {
        self.pools[switch].held
    }

    /// The classes whose sender at an input has last been told to pause.
    pub(crate) fn off(&self, input: usize) -> impl Iterator<Item = u8> {
        let classes = self.ingress.get(input).copied().unwrap_or_default();
        (0..).zip(classes).filter(|(_, ingress)| ingress.is_off).map(|(class, _)| class)
    }
}

/// \[bytes\] By port: the headroom of each class with PFC; 0 without.
pub(crate) fn headrooms(params: &Params, links: &[Link]) -> Vec<u64> {
    let Some(pfc) = params.switch.pfc else { return vec![0; links.len()] };
    let others = u64::from((pfc.classes & params.switch.used).count_ones()).saturating_sub(1);
    let of = |link: &Link| {
        // What arrives comes over the link in the other direction.
        let back = links[link.peer as usize];
        pfc.headroom.unwrap_or_else(|| headroom(params, back.rate, back.delay, pfc.response, others))
    };
    links.iter().map(of).collect()
}

/// \[bytes\] Headrooms and reserves of these ports of a switch: of each class with PFC that the run uses.
pub(crate) fn set_aside(params: &Params, headrooms: &[u64], ports: std::ops::Range<usize>) -> u64 {
    let (Some(pfc), Some(buffer)) = (params.switch.pfc, params.switch.buffer) else { return 0 };
    let classes = u64::from((pfc.classes & params.switch.used).count_ones());
    let each = headrooms[ports].iter().map(|headroom| headroom.saturating_add(buffer.reserve));
    each.fold(0u64, u64::saturating_add).saturating_mul(classes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Transport;
    use crate::rules::frame::Frames;

    /// A switch with two inputs: B' 10 000, alpha 1/2, reserve 1 000, headroom 3 000, XON 500 below the threshold.
    fn buffers() -> Buffers {
        Buffers {
            alpha: 0.5,
            reserve: 1_000,
            xon_offset: 500,
            lossless: 0b1000,
            pools: vec![Pool::new(10_000, 0.5)],
            headrooms: vec![3_000; 2],
            ingress: vec![[Ingress::default(); CLASSES]; 2],
        }
    }

    #[test]
    fn a_sender_is_paused_at_the_threshold_and_goes_on_below_it() {
        let mut buffers = buffers();
        // Reserve 1 000; then e, the threshold being (10 000 - e) / 2: 3 000 below 3 500; 4 000 above 3 000.
        let events = [
            (Admission::Taken, 1_000, 0),
            (Admission::Taken, 3_000, 3_000),
            // 4 000 would be above 3 500: the whole frame is in the headroom.
            (Admission::TakenAndOff, 1_000, 3_000),
            (Admission::Taken, 2_000, 3_000),
            // Neither in the headroom, which is full, nor below the threshold.
            (Admission::Dropped, 1_000, 3_000),
        ];
        for (admission, bytes, used) in events {
            assert_eq!((buffers.take(0, 0, 3, bytes), buffers.pools[0].used), (admission, used), "{bytes}");
        }
        assert_eq!(buffers.held(0), 7_000);
        assert_eq!(buffers.off(0).collect::<Vec<_>>(), [3]);
        // The headroom first, whichever frame goes; then 3 000 + 500 <= 3 500.
        assert!(!buffers.give_back(0, 0, 3, 2_500));
        assert!(buffers.give_back(0, 0, 3, 500), "{:?}", buffers.ingress[0][3]);
        assert_eq!((buffers.pools[0].used, buffers.ingress[0][3].counted), (3_000, 4_000));
        assert!(!buffers.give_back(0, 0, 3, 4_000) && buffers.held(0) == 0 && buffers.pools[0].used == 0);
    }

    #[test]
    fn exactly_the_threshold_pauses() {
        let mut buffers = buffers();
        buffers.pools[0].occupy(4_000, 0.5);
        // e = 2 000 after it, and the threshold is (10 000 - 6 000) / 2.
        assert_eq!(buffers.take(0, 1, 3, 3_000), Admission::TakenAndOff);
        assert_eq!(buffers.ingress[1][3].counted, 3_000);
    }

    #[test]
    fn queues_share_what_is_free() {
        let mut buffers = buffers();
        assert!(buffers.join(0, 0, 3_000) && buffers.join(0, 0, 3_500) && !buffers.join(0, 0, 1_751));
        buffers.leave(0, 3_000);
        assert!(buffers.join(0, 1_000, 2_250) && buffers.held(0) == 5_750);
    }

    /// By hand: 1 094 bytes and a gap of 12; the pause frame 72; the frame of the other direction and its gap 1 106; 2
    /// us at 10 Gb/s are 2 500 bytes: 4 772 bytes, which is 4.3 frames with their gaps.
    #[test]
    fn headroom_is_what_a_link_can_bring() {
        let frames = Frames { mtu: 1_024, ..Frames::ROCE };
        let params = Params { frames, transport: Transport::Roce, ..Params::default() };
        assert_eq!(headroom(&params, 10_000_000_000, 1_000_000, 0, 0), 5 * 1_094);
        assert_eq!(headroom(&params, 10_000_000_000, 1_000_000, 1_000_000, 2), 6 * 1_094);
        // Acknowledgements of 2 000 bytes among the data: 2 000 + 72 + 2 012 + 2 500 bytes are 3.3 of them.
        let frames = Frames { ack: Some(2_000), ..frames };
        let params = Params { frames, acks_in_control: Some(false), ..params };
        assert_eq!(headroom(&params, 10_000_000_000, 1_000_000, 0, 0), 4 * 2_000);
    }
}
