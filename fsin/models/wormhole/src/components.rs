//! The words of settings, with their definitions, and the values that presets give.

use trgen::catalog::Component;

use crate::{Hold, Params, Priority, Speedup, TraverseMode, VcClasses};

/// The source of what is no published scheme.
const FSIN: &str = "fsin's own";

/// A word with its definition and source.
const fn word(name: &'static str, about: &'static str, source: &'static str) -> Component {
    Component { name, about, parameters: &[], source }
}

/// The words of `preset`.
pub const PRESETS: &[Component] = &[
    word(
        "default",
        "four stages (route, virtual channel, switch, traversal), no speculation, separable allocators of one pass",
        "Dally, Towles, Principles and Practices of Interconnection Networks, 2004, chapter 16",
    ),
    word(
        "booksim",
        "the router of BookSim 2 as its users usually compare it: two stages by lookahead and speculation, iSLIP of one \
         iteration, unbounded output queues. It is not BookSim's default configuration, whose router has four stages \
         and no speculation, whose credits take a cycle more, and whose tori have links of twice the length: for that add \
         {route-delay} 1, {speculative} false, {credit-delay} 1 and, on a torus, {link-delay} 2, with the {vcs}, \
         {buffer} and {packet} of its file",
        "Jiang et al., A detailed and flexible cycle-accurate network-on-chip simulator, ISPASS 2013",
    ),
];

/// The words of `vc-allocator` and `switch-allocator`.
pub const ALLOCATORS: &[Component] = &[
    word(
        "separable",
        "input-first: each requester picks one resource, each resource one of those requesters, both round robin",
        "Dally, Towles, Principles and Practices of Interconnection Networks, 2004, section 19.3",
    ),
    word(
        "islip",
        "resources grant, requesters accept, both round robin; `islip:N` makes N iterations, 1 to 16 [1]",
        "McKeown, The iSLIP scheduling algorithm for input-queued switches, ToN 7(2), 1999",
    ),
    word(
        "wavefront",
        "diagonals of the request matrix, from one that moves on with each step",
        "Tamir, Chi, Symmetric crossbar arbiters for VLSI communication switches, TPDS 4(1), 1993",
    ),
    word(
        "oldest-first",
        "requests in the order in which their packets were created, each granted if its resource is still free",
        "Dally, Towles, Principles and Practices of Interconnection Networks, 2004, section 18.3",
    ),
];

/// The words of `switch-hold`.
pub const HOLDS: &[Component] = &[
    word(
        "packet",
        "a connection through the switch is kept until the tail of the packet has used it, or its next flit cannot move",
        FSIN,
    ),
    word("flit", "every flit is allocated the switch for itself", FSIN),
];

/// The words of `vc-classes`.
pub const VC_CLASSES: &[Component] = &[
    word(
        "per-dimension",
        "the class of virtual channels is chosen where a packet enters a ring, and kept: class 1 if its coordinate there is \
         larger than that of its destination",
        "BookSim 2, Jiang et al., ISPASS 2013",
    ),
    word(
        "dateline",
        "class 0 of virtual channels until the wrap-around link of a ring has been crossed, then class 1",
        "Dally, Seitz, Deadlock-free message routing, TC 36(5), 1987",
    ),
    word(
        "balanced",
        "as per-dimension, but a packet that crosses neither the wrap-around link nor the middle of a ring draws its class",
        "BookSim 2, Jiang et al., ISPASS 2013",
    ),
];

/// The settings that have a value in every preset, each with its value in `params` as users write it.
pub(crate) fn values(params: &Params) -> Vec<(&'static str, String)> {
    let mut values = vec![
        ("vcs", params.vcs.to_string()),
        ("buffer", params.buffer.to_string()),
        ("route-delay", params.route_delay.to_string()),
        ("vc-alloc-delay", params.vc_alloc_delay.to_string()),
        ("switch-alloc-delay", params.switch_alloc_delay.to_string()),
        ("traverse-delay", params.traverse_delay.to_string()),
        ("speculative", params.speculative.to_string()),
        ("speedup", speedup(params.speedup)),
        ("link-delay", params.link_delay.to_string()),
        ("credit-delay", params.credit_delay.to_string()),
        ("vc-allocator", params.vc_allocator.to_string()),
        ("switch-allocator", params.switch_allocator.to_string()),
        ("switch-hold", hold(params.hold).to_owned()),
        ("vc-classes", classes(params.vc_classes).to_owned()),
        ("message-classes", params.message_classes.to_string()),
        ("wait-for-tail-credit", params.wait_for_tail_credit.to_string()),
        ("vc-busy-when-full", params.vc_busy_when_full.to_string()),
        ("unsafe-routing", params.unsafe_routing.to_string()),
    ];
    values.extend(params.output_queue.map(|flits| ("output-queue", flits.to_string())));
    if params.traverse_mode != TraverseMode::Pipeline {
        values.push(("traverse-mode", params.traverse_mode.name().to_owned()));
    }
    let usual = Params::default();
    if params.subnets != usual.subnets {
        values.push(("subnets", params.subnets.to_string()));
    }
    if params.input_speedup != usual.input_speedup {
        values.push(("input-speedup", params.input_speedup.to_string()));
    }
    if params.output_speedup != usual.output_speedup {
        values.push(("output-speedup", params.output_speedup.to_string()));
    }
    if params.buffer_policy != usual.buffer_policy {
        values.push(("buffer-policy", params.buffer_policy.name().to_owned()));
        values.extend(params.shared_buffer.map(|flits| ("shared-buffer", flits.to_string())));
        values.extend(params.private_buffers.map(|groups| ("private-buffers", groups.to_string())));
        values.push(("private-buffer", params.private_buffer.to_string()));
        values.extend(params.held_slots.map(|flits| ("held-slots", flits.to_string())));
    }
    if params.vc_ranges != usual.vc_ranges {
        values.push(("vc-range", params.vc_ranges.to_string()));
    }
    if params.source_order != usual.source_order {
        values.push(("source-order", params.source_order.name().to_owned()));
    }
    if params.priority != Priority::None {
        values.push(("priority", params.priority.name().to_owned()));
    }
    if !params.class_priorities.is_empty() {
        let numbers: Vec<String> = params.class_priorities.iter().map(i64::to_string).collect();
        values.push(("class-priority", numbers.join(":")));
    }
    values
}

/// The settings that a preset gives, each with its value; none for an unknown name.
#[must_use]
pub fn preset_values(name: &str) -> Vec<(&'static str, String)> {
    Params::preset(name).ok().map_or_else(Vec::new, |params| values(&params))
}

/// The word of a speedup.
fn speedup(speedup: Speedup) -> String {
    let (steps, cycles) = speedup.ratio();
    if steps.is_multiple_of(cycles) { (steps / cycles).to_string() } else { format!("{steps}/{cycles}") }
}

/// The word of how long a connection lasts.
const fn hold(hold: Hold) -> &'static str {
    match hold {
        Hold::Packet => "packet",
        Hold::Flit => "flit",
    }
}

/// The word of a division into classes.
const fn classes(classes: VcClasses) -> &'static str {
    match classes {
        VcClasses::PerDimension => "per-dimension",
        VcClasses::Dateline => "dateline",
        VcClasses::Balanced => "balanced",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::{Allocator, BufferPolicy, Routing, SourceOrder, VcRanges};

    #[test]
    fn every_word_describes_itself_and_can_be_read() {
        assert!(PRESETS.iter().all(|one| Params::preset(one.name).is_ok()));
        assert!(ALLOCATORS.iter().all(|one| one.name.parse::<Allocator>().is_ok()));
        for one in HOLDS {
            assert_eq!(hold(one.name.parse().unwrap()), one.name);
        }
        for one in VC_CLASSES {
            assert_eq!(classes(one.name.parse().unwrap()), one.name);
        }
        for word in ["1", "2", "3/2"] {
            assert_eq!(speedup(word.parse().unwrap()), word);
        }
        assert_eq!(speedup("1.5".parse().unwrap()).parse::<Speedup>().unwrap(), "3/2".parse().unwrap());
    }

    #[test]
    fn every_parameter_has_a_key() {
        // A new parameter does not compile here: it needs a line in `values`, or to be one that no preset gives.
        let Params {
            interface: _,
            ejection_ports: _,
            flit_bytes: _,
            packet_flits: _,
            routing: Routing::DOR,
            routes: None,
            seed: _,
            watchdog_cycles: _,
            output_queue,
            vcs: _,
            message_classes: _,
            vc_ranges: VcRanges::Apart,
            source_order: SourceOrder::InTurn,
            buffer: _,
            buffer_policy: BufferPolicy::Private,
            shared_buffer: None,
            private_buffers: None,
            private_buffer: 1,
            held_slots: None,
            subnets: 1,
            input_speedup: 1,
            output_speedup: 1,
            route_delay: _,
            vc_alloc_delay: _,
            switch_alloc_delay: _,
            traverse_delay: _,
            speculative: _,
            speedup: _,
            link_delay: _,
            credit_delay: _,
            vc_allocator: _,
            switch_allocator: _,
            hold: _,
            vc_classes: _,
            wait_for_tail_credit: _,
            vc_busy_when_full: _,
            unsafe_routing: _,
            timetable: _,
            priority: Priority::None,
            traverse_mode: TraverseMode::Pipeline,
            class_priorities: _,
        } = Params::booksim()
        else {
            panic!("a preset has another routing")
        };
        assert_eq!((output_queue, values(&Params::booksim()).len()), (None, 18));
    }
}
