//! What a description says of a node or an edge: lists of attributes as values, each with its place.

use trgen::catalog::{ErrorKind, SpecError};

use super::super::links::{Attribute, Delay, LinkAttributes};
use super::attribute::{self, Property, misread, refusal, short};
use super::format::Names;
use super::reading::Reading;
use super::statement::{Attributes, Item, Places, Word};

/// Attributes of a node, each with its offset.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct OfNode {
    pub(super) kind: Option<(Kind, usize)>,
    pub(super) endpoints: Option<(u32, usize)>,
}

/// Attributes of an edge, each with its offset. Most edges have few of them.
#[derive(Clone, Default, Debug)]
pub(super) struct OfEdge {
    pub(super) rate: Option<Box<Written<u64>>>,
    pub(super) delay: Option<Box<Written<Delay>>>,
    pub(super) queue: Option<Box<Written<u32>>>,
    /// Words of a static route, or a remark.
    pub(super) routes: Option<Box<Written<String>>>,
    pub(super) count: Option<Box<Written<u32>>>,
    pub(super) dead: Option<Box<Written<bool>>>,
    pub(super) direction: Option<Box<Written<Direction>>>,
}

/// A value, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Written<T> {
    pub(super) value: T,
    /// As written.
    pub(super) key: String,
    pub(super) text: String,
    /// \[bytes\] Offset of the name.
    pub(super) at: usize,
}

/// Kinds of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Host,
    Switch,
    /// The network interface of a host with several links.
    Nic,
}

/// Directions of an edge, as Graphviz draws them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Both,
    Forward,
    Back,
}

impl OfNode {
    /// These attributes, and those of `other` where these are not given.
    pub(super) fn or(self, other: Self) -> Self {
        Self { kind: self.kind.or(other.kind), endpoints: self.endpoints.or(other.endpoints) }
    }

    pub(super) fn read(&mut self, of: &Reading<'_>, attributes: &Attributes<'_>) -> Result<(), SpecError> {
        let places = &of.places;
        for (key, value) in attributes {
            match attribute::property(of, Item::Node, key, value)? {
                Some(Property::Kind) => {
                    let kind = match &*value.text.to_ascii_lowercase() {
                        "host" => Kind::Host,
                        "switch" | "router" => Kind::Switch,
                        "nic" => Kind::Nic,
                        // In files of other tools, the type of a node is a fact about a place: `City`, `PoP`.
                        _ if of.format.names == Names::Labels || !key.text.eq_ignore_ascii_case("kind") => {
                            of.decorated(&key.text);
                            continue;
                        }
                        _ => return Err(misread(places, Item::Node, key, value, "neither host nor switch nor nic")),
                    };
                    if self.kind.is_some_and(|(before, _)| before != kind) {
                        let what = format!("{} of a node stands twice", short(&key.text));
                        return Err(refusal(places, key.at, ErrorKind::Conflict, what, "give it once"));
                    }
                    self.kind = Some((kind, key.at));
                }
                Some(_) => self.endpoints = Some((attribute::number(places, Item::Node, key, value)?, key.at)),
                None => {}
            }
        }
        Ok(())
    }
}

impl OfEdge {
    /// These attributes, and those of `other` where these are not given.
    pub(super) fn or(self, other: &Self) -> Self {
        Self {
            rate: self.rate.or_else(|| other.rate.clone()),
            delay: self.delay.or_else(|| other.delay.clone()),
            queue: self.queue.or_else(|| other.queue.clone()),
            routes: self.routes.or_else(|| other.routes.clone()),
            count: self.count.or_else(|| other.count.clone()),
            dead: self.dead.or_else(|| other.dead.clone()),
            direction: self.direction.or_else(|| other.direction.clone()),
        }
    }

    pub(super) fn read(of: &Reading<'_>, attributes: &Attributes<'_>) -> Result<Self, SpecError> {
        let places = &of.places;
        let mut new = Self::default();
        for (key, value) in attributes {
            let Some(property) = attribute::property(of, Item::Edge, key, value)? else { continue };
            match property {
                Property::Rate => set(&mut new.rate, places, key, value, attribute::rate(of, key, value)?)?,
                Property::Delay => set(&mut new.delay, places, key, value, attribute::delay(of, key, value)?)?,
                Property::Queue => {
                    set(&mut new.queue, places, key, value, attribute::number(places, Item::Edge, key, value)?)?;
                }
                Property::Routes => set(&mut new.routes, places, key, value, value.text.to_string())?,
                Property::Count => {
                    let count = attribute::number(places, Item::Edge, key, value)?;
                    if !(1..=65_535).contains(&count) {
                        return Err(
                            misread(places, Item::Edge, key, value, "use 1 to 65535").of_kind(ErrorKind::OutOfRange)
                        );
                    }
                    set(&mut new.count, places, key, value, count)?;
                }
                Property::Dead => {
                    let is_dead = value.text.parse().ok();
                    let is_dead =
                        is_dead.ok_or_else(|| misread(places, Item::Edge, key, value, "neither true nor false"))?;
                    set(&mut new.dead, places, key, value, is_dead)?;
                }
                Property::Direction => {
                    let direction = match &*value.text {
                        "both" | "none" => Direction::Both,
                        "forward" => Direction::Forward,
                        "back" => Direction::Back,
                        _ => return Err(misread(places, Item::Edge, key, value, "not forward, back, both or none")),
                    };
                    set(&mut new.direction, places, key, value, direction)?;
                }
                Property::Kind | Property::Endpoints => {}
            }
        }
        Ok(new)
    }

    /// True if no attribute is given.
    pub(super) fn is_empty(&self) -> bool {
        let Self { rate, delay, queue, routes, count, dead, direction } = self;
        let numbers = rate.is_none() && delay.is_none() && queue.is_none() && count.is_none();
        numbers && routes.is_none() && dead.is_none() && direction.is_none()
    }

    /// The attributes for models.
    pub(super) fn attributes(&self) -> LinkAttributes {
        LinkAttributes {
            rate: self.rate.as_ref().map(|given| given.value),
            delay: self.delay.as_ref().map(|given| given.value),
            queue: self.queue.as_ref().map(|given| given.value),
        }
    }

    pub(super) fn count(&self) -> u32 {
        self.count.as_ref().map_or(1, |given| given.value)
    }

    /// The attributes that models use or refuse: each with its name, its value and its offset.
    pub(super) fn given(&self) -> impl Iterator<Item = (Attribute, &str, &str, usize)> {
        fn as_written<T>(attribute: Attribute, given: &Written<T>) -> (Attribute, &str, &str, usize) {
            (attribute, &given.key, &given.text, given.at)
        }
        let delay =
            self.delay.as_ref().filter(|given| given.value != Delay::Cycles(0)).map(|given| match given.value {
                Delay::Cycles(_) => as_written(Attribute::Cycles, given),
                Delay::Time(_) => as_written(Attribute::Time, given),
            });
        let rate = self.rate.as_ref().map(|given| as_written(Attribute::Rate, given));
        let queue = self.queue.as_ref().map(|given| as_written(Attribute::Queue, given));
        let routes = self.routes.as_ref().map(|given| as_written(Attribute::Routes, given));
        rate.into_iter().chain(delay).chain(queue).chain(routes)
    }

    pub(super) fn is_dead(&self) -> bool {
        self.dead.as_ref().is_some_and(|given| given.value)
    }
}

/// Sets an attribute, which may stand once, and under one of its names.
fn set<T>(
    into: &mut Option<Box<Written<T>>>,
    places: &Places<'_>,
    key: &Word<'_>,
    value: &Word<'_>,
    parsed: T,
) -> Result<(), SpecError> {
    if let Some(before) = into {
        let what = match before.key == *key.text {
            true => format!("{} of an edge stands twice", short(&key.text)),
            false => format!("{} and {} of an edge are one property", short(&before.key), short(&key.text)),
        };
        return Err(refusal(places, key.at, ErrorKind::Conflict, what, "give one of them"));
    }
    *into =
        Some(Box::new(Written { value: parsed, key: key.text.to_string(), text: value.text.to_string(), at: key.at }));
    Ok(())
}
