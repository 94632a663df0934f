//! What both engines count at a port, and show of it to an observer.

use super::frame::{Control, Frame, NONE};
use super::hosts::Hosts;
use super::wiring::Wiring;
use crate::capture::{Capture, Captured, Direction, Site};
use crate::details::{Details, PortDetails, Totals};

/// Counts at a port.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Counts {
    pub(crate) frames: u64,
    pub(crate) busy: u64,
    pub(crate) dropped: u64,
    pub(crate) damaged: u64,
    pub(crate) longest: u64,
}

/// All that is measured, with the lengths of queues summed over time, by port.
pub(crate) fn details<'a>(
    wiring: &Wiring,
    elapsed: u64,
    totals: Totals,
    ports: impl Iterator<Item = (&'a Counts, u128)>,
) -> Details {
    let ports = wiring.links.iter().zip(ports).map(|(link, (counts, area))| PortDetails {
        node: wiring.node(link.owner as usize),
        is_host: wiring.is_host(link.owner),
        port: link.number.into(),
        frames: counts.frames,
        busy: counts.busy,
        dropped: counts.dropped,
        damaged: counts.damaged,
        longest: counts.longest,
        area,
    });
    Details { elapsed, totals, ports: ports.collect() }
}

/// The observer of frames, and where it observes.
#[derive(Default)]
pub(crate) struct Taps {
    /// By device; empty without an observer.
    devices: Vec<bool>,
    observer: Option<Box<dyn Capture>>,
}

impl std::fmt::Debug for Taps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Taps").field("devices", &self.devices).finish_non_exhaustive()
    }
}

impl Taps {
    pub(crate) fn new(wiring: &Wiring, sites: &[Site], observer: Box<dyn Capture>) -> Self {
        let devices = 0..wiring.hosts + wiring.switches;
        let devices = devices.map(|device| sites.contains(&site(wiring, device))).collect();
        Self { devices, observer: Some(observer) }
    }

    /// Whether frames at a device are observed.
    #[inline(always)]
    pub(crate) fn are_at(&self, device: u32) -> bool {
        self.observer.is_some() && self.devices[device as usize]
    }

    /// Shows a frame at a port.
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
            self.tell(wiring, hosts, port, frame, direction, at);
        }
    }

    #[cold]
    fn tell(&mut self, wiring: &Wiring, hosts: &Hosts, port: usize, frame: &Frame, direction: Direction, at: u64) {
        let link = &wiring.links[port];
        let device = link.owner as usize;
        if let Some(observer) = self.observer.as_mut().filter(|_| self.devices[device]) {
            observer.frame(&Captured {
                at,
                site: site(wiring, device),
                port: link.number.into(),
                direction,
                wire_bytes: frame.bytes.into(),
                is_damaged: frame.damaged_by != NONE,
                content: hosts.content(frame),
            });
        }
    }
}

fn site(wiring: &Wiring, device: usize) -> Site {
    let node = wiring.node(device);
    if device < wiring.hosts { Site::Host(node) } else { Site::Switch(node) }
}

/// True of a frame that carries something between hosts.
pub(crate) fn is_of_hosts(frame: &Frame) -> bool {
    frame.control == Control::No
}
