//! Estimates: the energy of counted events, by parts of the network.

/// A number with the range that its source gives.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Range {
    /// Least value.
    pub low: f64,
    /// The number.
    pub value: f64,
    /// Greatest value.
    pub high: f64,
}

impl Range {
    /// A number whose source gives no range.
    #[must_use]
    pub const fn exact(value: f64) -> Self {
        Self { low: value, value, high: value }
    }

    /// The number times a factor that is not negative.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, value: self.value * factor, high: self.high * factor }
    }

    /// The sum of two numbers; of the ranges too, as if both sources erred alike.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, value: self.value + other.value, high: self.high + other.high }
    }
}

/// A number with six significant digits, as C's `%.6g` writes it.
#[must_use]
pub fn six_digits(value: f64) -> String {
    const DIGITS: i32 = 6;
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let written = format!("{value:.5e}");
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let short = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..DIGITS).contains(&exponent) {
        return short(&format!("{value:.*}", (DIGITS - 1 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", short(digits), exponent.abs())
}

/// A part of the network with its energy.
#[derive(Clone, PartialEq, Debug)]
pub struct Component {
    /// `links`, `routers` or `hosts`; a power of the model of BookSim has its own name.
    pub part: &'static str,
    /// Its class, as tables name it; empty if there is one only.
    pub class: String,
    /// Number of links, routers or hosts; 0 where it is not known.
    pub count: u64,
    /// \[J\] Over the time of the counts.
    pub joules: Range,
}

/// An area.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Area {
    /// The parts to which it belongs: `router`, or a name of the model of BookSim.
    pub part: &'static str,
    /// \[mm2\]
    pub mm2: f64,
}

/// The energy and area of a network.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Estimate {
    /// \[s\] The time of the counts, by which joules are watts.
    pub seconds: f64,
    /// The parts of the network.
    pub components: Vec<Component>,
    /// Areas.
    pub areas: Vec<Area>,
    /// \[bits\] Bits delivered; `None` if it is not known.
    pub delivered_bits: Option<f64>,
    /// \[bits\] A flit; `None` where the network has none.
    pub flit_bits: Option<f64>,
    /// Warnings for readers of the estimate.
    pub warnings: Vec<String>,
}

impl Estimate {
    /// \[J\] Of all parts.
    #[must_use]
    pub fn joules(&self) -> Range {
        self.components.iter().fold(Range::default(), |sum, part| sum.plus(part.joules))
    }

    /// \[W\] A number of joules over the time.
    #[must_use]
    pub fn watts(&self, joules: f64) -> f64 {
        if self.seconds > 0.0 { joules / self.seconds } else { 0.0 }
    }

    /// \[pJ/bit\] Of what was delivered; `None` if it is not known, or nothing was.
    #[must_use]
    pub fn pj_per_bit(&self) -> Option<Range> {
        let bits = self.delivered_bits.filter(|&bits| bits > 0.0)?;
        Some(self.joules().times(1e12 / bits))
    }

    /// The powers and areas of this model by the names of its figures, with the totals: as columns of a table.
    #[must_use]
    pub fn columns(&self) -> Vec<(String, f64)> {
        let power = |part: &Component| {
            let name =
                if part.class.is_empty() { part.part.to_owned() } else { format!("{}_{}", part.part, part.class) };
            (format!("{name}_W"), self.watts(part.joules.value))
        };
        let powers: Vec<(String, f64)> = self.components.iter().map(power).collect();
        let area = |area: &Area| (format!("{}_area_mm2", area.part), area.mm2);
        let areas: Vec<(String, f64)> = self.areas.iter().map(area).collect();
        let sum = |of: &[(String, f64)]| of.iter().map(|(_, value)| value).sum::<f64>();
        let totals = [("total_W", sum(&powers)), ("total_area_mm2", sum(&areas))];
        let [power_total, area_total] = totals.map(|(name, value)| (name.to_owned(), value));
        let area_total = (!areas.is_empty()).then_some(area_total);
        powers.into_iter().chain([power_total]).chain(areas).chain(area_total).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_those_of_c() {
        for (value, text) in [
            (0.0, "0"),
            (15.561, "15.561"),
            (0.048_333_333, "0.0483333"),
            (1_234_567.0, "1.23457e+06"),
            (0.000_012_345_67, "1.23457e-05"),
            (999_999.5, "1e+06"),
            (-1.0, "-1"),
        ] {
            assert_eq!(six_digits(value), text);
        }
    }
}
