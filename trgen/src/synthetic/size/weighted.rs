//! Messages of several sizes, each with its probability.

use super::{Built, Entry, LONGEST, Law, LawContext, in_full_packets};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::alias::Alias;
use crate::synthetic::draw::{below, chance};
use crate::synthetic::expr::{Call, Expr};

/// Largest number of sizes of a polynomial, whose table is held in memory.
const MOST_SIZES: i64 = 1 << 20;
/// \[phit\] The permitted sizes, in readable form.
const RANGE: &str = "1..=16777216";

pub(super) static UNIFORM: Entry = Entry {
    component: Component {
        name: "uniform",
        about: "every size from min to max equally likely",
        parameters: &[
            Parameter { name: "min", about: "least size [phit]", range: RANGE, default: "" },
            Parameter { name: "max", about: "largest size [phit]", range: "min..=16777216", default: "" },
        ],
        source: "the even distribution",
    },
    aliases: &[],
    build: |call, LawContext { packet_phits, .. }| {
        let (min, max) = bounds(call)?;
        Ok(Box::new(Uniform { min: min as u64, sizes: (max - min + 1) as u32, packet_phits }))
    },
};

pub(super) static BIMODAL: Entry = Entry {
    component: Component {
        name: "bimodal",
        about: "long messages with probability share, else short ones: requests and replies of a memory system",
        parameters: &[
            Parameter { name: "short", about: "size of a short message [phit]", range: RANGE, default: "" },
            Parameter { name: "long", about: "size of a long message [phit]", range: "short..=16777216", default: "" },
            Parameter { name: "share", about: "share of the messages that are long", range: "0..=1", default: "" },
        ],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks (2004), 24.2",
    },
    aliases: &[],
    build: |call, LawContext { packet_phits, .. }| {
        let short = call.integer("short", 1..=LONGEST)?;
        let long = call.integer("long", short..=LONGEST)?;
        let share = call.number("share", 0.0..=1.0)?;
        Ok(Box::new(Bimodal { short: short as u64, long: long as u64, share, packet_phits }))
    },
};

pub(super) static DISCRETE: Entry = Entry {
    component: Component {
        name: "discrete",
        about: "sizes with weights, such as discrete(4:0.7, 16:0.2, 64:0.1); weights need not sum to 1",
        parameters: &[Parameter {
            name: "sizes...",
            about: "size:weight of each [phit : share]",
            range: "sizes 1..=16777216, weights 0.., not all 0",
            default: "",
        }],
        source: "a measured histogram",
    },
    aliases: &[],
    build: discrete,
};

pub(super) static POLYNOMIAL: Entry = Entry {
    component: Component {
        name: "polynomial",
        about: "size x with weight a0 + a1 x + a2 x^2 + ..., for whole x from min to max, normalised: \
                polynomial(0, 1; 4, 64)",
        parameters: &[
            Parameter {
                name: "a...",
                about: "coefficients a0, a1, ...",
                range: "the sum is never negative",
                default: "",
            },
            Parameter { name: "min", about: "least size [phit]", range: RANGE, default: "" },
            Parameter {
                name: "max",
                about: "largest size [phit]",
                range: "min..=16777216, at most 2^20 sizes",
                default: "",
            },
        ],
        source: "INSEE, Interconnection Network Simulation and Evaluation Environment",
    },
    aliases: &[],
    build: polynomial,
};

/// The parameters `min` and `max` \[phit\].
fn bounds(call: &Call) -> Result<(i64, i64), crate::catalog::SpecError> {
    let min = call.integer("min", 1..=LONGEST)?;
    Ok((min, call.integer("max", min..=LONGEST)?))
}

/// The law `uniform`.
#[derive(Debug)]
struct Uniform {
    /// \[phit\] Least size.
    min: u64,
    /// Number of sizes, from `min` upwards.
    sizes: u32,
    packet_phits: u32,
}

impl Law for Uniform {
    fn phits(&mut self, rng: &mut Stream) -> u64 {
        self.min + u64::from(below(self.sizes, rng))
    }

    fn mean(&self) -> f64 {
        self.min as f64 + f64::from(self.sizes - 1) / 2.0
    }

    fn carried(&self) -> f64 {
        // In each step, adds all sizes that are rounded up to the same number of packets, `size` to `last`.
        let max = self.min + u64::from(self.sizes) - 1;
        let (mut size, mut sum) = (self.min, 0.0);
        while size <= max {
            let full = in_full_packets(size, self.packet_phits);
            let last = full.min(max);
            sum += full as f64 * (last - size + 1) as f64;
            size = last + 1;
        }
        sum / f64::from(self.sizes)
    }
}

/// The law `bimodal`.
#[derive(Debug)]
struct Bimodal {
    /// \[phit\] Size of a short message.
    short: u64,
    /// \[phit\] Size of a long message.
    long: u64,
    /// Share of long messages.
    share: f64,
    packet_phits: u32,
}

impl Law for Bimodal {
    fn phits(&mut self, rng: &mut Stream) -> u64 {
        if chance(self.share, rng) { self.long } else { self.short }
    }

    fn mean(&self) -> f64 {
        self.short as f64 + self.share * (self.long - self.short) as f64
    }

    fn carried(&self) -> f64 {
        let full = |phits| in_full_packets(phits, self.packet_phits) as f64;
        full(self.short) + self.share * (full(self.long) - full(self.short))
    }
}

/// Sizes drawn by weight from an alias table.
#[derive(Debug)]
struct Table {
    /// \[phit\] The sizes, in the order of their weights.
    sizes: Vec<u64>,
    /// Draws an index in `sizes`.
    alias: Alias,
    /// \[phit\] Value of [`Law::mean`].
    mean: f64,
    /// \[phit\] Value of [`Law::carried`].
    carried: f64,
}

impl Table {
    /// `None` unless the sum of the weights is positive and finite.
    fn new(sizes: Vec<u64>, weights: &[f64], packet_phits: u32) -> Option<Box<Self>> {
        let alias = Alias::new(weights)?;
        let total: f64 = weights.iter().sum();
        let mean = |phits: &dyn Fn(u64) -> u64| -> f64 {
            sizes.iter().zip(weights).map(|(&size, weight)| phits(size) as f64 * (weight / total)).sum()
        };
        let (mean, carried) = (mean(&|size| size), mean(&|size| in_full_packets(size, packet_phits)));
        Some(Box::new(Self { sizes, alias, mean, carried }))
    }
}

impl Law for Table {
    fn phits(&mut self, rng: &mut Stream) -> u64 {
        self.sizes[self.alias.draw(rng)]
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn carried(&self) -> f64 {
        self.carried
    }
}

/// Builds the law `discrete`.
fn discrete(call: &Call, LawContext { packet_phits, .. }: LawContext) -> Built {
    let (mut sizes, mut weights) = (Vec::new(), Vec::new());
    for &argument in call.rest() {
        let size = argument.name.parse().ok().filter(|size| (1..=LONGEST as u64).contains(size));
        let weight = match &argument.arguments[..] {
            [weight] if weight.key.is_none() => weight.value.number().filter(|&weight| weight >= 0.0),
            _ => None,
        };
        let (Some(size), Some(weight)) = (size, weight) else {
            let problem = format!("`{argument}` is not a size with its weight");
            return Err(call.refuse(argument, &problem, "write size:weight, such as 16:0.5, with a size of 1 or more"));
        };
        if sizes.contains(&size) {
            return Err(call.refuse(argument, &format!("size {size} is listed twice"), "list each size once"));
        }
        sizes.push(size);
        weights.push(weight);
    }
    match Table::new(sizes, &weights, packet_phits) {
        Some(table) => Ok(table),
        None => Err(call.refuse_all(
            "`discrete` needs sizes with weights whose sum is more than 0 and finite",
            "write discrete(4:0.7, 16:0.3)",
        )),
    }
}

/// Builds the law `polynomial`.
fn polynomial(call: &Call, LawContext { packet_phits, .. }: LawContext) -> Built {
    let (min, max) = bounds(call)?;
    if max - min >= MOST_SIZES {
        let problem = format!("`polynomial` over {} sizes", max - min + 1);
        return Err(call.refuse_all(&problem, format!("at most {MOST_SIZES} sizes from min to max")));
    }
    let coefficient = |argument: &&Expr| {
        let problem = format!("`{argument}` is not a number");
        argument.number().ok_or_else(|| call.refuse(argument, &problem, "coefficients a0, a1, ... as numbers"))
    };
    let coefficients = call.rest().iter().map(coefficient).collect::<Result<Vec<f64>, _>>()?;
    let value = |x: i64| coefficients.iter().rev().fold(0.0, |sum, a| sum * x as f64 + a);
    let weights: Vec<f64> = (min..=max).map(value).collect();
    if let Some(at) = weights.iter().position(|&weight| !(weight >= 0.0 && weight.is_finite())) {
        let problem = format!("the weight of size {} is {}", min + at as i64, weights[at]);
        return Err(call.refuse_all(&problem, "coefficients whose sum is nowhere negative between min and max"));
    }
    match Table::new((min as u64..=max as u64).collect(), &weights, packet_phits) {
        Some(table) => Ok(table),
        None => Err(call.refuse_all(
            "every size has weight 0, or their sum is not finite",
            "coefficients such as polynomial(1; 4, 64)",
        )),
    }
}
