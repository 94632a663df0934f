//! Traffic sources: nodes and their fairness, tasks and their states, guests.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

use crate::app::App;
use crate::theme::Role;
use crate::view::{Guest, Jobs, Sources, Task, TaskState};
use crate::widgets::{Gauge, count, line, paint, percent, tasks, whole};

/// Draws the screen of traffic sources.
pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    match app.latest().map(|snapshot| &snapshot.sources) {
        None => {}
        Some(Sources::Nodes(received)) => nodes(app, received, inner, buffer),
        Some(sources @ (Sources::Tasks(_) | Sources::Jobs(_))) => applications(app, sources, inner, buffer),
        Some(Sources::Guests(guests)) => self::guests(app, guests, inner, buffer),
    }
}

/// Fairness over the nodes from which packets were received: Jain's index, and the least number of packets divided by
/// the mean. `None` if no packet was received.
fn fairness(received: &[u64]) -> Option<(f64, f64)> {
    let served: Vec<f64> = received.iter().filter(|&&packets| packets > 0).map(|&packets| packets as f64).collect();
    let sum: f64 = served.iter().sum();
    let squares: f64 = served.iter().map(|packets| packets * packets).sum();
    let least = served.iter().copied().reduce(f64::min)?;
    Some((sum * sum / (squares * served.len() as f64), least * served.len() as f64 / sum))
}

/// \[columns\] Width of a list of nodes.
const LIST: u16 = 18;

/// Draws the distribution of received packets over their source nodes, and the least and most served nodes.
fn nodes(app: &App, received: &[u64], area: Rect, buffer: &mut Buffer) {
    let theme = app.theme;
    let Some((jain, least)) = fairness(received) else {
        paint(buffer, area, 0, 0, "nothing has been received yet, since measuring began", theme.faint());
        return;
    };
    let silent = received.iter().filter(|&&packets| packets == 0).count();
    let serving = (received.len() - silent).max(1);
    let mean = received.iter().sum::<u64>() as f64 / serving as f64;
    let head = format!("{serving} nodes served, Jain's index {jain:.3}, least {} of the mean", percent(least));
    let head =
        if head.len() > usize::from(area.width) { format!("{serving} served, Jain's index {jain:.3}") } else { head };
    paint(buffer, area, 0, 0, &head, theme.title());
    let silent = if silent == 0 { String::new() } else { format!("; nothing of {silent} nodes yet") };
    let words = format!("packets received of each node, since measuring began; mean {mean:.1}{silent}");
    paint(buffer, area, 0, 1, &words, theme.faint());

    // Nodes by their share of the mean, in tenths up to twice the mean.
    let mut bins = [0usize; 20];
    for &packets in received.iter().filter(|&&packets| packets > 0) {
        bins[((packets as f64 / mean * 10.0) as usize).min(19)] += 1;
    }
    let most = bins.iter().copied().max().unwrap_or(1).max(1);
    // Two lists of nodes beside the distribution, or fewer in a narrow area: truncated numbers would be misread.
    let (half, lists) = match area.width {
        78.. => (area.width / 2, 2),
        38.. => (area.width - LIST - 1, 1),
        _ => (area.width, 0),
    };
    let count_at = if lists == 2 { half - 8 } else { half.saturating_sub(5) };
    let head = if half > 30 { "share of the mean       nodes" } else { "of the mean  nodes" };
    paint(buffer, area, 0, 3, head, theme.faint());
    let rows = usize::from(area.height.saturating_sub(4));
    let low = bins.iter().position(|&nodes| nodes > 0).unwrap_or(0);
    let high = bins.iter().rposition(|&nodes| nodes > 0).unwrap_or(19);
    for (at, &nodes) in bins.iter().enumerate().take(high + 1).skip(low).take(rows) {
        let y = (at - low) as u16 + 4;
        let bound = if at == 19 {
            "1.9 and more".to_owned()
        } else {
            format!("{:.1} .. {:.1}", at as f64 / 10.0, (at + 1) as f64 / 10.0)
        };
        paint(buffer, area, 0, y, &bound, Style::new());
        let bar = Rect { x: area.x + 14, y: area.y + y, width: count_at.saturating_sub(16), height: 1 };
        Gauge { share: nodes as f64 / most as f64, style: theme.role(Role::First) }.render(bar, buffer);
        paint(buffer, area, count_at, y, &nodes.to_string(), theme.faint());
    }

    let mut order: Vec<usize> = (0..received.len()).filter(|&node| received[node] > 0).collect();
    order.sort_by_key(|&node| (received[node], node));
    let column = |buffer: &mut Buffer, x: u16, title: &str, nodes: &mut dyn Iterator<Item = usize>| {
        paint(buffer, area, x, 3, title, theme.faint());
        for (at, node) in nodes.take(rows).enumerate() {
            let share = received[node] as f64 / mean;
            let name = Some(app.about.router_name(node)).filter(|name| name.chars().count() <= 12);
            let text = format!("{:<12}{:>6}", name.unwrap_or_else(|| node.to_string()), percent(share));
            let style = if share < 0.5 { theme.role(Role::Alarm) } else { Style::new() };
            paint(buffer, area, x, at as u16 + 4, &text, style);
        }
    };
    if lists > 0 {
        column(buffer, half + 1, "least served", &mut order.iter().copied());
    }
    if lists > 1 {
        column(buffer, half + 1 + half / 2, "most served", &mut order.iter().rev().copied());
    }
}

/// \[columns\] Longest name of a job that is shown in full.
const NAME: usize = 16;

/// A task that is shown in a line.
struct Lined<'a> {
    /// Number and name of its job; `None` for a single application.
    job: Option<(u32, &'a str)>,
    /// Number within its job.
    number: usize,
    task: &'a Task,
}

/// The tasks of a job, or of a single application.
fn task_lines<'a>(job: Option<(u32, &'a str)>, tasks: &'a [Task]) -> impl Iterator<Item = Lined<'a>> {
    tasks.iter().enumerate().map(move |(number, task)| Lined { job, number, task })
}

/// The number of tasks and their progress, as two parts of a heading. `whose` follows the number of tasks.
fn progress(tasks: &[Lined<'_>], whose: &str) -> [String; 2] {
    let finished = tasks.iter().filter(|lined| lined.task.state == TaskState::Finished).count();
    let done: u64 = tasks.iter().map(|lined| lined.task.done).sum();
    let events: u64 = tasks.iter().map(|lined| lined.task.events).sum::<u64>().max(1);
    let share = percent(done as f64 / events as f64);
    [
        format!("{} tasks{whose}, {finished} finished", tasks.len()),
        format!("{} of {} events begun ({share})", count(done), count(events)),
    ]
}

/// The heading of a mix of jobs, in parts: every job once, then the jobs whose tasks are listed.
fn jobs_heading(jobs: &Jobs, tasks: &[Lined<'_>]) -> Vec<String> {
    let all = jobs.coming + jobs.waiting + jobs.running + jobs.ended;
    if jobs.ended == all {
        let head = format!("all {} jobs have ended", count(all));
        return [head].into_iter().chain(progress(tasks, " of the last to end")).collect();
    }
    let mut head = format!("{} of {} jobs run", count(jobs.running), count(all));
    for (number, what) in [(jobs.waiting, "waiting"), (jobs.coming, "to come"), (jobs.ended, "ended")] {
        if number > 0 {
            head.push_str(&format!(", {} {what}", count(number)));
        }
    }
    let mut parts = vec![head];
    match (jobs.running, tasks.is_empty()) {
        (0, true) => {}
        (0, false) => parts.extend(progress(tasks, " of the last to end")),
        _ => parts.extend(progress(tasks, " of those that run")),
    }
    parts
}

/// The tasks of an application, or of the listed jobs of a mix.
fn applications(app: &App, sources: &Sources, area: Rect, buffer: &mut Buffer) {
    match sources {
        Sources::Tasks(tasks) => {
            let tasks: Vec<Lined<'_>> = task_lines(None, tasks).collect();
            timeline(app, &progress(&tasks, ""), &tasks, area, buffer);
        }
        Sources::Jobs(jobs) => {
            let listed = jobs.listed.iter().flat_map(|job| task_lines(Some((job.number, &job.name)), &job.tasks));
            let tasks: Vec<Lined<'_>> = listed.collect();
            timeline(app, &jobs_heading(jobs, &tasks), &tasks, area, buffer);
        }
        Sources::Nodes(_) | Sources::Guests(_) => {}
    }
}

/// A name cut to a number of columns: the middle is omitted, because similar names differ at their ends.
fn in_columns(name: &str, columns: usize) -> String {
    let length = name.chars().count();
    if length <= columns {
        return name.to_owned();
    }
    let end = columns / 2;
    let begin: String = name.chars().take(columns.saturating_sub(end + 1)).collect();
    begin + "…" + &name.chars().skip(length - end).collect::<String>()
}

/// Draws the states of tasks over time, a line for each task.
fn timeline(app: &App, head: &[String], tasks: &[Lined<'_>], area: Rect, buffer: &mut Buffer) {
    let theme = app.theme;
    paint(buffer, area, 0, 0, &whole(head, "; ", usize::from(area.width)), theme.title());
    line(buffer, area, 1, self::tasks(theme));
    if area.height < 5 || tasks.is_empty() {
        return;
    }
    let rows = usize::from(area.height - 3);
    let first = app.scroll.min(tasks.len().saturating_sub(rows));
    let longest = tasks.iter().filter_map(|lined| lined.job).map(|(_, name)| name.chars().count()).max();
    // In a narrow area names have at most a fifth of the width.
    let most = NAME.min(usize::from(area.width) / 5);
    let name = longest.map_or(0, |longest| longest.max(3).min(most) as u16 + 1);
    let (left, right) = (name + 12, 22);
    let width = usize::from(area.width.saturating_sub(left + right));
    let points = app.history.points();
    let skipped = points.len().saturating_sub(width);
    if name > 0 {
        paint(buffer, area, 0, 2, "job", theme.faint());
    }
    paint(buffer, area, name, 2, "task @ node", theme.faint());
    let from = points.get(skipped).map_or(0, |point| point.cycle);
    let since = [format!("from cycle {} to now", count(from)), format!("from {}", count(from))];
    if let Some(since) = since.iter().find(|since| since.len() <= width) {
        paint(buffer, area, left, 2, since, theme.faint());
    }
    paint(buffer, area, left + width as u16 + 1, 2, "events begun, sent", theme.faint());
    for (at, Lined { job, number, task }) in tasks.iter().skip(first).take(rows).enumerate() {
        let y = at as u16 + 3;
        if let Some((_, job)) = job {
            paint(buffer, area, 0, y, &in_columns(job, usize::from(name) - 1), Style::new());
        }
        paint(buffer, area, name, y, &format!("{number} @ {}", task.node), Style::new());
        let job = job.map_or(0, |(job, _)| job);
        for (x, point) in points.iter().skip(skipped).enumerate() {
            if let Some(state) = point.task(job, *number) {
                let (letter, style) = theme.task(state);
                paint(buffer, area, left + x as u16, y, letter.encode_utf8(&mut [0; 4]), style);
            }
        }
        let share = task.done as f64 / task.events.max(1) as f64;
        let words = format!("{:>5}  {} B", percent(share), count(task.sent_bytes));
        paint(buffer, area, left + width as u16 + 1, y, &words, theme.faint());
    }
}

/// Draws a line for each guest.
fn guests(app: &App, guests: &[Guest], area: Rect, buffer: &mut Buffer) {
    let theme = app.theme;
    let connected = guests.iter().filter(|guest| guest.connected).count();
    let ahead = guests.iter().filter(|guest| guest.connected).map(|guest| guest.clock_ps).max().unwrap_or(0);
    if guests.is_empty() {
        paint(buffer, area, 0, 0, "guests are shown here when all have come and time begins", theme.faint());
        return;
    }
    paint(buffer, area, 0, 0, &format!("{} guests, {connected} connected", guests.len()), theme.title());
    // In a narrow area columns are so short that a line fits into 80 columns.
    let narrow = area.width < 105;
    let (name_width, clock_width, decimals) = if narrow { (11, 14, 0) } else { (19, 18, 3) };
    let (node_width, state_width) = if narrow { (9, 9) } else { (12, 20) };
    let head = format!(
        "{:<name_width$}{:<node_width$}{:<state_width$}{:>clock_width$}{:>12}{:>10}{:>8}{:>5}",
        "guest", "nodes", "state", "clock (ns)", "behind (ns)", "injected", "told", "late"
    );
    paint(buffer, area, 0, 2, &head, theme.faint());
    let rows = usize::from(area.height.saturating_sub(3));
    let first = app.scroll.min(guests.len().saturating_sub(rows));
    for (at, guest) in guests.iter().skip(first).take(rows).enumerate() {
        let nodes = match guest.nodes.as_slice() {
            [] => "-".to_owned(),
            [node] => node.to_string(),
            [first, .., last] => format!("{first}..{last}"),
        };
        let name: String = guest.name.chars().take(name_width - 1).collect();
        let state = match guest.state.as_str() {
            "waits for a message" if narrow => "waits",
            state => state,
        };
        let ns = |ps: u64| format!("{:.decimals$}", ps as f64 / 1000.0);
        let behind = if guest.connected { ns(ahead.saturating_sub(guest.clock_ps)) } else { "-".to_owned() };
        let text = format!(
            "{name:<name_width$}{nodes:<node_width$}{state:<state_width$}{:>clock_width$}{behind:>12}{:>10}{:>8}{:>5}",
            ns(guest.clock_ps),
            count(guest.injected),
            count(guest.notices),
            count(guest.late)
        );
        let style = match (guest.connected, guest.state.as_str()) {
            (true, _) => Style::new(),
            (false, "left") => theme.faint(),
            (false, _) => theme.role(Role::Alarm),
        };
        paint(buffer, area, 0, at as u16 + 3, &text, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_of_a_job_keeps_its_end() {
        assert_eq!(["tor-1", "a-very-long-name-of-a-job-12"].map(|name| in_columns(name, 9)), ["tor-1", "a-ve…b-12"]);
    }

    #[test]
    fn fairness_is_that_of_the_results() {
        assert_eq!(fairness(&[5, 5, 5, 5]), Some((1.0, 1.0)));
        let (jain, least) = fairness(&[1, 3, 0]).unwrap();
        assert!((jain - 0.8).abs() < 1e-12 && (least - 0.5).abs() < 1e-12);
        assert_eq!(fairness(&[0, 0]), None);
    }
}
