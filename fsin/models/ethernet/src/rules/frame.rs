//! Frames: their sizes, and their times on a link.
//!
//! Source: IEEE 802.3, clauses 3 and 4; IEEE 802.2 of the LLC header.

use trgen::rng::mix2;

/// \[bytes\] Of a message in a frame: 1 500 of data less 3 of LLC.
pub(crate) const MAX_PAYLOAD: u32 = 1_497;

/// \[bytes\] Preamble and start delimiter 8, header 14, LLC 3, check sequence 4.
pub(crate) const OVERHEAD: u32 = 29;

/// \[bytes\] The least frame, preamble included.
pub(crate) const MIN_WIRE: u32 = 72;

/// \[bytes\] The longest frame, preamble included.
pub(crate) const MAX_WIRE: u32 = MAX_PAYLOAD + OVERHEAD;

/// \[bits\] Between two frames.
pub(crate) const GAP_BITS: u32 = 96;

/// \[bytes\] After which the destination is known: preamble and header.
pub(crate) const HEADER: u32 = 22;

const SECOND: u64 = 1_000_000_000_000;

/// No port, no frame.
pub(crate) const NONE: u32 = u32::MAX;

/// \[bytes\] On the wire, of a frame with this much in it.
pub(crate) const fn wire_bytes(payload: u32) -> u32 {
    let bytes = payload + OVERHEAD;
    if bytes < MIN_WIRE { MIN_WIRE } else { bytes }
}

/// \[ps\] Of some bits at a data rate in b/s, rounded up.
#[inline]
pub(crate) const fn bit_time(bits: u32, rate: u64) -> u64 {
    (bits as u64 * SECOND).div_ceil(rate)
}

/// What the MAC layer of a port says to that at the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    /// Nothing: a frame of a host.
    No,
    /// Send no more.
    Off,
    /// Go on.
    On,
}

/// A copy of a frame, under way or in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// What the host that sent it knows of it.
    pub(crate) unit: u32,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// The port whose link has damaged it, or [`NONE`].
    pub(crate) damaged_by: u32,
    /// \[bytes\] On the wire.
    pub(crate) bytes: u16,
    /// \[links\] Crossed, the one included on which it is.
    pub(crate) hops: u16,
    pub(crate) control: Control,
}

impl Frame {
    /// A PAUSE frame (IEEE 802.3, annex 31B).
    pub(crate) const fn pause(is_off: bool) -> Self {
        let control = if is_off { Control::Off } else { Control::On };
        let bytes = MIN_WIRE as u16;
        Self { unit: NONE, source: NONE, destination: NONE, damaged_by: NONE, bytes, hops: 0, control }
    }
}

/// The draw of errors: by link and frame alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Errors {
    key: u64,
    /// Draws below it are errors.
    below: u64,
}

impl Errors {
    pub(crate) fn new(seed: u64, per: f64) -> Self {
        const PURPOSE: u64 = 0x0065_7272_6f72;
        // 2^64 as a float; the product is below it, since the rate is below 1.
        Self { key: mix2(seed, PURPOSE), below: (per * 18_446_744_073_709_551_616.0) as u64 }
    }

    /// Whether a link damages a frame, by the key of the frame and the links that it has crossed.
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
        assert_eq!([0, 1, 43, 44, 1_497].map(wire_bytes), [72, 72, 72, 73, 1_526]);
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
