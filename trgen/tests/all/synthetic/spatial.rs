//! Spatial patterns: exact destinations, rejection, distributions.

use statrs::distribution::{ChiSquared, ContinuousCDF};
use trgen::rng::{Purpose, stream};
use trgen::synthetic::spatial::{self, Pattern};
use trgen::{Geometry, NodeId};

fn pattern(text: &str, sizes: &[u32]) -> Box<dyn Pattern> {
    let grid = Geometry::new(sizes).unwrap();
    spatial::parse(text, &grid, 7).unwrap_or_else(|refusal| panic!("{refusal}: {}", refusal.remedy()))
}

/// Destinations of all nodes, `None` for silent ones; the pattern must be a map.
fn map(text: &str, sizes: &[u32]) -> Vec<Option<u32>> {
    let mut pattern = pattern(text, sizes);
    let mut rng = stream(1, 0, Purpose::Spatial);
    let map: Vec<_> = (0..pattern.nodes()).map(|i| pattern.destination(NodeId::at(i), &mut rng).map(|d| d.0)).collect();
    let again: Vec<_> =
        (0..pattern.nodes()).map(|i| pattern.destination(NodeId::at(i), &mut rng).map(|d| d.0)).collect();
    assert_eq!(map, again);
    assert_eq!(pattern.silent(), map.iter().filter(|to| to.is_none()).count());
    map
}

/// Tests a permutation against its definition on the binary digits of the node's number, most significant first.
fn check_bits(name: &str, definition: impl Fn(&[u8]) -> Vec<u8>) {
    for b in [4usize, 6, 9] {
        let nodes = 1u32 << b;
        let expected: Vec<_> = (0..nodes)
            .map(|i| {
                let digits = format!("{i:0b$b}").into_bytes();
                let moved = String::from_utf8(definition(&digits)).unwrap();
                let to = u32::from_str_radix(&moved, 2).unwrap();
                (to != i).then_some(to)
            })
            .collect();
        assert_eq!(map(name, &[nodes]), expected, "{name} of {nodes}");
    }
}

#[test]
fn bit_permutations_follow_their_definitions() {
    check_bits("complement", |digits| digits.iter().map(|digit| b'0' + b'1' - digit).collect());
    check_bits("reversal", |digits| digits.iter().rev().copied().collect());
    check_bits("inverse", |digits| digits.iter().rev().copied().collect());
    check_bits("shuffle", |digits| [&digits[1..], &digits[..1]].concat());
    check_bits("butterfly", |digits| {
        let mut swapped = digits.to_vec();
        swapped.swap(0, digits.len() - 1);
        swapped
    });
    // Bit j goes to bit j + floor(b/2): the digits move left by that much.
    check_bits("transpose", |digits| [&digits[digits.len() / 2..], &digits[..digits.len() / 2]].concat());
}

#[test]
fn known_destinations() {
    assert_eq!(map("transpose", &[16])[0b0111], Some(0b1101));
    assert_eq!(map("complement", &[16])[0b0111], Some(0b1000));
    assert_eq!(map("butterfly", &[16])[0b0111], Some(0b1110));
    assert_eq!(map("shuffle", &[16])[0b1011], Some(0b0111));
    assert_eq!(map("reversal", &[16])[0b0011], Some(0b1100));
    assert_eq!(map("transpose", &[512])[1], Some(16));
    // 0 and N-1 are fixed points of all bit permutations; those of the transpose on 8x8 are its diagonal.
    assert_eq!(pattern("transpose", &[8, 8]).silent(), 8);
    assert_eq!(pattern("complement", &[8, 8]).silent(), 0);
    assert_eq!(pattern("shuffle", &[8, 8]).silent(), 2);
    assert_eq!(pattern("butterfly", &[8, 8]).silent(), 32);
    assert_eq!(pattern("reversal", &[8, 8]).silent(), 8);
}

#[test]
fn transposes_of_square_grids_swap_coordinates() {
    for side in [4u32, 8, 16, 32] {
        let grid = Geometry::new(&[side, side]).unwrap();
        for (i, to) in map("transpose", &[side, side]).into_iter().enumerate() {
            let own = grid.coordinates(NodeId::at(i));
            assert_eq!(to, (own[0] != own[1]).then(|| grid.node(&[own[1], own[0]]).0));
        }
    }
}

#[test]
fn bit_permutations_of_other_sizes_are_refused() {
    let grid = Geometry::new(&[60]).unwrap();
    for name in ["transpose", "complement", "butterfly", "shuffle", "reversal"] {
        let refusal = spatial::parse(name, &grid, 1).unwrap_err();
        let text = refusal.to_string();
        assert!(text.contains(name) && text.contains("60"), "{text}");
        assert!(refusal.remedy().to_string().contains("32 or 64"), "{}", refusal.remedy());
    }
    // A single node has no bits, and no other node.
    for name in ["transpose", "complement", "butterfly", "shuffle", "reversal"] {
        assert_eq!(map(name, &[1]), [None]);
        assert_eq!(pattern(name, &[2]).nodes(), 2);
    }
}

#[test]
fn other_refusals() {
    let grid = Geometry::new(&[60]).unwrap();
    let refused = |text| spatial::parse(text, &grid, 1).unwrap_err().to_string();
    assert!(refused("unifrom").contains("unknown traffic pattern `unifrom`"));
    assert!(refused("groupshift(7)").contains("7 does not divide 60"));
    assert!(refused("groupshift").contains("needs its parameter g"));
    assert!(refused("hotspot").contains("needs its parameter h"));
    assert!(refused("hotspot(1.5)").contains("h = 1.5 is out of range"));
    assert!(refused("hotspot(0.5,60)").contains("`60` is not a node"));
    assert!(refused("hotspot(0.5,3,3)").contains("node 3 is listed twice"));
    let small = Geometry::new(&[7]).unwrap();
    assert!(spatial::parse("hotregion", &small, 1).unwrap_err().to_string().contains("an eighth of 7"));
}

#[test]
fn tornadoes() {
    // ceil(5/2) - 1 = 2 in x, ceil(4/2) - 1 = 1 in y.
    let moved = map("tornado", &[5, 4]);
    assert_eq!(moved[0], Some(2 + 5));
    assert_eq!(moved[4], Some(1 + 5), "wraps inside the row");
    assert_eq!(moved[19], Some(1), "(4,3) to (1,0)");
    assert_eq!(pattern("tornado", &[2, 2]).silent(), 4, "half way round 2 is back");
    assert_eq!(map("tornado", &[2, 3])[0], Some(2));
    // The original's: (i + floor((k-1)/2)) mod N, into the next row.
    let moved = map("tornado-fsin", &[8, 8]);
    assert_eq!((moved[0], moved[6], moved[63]), (Some(3), Some(9), Some(2)));
}

#[test]
fn neighbours_and_shifts() {
    assert_eq!(map("neighbor", &[4, 2]), [1, 2, 3, 0, 5, 6, 7, 4].map(Some));
    assert_eq!(map("neighbor(-1)", &[4, 2]), [3, 0, 1, 2, 7, 4, 5, 6].map(Some));
    assert_eq!(map("neighbor(d=6)", &[4, 2]), map("neighbor(2)", &[4, 2]));
    assert_eq!(pattern("neighbor(4)", &[4, 2]).silent(), 8);
    assert_eq!(map("neighbor-all", &[3, 2]), [4, 5, 3, 1, 2, 0].map(Some));
    assert_eq!(map("shift(3)", &[5]), [3, 4, 0, 1, 2].map(Some));
    assert_eq!(map("shift(-1)", &[5]), [4, 0, 1, 2, 3].map(Some));
    assert_eq!(map("shift:3", &[5]), map("shift(s=8)", &[5]));
}

#[test]
fn groups_send_to_the_next_group() {
    let mut near = pattern("groupshift(4)", &[16]);
    let mut rng = stream(1, 0, Purpose::Spatial);
    let mut own = pattern("groupshift(4, 4)", &[16]);
    for draw in 0..2000 {
        let source = NodeId(draw % 16);
        let to = near.destination(source, &mut rng).unwrap();
        assert_eq!(to.0 / 4, (source.0 / 4 + 1) % 4);
        let to = own.destination(source, &mut rng).unwrap();
        assert!(to != source && to.0 / 4 == source.0 / 4);
    }
    assert_eq!(pattern("groupshift(1,0)", &[16]).silent(), 16);
    check_even("groupshift(8, -1)", 64, 20, |to| if (8..16).contains(&to) { 1.0 } else { 0.0 });
    check_even("groupshift(8, 0)", 64, 20, |to| if (16..24).contains(&to) && to != 20 { 1.0 } else { 0.0 });
}

#[test]
fn random_permutations_and_pairings() {
    let permutation = map("randperm", &[500]);
    let mut seen: Vec<_> = permutation.iter().enumerate().map(|(i, to)| to.unwrap_or(i as u32)).collect();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..500));
    assert!(pattern("randperm", &[500]).silent() < 8);

    let pairs = map("bisect", &[500]);
    assert!((0..500u32).all(|i| pairs[pairs[i as usize].unwrap() as usize] == Some(i)));
    assert_eq!(pattern("bisect", &[501]).silent(), 1);

    let grid = Geometry::new(&[500]).unwrap();
    let other = |text| {
        let mut pattern = spatial::parse(text, &grid, 8).unwrap();
        let mut rng = stream(1, 0, Purpose::Spatial);
        (0..500).map(|i| pattern.destination(NodeId(i), &mut rng).map(|d| d.0)).collect::<Vec<_>>()
    };
    assert_ne!(other("randperm"), permutation, "depends on the seed");
    assert_ne!(other("bisect"), pairs);
}

#[test]
fn round_robin_visits_the_others_in_turn() {
    let mut rng = stream(1, 0, Purpose::Spatial);
    let mut robin = pattern("distribute", &[5]);
    let mut next = |source| robin.destination(NodeId(source), &mut rng).unwrap().0;
    // Each node has its own position in the round.
    assert_eq!([next(3), next(3), next(0), next(3), next(3), next(3), next(0)], [4, 0, 1, 1, 2, 4, 2]);

    let mut random = pattern("rsdist", &[5]);
    let mut starts = [0; 5];
    for seed in 0..400 {
        random = if seed > 0 { pattern("rsdist", &[5]) } else { random };
        let mut rng = stream(seed, 3, Purpose::Spatial);
        let round: Vec<u32> = (0..5).map(|_| random.destination(NodeId(3), &mut rng).unwrap().0).collect();
        starts[round[0] as usize] += 1;
        assert_eq!(round[4], round[0]);
        let order = [4, 0, 1, 2, 4, 0, 1, 2];
        assert!(order.windows(4).any(|window| window == &round[..4]), "{round:?}");
    }
    assert_eq!(starts[3], 0);
    assert!(starts.iter().enumerate().all(|(node, &count)| node == 3 || count > 70), "{starts:?}");
}

/// Chi-square at 0.001 over 10^6 draws of one source against weights per destination (not normalised); a destination of
/// weight 0 must not occur.
fn check_even(text: &str, nodes: u32, source: u32, weight: impl Fn(u32) -> f64) {
    const DRAWS: u32 = 1_000_000;
    let mut pattern = pattern(text, &[nodes]);
    let mut rng = stream(11, u64::from(source), Purpose::Spatial);
    let mut counts = vec![0u32; nodes as usize];
    for _ in 0..DRAWS {
        counts[pattern.destination(NodeId(source), &mut rng).unwrap().index()] += 1;
    }
    let total: f64 = (0..nodes).map(&weight).sum();
    let (mut statistic, mut classes) = (0.0, 0);
    for (to, &count) in counts.iter().enumerate() {
        let expected = f64::from(DRAWS) * weight(to as u32) / total;
        if expected == 0.0 {
            assert_eq!(count, 0, "{text}: {source} to {to}");
        } else {
            statistic += (f64::from(count) - expected).powi(2) / expected;
            classes += 1;
        }
    }
    if classes == 1 {
        return;
    }
    let limit = ChiSquared::new(f64::from(classes - 1)).unwrap().inverse_cdf(0.999);
    assert!(statistic < limit, "{text} from {source}: chi-square {statistic:.1}, limit {limit:.1}");
}

#[test]
fn uniform_is_even() {
    for (nodes, source) in [(2, 0), (3, 1), (64, 0), (64, 37), (64, 63), (1000, 999)] {
        check_even("uniform", nodes, source, |to| f64::from(u8::from(to != source)));
    }
    assert_eq!(map("uniform", &[1]), [None]);
}

/// The share of hot traffic to each of `hot` nodes other than the source, the rest even over the others.
fn hot_weight(share: f64, hot: &[u32], nodes: u32, source: u32) -> impl Fn(u32) -> f64 {
    let others: Vec<u32> = hot.iter().copied().filter(|&node| node != source).collect();
    let share = if others.is_empty() { 0.0 } else { share };
    move |to| {
        let even = if to == source { 0.0 } else { (1.0 - share) / f64::from(nodes - 1) };
        even + if others.contains(&to) { share / others.len() as f64 } else { 0.0 }
    }
}

#[test]
fn hot_spots_get_their_share() {
    check_even("hotspot(0.02)", 64, 9, hot_weight(0.02, &[0], 64, 9));
    check_even("hotspot(0.02)", 64, 0, hot_weight(0.02, &[0], 64, 0));
    check_even("hotspot(0.3,40,3,9)", 64, 5, hot_weight(0.3, &[3, 9, 40], 64, 5));
    check_even("hotspot(0.3,40,3,9)", 64, 9, hot_weight(0.3, &[3, 9, 40], 64, 9));
    check_even("hotspot(1,2)", 64, 5, |to| f64::from(u8::from(to == 2)));
    check_even("hotspot(0,2)", 64, 5, |to| f64::from(u8::from(to != 5)));
}

#[test]
fn the_hot_region_gets_a_quarter() {
    let region: Vec<u32> = (0..8).collect();
    for source in [0, 7, 8, 63] {
        check_even("hotregion", 64, source, hot_weight(0.25, &region, 64, source));
    }
    // An eighth of 15 nodes is node 0 and seven eighths of node 1; of 8 it is node 0, which has no other hot
    // destination.
    check_even("hotregion", 15, 0, hot_weight(0.25, &[1], 15, 0));
    check_even("hotregion", 15, 1, hot_weight(0.25, &[0], 15, 1));
    check_even("hotregion", 8, 0, |to| f64::from(u8::from(to != 0)));
}

#[test]
fn components_describe_themselves() {
    let names: Vec<_> = spatial::components().map(|component| component.name).collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    let grid = Geometry::new(&[8, 8]).unwrap();
    for component in spatial::components() {
        assert!(!component.about.is_empty() && !component.source.is_empty(), "{}", component.name);
        let alone = spatial::parse(component.name, &grid, 1);
        // Demands are those of a network's file, and a grid has none.
        let required =
            component.name == "demands" || component.parameters.iter().any(|parameter| parameter.default.is_empty());
        assert_eq!(alone.is_err(), required, "{}", component.name);
        let reads_a_file = component.parameters.iter().any(|parameter| parameter.name == "file");
        match spatial::example(component.name) {
            Some(example) => assert!(required && spatial::parse(example, &grid, 1).is_ok(), "{example}"),
            None => {
                assert!(!required || reads_a_file || component.name == "demands", "{} has no example", component.name)
            }
        }
    }
}
