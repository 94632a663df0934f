//! Widgets: pure functions of data, drawn into a buffer.

mod braille;
mod chart;
mod gauge;
mod grid;
mod histogram;
mod legend;
mod plot;
mod rows;
mod text;

pub use chart::{Chart, Series, nice};
pub use gauge::Gauge;
pub use grid::{Arrow, Grid, LinkCell, best_pitch};
pub use histogram::Histogram;
pub use legend::{scale, tasks};
pub use plot::{Plot, Trace};
pub use rows::Rows;
pub use text::{count, exact, fitting, fixed, line, paint, percent, seconds, whole};
