//! Sizes in bytes by a distribution function of points: the flow sizes of data centres.

use super::{Entry, Law, LawContext};
use crate::catalog::{Component, Parameter, SpecError};
use crate::rng::Stream;
use crate::synthetic::draw::unit;
use crate::synthetic::expr::Call;
use crate::synthetic::file::{Lines, numbers_of_columns};

/// A size \[bytes\], and the share of messages up to it \[%\].
type Point = (f64, f64);

/// \[bytes\] The longest message.
const LONGEST_BYTES: f64 = (1u64 << 40) as f64;

pub(super) static CDF: Entry = Entry {
    component: Component {
        name: "cdf",
        about: "sizes in bytes by a distribution function: linear between points, truncated to whole bytes, at least 1; \
                built in are websearch (mean 1.71 MB), datamining (12.7 MB), hadoop (120 kB), alistorage (40.9 kB)",
        parameters: &[Parameter {
            name: "file",
            about: "name of a built-in one, or path of a file with lines bytes,percent",
            range: "websearch, datamining, hadoop, alistorage, or a text file",
            default: "",
        }],
        source: "websearch: Alizadeh and others, Data Center TCP (SIGCOMM 2010); datamining: Greenberg and others, VL2 \
                 (SIGCOMM 2009); hadoop: Roy and others, Inside the Social Network's (Datacenter) Network (SIGCOMM 2015); \
                 alistorage: Li and others, HPCC (SIGCOMM 2019); points as published with HKUST-SING/TrafficGenerator and \
                 alibaba-edu/High-Precision-Congestion-Control",
    },
    aliases: &[],
    build: |call, context| {
        let word = call.word("file")?;
        let built_in = BUILT_IN.iter().find(|(name, _)| *name == word);
        let points = match built_in {
            Some((_, points)) => points.to_vec(),
            None => points(call, &numbers_of_columns(call, context.folder)?)?,
        };
        Ok(Box::new(Cdf::new(points, context)))
    },
};

/// The distributions with a name.
#[rustfmt::skip]
const BUILT_IN: &[(&str, &[Point])] = &[
    ("websearch", &[
        (0.0, 0.0), (10e3, 15.0), (20e3, 20.0), (30e3, 30.0), (50e3, 40.0), (80e3, 53.0), (200e3, 60.0), (1e6, 70.0),
        (2e6, 80.0), (5e6, 90.0), (10e6, 97.0), (30e6, 100.0),
    ]),
    ("datamining", &[
        (0.0, 0.0), (180.0, 10.0), (216.0, 20.0), (560.0, 30.0), (900.0, 40.0), (1_100.0, 50.0), (1_870.0, 60.0),
        (3_160.0, 70.0), (10e3, 80.0), (400e3, 90.0), (3.16e6, 95.0), (100e6, 98.0), (1e9, 100.0),
    ]),
    ("hadoop", &[
        (0.0, 0.0), (100.0, 1.0), (200.0, 2.0), (300.0, 5.0), (350.0, 15.0), (400.0, 20.0), (500.0, 30.0), (600.0, 40.0),
        (700.0, 50.0), (1e3, 60.0), (2e3, 67.0), (7e3, 70.0), (30e3, 72.0), (50e3, 82.0), (80e3, 87.0), (120e3, 90.0),
        (300e3, 95.0), (1e6, 97.5), (2e6, 99.0), (10e6, 100.0),
    ]),
    ("alistorage", &[
        (0.0, 0.0), (4e3, 22.93), (8e3, 69.21), (16e3, 80.61), (32e3, 90.47), (64e3, 93.53), (128e3, 96.77),
        (256e3, 97.53), (2e6, 100.0),
    ]),
];

/// True if `word` names a distribution that is built in.
pub(in crate::synthetic) fn is_built_in(word: &str) -> bool {
    BUILT_IN.iter().any(|(name, _)| *name == word)
}

/// The points in a file.
fn points(call: &Call, file: &Lines) -> Result<Vec<Point>, SpecError> {
    let mut points: Vec<Point> = Vec::new();
    for (line, row) in &file.lines {
        let refuse = |what: &str, remedy: &str| Err(file.refuse(call, Some(*line), what, remedy));
        let [bytes, percent] = row[..] else {
            return refuse(
                "not a size and a share",
                "write `10000,15`: bytes, and the percentage of messages up to it",
            );
        };
        if !(0.0..=LONGEST_BYTES).contains(&bytes) {
            return refuse(&format!("a size of {bytes} bytes"), "sizes of 0 to 2^40 bytes");
        }
        let (smaller, less) = points.last().copied().unwrap_or_default();
        if bytes < smaller || percent < less {
            return refuse("sizes or shares decrease", "list points in ascending order, with shares from 0");
        }
        points.push((bytes, percent));
    }
    // Some authors write shares of 1.
    match points.last() {
        Some(&(_, whole)) if whole == 100.0 || whole == 1.0 => {
            let scale = 100.0 / whole;
            Ok(points.into_iter().map(|(bytes, share)| (bytes, share * scale)).collect())
        }
        Some((_, last)) => {
            let what = format!("the last share is {last}");
            Err(file.refuse(call, None, &what, "end with the largest size and 100 (or 1 if shares are parts of 1)"))
        }
        None => Err(file.refuse(call, None, "no points", "write lines `bytes,percent`, the last with 100")),
    }
}

/// The law `cdf`.
#[derive(Debug)]
struct Cdf {
    points: Vec<Point>,
    phit_bytes: u64,
    /// \[phit\] Value of [`Law::mean`].
    mean: f64,
    /// \[phit\] Value of [`Law::carried`].
    carried: f64,
}

impl Cdf {
    fn new(points: Vec<Point>, LawContext { packet_phits, phit_bytes, .. }: LawContext) -> Self {
        let phit = f64::from(phit_bytes);
        let mean = pieces(&points, phit);
        let carried = pieces(&points, phit * f64::from(packet_phits)) * f64::from(packet_phits);
        Self { points, phit_bytes: u64::from(phit_bytes), mean, carried }
    }
}

/// Mean number of pieces of `step` bytes that messages fill, the last one in part: the sum over k = 0, 1, ... of the
/// probability of more than k `step` bytes. Sizes are whole bytes: those are the messages with k `step` + 1 or more.
fn pieces(points: &[Point], step: f64) -> f64 {
    let count = |bytes: f64| ((bytes - 1.0) / step).floor().max(0.0);
    let (mut sum, mut before) = (1.0, (points[0].0, 0.0));
    for &(bytes, percent) in points {
        let (from, share) = (before.0, (percent - before.1) / 100.0);
        let (certain, possible) = (count(from), count(bytes));
        // Pieces that only a part of these messages have: the part falls linearly with the number of the piece.
        let some = possible - certain;
        let width = bytes - from;
        let part =
            if some > 0.0 { some * (bytes - 1.0 - step * (certain + possible + 1.0) / 2.0) / width } else { 0.0 };
        sum += share * (certain + part);
        before = (bytes, percent);
    }
    sum
}

impl Law for Cdf {
    fn phits(&mut self, rng: &mut Stream) -> u64 {
        let percent = 100.0 * unit(rng);
        let above = self.points.partition_point(|point| point.1 <= percent).min(self.points.len() - 1);
        let (bytes, share) = self.points[above];
        let (from, less) = if above > 0 { self.points[above - 1] } else { (bytes, 0.0) };
        let drawn = from + (bytes - from) * ((percent - less) / (share - less));
        (drawn as u64).max(1).div_ceil(self.phit_bytes)
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn carried(&self) -> f64 {
        self.carried
    }
}
