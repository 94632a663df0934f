//! Times and amounts: loads, mean sizes, burstiness, of every temporal process and size law.

use std::path::{Path, PathBuf};

use statrs::distribution::{ChiSquared, ContinuousCDF};
use trgen::rng::{Purpose, stream};
use trgen::synthetic::traffic::Sources;
use trgen::synthetic::{Config, Mode, Spec, Traffic, size, temporal};
use trgen::{Cycle, Geometry, Message, Next, NodeId, TrGen};

use super::common::{counts, ideal};

const PROCESSES: &[&str] = &[
    "bernoulli",
    "poisson",
    "periodic",
    "periodic(0)",
    "cburst(4)",
    "cburst(8, phase=0)",
    "markov(2, 0.05)",
    "markov(a=0.5, p10=0.01)",
    "lognormal(0.5)",
    "gamma(2)",
    "incast(2)",
    "multicast(3)",
    "request-reply",
    "request-reply(size=constant(80), service=30, base=poisson)",
    "reactive(0.5, 1)",
    "reactive(p=0.4, min=0, max=3)",
    "reactive(0.2, 2, base=cburst(3))",
];

const LAWS: &[(&str, f64)] = &[
    ("constant", 16.0),
    ("constant(3)", 3.0),
    ("uniform(1, 31)", 16.0),
    ("bimodal(4, 40, 0.25)", 13.0),
    ("discrete(4:7, 16:2, 64:1)", 12.4),
    // Sum of x from 4 to 20 is 204, that of x^2 is 2856.
    ("polynomial(0, 1; 4, 20)", 2856.0 / 204.0),
];

fn config(nodes: u32) -> Config {
    Config::new(Geometry::new(&[nodes]).unwrap())
}

/// \[phit\] Size of a message in full packets of 16 phits.
fn carried(phits: u64) -> u64 {
    phits.next_multiple_of(16)
}

#[test]
fn laws_have_the_means_that_they_say() {
    let mut rng = stream(1, 0, Purpose::Size);
    for &(text, mean) in LAWS {
        let mut law = size::parse(text, size::LawContext::new(16, 4)).unwrap();
        assert!((law.mean() - mean).abs() < 1e-12 * mean, "{text}: {}", law.mean());
        const DRAWS: u32 = 1_000_000;
        let (mut sum, mut squares, mut full) = (0.0, 0.0, 0.0);
        for _ in 0..DRAWS {
            let phits = law.phits(&mut rng);
            full += carried(phits) as f64;
            let phits = phits as f64;
            sum += phits;
            squares += phits * phits;
        }
        let found = sum / f64::from(DRAWS);
        let carried = full / f64::from(DRAWS);
        assert!((carried - law.carried()).abs() < 0.005 * carried, "{text}: {carried}, said {}", law.carried());
        let variance = squares / f64::from(DRAWS) - found * found;
        assert!((found - mean).abs() <= 4.0 * (variance.max(0.0) / f64::from(DRAWS)).sqrt(), "{text}: {found}");
    }
}

/// Mean and share of large sizes of heavy-tailed laws whose variance is finite, and of distributions in bytes.
const HEAVY: &[&str] = &[
    "pareto(2.5)",
    "pareto(1.2, mean=100, max=5000)",
    "lognormal(3, 1)",
    "lognormal(2, 2, max=100000)",
    "weibull(0.5, mean=300)",
    "gamma(0.2, mean=50)",
    "gamma(5, mean=20000)",
    "cdf(hadoop)",
    "cdf(alistorage)",
    "cdf(websearch)",
    "cdf(datamining)",
];

#[test]
fn heavy_tailed_laws_have_the_means_that_they_say() {
    const DRAWS: u32 = 1_000_000;
    let mut rng = stream(11, 0, Purpose::Size);
    for &text in HEAVY {
        let mut law = size::parse(text, size::LawContext::new(16, 4)).unwrap();
        let (mut sums, mut squares) = ([0.0; 2], [0.0; 2]);
        for _ in 0..DRAWS {
            let phits = law.phits(&mut rng);
            for (at, phits) in [phits, carried(phits)].into_iter().enumerate() {
                sums[at] += phits as f64;
                squares[at] += (phits as f64).powi(2);
            }
        }
        for (at, said) in [law.mean(), law.carried()].into_iter().enumerate() {
            let found = sums[at] / f64::from(DRAWS);
            let deviation = ((squares[at] / f64::from(DRAWS) - found * found) / f64::from(DRAWS)).sqrt();
            assert!((found - said).abs() < 4.0 * deviation, "{text}: {found} +- {deviation}, said {said}");
        }
    }
}

/// The sum over all sizes, one by one, of what laws sum in closed form.
#[test]
fn means_of_limited_laws_are_their_sums() {
    for (text, mean) in [
        // Size n has the probability of more than n - 1 less that of more than n; X is above x with (0.6 m / x)^2.5.
        (
            "pareto(2.5, mean=40, max=60000)",
            (0..60_000).map(|n| (24.0 / f64::from(n).max(24.0)).powf(2.5)).sum::<f64>(),
        ),
        ("weibull(0.5, mean=2000, max=100000)", (0..100_000).map(|n| (-(f64::from(n) / 1000.0).sqrt()).exp()).sum()),
        ("gamma(1, mean=7000, max=90000)", (0..90_000).map(|n| (-f64::from(n) / 7000.0).exp()).sum()),
    ] {
        let law = size::parse(text, size::LawContext::new(1, 4)).unwrap();
        assert!((law.mean() / mean - 1.0).abs() < 1e-8, "{text}: {} instead of {mean}", law.mean());
        assert_eq!(law.mean(), law.carried(), "{text}");
    }
}

/// Means \[bytes\] of the published points.
#[test]
fn flow_sizes_have_the_published_means() {
    for (name, mean) in
        [("websearch", 1_711_250.0), ("datamining", 12_658_199.0), ("hadoop", 120_421.0), ("alistorage", 40_870.0)]
    {
        // Sizes are truncated to whole bytes, which takes half a byte on average.
        let law = size::parse(&format!("cdf({name})"), size::LawContext::new(1497, 1)).unwrap();
        assert!((law.mean() + 0.5 - mean).abs() <= 1.0, "{name}: {}", law.mean());
        // Full frames: at least one each, and at most one byte less than a frame of padding.
        assert!(law.carried() > law.mean() && law.carried() < law.mean() + 1497.0, "{name}: {}", law.carried());
    }
}

/// Kolmogorov-Smirnov at 0.001 of 10^5 sizes against the points.
#[test]
fn flow_sizes_have_their_distribution() {
    const DRAWS: usize = 100_000;
    let points = [(0.0, 0.0), (180.0, 0.1), (216.0, 0.2), (560.0, 0.3), (900.0, 0.4), (1100.0, 0.5), (1870.0, 0.6)];
    let points =
        [&points[..], &[(3160.0, 0.7), (1e4, 0.8), (4e5, 0.9), (3.16e6, 0.95), (1e8, 0.98), (1e9, 1.0)]].concat();
    let below = |size: f64| {
        let above = points.iter().position(|point| point.0 >= size).unwrap_or(points.len() - 1).max(1);
        let ((from, less), (to, more)) = (points[above - 1], points[above]);
        less + (more - less) * (size - from) / (to - from)
    };
    let mut law = size::parse("cdf(datamining)", size::LawContext::new(1497, 1)).unwrap();
    let mut rng = stream(12, 0, Purpose::Size);
    let mut sizes: Vec<u64> = (0..DRAWS).map(|_| law.phits(&mut rng)).collect();
    sizes.sort_unstable();
    // Up to this size: those whose real number is below the next whole one.
    let distance = (1..DRAWS)
        .filter(|&at| sizes[at] != sizes[at - 1])
        .map(|at| (at as f64 / DRAWS as f64 - below(sizes[at - 1] as f64 + 1.0)).abs());
    let distance = distance.fold(0.0, f64::max) * (DRAWS as f64).sqrt();
    assert!(distance < 1.95, "{distance}");
}

#[test]
fn distributions_of_sizes_are_read_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sizes.csv");
    let law = |text: &str| {
        std::fs::write(&path, text).unwrap();
        size::parse(&format!("cdf(\"{}\")", path.display()), size::LawContext::new(16, 1))
    };
    // Half of the messages have 100 bytes, the others 100 to 200 but 200.
    for text in ["bytes,percent\n100,50\n200,100\n", "# points\n100 0.5\n200 1\n", "0,0\n100,0\n100,50\n200,100"] {
        let law = law(text).unwrap();
        // In packets of 16: 100 to 112, 113 to 128, ..., 193 to 199.
        let full = (112.0 + 0.13 * 112.0 + 0.16 * (128.0 + 144.0 + 160.0 + 176.0 + 192.0) + 0.07 * 208.0) / 2.0;
        assert_eq!(law.mean(), 124.75, "{text}");
        assert!((law.carried() - full).abs() < 1e-9, "{text}: {}", law.carried());
    }
    for (text, what) in [
        ("", "no points"),
        ("100,50\n200,99", "the last share is 99"),
        ("100,50\n90,100", "line 2: sizes or shares decrease"),
        ("100,50\n200,40\n300,100", "line 2: sizes or shares decrease"),
        ("100\n200", "line 1: not a size and a share"),
        ("1,2,3", "line 1: not a size and a share"),
        ("-1,0\n5,100", "line 1: a size of -1 bytes"),
        ("2e12,100", "line 1: a size of 2000000000000 bytes"),
        ("0,0\n5,x", "line 2: `x` is not a number"),
    ] {
        let refusal = law(text).unwrap_err();
        assert!(refusal.to_string().contains(what) && !refusal.remedy().is_empty(), "{text}: {refusal}");
    }
    let refusal = size::parse("cdf(websaerch)", size::LawContext::new(16, 1)).unwrap_err();
    assert!(refusal.to_string().contains("cannot read websaerch"), "{refusal}");
    assert_eq!("cdf(hadoop)".parse::<Spec>().unwrap().files(), [""; 0].map(PathBuf::from));
    let sources: Sources = "uniform + source(matrix(m), size=cdf(\"s t\"))".parse().unwrap();
    assert_eq!(sources.files(), ["m", "s t"].map(PathBuf::from));
    assert_eq!(
        sources.with_files(|file| Path::new("b").join(file)),
        "uniform + source(matrix(\"b/m\"), size=cdf(\"b/s t\"))"
    );
}

#[test]
fn other_paths_take_the_place_of_files_in_text_and_tree() {
    for text in
        ["cdf(a.csv)", "f( x=cdf(\"a b\"), cdf(hadoop), y=matrix(é,z) )", "pareto(1)", "mix(0.5:cdf(a),1:cdf(b))"]
    {
        let mut spec: Spec = text.parse().unwrap();
        spec.replace_files(|file| Path::new("sub").join(file));
        assert_eq!(spec, spec.text().parse().unwrap());
        let moved: Vec<_> =
            text.parse::<Spec>().unwrap().files().iter().map(|file| Path::new("sub").join(file)).collect();
        assert_eq!(spec.files(), moved);
    }
}

#[test]
fn heavy_tailed_gaps_offer_the_load_from_the_first_cycle() {
    // Gaps of finite variance; of each, the messages of the first tenth, and of all cycles.
    for process in ["pareto(3)", "lognormal(1)", "weibull(0.6)", "gamma(0.5)", "gamma(4)"] {
        for cycles in [1_000, 20_000] {
            let (nodes, load) = (4096, 0.16);
            let config = Config { process: process.parse().unwrap(), load, mode: Mode::Open, ..config(nodes) };
            let mut counts = vec![0.0f64; nodes as usize];
            ideal(&mut Traffic::new(&config).unwrap(), Cycle(cycles), |_, message| {
                counts[message.source.index()] += 1.0
            });
            let mean = counts.iter().sum::<f64>() / f64::from(nodes);
            let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / f64::from(nodes);
            let (expected, deviation) = (0.01 * cycles as f64, (variance / f64::from(nodes)).sqrt());
            assert!((mean - expected).abs() < 4.0 * deviation, "{process}: {mean} +- {deviation}, not {expected}");
        }
    }
}

/// Chi-square at 0.001 of 10^6 sizes against weights.
fn check_sizes(text: &str, weight: impl Fn(u64) -> f64) {
    const DRAWS: u32 = 1_000_000;
    let mut law = size::parse(text, size::LawContext::new(16, 4)).unwrap();
    let mut rng = stream(2, 0, Purpose::Size);
    let mut counts = vec![0u32; 200];
    for _ in 0..DRAWS {
        counts[law.phits(&mut rng) as usize] += 1;
    }
    let total: f64 = (0..200).map(&weight).sum();
    let (mut statistic, mut classes) = (0.0, 0);
    for (size, &count) in counts.iter().enumerate() {
        let expected = f64::from(DRAWS) * weight(size as u64) / total;
        if expected == 0.0 {
            assert_eq!(count, 0, "{text}: {size}");
        } else {
            statistic += (f64::from(count) - expected).powi(2) / expected;
            classes += 1;
        }
    }
    let limit = ChiSquared::new(f64::from(classes - 1)).unwrap().inverse_cdf(0.999);
    assert!(statistic < limit, "{text}: chi-square {statistic:.1}, limit {limit:.1}");
}

#[test]
fn sizes_have_their_distributions() {
    let within = |low, high, size| f64::from(u8::from((low..=high).contains(&size)));
    check_sizes("uniform(5, 37)", |size| within(5, 37, size));
    check_sizes("bimodal(4, 40, 0.25)", |size| 0.75 * within(4, 4, size) + 0.25 * within(40, 40, size));
    check_sizes("discrete(4:7, 16:2, 64:1, 65:0)", |size| match size {
        4 => 7.0,
        16 => 2.0,
        64 => 1.0,
        _ => 0.0,
    });
    check_sizes("polynomial(100, -20, 1; 4, 20)", |size| {
        let x = size as f64;
        within(4, 20, size) * (x * x - 20.0 * x + 100.0)
    });
}

#[test]
fn unusable_laws_are_refused() {
    for (text, what) in [
        ("uniform", "needs its parameter min"),
        ("uniform(0, 4)", "min = 0 is out of range"),
        ("uniform(5, 4)", "max = 4 is out of range"),
        ("bimodal(8, 4, 0.5)", "long = 4 is out of range"),
        ("bimodal(4, 8, 1.5)", "share = 1.5 is out of range"),
        ("discrete", "needs sizes with weights"),
        ("discrete(4)", "`4` is not a size with its weight"),
        ("discrete(4:-1)", "`4(-1)` is not a size"),
        ("discrete(0:1)", "`0(1)` is not a size"),
        ("discrete(4:0)", "sum is more than 0"),
        ("discrete(4:1, 4:2)", "size 4 is listed twice"),
        ("polynomial(-5, 1; 4, 9)", "the weight of size 4 is -1"),
        ("polynomial(0; 4, 9)", "every size has weight 0"),
        ("polynomial(1; 1, 2000000)", "over 2000000 sizes"),
        ("polynomial(x; 1, 2)", "`x` is not a number"),
        ("pareto(1)", "a = 1 is out of range"),
        ("pareto", "needs its parameter a"),
        ("lognormal(2)", "needs its parameter s"),
        ("weibull(0.5, mean=0)", "mean = 0 is out of range"),
        ("gamma(0.5, max=0)", "max = 0 is out of range"),
        ("cdf", "needs its parameter file"),
        ("exponential(4)", "unknown size law `exponential`"),
    ] {
        let refusal = size::parse(text, size::LawContext::new(16, 4)).unwrap_err();
        assert!(refusal.to_string().contains(what), "{text}: {refusal}");
        assert!(refusal.to_string().contains("\n  ") && !refusal.remedy().is_empty(), "{text}: {refusal}");
    }
}

/// Every process with every law, over 10^6 cycles, on enough nodes to keep the statistical error below the tolerance.
#[test]
fn the_offered_load_is_the_one_asked_for() {
    const CYCLES: u64 = 1_000_000;
    for &process in PROCESSES {
        for &(law, _) in LAWS {
            for mode in [Mode::Throttled, Mode::Open] {
                let nodes = if process.starts_with("markov") { 128 } else { 32 };
                let (process, size) = (process.parse().unwrap(), law.parse().unwrap());
                let load = 0.6;
                let config = Config { process, size, load, mode, ..config(nodes) };
                let mut phits = 0u64;
                ideal(&mut Traffic::new(&config).unwrap(), Cycle(CYCLES), |_, message| {
                    phits += carried(message.bytes / 4)
                });
                let offered = phits as f64 / f64::from(nodes) / CYCLES as f64;
                let Config { process, size, .. } = config;
                assert!((offered / load - 1.0).abs() < 0.005, "{process} {size} {mode:?}: {offered} instead of {load}");
            }
        }
    }
}

/// Index of dispersion, variance over mean, of the messages of one node in windows of `window` cycles.
fn dispersion(process: &str, rate: f64, nodes: u32, cycles: u64, window: u64) -> f64 {
    let config =
        Config { process: process.parse().unwrap(), load: rate, packet_phits: 1, mode: Mode::Open, ..config(nodes) };
    let (mut windows, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for counts in counts(&mut Traffic::new(&config).unwrap(), cycles, window) {
        for count in counts {
            windows += 1.0;
            sum += f64::from(count);
            squares += f64::from(count).powi(2);
        }
    }
    let mean: f64 = sum / windows;
    (squares / windows - mean * mean) / mean
}

#[test]
fn dispersion_is_that_of_the_formulas() {
    // Independent trials: 1 - p, whatever the window.
    let found = dispersion("bernoulli", 0.1, 64, 1_000_000, 100);
    assert!((found / 0.9 - 1.0).abs() < 0.02, "bernoulli: {found}");
    let found = dispersion("poisson", 0.02, 64, 1_000_000, 100);
    assert!((found - 1.0).abs() < 0.02, "poisson: {found}");

    // Bursts of B in a period of T cycles, seen through a window of W at a random phase: the overlap of burst and
    // window contains k of the B messages. All T phases are equally likely.
    for (burst, period, window) in [(4u64, 40u64, 25u64), (10, 100, 50), (10, 100, 130), (1, 20, 7), (50, 200, 90)] {
        let (mut sum, mut squares) = (0.0, 0.0);
        for phase in 0..period {
            let count = (0..window).filter(|cycle| (cycle + phase) % period < burst).count() as f64;
            sum += count;
            squares += count * count;
        }
        let mean = sum / period as f64;
        let formula = (squares / period as f64 - mean * mean) / mean;
        let process = format!("cburst({burst})");
        let found = dispersion(&process, burst as f64 / period as f64, 2000, 100_000, window);
        assert!((found / formula - 1.0).abs() < 0.02, "{process}, T = {period}, W = {window}: {found}, not {formula}");
    }

    // On and off: trials of rate r, on with probability q = 1 / (1 + a), whose states k cycles apart correlate by
    // c^k, c = 1 - p10 - p10 / a. The variance in W cycles is W m (1 - m) + 2 r^2 q (1 - q) sum (W - k) c^k, m = r q.
    for (a, p10, rate, window) in
        [(2.0, 0.05, 0.1, 200u64), (1.0, 0.1, 0.25, 50), (4.0, 0.02, 0.05, 500), (0.5, 0.5, 0.3, 20)]
    {
        let on = 1.0 / (1.0 + a);
        let while_on = rate * (1.0 + a);
        let c: f64 = 1.0 - p10 - p10 / a;
        let pairs: f64 = (1..window).map(|k| (window - k) as f64 * c.powi(k as i32)).sum();
        let variance = window as f64 * rate * (1.0 - rate) + 2.0 * while_on * while_on * on * (1.0 - on) * pairs;
        let formula = variance / (window as f64 * rate);
        let process = format!("markov({a}, {p10})");
        let found = dispersion(&process, rate, 256, 1_000_000, window);
        assert!((found / formula - 1.0).abs() < 0.02, "{process}, rate {rate}, W = {window}: {found}, not {formula}");
    }
}

#[test]
fn bursts_are_back_to_back_and_phases_as_asked() {
    let config = Config { process: "cburst(3, phase=5)".parse().unwrap(), load: 4.8, ..config(2) };
    let mut cycles = Vec::new();
    ideal(&mut Traffic::new(&config).unwrap(), Cycle(40), |cycle, message| cycles.push((cycle.0, message.source.0)));
    // 3 x 16 / 4.8 = 10 cycles from burst to burst.
    let expected: Vec<_> =
        [6, 7, 8, 16, 17, 18, 26, 27, 28, 36, 37, 38].into_iter().flat_map(|cycle| [(cycle, 0), (cycle, 1)]).collect();
    assert_eq!(cycles, expected);
    // Drawn phases are spread over the period.
    let spread = Config { process: "periodic".parse().unwrap(), load: 0.16, ..super::common::line(2000) };
    let mut first = vec![0; 2000];
    ideal(&mut Traffic::new(&spread).unwrap(), Cycle(100), |cycle, message| first[message.source.index()] = cycle.0);
    assert!(first.iter().all(|cycle| (1..=100).contains(cycle)));
    for decile in 0..10 {
        let count = first.iter().filter(|&&cycle| (cycle - 1) / 10 == decile).count();
        assert!((150..250).contains(&count), "{count} of 2000 in decile {decile}");
    }
}

/// A node that the network has blocked makes up for nothing, and goes on.
#[test]
fn throttled_nodes_do_not_make_up_for_what_they_missed() {
    for process in ["bernoulli", "poisson", "periodic", "cburst(4)", "markov(1, 0.1)"] {
        let context = temporal::ProcessContext { nodes: 1, load: 0.05, capacity: 1.0, mean_phits: 1.0, seed: 3 };
        let mut process_of = temporal::parse(process, context).unwrap();
        let mut rng = stream(3, 0, Purpose::Temporal);
        let node = trgen::NodeId(0);
        let first = process_of.next(node, Cycle(0), &mut rng);
        assert!(first > Cycle(0));
        // Blocked for 100000 cycles, in which some 5000 messages would have been generated; then free.
        let mut from = Cycle(100_000);
        let mut count = 0;
        while from < Cycle(110_000) {
            let next = process_of.next(node, from, &mut rng);
            assert!(next > from, "{process}");
            from = next;
            count += 1;
        }
        assert!((350..650).contains(&count), "{process}: {count} messages in 10000 cycles at rate 0.05");
    }
}

#[test]
fn unusable_processes_are_refused() {
    let refused = |process: &str, load| {
        let misfit = Traffic::new(&Config { process: process.parse().unwrap(), load, ..config(8) }).unwrap_err();
        (misfit.refusal.to_string(), misfit.refusal.remedy().to_string())
    };
    for (process, load, what) in [
        ("cburst", 0.3, "needs its parameter B"),
        ("cburst(0)", 0.3, "B = 0 is out of range"),
        ("cburst(2)", 17.0, "1.062 messages per node and cycle"),
        ("periodic(-1)", 0.3, "phase = -1 is out of range"),
        ("periodic(sometimes)", 0.3, "`sometimes` is not a number"),
        ("poisson", 17.0, "a node generates at most one"),
        ("markov(1)", 0.3, "needs its parameter p10"),
        ("markov(0, 0.1)", 0.3, "a = 0 is out of range"),
        ("markov(0.1, 0.5)", 0.3, "from off to on with probability 5.000"),
        ("markov(3, 0.1)", 5.0, "1.250 messages per cycle while on"),
        ("markov(1, 1)", 1e-9, "messages in the mean"),
        ("reactive(0.5, 2)", 0.3, "would cause 1.000 messages in the mean"),
        ("reactive(2, 1)", 0.3, "p = 2 is out of range"),
        ("reactive(0.1, 3, 2)", 0.3, "max = 2 is out of range"),
        ("reactive(0.1, base=shot(3))", 0.3, "`shot` is not a process that every node runs for itself"),
        ("pareto(0.5)", 0.3, "a = 0.5 is out of range"),
        ("weibull", 0.3, "needs its parameter k"),
        ("request-reply(service=0)", 0.3, "service = 0 is out of range"),
        ("request-reply(size=nothing)", 0.3, "unknown size law `nothing`"),
        ("request-reply(size=cdf(x.csv))", 0.3, "the sizes of replies cannot stand in a file, `x.csv`"),
        ("request-reply(base=shot(3))", 0.3, "`shot` is not a process that every node runs for itself"),
        ("incast", 0.3, "needs its parameter senders"),
        ("incast(8)", 0.3, "senders = 8 is out of range"),
        ("shot(0)", 0.3, "messages = 0 is out of range"),
        ("background(0.1)", 0.3, "beside an application"),
        ("bernouli", 0.3, "unknown temporal process `bernouli`"),
    ] {
        let (text, remedy) = refused(process, load);
        assert!(text.contains(what), "{process}: {text}");
        assert!(!remedy.is_empty(), "{process}");
    }
    assert!(refused("markov(3, 0.1)", 5.0).1.contains("at most 4"));
    assert_eq!(refused("bernouli", 0.3).1, "did you mean `bernoulli`?");
    assert_eq!(refused("reactive(0.1, base=shot(3))", 0.3).0.lines().nth(2), Some("                     ^"));
}

#[test]
fn every_request_gets_one_reply_of_its_own_size_and_class() {
    for mode in [Mode::Open, Mode::Throttled] {
        let process = "request-reply(size=constant(80), service=30)".parse().unwrap();
        let config = Config { process, load: 0.5, mode, ..config(16) };
        let mut traffic = Traffic::new(&config).unwrap();
        let (mut requests, mut replies) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
        ideal(&mut traffic, Cycle(20_000), |_, message| {
            let (count, phits) = match message.class {
                0 => (requests.entry((message.source, message.destination)).or_insert(0u32), 16),
                _ => (replies.entry((message.destination, message.source)).or_insert(0u32), 80),
            };
            *count += 1;
            assert_eq!(message.bytes, 4 * phits);
        });
        // Those of the last cycles have no reply yet.
        let (asked, answered): (u32, u32) = (requests.values().sum(), replies.values().sum());
        assert!(answered <= asked && asked - answered < 30 && answered > 1_000, "{mode:?}: {asked}, {answered}");
        assert!(replies.iter().all(|(pair, count)| requests.get(pair).is_some_and(|asked| count <= asked)));
        let times = traffic.round_trips().unwrap();
        assert!(times.count > 1_000 && times.least == 30, "{mode:?}: {times:?}");
    }
}

/// Each event has as many messages as senders, all different, to one other node.
#[test]
fn incasts_go_from_several_nodes_to_one_at_once() {
    for (pattern, senders) in [("uniform", 5), ("hotspot(1,3)", 15), ("shift(1)", 1)] {
        let process = format!("incast({senders})").parse().unwrap();
        let config = Config { process, pattern: pattern.parse().unwrap(), load: 0.01, ..config(16) };
        let mut events: Vec<(Cycle, Vec<(u32, u32)>)> = Vec::new();
        ideal(&mut Traffic::new(&config).unwrap(), Cycle(300_000), |cycle, message| {
            let ends = (message.source.0, message.destination.0);
            match events.last_mut() {
                // Two events may fall into one cycle.
                Some((last, all)) if *last == cycle && all.len() < senders => all.push(ends),
                _ => events.push((cycle, vec![ends])),
            }
        });
        // Messages of 16 phits: 16 nodes x 0.01 / 16 in a cycle.
        let expected = 300_000.0 * 0.01 / senders as f64;
        assert!((events.len() as f64 - expected).abs() < 4.0 * expected.sqrt(), "{pattern}: {} events", events.len());
        let mut received = [0; 16];
        for (_, ends) in &events {
            let mut sources: Vec<u32> = ends.iter().map(|(source, _)| *source).collect();
            sources.sort_unstable();
            sources.dedup();
            assert_eq!(sources.len(), senders, "{pattern}: {ends:?}");
            assert!(ends.iter().all(|(source, to)| *to == ends[0].1 && source != to), "{pattern}: {ends:?}");
            received[ends[0].1 as usize] += 1;
        }
        // Node 3 sends elsewhere itself, when it is the first of an event.
        let least = if pattern.starts_with("hotspot") { events.len() * 4 / 5 } else { 0 };
        assert!(received[3] > least && received.iter().all(|&count| count > 0 || least > 0), "{pattern}: {received:?}");
    }
}

/// Each event has copies of one message to as many different nodes.
#[test]
fn multicasts_go_from_one_node_to_several() {
    for (pattern, receivers) in [("uniform", 5), ("shift(1)", 15)] {
        let process = format!("multicast({receivers})").parse().unwrap();
        let config = Config {
            process,
            pattern: pattern.parse().unwrap(),
            size: "uniform(16, 160)".parse().unwrap(),
            load: 0.2,
            ..config(16)
        };
        let mut copies: Vec<Message> = Vec::new();
        ideal(&mut Traffic::new(&config).unwrap(), Cycle(300_000), |_, message| copies.push(*message));
        let events: Vec<&[Message]> = copies.chunks_exact(receivers).collect();
        let phits: u64 = copies.iter().map(|message| message.bytes / 4).sum();
        let offered = phits as f64 / (16.0 * 300_000.0);
        assert!(events.len() > 500 && (offered / 0.2 - 1.0).abs() < 0.1, "{pattern}: {offered}");
        for event in events {
            let first = event[0];
            let mut receivers_of: Vec<NodeId> = event.iter().map(|copy| copy.destination).collect();
            receivers_of.sort_unstable();
            receivers_of.dedup();
            assert_eq!(receivers_of.len(), receivers, "{pattern}: {event:?}");
            assert!(!receivers_of.contains(&first.source));
            assert!(event.iter().all(|copy| (copy.source, copy.bytes) == (first.source, first.bytes)), "{event:?}");
            assert!(pattern == "uniform" || first.destination.0 == (first.source.0 + 1) % 16);
        }
    }
}

#[test]
fn no_load_is_done_at_once() {
    for process in PROCESSES {
        let config = Config { process: (*process).parse().unwrap(), load: 0.0, ..config(4) };
        assert_eq!(Traffic::new(&config).unwrap().next(), Next::Done, "{process}");
    }
}
