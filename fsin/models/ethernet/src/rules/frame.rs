//! Frames: their sizes, and their times on a link.
//!
//! Source: IEEE 802.3, clauses 3 and 4; IEEE 802.2 for the LLC header.

use trgen::rng::mix2;

/// \[bytes\] The beginning of a frame after which its destination is known: preamble and header.
pub(crate) const HEADER: u32 = 22;

/// Sizes of frames, preamble and start delimiter included.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Frames {
    /// \[bytes\] Maximum data of a frame: those of a message and, with a window, the headers of a segment.
    pub mtu: u32,
    /// \[bytes\] All other bytes of a data frame.
    pub overhead: u32,
    /// \[bytes\] Size of the shortest frame.
    pub min: u32,
    /// \[bits\] Gap between two frames.
    pub gap: u32,
    /// \[bytes\] Size of an acknowledgement; `None` if it is that of a data frame with
    /// [`ack_bytes`](crate::Params::ack_bytes).
    pub ack: Option<u32>,
    /// \[bytes\] Size of a PAUSE frame.
    pub pause: u32,
    /// \[bytes\] Room for stamps of switches in each data frame and acknowledgement, beside the other bytes.
    pub stamps: u32,
}

impl Frames {
    /// IEEE 802.3 with LLC: preamble and start delimiter 8, header 14, LLC 3, check sequence 4.
    pub const THESIS: Self = Self { mtu: 1_497, overhead: 29, min: 72, gap: 96, ack: None, pause: 72, stamps: 0 };
    /// RoCE v2: preamble 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, check sequence 4; AETH 4 in acknowledgements.
    pub const ROCE: Self = Self { overhead: 70, ack: Some(74), ..Self::THESIS };
    /// TCP: preamble 8, Ethernet 14, IPv4 20, TCP 20, check sequence 4.
    pub const TCP: Self = Self { overhead: 66, ack: Some(72), ..Self::THESIS };
    /// As the simulator published with HPCC counts: 48 bytes around 1 000, acknowledgements of 60, no gaps.
    pub const HPCC: Self = Self { mtu: 1_000, overhead: 48, min: 48, gap: 0, ack: Some(60), pause: 43, stamps: 0 };

    /// Sizes of the simulator of Ultra Ethernet: 64 bytes around 4 086 bytes of data, 64 for all other frames, no gaps.
    pub const UEC: Self = Self { mtu: 4_086, overhead: 64, min: 64, gap: 0, ack: Some(64), pause: 64, stamps: 0 };
    /// The same with data of 9 000 bytes, as those of NDP.
    pub const NDP: Self = Self { mtu: 9_000, ..Self::UEC };

    /// \[bytes\] Size on the wire of a data frame that carries `payload` bytes.
    #[must_use]
    pub const fn of(&self, payload: u32) -> u32 {
        let bytes = payload + self.overhead + self.stamps;
        if bytes < self.min { self.min } else { bytes }
    }

    /// \[bytes\] Size on the wire of an acknowledgement; `payload` is its size without overhead where no other is set.
    #[must_use]
    pub const fn of_ack(&self, payload: u32) -> u32 {
        match self.ack {
            Some(bytes) => bytes + self.stamps,
            None => self.of(payload),
        }
    }

    /// \[bytes\] Size on the wire of the longest frame.
    #[must_use]
    pub const fn longest(&self) -> u32 {
        let [data, ack] = [
            self.of(self.mtu),
            match self.ack {
                Some(ack) => ack + self.stamps,
                None => 0,
            },
        ];
        let longest = if data > ack { data } else { ack };
        if longest > self.pause { longest } else { self.pause }
    }

    /// \[bytes\] Size on the wire of the shortest frame.
    #[must_use]
    pub const fn shortest(&self) -> u32 {
        let data = self.of(0);
        let shortest = match self.ack {
            Some(ack) if ack + self.stamps < data => ack + self.stamps,
            _ => data,
        };
        if shortest < self.pause { shortest } else { self.pause }
    }
}

/// \[ps\] A second.
const SECOND: u64 = 1_000_000_000_000;

/// The number of no port and no frame.
pub(crate) const NONE: u32 = u32::MAX;

/// \[ps\] Time of `bits` bits at a data rate of `rate` b/s, rounded up.
#[inline]
pub(crate) const fn bit_time(bits: u32, rate: u64) -> u64 {
    (bits as u64 * SECOND).div_ceil(rate)
}

/// What a frame tells the MAC layer of the port at the other end of the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    /// Nothing: a frame of a host.
    No,
    /// PAUSE: stop sending.
    Off,
    /// PAUSE with time 0: continue.
    On,
}

/// Where the data of a frame were cut off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trimmed {
    No,
    /// At a port to another switch.
    Midway,
    /// At the port to its destination.
    LastHop,
}

/// A copy of a frame, on a link or in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// The handle of the record that its sender keeps of the frame; [`NONE`] for a PAUSE frame.
    pub(crate) unit: u32,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// The port whose link has damaged it, or [`NONE`].
    pub(crate) damaged_by: u32,
    /// \[bytes\] Size on the wire.
    pub(crate) bytes: u16,
    /// \[links\] Number of links that the frame has crossed, including the one on which it is.
    pub(crate) hops: u16,
    /// What tells the connection from others of the same hosts, for switches that choose among links; 0 where
    /// transports have none for each message.
    pub(crate) entropy: u16,
    /// Traffic class, from 0; [`CONTROL`] is that of control frames.
    pub(crate) class: u8,
    /// True if a switch has marked the frame: a queue was long.
    pub(crate) is_marked: bool,
    /// True if switches may mark the frame.
    pub(crate) takes_marks: bool,
    /// True if switches add stamps to the frame.
    pub(crate) takes_stamps: bool,
    /// Whether its data were cut off.
    pub(crate) trimmed: Trimmed,
    /// What the frame tells the other end of a link.
    pub(crate) control: Control,
}

/// Number of traffic classes of data (IEEE 802.1Q).
pub const CLASSES: usize = 8;

/// The class of control frames, which comes before all others.
pub(crate) const CONTROL: u8 = CLASSES as u8;

impl Frame {
    /// A PAUSE frame (IEEE 802.3, annex 31B).
    pub(crate) const fn pause(frames: &Frames, is_off: bool) -> Self {
        let control = if is_off { Control::Off } else { Control::On };
        let bytes = frames.pause as u16;
        Self { control, bytes, class: CONTROL, ..Self::between(NONE, NONE) }
    }

    /// A PAUSE frame for one class (IEEE 802.1Qbb).
    pub(crate) const fn pause_of(frames: &Frames, class: u8, is_off: bool) -> Self {
        Self { class, ..Self::pause(frames, is_off) }
    }

    /// Cuts off the data of a frame, perhaps at the last hop: so many bytes are left.
    pub(crate) const fn trim(&mut self, bytes: u16, is_last_hop: bool) {
        self.trimmed = if is_last_hop { Trimmed::LastHop } else { Trimmed::Midway };
        (self.bytes, self.class, self.takes_marks) = (bytes, CONTROL, false);
    }

    /// An empty frame between two hosts, of no unit.
    pub(crate) const fn between(source: u32, destination: u32) -> Self {
        Self {
            unit: NONE,
            source,
            destination,
            damaged_by: NONE,
            bytes: 0,
            hops: 0,
            entropy: 0,
            class: 0,
            is_marked: false,
            takes_marks: false,
            takes_stamps: false,
            trimmed: Trimmed::No,
            control: Control::No,
        }
    }
}

/// Draws errors. The outcome depends only on the seed, the link and the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Errors {
    /// Random stream of the draws of errors.
    key: u64,
    /// A draw of 64 bits below this number is an error.
    below: u64,
}

impl Errors {
    /// `per` is the share of frames that are damaged on a link.
    pub(crate) fn new(seed: u64, per: f64) -> Self {
        const PURPOSE: u64 = 0x0065_7272_6f72;
        // 2^64 as a float; the product is below it, since the rate is below 1.
        Self { key: mix2(seed, PURPOSE), below: (per * 18_446_744_073_709_551_616.0) as u64 }
    }

    /// True if the link of a port damages a frame, given the key of the frame and the number of links that it has
    /// crossed.
    #[inline(always)]
    pub(crate) fn damage(&self, port: u32, key: u64, hops: u16) -> bool {
        self.below > 0 && mix2(mix2(self.key, u64::from(port)), key.wrapping_add(u64::from(hops))) < self.below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        assert_eq!([0, 1, 43, 44, 1_497].map(|bytes| Frames::THESIS.of(bytes)), [72, 72, 72, 73, 1_526]);
        assert_eq!(bit_time(576, 100_000_000), 5_760_000);
        assert_eq!(bit_time(1, 3_000_000_000), 334);
    }

    #[test]
    fn errors_are_as_frequent_as_is_said() {
        let errors = Errors::new(7, 0.01);
        let count = (0..100_000).filter(|&frame| errors.damage(3, mix2(1, frame), 1)).count();
        assert!((900..1_100).contains(&count), "{count}");
        assert!(!(0..1_000).any(|frame| Errors::new(7, 0.0).damage(3, frame, 1)));
    }
}
