//! The traffic matrix of an MPI program, as a heat map.

use fsin_experiment::result::RunResult;

use super::links::{LETTERS, STEPS, WIDTH, ramp, within, words};

/// Maximum number of ranks of a picture: with more, cells are too small to be seen.
const MOST_RANKS: usize = 512;

/// A number of bytes with its unit, rounded.
fn amount(bytes: f64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"];
    let unit = (bytes.max(1.0).log10() / 3.0).floor().clamp(0.0, 4.0);
    format!("{:.3} {}", bytes / 1000_f64.powf(unit), units[unit as usize]).replace(".000 ", " ")
}

/// A picture (SVG) of the bytes that each rank sent to each other rank: a line for each sender, a column for each
/// receiver, darker for more bytes. The scale is logarithmic if the numbers differ by a factor of ten or more. `None`
/// if the result is not of an MPI program, if it has too many ranks, or if nothing was sent.
#[must_use]
pub fn traffic_picture(result: &RunResult) -> Option<String> {
    let ranks = result.ranks.as_ref().filter(|ranks| ranks.len() <= MOST_RANKS)?;
    let sent: Vec<(u64, u64, u64)> = ranks
        .iter()
        .flat_map(|rank| rank.sent.iter().map(|sent| (rank.rank, sent.to, sent.bytes)))
        .filter(|&(.., bytes)| bytes > 0)
        .collect();
    let smallest = sent.iter().map(|&(.., bytes)| bytes).min()? as f64;
    let most = sent.iter().map(|&(.., bytes)| bytes).max()? as f64;
    let size = ranks.iter().map(|rank| rank.rank + 1).chain(sent.iter().map(|&(_, to, _)| to + 1)).max()?;
    let (left, top) = (2.8 * LETTERS, 2.8 * LETTERS);
    let cell = (WIDTH - left - 0.8 * LETTERS) / size as f64;
    let side = cell * size as f64;
    let colours = ramp(false);
    // Over less than a decade a logarithmic scale would show differences that hardly matter.
    let is_log = most >= 10.0 * smallest;
    let least = if is_log { smallest } else { 0.0 };
    let step = |bytes: f64| {
        let share = if is_log { (bytes / least).ln() / (most / least).ln() } else { bytes / most };
        1 + (share * (STEPS - 2) as f64).round() as usize
    };
    let mut cells = String::new();
    for (from, to, bytes) in sent {
        cells.push_str(&format!(
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{cell:.2}\" height=\"{cell:.2}\" fill=\"{}\"><title>{from} to {to}: \
             {bytes} bytes</title></rect>\n",
            left + to as f64 * cell,
            top + from as f64 * cell,
            colours[step(bytes as f64)]
        ));
    }
    let mut text = String::new();
    let ends: &[u64] = if size > 1 { &[0, size - 1] } else { &[0] };
    for &rank in ends {
        let at = (rank as f64 + 0.5) * cell;
        let name = rank.to_string();
        text.push_str(&words(&name, (within(left + at, &name), top - 0.6 * LETTERS), "middle", false));
        text.push_str(&words(&name, (left - 0.25 * LETTERS, top + at), "end", false));
    }
    text.push_str(&words("to rank", (left + side / 2.0, 0.8 * LETTERS), "middle", false));
    text.push_str(&words("from rank", (0.8 * LETTERS, top + side / 2.0), "middle", true));
    // The scale: it ends at the most that a rank sent to another one, and begins at the least, or at 0.
    let (y, from, width) = (top + side + 0.6 * LETTERS, 280.0, (WIDTH - 560.0) / (STEPS - 1) as f64);
    for (place, colour) in colours.iter().skip(1).enumerate() {
        text.push_str(&format!(
            "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{LETTERS}\" fill=\"{colour}\"/>\n",
            from + place as f64 * width,
            width + 0.5
        ));
    }
    text.push_str(&words(&amount(least), (from - 10.0, y + 0.5 * LETTERS), "end", false));
    text.push_str(&words(&amount(most), (WIDTH - from + 10.0, y + 0.5 * LETTERS), "start", false));
    let height = y + 2.0 * LETTERS;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\">\n<rect width=\"100%\" \
         height=\"100%\" fill=\"#FFFFFF\"/>\n{cells}<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{side:.1}\" \
         height=\"{side:.1}\" fill=\"none\" stroke=\"#000000\" stroke-width=\"2\"/>\n{text}</svg>\n"
    ))
}

#[cfg(test)]
mod tests {
    use fsin_experiment::result::{RankRow, SentRow};

    use super::*;

    #[test]
    fn a_cell_for_each_pair_that_exchanged_something() {
        let rank = |rank: u64, sent: &[(u64, u64)]| RankRow {
            rank,
            sent: sent.iter().map(|&(to, bytes)| SentRow { to, messages: 1, bytes }).collect(),
            ..RankRow::default()
        };
        let ranks = vec![rank(0, &[(1, 8), (2, 8000)]), rank(1, &[(0, 0)]), rank(2, &[])];
        let mut result = RunResult::default();
        result.ranks = Some(ranks);
        let svg = traffic_picture(&result).unwrap();
        assert_eq!(svg.matches("<title>").count(), 2);
        assert!(svg.contains("0 to 2: 8000 bytes") && svg.contains(">8 bytes<") && svg.contains(">8 kB<"), "{svg}");
        assert!(svg.contains(&ramp(false)[1]) && svg.contains(&ramp(false)[STEPS - 1]));
        assert_eq!(traffic_picture(&RunResult::default()), None);
        result.ranks = Some(vec![rank(0, &[])]);
        assert_eq!(traffic_picture(&result), None);
    }
}
