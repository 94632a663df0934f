//! What to do about a run that failed.

use fsin_core::couple::Failure;
use fsin_core::network::NetworkFailure;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::{Wait, WaitCause};

/// The remedy for a failure of a run.
#[must_use]
pub fn remedy_of(failure: &Failure) -> Phrase {
    match failure {
        Failure::Network(NetworkFailure::Deadlock(deadlock)) if deadlock.refusing.is_empty() => phrase![
            "with ",
            ["network" => "vct"],
            " use a routing that avoids deadlock (fsin list routings), or ",
            ["bubble" => 2],
            "; with ",
            ["network" => "wormhole"],
            " leave out ",
            ["unsafe-routing"],
            "; with ",
            ["network" => "ethernet"],
            " use ",
            ["forwarding" => "learning"],
            ", whose tree has no circle, or ",
            ["pause" => "false"],
        ],
        Failure::Network(NetworkFailure::Deadlock(_)) => phrase![
            "requests hold up the replies that would make room for them: give both virtual channels of their own, with ",
            ["message-classes" => 2],
        ],
        Failure::Network(NetworkFailure::Storm(_)) => {
            "use a spanning tree, or a network without a circle of switches".into()
        }
        Failure::Network(NetworkFailure::Livelock(_)) => phrase![
            "hosts that repeat what is lost at once meet the same full queues again and again: use ",
            ["transport" => "backoff"],
            ", or longer queues (",
            ["port-queue"],
            ")",
        ],
        Failure::ClockEnd { .. } => phrase![
            "the results so far are marked complete: false; check the times and rates that were given, or end the run before (",
            ["max-cycles"],
            ")",
        ],
        Failure::TrafficDeadlock { waits, .. } | Failure::Stuck { waits } => of_waits(waits),
        Failure::Unmatched { .. } => {
            "all tasks ended, but the program cannot have ended so: the trace may be cut, or its \
                                      receive lines read in the wrong order; the results have `complete: false`"
                .into()
        }
        Failure::Source(_) => "the results so far are marked complete: false".into(),
    }
}

/// The remedy for tasks that wait forever.
fn of_waits(waits: &[Wait]) -> Phrase {
    if waits.iter().any(|wait| wait.cause == WaitCause::Receiver) {
        phrase![
            "sends above ",
            ["eager"],
            " wait for their receiver: raise ",
            ["eager"],
            " or leave it out; if the receive lines of a .trc were read in the wrong order, give the other ",
            ["recv-order"],
        ]
    } else if waits.iter().any(|wait| wait.cause == WaitCause::Loss) {
        phrase![
            "a program does not send a lost message again: let the network recover losses (",
            ["transport"],
            " of ethernet), and with ",
            ["fail"],
            " let fewer links fail, or repair them before they are needed",
        ]
    } else if waits.iter().any(|wait| wait.cause == WaitCause::Order) {
        phrase![
            "ranks begin collectives of groups that overlap in different orders, and have room for one communication: give \
             them room for more (",
            ["hosts" => "communications=2"],
            "), or order the collectives by dependencies in the trace, the same way at every rank"
        ]
    } else {
        "check that every receive of the trace has a matching send (source, destination, tag), and that tasks do not wait \
         for each other in a circle: `trace-prep check` says which it is"
            .into()
    }
}
