//! What a description says of a node or an edge: lists of attributes as values, each with its place.

use trgen::catalog::{ErrorKind, SpecError};

use super::super::links::{Attribute, Delay, LinkAttributes};
use super::attribute::{self, Property, misread, refusal, short};
use super::format::Names;
use super::labels::{Labels, make_room};
use super::reading::Reading;
use super::statement::{Item, Word};

/// Attributes of a node, each with its offset.
#[derive(Clone, Copy, Default, Debug)]
pub struct OfNode {
    pub(super) kind: Option<(Kind, u32)>,
    pub(super) endpoints: Option<(u32, u32)>,
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
    /// A node of which the format says whether it is a host; a switch has no endpoints then.
    pub(super) const fn stated(is_host: bool, at: usize) -> Self {
        let at = at as u32;
        match is_host {
            true => Self { kind: Some((Kind::Host, at)), endpoints: None },
            false => Self { kind: Some((Kind::Switch, at)), endpoints: Some((0, at)) },
        }
    }

    /// These attributes, and those of `other` where these are not given.
    pub(super) fn or(self, other: Self) -> Self {
        Self { kind: self.kind.or(other.kind), endpoints: self.endpoints.or(other.endpoints) }
    }

    /// Takes an attribute.
    ///
    /// # Errors
    /// An attribute that cannot be obeyed, or contradicts another one.
    pub fn take(&mut self, of: &Reading<'_>, key: &Word<'_>, value: &Word<'_>) -> Result<(), SpecError> {
        let places = &of.places;
        match attribute::property(of, Item::Node, key, value)? {
            Some(Property::Kind) => {
                let kind = match &*value.text.to_ascii_lowercase() {
                    "host" => Kind::Host,
                    "switch" | "router" => Kind::Switch,
                    "nic" => Kind::Nic,
                    // In files of other tools, the type of a node is a fact about a place: `City`, `PoP`.
                    _ if of.format.names == Names::Labels || !key.text.eq_ignore_ascii_case("kind") => {
                        of.decorated(&key.text);
                        return Ok(());
                    }
                    _ => return Err(misread(places, Item::Node, key, value, "neither host nor switch nor nic")),
                };
                if self.kind.is_some_and(|(before, _)| before != kind) {
                    let what = format!("{} of a node stands twice", short(&key.text));
                    return Err(refusal(places, key.at, ErrorKind::Conflict, what, "give it once"));
                }
                self.kind = Some((kind, key.at as u32));
            }
            Some(_) => self.endpoints = Some((attribute::number(places, Item::Node, key, value)?, key.at as u32)),
            None => {}
        }
        Ok(())
    }

    pub(super) fn read(of: &Reading<'_>, attributes: &[(Word<'_>, Word<'_>)]) -> Result<Self, SpecError> {
        let mut new = Self::default();
        attributes.iter().try_for_each(|(key, value)| new.take(of, key, value))?;
        Ok(new)
    }
}

/// What an attribute of an edge is, with its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tag {
    /// \[b/s\]
    Rate,
    /// A delay in cycles.
    Cycles,
    /// \[ps\] A delay.
    Time,
    Queue,
    /// Words of a static route, or a remark.
    Routes,
    Count,
    Dead,
    Direction,
}

impl Tag {
    /// Tags of the same property are equal.
    const fn property(self) -> Self {
        match self {
            Self::Cycles => Self::Time,
            other => other,
        }
    }
}

/// A value as it is read.
#[derive(Clone, Debug)]
struct Written {
    tag: Tag,
    number: u64,
    /// As written.
    key: String,
    text: String,
    /// \[bytes\] Offset of the name.
    at: usize,
}

/// Attributes of an edge, as they are read.
#[derive(Clone, Default, Debug)]
pub struct OfEdge {
    values: Vec<Written>,
}

impl OfEdge {
    /// Takes an attribute.
    ///
    /// # Errors
    /// An attribute that cannot be obeyed, or stands twice.
    pub fn take(&mut self, of: &Reading<'_>, key: &Word<'_>, value: &Word<'_>) -> Result<(), SpecError> {
        let places = &of.places;
        let Some(property) = attribute::property(of, Item::Edge, key, value)? else { return Ok(()) };
        let (tag, number) = match property {
            Property::Rate => (Tag::Rate, attribute::rate(of, key, value)?),
            Property::Delay => match attribute::delay(of, key, value)? {
                Delay::Cycles(cycles) => (Tag::Cycles, cycles.into()),
                Delay::Time(span) => (Tag::Time, span),
            },
            Property::Queue => (Tag::Queue, attribute::number(places, Item::Edge, key, value)?.into()),
            Property::Routes => (Tag::Routes, 0),
            Property::Count => {
                let count = attribute::number(places, Item::Edge, key, value)?;
                if !(1..=65_535).contains(&count) {
                    return Err(
                        misread(places, Item::Edge, key, value, "use 1 to 65535").of_kind(ErrorKind::OutOfRange)
                    );
                }
                (Tag::Count, count.into())
            }
            Property::Dead => {
                let is_dead: Option<bool> = value.text.parse().ok();
                let is_dead =
                    is_dead.ok_or_else(|| misread(places, Item::Edge, key, value, "neither true nor false"))?;
                (Tag::Dead, is_dead.into())
            }
            Property::Direction => {
                let direction = match &*value.text {
                    "both" | "none" => Direction::Both,
                    "forward" => Direction::Forward,
                    "back" => Direction::Back,
                    _ => return Err(misread(places, Item::Edge, key, value, "not forward, back, both or none")),
                };
                (Tag::Direction, direction as u64)
            }
            Property::Kind | Property::Endpoints => return Ok(()),
        };
        // An attribute may stand once, and under one of its names.
        if let Some(before) = self.values.iter().find(|before| before.tag.property() == tag.property()) {
            let what = match before.key == *key.text {
                true => format!("{} of an edge stands twice", short(&key.text)),
                false => format!("{} and {} of an edge are one property", short(&before.key), short(&key.text)),
            };
            return Err(refusal(places, key.at, ErrorKind::Conflict, what, "give one of them"));
        }
        self.values.push(Written { tag, number, key: key.text.to_string(), text: value.text.to_string(), at: key.at });
        Ok(())
    }

    pub(super) fn read(of: &Reading<'_>, attributes: &[(Word<'_>, Word<'_>)]) -> Result<Self, SpecError> {
        let mut new = Self::default();
        attributes.iter().try_for_each(|(key, value)| new.take(of, key, value))?;
        Ok(new)
    }

    /// True if no attribute is given.
    pub(super) const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// A value as it is kept. A file may have millions, so that it takes little memory.
#[derive(Clone, Copy, Debug)]
struct Value {
    /// The number, by halves; of routes, where their text begins and ends.
    number: [u32; 2],
    /// \[bytes\] Offset of the name.
    at: u32,
    /// The name as written, in [`Sets::keys`].
    key: u32,
    /// \[bytes\] Where the text begins, of which an error shows so much.
    text: u32,
    length: u8,
    tag: Tag,
}

impl Value {
    fn number(&self) -> u64 {
        u64::from(self.number[0]) | u64::from(self.number[1]) << 32
    }
}

/// The part of a text that is kept: all of routes, and what an error shows of others.
fn shown(tag: Tag, text: &str) -> String {
    if tag == Tag::Routes { text.to_owned() } else { short(text) }
}

fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// Sets of attributes of edges, by their numbers. Set 0 is empty.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    values: Vec<Value>,
    /// By set: its own values, and the set whose values hold where it has none.
    sets: Vec<([u32; 2], u32)>,
    keys: Labels,
    /// Texts of values.
    texts: String,
}

impl Sets {
    pub(super) fn new() -> Self {
        Self { values: Vec::new(), sets: vec![([0; 2], 0)], keys: Labels::default(), texts: String::new() }
    }

    /// Keeps attributes, with those of another set where these are not given. The number of the set: that of the edge
    /// before, if it says the same, so that a file of like edges takes little memory.
    pub(super) fn keep(&mut self, own: &OfEdge, usual: u32) -> u32 {
        let last = self.sets.len() as u32 - 1;
        if self.says(last, own, usual) { last } else { self.add(own, usual) }
    }

    /// Adds a set.
    fn add(&mut self, own: &OfEdge, usual: u32) -> u32 {
        let last = self.sets.len() - 1;
        let [before, _] = self.sets[last].0;
        let begin = self.values.len() as u32;
        for (number, Written { tag, key, text, at, .. }) in own.values.iter().enumerate() {
            let shown = shown(*tag, text);
            // Many a text is that of the edge before.
            let known = self.values[..begin as usize].get(before as usize + number).map(|value| self.text(value));
            let start = match known.is_some_and(|known| known == shown) {
                true => self.values[before as usize + number].text,
                false => {
                    self.texts.push_str(&shown);
                    (self.texts.len() - shown.len()) as u32
                }
            };
            let number = own.values[number].number;
            let number = if *tag == Tag::Routes { [start, start + shown.len() as u32] } else { halves(number) };
            let length = u8::try_from(shown.len()).unwrap_or(u8::MAX);
            let key = self.keys.number(key);
            make_room(&mut self.values);
            self.values.push(Value { number, at: *at as u32, key, text: start, length, tag: *tag });
        }
        self.push([begin, self.values.len() as u32], usual)
    }

    /// True if a set consists of these attributes. What routes mean depends on the edge, and whether a link is dead is
    /// told by its place.
    fn says(&self, set: u32, own: &OfEdge, usual: u32) -> bool {
        let ([begin, end], of) = self.sets[set as usize];
        let values = self.values.get(begin as usize..end as usize).unwrap_or(&[]);
        let is_same = |(value, written): (&Value, &Written)| {
            value.tag == written.tag
                && !matches!(value.tag, Tag::Routes | Tag::Dead)
                && value.number() == written.number
                && self.keys.name(value.key) == written.key
                && self.text(value) == shown(written.tag, &written.text)
        };
        set != 0
            && of == usual
            && values.len() == own.values.len()
            && self.routes(usual).is_none()
            && values.iter().zip(&own.values).all(is_same)
    }

    /// The text of a value, as far as it is shown.
    fn text(&self, value: &Value) -> &str {
        let begin = value.text as usize;
        let end = match value.tag {
            Tag::Routes => value.number[1] as usize,
            _ => begin + usize::from(value.length),
        };
        self.texts.get(begin..end).unwrap_or("")
    }

    fn push(&mut self, own: [u32; 2], usual: u32) -> u32 {
        make_room(&mut self.sets);
        self.sets.push((own, usual));
        self.sets.len() as u32 - 1
    }

    /// A further set that is the same.
    pub(super) fn again(&mut self, set: u32) -> u32 {
        self.push([0; 2], set)
    }

    /// A set with the own values of one, and those of another set where it has none.
    pub(super) fn merged(&mut self, own: u32, usual: u32) -> u32 {
        self.push(self.sets[own as usize].0, usual)
    }

    /// The set of a link between a host and its interface: no delay, and a rate in the words of another one.
    pub(super) fn of_nic(&mut self, rate: Option<(u64, Rate)>, at: usize) -> u32 {
        let begin = self.values.len() as u32;
        if let Some((sum, Rate(first))) = rate {
            self.values.push(Value { number: halves(sum), ..first });
        }
        let delay = OfEdge {
            values: vec![Written { tag: Tag::Cycles, number: 0, key: "delay".to_owned(), text: "0".to_owned(), at }],
        };
        let set = self.add(&delay, 0);
        self.sets[set as usize].0[0] = begin;
        set
    }

    /// The value of a property.
    fn get(&self, set: u32, tag: Tag) -> Option<&Value> {
        let mut set = set;
        loop {
            let ([begin, end], usual) = *self.sets.get(set as usize)?;
            let own = self.values.get(begin as usize..end as usize)?;
            match own.iter().find(|value| value.tag.property() == tag) {
                Some(value) => return Some(value),
                None if set == 0 => return None,
                None => set = usual,
            }
        }
    }

    fn delay(&self, set: u32) -> Option<Delay> {
        let value = self.get(set, Tag::Time)?;
        Some(match value.tag {
            Tag::Cycles => Delay::Cycles(value.number[0]),
            _ => Delay::Time(value.number()),
        })
    }

    /// The attributes for models.
    pub(super) fn attributes(&self, set: u32) -> LinkAttributes {
        LinkAttributes {
            rate: self.get(set, Tag::Rate).map(Value::number),
            delay: self.delay(set),
            queue: self.get(set, Tag::Queue).map(|value| value.number[0]),
        }
    }

    /// The rate, to make others of it.
    pub(super) fn rate(&self, set: u32) -> Option<(u64, Rate)> {
        self.get(set, Tag::Rate).map(|value| (value.number(), Rate(*value)))
    }

    pub(super) fn count(&self, set: u32) -> u32 {
        self.get(set, Tag::Count).map_or(1, |value| value.number[0])
    }

    pub(super) fn direction(&self, set: u32) -> Option<Direction> {
        let value = self.get(set, Tag::Direction)?;
        [Direction::Both, Direction::Forward, Direction::Back].into_iter().find(|of| *of as u32 == value.number[0])
    }

    pub(super) fn is_dead(&self, set: u32) -> bool {
        self.get(set, Tag::Dead).is_some_and(|value| value.number[0] == 1)
    }

    /// \[bytes\] Where the rate, the delay, and whether it is dead, stand.
    pub(super) fn places(&self, set: u32) -> [Option<usize>; 3] {
        [Tag::Rate, Tag::Time, Tag::Dead].map(|tag| self.get(set, tag).map(|value| value.at as usize))
    }

    /// Words of a static route, or a remark: the name of the attribute, its value, and its offset.
    pub(super) fn routes(&self, set: u32) -> Option<(&str, &str, usize)> {
        let value = self.get(set, Tag::Routes)?;
        Some((self.keys.name(value.key), self.text(value), value.at as usize))
    }

    /// The attributes that models use or refuse: each with its name, its value and its offset.
    pub(super) fn given(&self, set: u32) -> impl Iterator<Item = (Attribute, &str, &str, usize)> {
        [Tag::Rate, Tag::Time, Tag::Queue, Tag::Routes].into_iter().filter_map(move |tag| {
            let value = self.get(set, tag)?;
            let attribute = match value.tag {
                Tag::Rate => Attribute::Rate,
                Tag::Cycles if value.number() == 0 => return None,
                Tag::Cycles => Attribute::Cycles,
                Tag::Time => Attribute::Time,
                Tag::Queue => Attribute::Queue,
                Tag::Routes => Attribute::Routes,
                Tag::Count | Tag::Dead | Tag::Direction => return None,
            };
            Some((attribute, self.keys.name(value.key), self.text(value), value.at as usize))
        })
    }
}

/// A rate as it is kept, with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate(Value);
