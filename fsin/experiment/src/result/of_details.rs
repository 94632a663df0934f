//! Figures of single nodes, flows and messages, and the histogram of latencies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::RunResult;
use crate::details::MessageTime;
use crate::{Experiment, Finished};
use fsin_core::stats::{Details, NodeDetails, Share};

/// Traffic of a node to all others, and from them.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct NodeRow {
    /// Number of the node.
    pub node: u64,
    /// Its name in the file of the network; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it sends.
    #[serde(flatten)]
    pub sent: ShareRow,
    /// \[packets\] That it received while measuring.
    pub packets_received: u64,
    /// \[bytes\] Of messages that it received in full while measuring.
    pub bytes_received: u64,
}

/// Traffic from one node to another.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct FlowRow {
    /// Number of the sending node.
    pub source: u64,
    /// Number of the receiving node.
    pub destination: u64,
    /// The name of the sending node in the file of the network; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_name: Option<String>,
    /// The name of the receiving node in the file of the network; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_name: Option<String>,
    /// What is sent.
    #[serde(flatten)]
    pub sent: ShareRow,
}

/// Traffic that a node or flow sends while measuring.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct ShareRow {
    /// \[messages\] Generated.
    pub messages_offered: u64,
    /// \[bytes\] Of these messages.
    pub bytes_offered: u64,
    /// \[messages\] That arrived in full, also those generated earlier.
    pub messages_delivered: u64,
    /// \[bytes\] Of these messages.
    pub bytes_delivered: u64,
    /// \[bytes/cycle\] Rate of generation; null if nothing was measured.
    pub offered_bytes_per_cycle: Option<f64>,
    /// \[bytes/cycle\] Rate of arrival; null if nothing was measured.
    pub delivered_bytes_per_cycle: Option<f64>,
    /// \[packets\] That arrived.
    pub packets_delivered: u64,
    /// \[phits/cycle\] Their rate, in the unit of loads; null where packets differ in length.
    pub accepted_load_phits_per_cycle: Option<f64>,
    /// \[cycles\] Their mean latency.
    pub latency_mean_cycles: Option<f64>,
    /// \[cycles\] Standard deviation of their latency.
    pub latency_std_cycles: Option<f64>,
    /// \[cycles\] Their greatest latency.
    pub latency_max_cycles: Option<u64>,
    /// \[links\] Their mean path length.
    pub hops_mean: Option<f64>,
}

/// Packets of about the same latency.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct LatencyBin {
    /// \[cycles\] Least latency of the bin.
    pub from_cycles: u64,
    /// \[cycles\] Greatest latency of the bin.
    pub to_cycles: u64,
    /// \[packets\] Received while measuring with such a latency, to three digits.
    pub packets: u64,
}

/// Messages of about the same size.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct MessageClass {
    /// \[bytes\] Least size of the class.
    pub from_bytes: u64,
    /// \[bytes\] Greatest size of the class.
    pub to_bytes: u64,
    /// \[messages\] Of such a size, that arrived while measuring.
    pub messages: u64,
    /// \[cycles\] Mean time from the generation of a message to its arrival in full.
    pub completion_mean_cycles: Option<f64>,
    /// \[cycles\] Median of these times.
    pub completion_p50_cycles: Option<u64>,
    /// \[cycles\] 90th percentile of these times.
    pub completion_p90_cycles: Option<u64>,
    /// \[cycles\] 95th percentile of these times.
    pub completion_p95_cycles: Option<u64>,
    /// \[cycles\] 99th percentile of these times.
    pub completion_p99_cycles: Option<u64>,
    /// \[cycles\] 99.9th percentile of these times.
    pub completion_p999_cycles: Option<u64>,
    /// \[cycles\] The greatest of these times.
    pub completion_max_cycles: Option<u64>,
    /// Mean of these times over that of the same message alone in the network.
    pub slowdown_mean: Option<f64>,
    /// Median of the slow-down.
    pub slowdown_p50: Option<f64>,
    /// 95th percentile of the slow-down.
    pub slowdown_p95: Option<f64>,
    /// 99th percentile of the slow-down.
    pub slowdown_p99: Option<f64>,
    /// 99.9th percentile of the slow-down.
    pub slowdown_p999: Option<f64>,
    /// The greatest slow-down.
    pub slowdown_max: Option<f64>,
}

/// Sets the figures of nodes, flows, messages and the histogram, as far as they are kept.
pub(super) fn details(result: &mut RunResult, experiment: &Experiment, finished: &Finished) {
    let outcome = &finished.outcome;
    let row = |share: &Share| share_row(share, experiment, finished);
    if let Some(details) = &finished.details {
        let names = experiment.geometry().names();
        let name = |node: trgen::NodeId| names.get(&node).map(|&name| name.to_owned());
        let node = |(number, node): (u64, &NodeDetails)| NodeRow {
            node: number,
            name: name(trgen::NodeId(number as u32)),
            sent: row(&node.sent),
            packets_received: node.packets_received,
            bytes_received: node.bytes_received,
        };
        if details.keep().nodes {
            result.per_node = Some((0..).zip(details.nodes()).map(node).collect());
        }
        if details.keep().flows {
            let flow = |(source, destination, share): (trgen::NodeId, trgen::NodeId, &Share)| FlowRow {
                source: u64::from(source.0),
                destination: u64::from(destination.0),
                source_name: name(source),
                destination_name: name(destination),
                sent: row(share),
            };
            result.flows = Some(details.flows().map(flow).collect());
        }
    }
    if experiment.latency_histogram {
        result.latency_histogram = Some(bins(&outcome.measured.latency.since(None)));
    }
    if let Some(messages) = &finished.messages {
        let all = class(0, u64::MAX, messages.iter());
        result.message_completion_mean_cycles = all.completion_mean_cycles;
        result.message_completion_p50_cycles = all.completion_p50_cycles;
        result.message_completion_p90_cycles = all.completion_p90_cycles;
        result.message_completion_p95_cycles = all.completion_p95_cycles;
        result.message_completion_p99_cycles = all.completion_p99_cycles;
        result.message_completion_p999_cycles = all.completion_p999_cycles;
        result.message_completion_max_cycles = all.completion_max_cycles;
        result.message_slowdown_mean = all.slowdown_mean;
        result.message_slowdown_p50 = all.slowdown_p50;
        result.message_slowdown_p95 = all.slowdown_p95;
        result.message_slowdown_p99 = all.slowdown_p99;
        result.message_slowdown_p999 = all.slowdown_p999;
        result.message_slowdown_max = all.slowdown_max;
        // Those that have arrived and are not acknowledged, where that completes them.
        let arrived = finished.details.as_ref().map_or(0, |details| details.completed().len());
        let unfinished = finished.details.as_ref().map(Details::unfinished);
        result.messages_unfinished = unfinished.map(|count| count + (arrived - messages.len()) as u64);
        result.message_classes = Some(classes(messages, &experiment.size_classes));
        result.message_deciles = Some(deciles(messages));
    }
}

/// The row of a node or flow.
fn share_row(share: &Share, experiment: &Experiment, finished: &Finished) -> ShareRow {
    let cycles = finished.outcome.measured_cycles();
    let rate = |amount: f64| (cycles > 0).then(|| amount / cycles as f64);
    // The record has the lengths of packets as a total only.
    let is_even = finished.outcome.measured.counts.short.received == 0;
    let packets = share.latency.count();
    ShareRow {
        messages_offered: share.offered_messages,
        bytes_offered: share.offered_bytes,
        messages_delivered: share.delivered_messages,
        bytes_delivered: share.delivered_bytes,
        offered_bytes_per_cycle: rate(share.offered_bytes as f64),
        delivered_bytes_per_cycle: rate(share.delivered_bytes as f64),
        packets_delivered: packets,
        accepted_load_phits_per_cycle: rate(packets as f64 * experiment.load_of_a_packet()).filter(|_| is_even),
        latency_mean_cycles: share.latency.mean(),
        latency_std_cycles: share.latency.std(),
        latency_max_cycles: share.latency.max(),
        hops_mean: share.hops.mean(),
    }
}

/// Latencies and their frequencies in ascending order, in bins: of one cycle up to 63 cycles, from there on 32 for each
/// doubling.
fn bins(values: &[(u64, u64)]) -> Vec<LatencyBin> {
    const FINE: u32 = 5;
    let mut bins: Vec<LatencyBin> = Vec::new();
    for &(value, packets) in values {
        let shift = value.checked_ilog2().unwrap_or(0).saturating_sub(FINE);
        let from_cycles = value >> shift << shift;
        match bins.last_mut() {
            Some(last) if last.from_cycles == from_cycles => last.packets += packets,
            _ => bins.push(LatencyBin { from_cycles, to_cycles: from_cycles + ((1 << shift) - 1), packets }),
        }
    }
    bins
}

/// The classes of messages up to each of these sizes, and of all above; without empty ones.
fn classes(messages: &[MessageTime], bounds: &[u64]) -> Vec<MessageClass> {
    let mut classes = Vec::new();
    let mut from = 0_u64;
    for &to in bounds.iter().chain([&u64::MAX]) {
        let of_class = messages.iter().filter(|time| (from..=to).contains(&time.of.message.bytes));
        let class = class(from, to, of_class);
        if class.messages > 0 {
            classes.push(class);
        }
        from = to.saturating_add(1);
    }
    classes
}

/// The tenths of the messages in the order of their sizes, of equal ones in that of their generation; without empty ones.
fn deciles(messages: &[MessageTime]) -> Vec<MessageClass> {
    const PARTS: usize = 10;
    let mut sorted: Vec<&MessageTime> = messages.iter().collect();
    sorted.sort_by_key(|time| (time.of.message.bytes, time.of.generated, time.of.message.id));
    let part = |number: usize| {
        let part = &sorted[number * sorted.len() / PARTS..(number + 1) * sorted.len() / PARTS];
        let (first, last) = (part.first()?, part.last()?);
        Some(class(first.of.message.bytes, last.of.message.bytes, part.iter().copied()))
    };
    (0..PARTS).filter_map(part).collect()
}

/// The class of messages of these sizes.
fn class<'a>(from_bytes: u64, to_bytes: u64, messages: impl Iterator<Item = &'a MessageTime>) -> MessageClass {
    let (mut times, mut slowdowns) = (Vec::new(), Vec::new());
    for message in messages {
        times.push(message.cycles());
        slowdowns.extend(message.slowdown());
    }
    // A mean of some slow-downs would not be that of the class.
    if slowdowns.len() < times.len() {
        slowdowns.clear();
    }
    times.sort_unstable();
    slowdowns.sort_unstable_by(f64::total_cmp);
    let mean = |sum: f64, count: usize| (count > 0).then(|| sum / count as f64);
    MessageClass {
        from_bytes,
        to_bytes,
        messages: times.len() as u64,
        completion_mean_cycles: mean(times.iter().map(|&time| u128::from(time)).sum::<u128>() as f64, times.len()),
        completion_p50_cycles: quantile(&times, 0.5),
        completion_p90_cycles: quantile(&times, 0.9),
        completion_p95_cycles: quantile(&times, 0.95),
        completion_p99_cycles: quantile(&times, 0.99),
        completion_p999_cycles: quantile(&times, 0.999),
        completion_max_cycles: times.last().copied(),
        slowdown_mean: mean(slowdowns.iter().sum(), slowdowns.len()),
        slowdown_p50: quantile(&slowdowns, 0.5),
        slowdown_p95: quantile(&slowdowns, 0.95),
        slowdown_p99: quantile(&slowdowns, 0.99),
        slowdown_p999: quantile(&slowdowns, 0.999),
        slowdown_max: slowdowns.last().copied(),
    }
}

/// The smallest of the sorted values that at least this share of them does not exceed.
pub(super) fn quantile<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsin_core::stats::Completed;
    use trgen::{Cycle, Message, NodeId};

    #[test]
    fn bins_are_fine_where_latencies_are_small() {
        let values = [(3, 1), (63, 2), (64, 3), (65, 4), (1000, 5), (1007, 6), (1008, 7)];
        let found: Vec<(u64, u64, u64)> =
            bins(&values).iter().map(|bin| (bin.from_cycles, bin.to_cycles, bin.packets)).collect();
        assert_eq!(found, [(3, 3, 1), (63, 63, 2), (64, 65, 7), (992, 1007, 11), (1008, 1023, 7)]);
    }

    #[test]
    fn messages_have_classes_by_their_size() {
        let time = |bytes: u64, cycles: u64, alone: u64| MessageTime {
            of: Completed {
                message: Message { id: 0, source: NodeId(0), destination: NodeId(1), bytes, class: 0 },
                generated: Cycle(10),
                delivered: Cycle(10 + cycles),
                acknowledged: None,
            },
            alone_cycles: Some(alone),
        };
        let messages: Vec<MessageTime> = (1..=100).map(|at| time(if at > 60 { 5000 } else { 64 }, at, 10)).collect();
        let found = classes(&messages, &[100, 1000, 10_000]);
        let shape: Vec<(u64, u64, u64)> =
            found.iter().map(|class| (class.from_bytes, class.to_bytes, class.messages)).collect();
        assert_eq!(shape, [(0, 100, 60), (1001, 10_000, 40)]);
        let small = &found[0];
        assert_eq!((small.completion_p50_cycles, small.completion_p90_cycles), (Some(30), Some(54)));
        assert_eq!((small.completion_p99_cycles, small.completion_max_cycles), (Some(60), Some(60)));
        assert_eq!((small.completion_mean_cycles, small.slowdown_p50), (Some(30.5), Some(3.0)));
        let half = [time(64, 10, 10), MessageTime { alone_cycles: None, ..time(64, 10, 10) }];
        assert_eq!(classes(&half, &[])[0].slowdown_mean, None, "some are not known");
        let found: Vec<(u64, u64, u64)> =
            deciles(&messages).iter().map(|part| (part.from_bytes, part.to_bytes, part.messages)).collect();
        assert_eq!(found, [[(64, 64, 10); 6].as_slice(), &[(5000, 5000, 10); 4]].concat());
        assert_eq!(deciles(&messages)[9].completion_p50_cycles, Some(95));
        assert_eq!(deciles(&messages[..3]).len(), 3);
        assert_eq!(class(0, 1, [].iter()).completion_p50_cycles, None);
    }
}
