//! The counts of a port, and the observation of its frames, for both engines.

use super::frame::{Control, Frame, NONE};
use super::hosts::Hosts;
use super::wiring::Wiring;
use crate::capture::{Capture, Captured, Direction};
use fsin_core::capture::Place;

/// Counts at a port.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Counts {
    /// \[frames\] Frames that have arrived over the link that leaves through the port.
    pub(crate) frames: u64,
    /// \[ps\] Time of these frames on the link.
    pub(crate) busy: u64,
    /// \[frames\] Frames that found the queue full.
    pub(crate) dropped: u64,
    /// \[frames\] Of these, frames that came at the same instant as one that took the last place.
    pub(crate) tied: u64,
    /// \[frames\] Frames whose data were cut off.
    pub(crate) trimmed: u64,
    /// \[frames\] Frames that the link has damaged.
    pub(crate) damaged: u64,
    /// \[frames\] Greatest length of the queue.
    pub(crate) longest: u64,
}

/// The observer of frames, and where it observes.
#[derive(Default)]
pub(crate) struct Taps {
    /// By device: true if its frames are observed; empty without an observer.
    devices: Vec<bool>,
    observer: Option<Box<dyn Capture>>,
}

impl std::fmt::Debug for Taps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Taps").field("devices", &self.devices).finish_non_exhaustive()
    }
}

impl Taps {
    pub(crate) fn new(wiring: &Wiring, places: &[Place], observer: Box<dyn Capture>) -> Self {
        let devices = 0..wiring.hosts + wiring.switches;
        let devices = devices.map(|device| places.contains(&wiring.place(device))).collect();
        Self { devices, observer: Some(observer) }
    }

    /// True if frames at a device are observed.
    #[inline(always)]
    pub(crate) fn are_at(&self, device: u32) -> bool {
        self.observer.is_some() && self.devices[device as usize]
    }

    /// Passes a frame at a port to the observer, if frames at that device are observed. `at` is in picoseconds.
    #[inline(always)]
    pub(crate) fn show(
        &mut self,
        wiring: &Wiring,
        hosts: &Hosts,
        port: usize,
        frame: &Frame,
        direction: Direction,
        at: u64,
    ) {
        if self.observer.is_some() {
            self.pass_to_observer(wiring, hosts, port, frame, direction, at);
        }
    }

    /// Passes a frame to the observer.
    #[cold]
    fn pass_to_observer(
        &mut self,
        wiring: &Wiring,
        hosts: &Hosts,
        port: usize,
        frame: &Frame,
        direction: Direction,
        at: u64,
    ) {
        let link = &wiring.links[port];
        let device = link.owner as usize;
        if let Some(observer) = self.observer.as_mut().filter(|_| self.devices[device]) {
            observer.frame(&Captured {
                at,
                interface: wiring.interface(port),
                direction,
                wire_bytes: frame.bytes.into(),
                is_damaged: frame.damaged_by != NONE,
                content: hosts.content(frame),
            });
        }
    }
}

/// True for a frame between hosts; false for a PAUSE frame.
pub(crate) fn is_of_hosts(frame: &Frame) -> bool {
    frame.control == Control::No
}
