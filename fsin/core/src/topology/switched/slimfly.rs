//! Slim Fly: graphs of McKay, Miller and Širáň, of diameter 2 and almost as many switches as the Moore bound permits.

use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};

use super::graph::Unplanned;
use super::named::Named;
use super::{Link, Switched, check_nodes};
use crate::topology::{Kind, Row, table::both_ways};

/// A valid specification.
const EXAMPLE: &str = "slimfly:q=5,p=4";

/// Maximum value of q. A switch has about 3 q / 2 links to others.
const MOST: u32 = 139;

/// Row of `slimfly`.
pub(in crate::topology) const SLIMFLY: Row = Row {
    component: Component {
        name: "slimfly",
        about: "Slim Fly (slimfly:q=5,p=4): 2 q^2 switches with (3 q - d) / 2 links to others, where q = 4 w + d is a power of a \
                prime and d is -1, 0 or 1, and p endpoints each; any two switches are at most two links apart, diameter 4 \
                with the links to endpoints",
        parameters: &[
            Parameter {
                name: "q",
                about: "order of the field",
                range: "powers of primes, 3 to 139, not 2 more than a multiple of 4",
                default: "",
            },
            Parameter {
                name: "p",
                about: "endpoints of each switch",
                range: "1 to 254",
                default: "half of the links to others, rounded up",
            },
        ],
        source: "Besta, Hoefler, Slim Fly: a cost effective low-diameter network topology, SC 2014; McKay, Miller, Širáň, A \
                 note on large graphs of diameter two and given maximum degree, Journal of Combinatorial Theory B 74, 1998; \
                 Hafner, Geometric realisation of the graphs of McKay-Miller-Širáň, ibid. 90, 2004",
    },
    kind: Kind::Switched,
    example: EXAMPLE,
    build: |words, ways| both_ways(parse(words)?, ways),
};

/// A finite field whose elements are numbers below its order: the coefficients of polynomials, as digits to the base
/// of its characteristic.
struct Field {
    /// Number of elements, q.
    order: u32,
    /// The prime of which the order is a power.
    characteristic: u32,
    /// By exponent: the power of a generator of the multiplicative group, q - 1 of them.
    powers: Vec<u32>,
    /// By element other than 0: its exponent.
    exponents: Vec<u32>,
}

impl Field {
    /// The field of this order; `None` if the order is not a power of a prime.
    fn new(order: u32) -> Option<Self> {
        let characteristic = (2..=order).find(|&divisor| order.is_multiple_of(divisor))?;
        let mut degree = 0;
        let mut rest = order;
        while rest.is_multiple_of(characteristic) {
            rest /= characteristic;
            degree += 1;
        }
        if rest != 1 {
            return None;
        }
        // A modulus x^degree + rest, and an element, such that the powers of the element are all elements but 0. A
        // modulus that can be factored has no such element.
        let candidates = (1..order).flat_map(|rest| (2.min(order - 1)..order).map(move |element| (rest, element)));
        for (modulus, element) in candidates {
            let mut powers = vec![1];
            loop {
                let next = product((powers[powers.len() - 1], element), modulus, characteristic, degree);
                if next == 1 || next == 0 || powers.len() as u32 == order {
                    break;
                }
                powers.push(next);
            }
            if powers.len() as u32 == order - 1 {
                let mut exponents = vec![u32::MAX; order as usize];
                for (exponent, &power) in powers.iter().enumerate() {
                    exponents[power as usize] = exponent as u32;
                }
                if exponents[1..].contains(&u32::MAX) {
                    continue;
                }
                return Some(Self { order, characteristic, powers, exponents });
            }
        }
        None
    }

    /// The sum of two elements: digit by digit.
    fn sum(&self, mut one: u32, mut other: u32) -> u32 {
        let (mut sum, mut place) = (0, 1);
        while one + other > 0 {
            let base = self.characteristic;
            sum += (one % base + other % base) % base * place;
            (one, other, place) = (one / base, other / base, place * base);
        }
        sum
    }

    /// The product of two elements.
    fn product(&self, one: u32, other: u32) -> u32 {
        if one == 0 || other == 0 {
            return 0;
        }
        let exponent = self.exponents[one as usize] + self.exponents[other as usize];
        self.powers[(exponent % (self.order - 1)) as usize]
    }
}

/// The product of two polynomials, modulo x^degree + `modulus`. Digits to the base are coefficients.
fn product((one, other): (u32, u32), modulus: u32, base: u32, degree: u32) -> u32 {
    let digits = |mut number: u32| {
        std::iter::repeat_with(move || {
            let digit = number % base;
            number /= base;
            digit
        })
        .take(degree as usize)
    };
    let degree = degree as usize;
    let mut coefficients = vec![0; 2 * degree];
    for (at, one) in digits(one).enumerate() {
        for (by, other) in digits(other).enumerate() {
            coefficients[at + by] = (coefficients[at + by] + one * other) % base;
        }
    }
    for high in (degree..2 * degree).rev() {
        let factor = std::mem::take(&mut coefficients[high]);
        for (at, digit) in digits(modulus).enumerate() {
            let place = &mut coefficients[high - degree + at];
            *place = (*place + factor * (base - digit)) % base;
        }
    }
    coefficients[..degree].iter().rev().fold(0, |number, digit| number * base + digit)
}

/// The two sets of generators, X and X': the differences of neighbours within the two halves of the graph.
fn generators(field: &Field) -> [Vec<u32>; 2] {
    let q = field.order;
    let exponents = |first: u32, last: u32| (first..=last).step_by(2);
    let sets: [Vec<u32>; 2] = match q % 4 {
        1 => [exponents(0, q - 3).collect(), exponents(1, q - 2).collect()],
        3 => {
            // q = 4 w - 1. The even exponents below 2 w and their negatives, which are 2 w - 1 further.
            let w = q.div_ceil(4);
            [
                exponents(0, 2 * w - 2).chain(exponents(2 * w - 1, 4 * w - 3)).collect(),
                exponents(1, 2 * w - 1).chain(exponents(2 * w, 4 * w - 2)).collect(),
            ]
        }
        _ => [exponents(0, q - 2).collect(), exponents(1, q - 1).collect()],
    };
    sets.map(|set| set.into_iter().map(|exponent| field.powers[(exponent % (q - 1)) as usize]).collect())
}

/// Pairs of neighbouring switches, numbered (half x q + x) q + y.
fn neighbours(field: &Field) -> Vec<(u32, u32)> {
    let q = field.order;
    let number = |half: u32, x: u32, y: u32| (half * q + x) * q + y;
    let sets = generators(field);
    let mut pairs = Vec::new();
    for (half, set) in (0..2).zip(&sets) {
        for (x, y) in (0..q).flat_map(|x| (0..q).map(move |y| (x, y))) {
            let others = set.iter().map(|&difference| field.sum(y, difference)).filter(|&other| other > y);
            pairs.extend(others.map(|other| (number(half, x, y), number(half, x, other))));
        }
    }
    // (0, x, y) and (1, m, c) are neighbours where y = m x + c.
    for (x, m) in (0..q).flat_map(|x| (0..q).map(move |m| (x, m))) {
        pairs.extend((0..q).map(|c| (number(0, x, field.sum(field.product(m, x), c)), number(1, m, c))));
    }
    pairs
}

/// Parses `q=5,p=4`.
fn parse(words: &str) -> Result<Switched, SpecError> {
    let spec = format!("slimfly:{words}");
    let named = Named { spec: &spec, names: ["q", "p"], example: EXAMPLE };
    let [Some(q), endpoints] = named.parse(words)? else { return Err(named.lacks("q")) };
    let field = if (3..=MOST).contains(&q) && q % 4 != 2 { Field::new(q) } else { None };
    let field = field.ok_or_else(|| {
        let is_order = |&q: &u32| q % 4 != 2 && Field::new(q).is_some();
        let nearest = (3..=MOST).filter(is_order).min_by_key(|near| near.abs_diff(q)).unwrap_or(5);
        let what = format!("q = {q} in `{spec}` is not the order of a field, or out of range");
        SpecError::new(ErrorKind::OutOfRange, what, format!("use powers of primes from 3 to {MOST}, such as {nearest}"))
    })?;
    let pairs = neighbours(&field);
    let switches = 2 * q * q;
    let degree = 2 * pairs.len() as u32 / switches;
    let endpoints = named.within("p", endpoints.unwrap_or(degree.div_ceil(2)), 1..=254)?;
    let count = switches * endpoints;
    let nodes = check_nodes(&spec, Some(u64::from(switches) * u64::from(endpoints + 1)))?;
    let mut links: Vec<Link> =
        (0..count).map(|one| Link::new([(one, 0), (count + one / endpoints, one % endpoints)])).collect();
    let mut places = vec![endpoints; switches as usize];
    let mut next = |switch: u32| {
        places[switch as usize] += 1;
        (count + switch, places[switch as usize] - 1)
    };
    links.extend(pairs.into_iter().map(|(one, other)| Link::new([next(one), next(other)])));
    Switched::new(spec, count as usize, nodes, &links, None, Unplanned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_switches_are_at_most_two_links_apart() {
        for q in [3, 4, 5, 7, 8, 9, 11, 13, 16, 17] {
            let field = Field::new(q).unwrap();
            let switches = (2 * q * q) as usize;
            let mut next = vec![Vec::new(); switches];
            for (one, other) in neighbours(&field) {
                assert_ne!(one, other, "q = {q}");
                next[one as usize].push(other as usize);
                next[other as usize].push(one as usize);
            }
            let delta = match q % 4 {
                3 => -1,
                0 => 0,
                _ => 1,
            };
            let degree = (3 * i64::from(q) - delta) / 2;
            for (switch, there) in next.iter().enumerate() {
                assert_eq!(there.len() as i64, degree, "q = {q}, switch {switch}");
                let mut seen = vec![false; switches];
                seen[switch] = true;
                for &one in there {
                    assert!(!seen[one] || one != switch);
                    seen[one] = true;
                    next[one].iter().for_each(|&two| seen[two] = true);
                }
                assert!(seen.iter().all(|&seen| seen), "q = {q}, switch {switch}");
            }
        }
    }

    #[test]
    fn orders_of_fields_are_powers_of_primes() {
        let orders: Vec<u32> = (2..=32).filter(|&order| Field::new(order).is_some()).collect();
        assert_eq!(orders, [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]);
        let field = Field::new(9).unwrap();
        for element in 0..9 {
            assert_eq!(field.product(element, 1), element);
            let sums: std::collections::HashSet<u32> = (0..9).map(|other| field.sum(element, other)).collect();
            assert_eq!(sums.len(), 9);
        }
    }
}
