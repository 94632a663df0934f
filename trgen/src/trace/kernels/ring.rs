//! Kernels on a ring of tasks.

use super::{Entry, Kernel, PLAIN, any_number};
use crate::catalog::Component;

/// All pairs of N bodies, one per task, with H = floor(N/2): every body visits the H tasks after its owner and returns.
///
/// In one iteration task i
///
/// 1. sends its own body to i+1 (hop 1);
/// 2. H-1 times, h = 1 ... H-1, receives the body of i-h from i-1 (hop h) and passes it on to i+1 (hop h+1);
/// 3. receives one more body, that of i-H, from i-1 (hop H) and returns it to its owner i-H;
/// 4. receives its own body back from i+H.
///
/// That is H+1 messages per task. Hop h has the label h-1, the return the label H, which tells them apart where i+1 is
/// also the owner (N = 2 and 3). For even N both tasks of an opposite pair meet; for odd N every pair meets exactly
/// once. A single task sends nothing.
pub(super) static N_BODIES: Entry = Entry {
    component: Component {
        name: "n-bodies",
        about: "every task's body travels floor(N/2) hops round the ring of tasks, from i to i+1, and is returned to its \
                owner",
        parameters: PLAIN,
        source: "FSIN application kernels",
    },
    aliases: &["nbodies"],
    build: Kernel {
        dimensions: &[],
        refuses: any_number,
        messages: |shape| {
            let (tasks, hops) = (u64::from(shape.tasks), u64::from(shape.tasks / 2));
            if hops == 0 { 0 } else { tasks * (hops + 1) }
        },
        collective: None,
        labels: |shape| u64::from(shape.tasks / 2) + 1,
        task: |shape, task, steps| {
            let (tasks, hops) = (shape.tasks, shape.tasks / 2);
            if hops == 0 {
                return;
            }
            let ahead = |by: u32| (task + by) % tasks;
            let behind = |by: u32| (task + tasks - by) % tasks;
            let returning = u64::from(hops);
            steps.send(ahead(1), 0);
            for hop in 1..u64::from(hops) {
                steps.receive(behind(1), hop - 1);
                steps.send(ahead(1), hop);
            }
            steps.receive(behind(1), returning - 1);
            steps.send(behind(hops), returning);
            steps.receive(ahead(hops), returning);
        },
    },
};
