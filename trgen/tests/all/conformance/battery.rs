//! Tests of the battery: conforming sources pass, and each broken source is reported for its own fault.

use std::cell::Cell;

use trgen::conformance::{End, Report, Violation, check};
use trgen::{Cycle, Delivery, Message, Next, NodeId, Outbox, SourceError, TrGen, Wait, WaitCause};

/// The fault of a [`Script`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// Generates different messages in every instance.
    Undetermined,
    /// Announces its message one cycle late.
    NextLate,
    /// Counts calls instead of cycles.
    EarlyCallsCount,
    /// Generates again when called twice.
    SecondCallRepeats,
    /// Announces the cycle that has just been generated.
    NextInPast,
    /// Generates the same message twice.
    Repeats,
    OutOfRange,
    ToItself,
    SilentSends,
    /// Reports the end and then goes on.
    NotDone,
    /// Reports the end, but generates when called anyway.
    SendsWhenDone,
    /// Loses the notice that it waits for.
    Loses,
    Fails,
    /// Changes its number of nodes.
    Nodes,
}

/// Node 0 sends a message to node 1 every 10 cycles; each but the first waits for the delivery of the previous one.
struct Script {
    fault: Fault,
    /// Messages still to send.
    left: u64,
    due: Cycle,
    waiting: bool,
    done_deliveries: u64,
    instance: u64,
    calls: u64,
}

const MESSAGES: u64 = 5;

impl Script {
    fn new(fault: Fault, instance: u64) -> Self {
        Self { fault, left: MESSAGES, due: Cycle(10), waiting: false, done_deliveries: 0, instance, calls: 0 }
    }
}

impl TrGen for Script {
    fn nodes(&self) -> usize {
        if self.fault == Fault::Nodes && self.left < MESSAGES { 5 } else { 4 }
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.calls += 1;
        let id = MESSAGES - self.left;
        let mut message = Message { id, source: NodeId(0), destination: NodeId(1), bytes: 8, class: 0 };
        if self.fault == Fault::SecondCallRepeats && self.waiting && now == self.due {
            out.push(Message { id: id + 100, ..message });
        }
        if self.fault == Fault::SendsWhenDone && self.left == 0 && self.done_deliveries == MESSAGES {
            out.push(message);
        }
        if self.left == 0 || self.waiting || now < self.due {
            return Ok(());
        }
        match self.fault {
            Fault::Undetermined => message.bytes = self.instance,
            Fault::EarlyCallsCount => message.bytes = self.calls,
            Fault::Repeats => out.push(message),
            Fault::OutOfRange => message.destination = NodeId(4),
            Fault::ToItself => message.destination = NodeId(0),
            Fault::Fails => return Err(SourceError::of_run("the guest is gone")),
            _ => {}
        }
        out.push(message);
        self.left -= 1;
        self.waiting = true;
        Ok(())
    }

    fn sent(&mut self, _: Cycle, _: &Message) {}

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        assert!(delivery.offered <= delivery.delivered && delivery.delivered == now);
        self.done_deliveries += 1;
        if self.fault != Fault::Loses || self.left > 2 {
            self.waiting = false;
        }
        self.due = now + 10;
    }

    fn dropped(&mut self, _: Cycle, _: &Message) {}

    fn next(&self) -> Next {
        if self.left == 0 {
            let goes_on = self.fault == Fault::NotDone && self.done_deliveries == MESSAGES;
            return if goes_on { Next::At(self.due) } else { Next::Done };
        }
        match self.fault {
            Fault::NextInPast if self.waiting => Next::At(self.due),
            Fault::NextLate if !self.waiting => Next::At(self.due + 1),
            _ if self.waiting => Next::Waiting,
            _ => Next::At(self.due),
        }
    }

    fn silent_nodes(&self) -> usize {
        if self.fault == Fault::SilentSends { 4 } else { 2 }
    }

    fn waits(&self) -> Vec<Wait> {
        vec![Wait { cause: WaitCause::Message, text: "node 0 waits for node 1".into() }]
    }
}

fn run(fault: Fault) -> Result<Report, Violation> {
    let instances = Cell::new(0);
    let make = &mut || {
        instances.set(instances.get() + 1);
        Box::new(Script::new(fault, instances.get())) as Box<dyn TrGen>
    };
    check("script", make, Cycle(2000))
}

fn violation(fault: Fault) -> Violation {
    run(fault).expect_err("a broken source must be caught")
}

#[test]
fn a_sound_source_passes() {
    let report = run(Fault::None).unwrap();
    let names: Vec<_> = report.runs.iter().map(|run| run.network).collect();
    assert_eq!(names, ["constant delay", "one message at a time", "refuses for a while"]);
    for run in &report.runs {
        assert_eq!((run.messages, run.delivered, run.end), (MESSAGES, MESSAGES, End::Done));
    }
    // Five times 10 cycles and a delay of 7, then 10 cycles more to check that nothing follows.
    assert_eq!(report.runs[0].last, Cycle(5 * 17 + 10));
}

#[test]
fn the_horizon_ends_what_does_not() {
    let make = &mut || Box::new(Script::new(Fault::None, 0)) as Box<dyn TrGen>;
    let report = check("script", make, Cycle(30)).unwrap();
    assert_eq!((report.runs[0].messages, report.runs[0].end), (2, End::Horizon));
}

#[test]
fn undetermined_sources_are_caught() {
    let violation = violation(Fault::Undetermined);
    let Violation::Differs { what: "determinism", difference, .. } = &violation else { panic!("{violation}") };
    assert_eq!(difference.index, 0);
    assert!(violation.to_string().contains("script over `constant delay`"), "{violation}");
}

#[test]
fn a_late_next_is_caught() {
    let violation = violation(Fault::NextLate);
    let Violation::Unasked { said, .. } = &violation else { panic!("{violation}") };
    assert_eq!(said, "cycle 11");
}

#[test]
fn a_next_in_the_past_is_caught() {
    let Violation::NextInPast { generated: Cycle(10), asked: Cycle(10), .. } = violation(Fault::NextInPast) else {
        panic!("{}", violation(Fault::NextInPast))
    };
}

#[test]
fn sources_that_early_or_double_calls_disturb_are_caught() {
    let early = violation(Fault::EarlyCallsCount);
    let Violation::Differs { what, .. } = &early else { panic!("{early}") };
    assert!(what.contains("every cycle"));
    let double = violation(Fault::SecondCallRepeats);
    let Violation::Twice { .. } = &double else { panic!("{double}") };
}

#[test]
fn wrong_messages_are_caught() {
    let repeated = violation(Fault::Repeats);
    let Violation::Repeated { .. } = &repeated else { panic!("{repeated}") };
    for fault in [Fault::OutOfRange, Fault::ToItself] {
        let wrong = violation(fault);
        let Violation::Panicked { nodes: 4, text, .. } = &wrong else { panic!("{wrong}") };
        assert!(text.contains("node"), "{text}");
    }
    let silent = violation(Fault::SilentSends);
    let Violation::SilentNodeSent { nodes: 4, silent: 4, senders: 1, .. } = &silent else { panic!("{silent}") };
}

#[test]
fn what_follows_done_is_caught() {
    for fault in [Fault::NotDone, Fault::SendsWhenDone] {
        let found = violation(fault);
        let Violation::NotDone { .. } = &found else { panic!("{fault:?}: {found}") };
    }
}

#[test]
fn waiting_for_nothing_is_a_deadlock() {
    let found = violation(Fault::Loses);
    let Violation::Deadlock { waits, .. } = &found else { panic!("{found}") };
    assert_eq!(waits[0].text, "node 0 waits for node 1");
    assert_eq!(waits.len(), 1);
    assert!(found.to_string().contains("node 0 waits for node 1"));
}

#[test]
fn failures_and_changes_of_size_are_caught() {
    let failed = violation(Fault::Fails);
    let Violation::Failed { what, .. } = &failed else { panic!("{failed}") };
    assert_eq!(what, "the guest is gone");
    let grown = violation(Fault::Nodes);
    let Violation::Nodes { expected: 4, found: 5, .. } = &grown else { panic!("{grown}") };
}

/// A source that floods: many messages of one node wait before an interface that accepts one at a time.
struct Flood {
    sent: u64,
    left: u64,
}

impl TrGen for Flood {
    fn nodes(&self) -> usize {
        3
    }

    fn generate(&mut self, _: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        for id in 0..std::mem::take(&mut self.left) {
            out.push(Message { id, source: NodeId(id as u32 % 2), destination: NodeId(2), bytes: 0, class: 0 });
        }
        Ok(())
    }

    fn sent(&mut self, _: Cycle, _: &Message) {
        self.sent += 1;
    }

    fn delivered(&mut self, _: Cycle, _: &Delivery) {}

    fn dropped(&mut self, _: Cycle, _: &Message) {}

    fn next(&self) -> Next {
        if self.left > 0 { Next::At(Cycle::FIRST) } else { Next::Done }
    }
}

#[test]
fn refused_messages_are_offered_until_they_are_taken() {
    let make = &mut || Box::new(Flood { sent: 0, left: 100 }) as Box<dyn TrGen>;
    let report = check("flood", make, Cycle(2000)).unwrap();
    assert!(report.runs.iter().all(|run| run.delivered == 100 && run.end == End::Done));
    // 50 messages of 3 cycles each, the last delivered 7 cycles after its departure, and 10 cycles more.
    assert_eq!(report.runs[1].last, Cycle(50 * 3 + 7 + 10));
}
