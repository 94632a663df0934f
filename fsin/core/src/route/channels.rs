//! Channel policies: which virtual channels a class of hops may take.

use std::fmt;
use std::str::FromStr;

use trgen::catalog::SpecError;

use super::{Function, Hop, RoutingFunction as _, Tier};

/// How the channels of a ring are divided into two classes, so that they form no cycle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RingClasses {
    /// The class is chosen where a packet enters the dimension, and kept: class 1 if the packet's coordinate there is
    /// larger than that of its destination.
    PerDimension,
    /// Class 0 until the wrap-around link has been crossed, then class 1 (Dally and Seitz, TC 36(5), 1987).
    Dateline,
    /// As [`PerDimension`](Self::PerDimension), but a packet that crosses neither the wrap-around link nor the middle
    /// of the ring draws its class.
    Balanced,
}

impl FromStr for RingClasses {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text {
            "per-dimension" => Ok(Self::PerDimension),
            "dateline" => Ok(Self::Dateline),
            "balanced" => Ok(Self::Balanced),
            _ => Err(SpecError::unknown("vc-classes", text, &["per-dimension", "dateline", "balanced"])),
        }
    }
}

/// How the classes of a routing function share the virtual channels of a link, or what keeps it free of deadlock
/// instead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChannelPolicy {
    /// Every hop takes any channel.
    Free,
    /// Class c of C has the channels c, c + C, c + 2 C, ...
    ByClass,
    /// Class c has channel c alone; channels beyond the classes carry no packet on.
    OneEach,
    /// As [`ByClass`](Self::ByClass), with a class for each hop of the longest route.
    ByHop,
    /// The first half of the channels for one class of each ring, the second half for the other.
    Dateline,
    /// A packet that enters a ring leaves a bubble there.
    Bubble,
    /// The routes come with their channels ([`RoutingFunction::channels`](super::RoutingFunction::channels)).
    Given,
    /// The first channels follow another policy and are always open to a packet in the end; the others are adaptive.
    Escape(&'static ChannelPolicy),
}

impl ChannelPolicy {
    /// \[channels\] The least number of channels for a function of so many classes. On rings a bubble needs no class.
    #[must_use]
    pub const fn least(self, classes: usize) -> usize {
        match self {
            Self::Free | Self::Bubble | Self::Given => 1,
            Self::ByClass | Self::OneEach | Self::ByHop | Self::Dateline => classes,
            Self::Escape(inner) => 1 + inner.least(classes),
        }
    }

    /// True if hops of all tiers but the adaptive one need a bubble.
    #[must_use]
    pub const fn has_bubble(self) -> bool {
        match self {
            Self::Bubble => true,
            Self::Escape(inner) => inner.has_bubble(),
            Self::Free | Self::ByClass | Self::OneEach | Self::ByHop | Self::Dateline | Self::Given => false,
        }
    }

    /// True if the channels of rings are divided into classes.
    #[must_use]
    pub const fn has_datelines(self) -> bool {
        matches!(self, Self::Dateline | Self::Escape(Self::Dateline))
    }

    /// True if the first channels are an escape.
    #[must_use]
    pub const fn is_escape(self) -> bool {
        matches!(self, Self::Escape(_))
    }

    /// The policy of a model whose flow control leaves bubbles: in place of datelines.
    #[must_use]
    pub const fn with_bubble(self) -> Self {
        match self {
            Self::Dateline => Self::Bubble,
            Self::Escape(Self::Dateline) => Self::Escape(&Self::Bubble),
            other => other,
        }
    }

    /// True if this many channels leave one that is adaptive.
    #[must_use]
    pub const fn adapts(self, classes: usize, vcs: usize) -> bool {
        match self {
            Self::Escape(inner) => vcs > inner.escapes(classes, vcs),
            Self::Free | Self::ByClass | Self::OneEach | Self::ByHop | Self::Dateline | Self::Bubble | Self::Given => {
                false
            }
        }
    }

    /// \[channels\] Number of escape channels where this policy is that of the escape channels.
    const fn escapes(self, classes: usize, vcs: usize) -> usize {
        let least = self.least(classes);
        if least < vcs { least } else { vcs }
    }
}

impl fmt::Display for ChannelPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Free => f.write_str("free"),
            Self::ByClass => f.write_str("by class"),
            Self::OneEach => f.write_str("one for each class"),
            Self::ByHop => f.write_str("by hop"),
            Self::Dateline => f.write_str("dateline"),
            Self::Bubble => f.write_str("bubble"),
            Self::Given => f.write_str("given"),
            Self::Escape(inner) => write!(f, "escape ({inner})"),
        }
    }
}

/// The virtual channels of every class, as masks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Masks {
    /// By class: the channels of [`Tier::Free`].
    free: Box<[u32]>,
    /// The adaptive channels.
    adaptive: u32,
    /// By class: the escape channels.
    escape: Box<[u32]>,
}

impl Masks {
    /// The channels of `classes` classes, out of `vcs`. A class for which there is no channel takes all.
    #[must_use]
    pub fn new(policy: ChannelPolicy, classes: usize, vcs: usize) -> Self {
        let inner = if let ChannelPolicy::Escape(inner) = policy { *inner } else { policy };
        let escapes = inner.escapes(classes, vcs);
        let table = |vcs: usize| {
            let all = mask(vcs);
            let of_class = |class: usize| match inner {
                ChannelPolicy::Free | ChannelPolicy::Bubble | ChannelPolicy::Given => all,
                // The larger part is that of class 0.
                ChannelPolicy::Dateline => {
                    let first = mask(vcs - vcs / classes.max(1));
                    if classes == 1 || class == 0 { first } else { all & !first }
                }
                ChannelPolicy::OneEach => all & 1u32.checked_shl(class as u32).unwrap_or(0),
                ChannelPolicy::ByClass | ChannelPolicy::ByHop | ChannelPolicy::Escape(_) => {
                    (0..vcs).filter(|vc| vc % classes == class).fold(0, |mask, vc| mask | 1 << vc)
                }
            };
            let or_all = |vcs: u32| if vcs == 0 { all } else { vcs };
            std::iter::once(all).chain((0..classes).map(of_class).map(or_all)).collect()
        };
        Self { free: table(vcs), adaptive: mask(vcs) & !mask(escapes), escape: table(escapes) }
    }

    /// The channels of a function, out of `vcs`: those that its routes come with, or as the policy divides them.
    #[must_use]
    pub fn of_function(policy: ChannelPolicy, function: &Function, vcs: usize) -> Self {
        match function.channels() {
            None => Self::new(policy, function.classes(), vcs),
            Some(channels) => {
                let free = std::iter::once(mask(vcs)).chain(channels.iter().copied()).collect();
                Self { free, adaptive: 0, escape: Box::default() }
            }
        }
    }

    /// The same channels of a range that begins with another channel than 0.
    #[must_use]
    pub fn from_channel(self, first: usize) -> Self {
        let shifted = |masks: Box<[u32]>| masks.into_iter().map(|mask| mask << first).collect();
        Self { free: shifted(self.free), adaptive: self.adaptive << first, escape: shifted(self.escape) }
    }

    /// The classes of hops for which a channel is, as a mask of numbers; number 0 are adaptive hops, if there are any
    /// (`adapts`). Empty for a channel that no hop may take.
    #[must_use]
    pub fn classes_of(&self, vc: usize, adapts: bool) -> u32 {
        let table = if adapts { &self.escape } else { &self.free };
        let of_classes = table.iter().enumerate().skip(1).filter(|(_, mask)| *mask >> vc & 1 != 0);
        let adaptive = if adapts { self.adaptive >> vc & 1 } else { 0 };
        of_classes.fold(adaptive, |classes, (class, _)| classes | 1u32.checked_shl(class as u32).unwrap_or(1 << 31))
    }

    /// The channels that a packet may take on a hop.
    #[must_use]
    #[inline(always)]
    pub fn of(&self, hop: Hop) -> u32 {
        match hop.tier {
            Tier::Free => self.free[hop.class as usize],
            Tier::Adaptive => self.adaptive,
            Tier::Escape => self.escape[hop.class as usize],
        }
    }

    /// All channels.
    #[must_use]
    #[inline(always)]
    pub fn all(&self) -> u32 {
        self.free[0]
    }
}

/// The channels 0 to `vcs` - 1.
#[must_use]
pub const fn mask(vcs: usize) -> u32 {
    if vcs >= 32 { u32::MAX } else { (1 << vcs) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_share_the_channels() {
        let of = |policy, classes, vcs| {
            let masks = Masks::new(policy, classes, vcs);
            (1..=classes as u8).map(|class| masks.of(Hop::of_class(0, class))).collect::<Vec<_>>()
        };
        assert_eq!(of(ChannelPolicy::Free, 1, 3), [0b111]);
        assert_eq!(of(ChannelPolicy::ByClass, 3, 4), [0b1001, 0b10, 0b100]);
        assert_eq!(of(ChannelPolicy::ByClass, 2, 1), [1, 1]);
        assert_eq!(of(ChannelPolicy::OneEach, 2, 4), [0b1, 0b10]);
        assert_eq!(of(ChannelPolicy::OneEach, 2, 1), [1, 1]);
        assert_eq!(of(ChannelPolicy::Dateline, 2, 3), [0b011, 0b100]);
        assert_eq!(of(ChannelPolicy::Dateline, 2, 1), [1, 1]);
        assert_eq!(of(ChannelPolicy::Dateline, 1, 3), [0b111]);
        for (inner, classes, vcs, adaptive, escapes) in [
            (&ChannelPolicy::Free, 1, 2, 0b10, [1, 1]),
            (&ChannelPolicy::Dateline, 2, 4, 0b1100, [1, 2]),
            (&ChannelPolicy::Dateline, 1, 2, 0b10, [1, 1]),
            (&ChannelPolicy::Bubble, 2, 3, 0b110, [1, 1]),
        ] {
            let masks = Masks::new(ChannelPolicy::Escape(inner), classes, vcs);
            let hop = |tier, class| masks.of(Hop { tier, ..Hop::of_class(0, class) });
            assert_eq!(hop(Tier::Adaptive, 0), adaptive);
            assert_eq!([1, classes as u8].map(|class| hop(Tier::Escape, class)), escapes, "{inner}");
            assert!(ChannelPolicy::Escape(inner).adapts(classes, vcs));
        }
        assert!(!ChannelPolicy::Escape(&ChannelPolicy::Dateline).adapts(2, 2));
        assert_eq!(ChannelPolicy::Escape(&ChannelPolicy::Dateline).with_bubble().to_string(), "escape (bubble)");
    }
}
