//! The Myrinet model from outside.

mod common;
mod engines_agree;
mod figures;
mod model;
mod unlike;
