//! A part of the switches, which a thread simulates ahead of the hosts.

use fsin_core::network::Notices;
use fsin_core::parallel::Partition;

use super::super::Fast;
use super::super::border::Crossing;
use super::apart::{Apart, Fate, Moment};

/// What hosts must know of a window of time.
#[derive(Default, Debug)]
pub(super) struct Report {
    /// What has become of copies of frames, in the order of events.
    pub(super) fates: Vec<(Moment, Fate)>,
    /// Frames on their way to hosts.
    pub(super) frames: Vec<Crossing>,
    /// Number of events simulated.
    pub(super) events: u64,
}

/// Some of the switches.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) fast: Fast<Apart>,
    /// \[ps\] The end of the window to be simulated.
    pub(super) until: u64,
    /// Hosts have passed this moment: what ports count up to then is counted before the window.
    pub(super) passed: Moment,
    /// Frames from hosts.
    accepted: Vec<Crossing>,
    /// By part: frames from it.
    inbox: Vec<Vec<Crossing>>,
    report: Report,
}

impl Part {
    /// One of `parts` parts.
    pub(super) fn new(fast: Fast<Apart>, parts: usize) -> Self {
        let (inbox, report) = (vec![Vec::new(); parts], Report::default());
        Self { fast, until: 0, passed: (0, 0), accepted: Vec::new(), inbox, report }
    }

    /// Takes over the frames that are on their way here.
    pub(super) fn open(&mut self) {
        for crossing in self.inbox.iter_mut().chain([&mut self.accepted]).flat_map(|list| list.drain(..)) {
            self.fast.take_over(crossing);
        }
    }

    /// \[ps\] Time of the next event, of frames on their way from here to other parts too; `None` if there is none.
    pub(super) fn next(&self) -> Option<u64> {
        let sent = self.fast.border.as_ref().map(|border| border.first).filter(|&first| first < u64::MAX);
        self.fast.calendar.next_time().into_iter().chain(sent).min()
    }

    /// Simulates the next event, if it is before time `until`; returns whether it is.
    pub(super) fn step(&mut self, until: u64) -> bool {
        let Some(&event) = self.fast.calendar.first().filter(|event| event.at < until) else { return false };
        self.fast.calendar.pop();
        self.fast.base.now = event.at;
        self.fast.base.hosts.moment = (event.at, event.order);
        self.fast.process(&event, &mut Notices::default());
        true
    }
}

impl Partition for Part {
    type Report = Report;
    type Mail = Vec<Crossing>;
    type Accepted = Crossing;

    /// Sources learn nothing of a window: switches are ahead of them.
    const HAS_BEGINNING: bool = false;

    fn begin_cycle(&mut self) {}

    /// Simulates a window of time.
    fn end_cycle(&mut self) {
        self.fast.catch_up(self.passed);
        self.open();
        if let Some(border) = &mut self.fast.border {
            border.first = u64::MAX;
        }
        // After a failure nothing is simulated that one thread would not have: frames that circulate double.
        while !self.fast.base.hosts.has_failed && self.step(self.until) {
            self.report.events += 1;
        }
        self.report.fates.append(&mut self.fast.base.hosts.fates);
        if let Some(to_hosts) = self.fast.border.as_mut().and_then(|border| border.sent.last_mut()) {
            self.report.frames.append(to_hosts);
        }
    }

    fn accepted(&mut self) -> &mut Vec<Crossing> {
        &mut self.accepted
    }

    fn report(&mut self) -> &mut Report {
        &mut self.report
    }

    fn mail(&mut self) -> (&mut [Vec<Crossing>], &mut [Vec<Crossing>]) {
        let parts = self.inbox.len();
        let sent = self.fast.border.as_mut().map_or(&mut [][..], |border| &mut border.sent[..parts]);
        (&mut self.inbox, sent)
    }
}
