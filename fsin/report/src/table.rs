//! A table for people: the most important figures, with their units.

use std::io::{self, Write};

use serde_json::Value;

use super::grouped::alike;
use fsin_core::words::counted;
use fsin_experiment::energy::six_digits;
use fsin_experiment::result::{
    CollectiveTimes, Device, Figure, Figure as F, JobRow, ModelFigure, NodeRow, Number, PortRow, RunResult,
};

/// A line of the table: its label, its figures, their decimals, and the text that follows, with `{}` for the unit of
/// the first.
struct Line(&'static str, &'static [Figure], usize, &'static str);

/// In the place of decimals: six digits, whatever the size of the number.
const SIX: usize = usize::MAX;

const LINES: &[Line] = &[
    Line("offered load", &[F::OfferedLoad], 5, "{}"),
    Line("generated load", &[F::GeneratedLoad], 5, "{}"),
    Line("injected load", &[F::InjectedLoad], 5, "{}"),
    Line("accepted load", &[F::AcceptedLoad, F::AcceptedLoadCi95], 5, "{}"),
    Line("  of each sending node", &[F::AcceptedLoadOfSenders, F::AcceptedLoadOfSendersCi95], 5, "{}"),
    Line("queue growth", &[F::QueueGrowth, F::QueueGrowthCi95], 5, "{}"),
    Line("latency", &[F::LatencyMean, F::LatencyCi95], 2, "{}, mean"),
    Line("  standard deviation", &[F::LatencyStd], 2, "{}"),
    Line("  p50 / p90 / p99 / p99.9", &[F::LatencyP50, F::LatencyP90, F::LatencyP99, F::LatencyP999], 0, "{}"),
    Line("  max", &[F::LatencyMax], 0, "{}"),
    Line("injection latency", &[F::InjectionLatencyMean], 2, "{}, mean"),
    Line("path length", &[F::HopsMean], 3, "{}, mean"),
    Line("packets generated", &[F::PacketsGenerated], 0, "{}"),
    Line("packets received", &[F::PacketsReceived], 0, "{}"),
    Line("packets in flight", &[F::PacketsInFlight], 0, "{}"),
    Line("packets dropped", &[F::PacketsDropped], 0, "{}"),
    Line("fairness min / Jain", &[F::FairnessMin, F::FairnessJain], 3, ""),
    Line("cycles per shot", &[F::ShotCyclesMean, F::ShotCyclesCi95], 2, "{}, mean"),
    Line("round trip", &[F::RoundTripMean], 2, "{}, mean"),
    Line("  min / max", &[F::RoundTripMin, F::RoundTripMax], 0, "{}"),
    Line("message completion", &[F::MessageCompletionMean], 2, "{}, mean"),
    Line(
        "  p50 / p90 / p99 / max",
        &[F::MessageCompletionP50, F::MessageCompletionP90, F::MessageCompletionP99, F::MessageCompletionMax],
        0,
        "{}",
    ),
    Line("  slow-down, mean / p99", &[F::MessageSlowdownMean, F::MessageSlowdownP99], 2, "against the ideal time"),
    Line("tasks", &[F::Tasks], 0, "{}"),
    Line("messages", &[F::Messages], 0, "{}"),
    Line("  point to point / collective", &[F::MessagesPointToPoint, F::MessagesCollective], 0, "{}"),
    Line("bytes x hops", &[F::HopBytes], 0, "{}"),
    Line("  per byte", &[F::HopsPerByte], 4, "{}, mean"),
    Line("jobs finished", &[F::JobsFinished], 0, "{}"),
    Line("  wait", &[F::JobWaitMean], 2, "{}, mean"),
    Line("  run", &[F::JobRunMean], 2, "{}, mean"),
    Line("  slowdown", &[F::JobSlowdownMean], 4, "against running alone, mean"),
    Line("nodes with a job", &[F::NodeUtilization], 4, "of all, mean"),
    Line("completion", &[F::CompletionCycles], 0, "{}"),
    Line("completion", &[F::CompletionSeconds], 9, "{}"),
    Line("  at least, for its", &[F::CompletionBound, F::CompletionBoundBy], 0, "({})"),
    Line("energy, estimated", &[F::EnergyJoules], SIX, "{}"),
    Line("  power", &[F::EnergyWatts], SIX, "{}, mean"),
    Line("  per bit delivered", &[F::EnergyPerBit], SIX, "{}"),
    Line("finish, first / last task", &[F::FinishMinNs, F::FinishMaxNs], 0, "{}"),
    Line("events", &[F::Events], 0, "{}"),
    Line("simulated", &[F::Cycles], 0, "{}"),
    Line("processor time", &[F::CpuSeconds], 2, "{}"),
    Line("speed", &[F::CyclesPerSecond], 0, "{}"),
    Line("speed", &[F::EventsPerSecond], 0, "{}"),
    Line("digest", &[F::Digest], 0, ""),
];

pub(super) fn write(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", headline(result))?;
    if result.is_saturated() {
        writeln!(out, "{:<30} saturated: less is accepted than is asked for", "verdict")?;
    } else if let Some(verdict) = &result.verdict {
        let needed =
            result.deciding_cycles.map(|cycles| format!(": about {cycles} measured cycles are expected to decide"));
        writeln!(out, "{:<30} {verdict}{}", "verdict", needed.unwrap_or_default())?;
    }
    for Line(label, figures, decimals, end) in LINES {
        // Each kind of run has figures of its own.
        let values: Vec<Value> = figures.iter().map(|&figure| result.value(figure)).collect();
        let is_usual = match figures[0] {
            F::PacketsDropped => result.packets_dropped == Some(0),
            F::AcceptedLoadOfSenders => result.silent_nodes == Some(0),
            // In an unsaturated network it is random.
            F::QueueGrowth => !result.is_saturated(),
            _ => false,
        };
        if values.iter().all(Value::is_null) || is_usual {
            continue;
        }
        let is_interval = figures.get(1).is_some_and(|&second| figures[0].ci95() == Some(second));
        let separator = if is_interval { " ± " } else { " / " };
        let cells: Vec<String> =
            values.iter().filter(|value| !value.is_null()).map(|value| cell(value, *decimals)).collect();
        let end = end.replace("{}", result.unit(figures[0]));
        let end = if cells == ["1"] && !end.contains('/') { end.trim_end_matches('s') } else { &end };
        writeln!(out, "{}", format!("{label:<30} {} {end}", cells.join(separator)).trim_end())?;
    }
    if let Some(dead) = &result.dead_links {
        let more = if dead.len() > MAX_DEAD { ", ... (all in JSON)" } else { "" };
        let some = dead[..dead.len().min(MAX_DEAD)].join(", ");
        writeln!(out, "{:<30} {}: {some}{more}", "dead links", dead.len())?;
    }
    for ModelFigure { name, unit, value, .. } in result.model_figures.iter().flatten() {
        let label = name.replace('_', " ");
        let decimals = if value.fract() == 0.0 { 0 } else { 2 };
        // Two decimals show nothing of a small number.
        let shown = if value.abs() < 0.01 { six_digits(*value) } else { format!("{value:.decimals$}") };
        writeln!(out, "{}", format!("{label:<30} {shown} {unit}").trim_end())?;
    }
    collectives(result.collectives.as_deref().unwrap_or_default(), out)?;
    nodes(result.per_node.as_deref().unwrap_or_default(), out)?;
    ports(result.ports.as_deref().unwrap_or_default(), out)?;
    jobs(result.jobs.as_deref().unwrap_or_default(), out)
}

/// Most lines of collectives.
const MAX_COLLECTIVES: usize = 20;

/// A line for each of the first collectives, or of those that are alike.
fn collectives(rows: &[CollectiveTimes], out: &mut dyn Write) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let line = |cells: [&str; 9]| {
        let [name, group, rest @ ..] = cells;
        format!("{name:<34} {group:<10}{}", rest.map(|cell| format!(" {cell:>12}")).concat())
    };
    let heads = ["ranks", "bytes", "first begin", "end", "time, max", "algorithm", "bus bandw."];
    let head = line(["collective", "group", heads[0], heads[1], heads[2], heads[3], heads[4], heads[5], heads[6]]);
    let units = line(["", "", "", "", "ns", "ns", "ns", "GB/s", "GB/s"]);
    writeln!(out, "\n{head}\n{units}")?;
    let time = |time: Option<Number>| match time {
        None => "-".to_owned(),
        Some(Number::Whole(time)) => time.to_string(),
        Some(Number::Real(time)) => format!("{time:.3}"),
    };
    let number = |ns: f64| if ns.fract() == 0.0 { Number::Whole(ns as u64) } else { Number::Real(ns) };
    let bandwidth = |rate: Option<f64>| rate.map_or("-".to_owned(), |rate| format!("{rate:.6}"));
    // One row for all that are alike; of too many, those of several groups are alike too.
    let mut all = alike(rows, true);
    if all.len() > MAX_COLLECTIVES {
        all = alike(rows, false);
    }
    for one in all.iter().take(MAX_COLLECTIVES) {
        let row = one.first;
        let calls = if one.calls == 1 { String::new() } else { format!(", {} times", one.calls) };
        let name = format!("{}, {}{calls}", row.kind, row.algorithm);
        let groups = format!("{} groups", one.groups);
        let is_ended = one.unended == 0;
        let cells = line([
            &name,
            if one.groups > 1 { &groups } else { row.group.as_deref().unwrap_or("all") },
            &row.ranks.to_string(),
            &row.bytes.to_string(),
            &time(row.first_begin_ns),
            &time(one.end.map(number).filter(|_| is_ended)),
            &time(one.most.map(number).filter(|_| is_ended)),
            &bandwidth(one.algorithm_bandwidth()),
            &bandwidth(one.bus_bandwidth()),
        ]);
        writeln!(out, "{cells}")?;
    }
    match all.len().saturating_sub(MAX_COLLECTIVES) {
        0 => Ok(()),
        more => {
            writeln!(out, "and {} in JSON (`collectives`)", counted(more as u64, "more collective", "more collectives"))
        }
    }
}

/// Most lines of nodes.
const MAX_NODES: usize = 5;

/// A line for each of the sending nodes of whose traffic the least share arrives.
fn nodes(nodes: &[NodeRow], out: &mut dyn Write) -> io::Result<()> {
    let share = |row: &NodeRow| row.sent.bytes_delivered as f64 / row.sent.bytes_offered as f64;
    let mut sending: Vec<&NodeRow> = nodes.iter().filter(|row| row.sent.bytes_offered > 0).collect();
    sending.sort_by(|one, other| share(one).total_cmp(&share(other)).then(one.node.cmp(&other.node)));
    if sending.is_empty() {
        return Ok(());
    }
    let head = ["offered", "delivered", "share", "latency", "max"].map(|title| format!(" {title:>13}")).concat();
    let units = ["bytes", "bytes", "", "cycles, mean", "cycles"].map(|unit| format!(" {unit:>13}")).concat();
    writeln!(out, "\n{:<20}{head}\n{:<20}{units}", "least served node", "")?;
    for row in sending.iter().take(MAX_NODES) {
        let sent = &row.sent;
        let mean = sent.latency_mean_cycles.map_or("-".to_owned(), |mean| format!("{mean:.2}"));
        let most = sent.latency_max_cycles.map_or("-".to_owned(), |most| most.to_string());
        let (offered, delivered) = (sent.bytes_offered, sent.bytes_delivered);
        let node = row.name.clone().unwrap_or_else(|| row.node.to_string());
        writeln!(out, "{node:<20} {offered:>13} {delivered:>13} {:>13.4} {mean:>13} {most:>13}", share(row))?;
    }
    match sending.len().saturating_sub(MAX_NODES) {
        0 => Ok(()),
        more => writeln!(out, "and {} in JSON (`per_node`)", counted(more, "more node", "more nodes")),
    }
}

/// Most dead links that the table names.
const MAX_DEAD: usize = 8;

/// Most lines of ports.
const MAX_PORTS: usize = 10;

/// A line for each of the ports with most losses, longest queues and most packets, in this order.
fn ports(ports: &[PortRow], out: &mut dyn Write) -> io::Result<()> {
    let name = |of: Device, node: u32, port: u64| match of {
        Device::Host => format!("host {node}"),
        Device::Switch => format!("switch {node} port {port}"),
    };
    let mut busy: Vec<&PortRow> = ports.iter().filter(|port| port.packets + port.dropped > 0).collect();
    busy.sort_by(|one, other| {
        let queues = other.queue_mean_packets.total_cmp(&one.queue_mean_packets);
        let losses = (other.dropped + other.damaged).cmp(&(one.dropped + one.damaged));
        losses.then(queues).then(other.packets.cmp(&one.packets))
    });
    if busy.is_empty() {
        return Ok(());
    }
    let head = ["packets", "dropped", "damaged", "queue mean", "queue max", "utilisation"];
    let head: String = head.iter().map(|title| format!(" {title:>11}")).collect();
    writeln!(out, "\n{:<20} {:<20}{head}", "port", "to")?;
    for port in busy.iter().take(MAX_PORTS) {
        let (at, to) = (name(port.of, port.node, port.port), name(port.to, port.to_node, port.to_port));
        let counts: String =
            [port.packets, port.dropped, port.damaged].iter().map(|count| format!(" {count:>11}")).collect();
        let PortRow { queue_mean_packets: mean, queue_max_packets: most, utilisation, .. } = port;
        writeln!(out, "{at:<20} {to:<20}{counts} {mean:>11.3} {most:>11} {utilisation:>11.4}")?;
    }
    match busy.len().saturating_sub(MAX_PORTS) {
        0 => Ok(()),
        more => writeln!(out, "and {} in JSON (`ports`)", counted(more, "more port", "more ports")),
    }
}

/// A column of the table of jobs: its title, its unit, and its value for a job.
type Column = (&'static str, &'static str, fn(&JobRow) -> Option<Number>);

/// A line for each job.
fn jobs(jobs: &[JobRow], out: &mut dyn Write) -> io::Result<()> {
    const COLUMNS: [Column; 7] = [
        ("nodes", "", |job| job.nodes.map(Number::from)),
        ("arrival", "cycle", |job| Some(job.arrival_cycle.into())),
        ("start", "cycle", |job| job.start_cycle.map(Number::from)),
        ("finish", "cycle", |job| job.finish_cycle.map(Number::from)),
        ("wait", "cycles", |job| job.wait_cycles.map(Number::from)),
        ("run", "cycles", |job| job.run_cycles.map(Number::from)),
        ("slowdown", "x alone", |job| job.slowdown.map(Number::from)),
    ];
    let shown = |number: Option<Number>| match number {
        None => "-".to_owned(),
        Some(Number::Whole(number)) => number.to_string(),
        Some(Number::Real(number)) => format!("{number:.4}"),
    };
    let Some(width) = jobs.iter().map(|job| job.name.chars().count()).max() else { return Ok(()) };
    let head: String = COLUMNS.iter().map(|(title, ..)| format!(" {title:>10}")).collect();
    let units: String = COLUMNS.iter().map(|(_, unit, _)| format!(" {unit:>10}")).collect();
    writeln!(out, "\n{:<width$}{head}\n{:<width$}{units}", "job", "", width = width.max(3))?;
    for job in jobs {
        let row: String = COLUMNS.iter().map(|(.., of)| format!(" {:>10}", shown(of(job)))).collect();
        writeln!(out, "{:<width$}{row}", job.name, width = width.max(3))?;
    }
    Ok(())
}

/// The simulated experiment, in one line.
fn headline(result: &RunResult) -> String {
    let setting = |key: &str| result.experiment.get(key).filter(|value| !value.is_null());
    let word = |key: &str| match setting(key) {
        Some(Value::String(word)) => word.clone(),
        Some(other) => other.to_string(),
        None => "null".to_owned(),
    };
    let traffic = if setting("trace").is_some() {
        format!("trace {}", word("trace"))
    } else if setting("kernel").is_some() {
        format!("kernel {}", word("kernel"))
    } else if setting("flows").is_some() {
        format!("flows {}", word("flows"))
    } else if setting("job-mix").is_some() {
        format!("jobs {} {} {}", word("job-mix"), word("scheduler"), word("allocation"))
    } else if setting("shot").is_some() {
        format!("{} shot({})", word("traffic"), word("shot"))
    } else if setting("load").is_none() {
        format!("{} {}", word("traffic"), word("temporal"))
    } else {
        format!("{} {} load {}", word("traffic"), word("temporal"), word("load"))
    };
    let traffic = result.source_policy().map_or(traffic.clone(), |policy| format!("{traffic} | {policy} sources"));
    let state = match () {
        () if !result.complete => "   INCOMPLETE",
        () if result.is_saturated() => "   SATURATED",
        () if result.is_undecided() => "   UNDECIDED",
        () if result.converged == Some(false) => "   NOT CONVERGED",
        () => "",
    };
    if result.network_latency_ns.is_some() {
        let number = |figure: Figure| result.value(figure);
        return format!(
            "loggops:L={},G={} hosts o={},g={},O={},S={}{} | {traffic}{state}",
            number(F::NetworkLatencyNs),
            number(F::NetworkGapPerByteNs),
            number(F::HostOverheadNs),
            number(F::HostGapNs),
            number(F::HostOverheadPerByteNs),
            number(F::HostEagerBytes),
            if result.host_streams == Some(true) { ",streams=true" } else { "" },
        );
    }
    // What the model has not is left out.
    let named = |key: &str| setting(key).map(|_| format!("{key} {}", word(key)));
    let plain = |key: &str| setting(key).map(|_| word(key));
    let interface = named("interface").filter(|_| word("interface") != "serial");
    let network = [plain("topology"), plain("network"), plain("routing"), named("vcs"), named("packet"), interface];
    let network: Vec<String> = network.into_iter().flatten().collect();
    format!("{} | {traffic} | seed {}{state}", network.join(" "), word("seed"))
}

fn cell(value: &Value, decimals: usize) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() && decimals == SIX => six_digits(number.as_f64().unwrap_or(f64::NAN)),
        Value::Number(number) if number.is_f64() => format!("{:.decimals$}", number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}
