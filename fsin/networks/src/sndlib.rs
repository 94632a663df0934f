//! SNDlib, native and XML: nodes with places, links with their capacities, and demands, which are traffic.
//!
//! The rate of a link is its pre-installed capacity in the unit of the file. Without a unit it is none; where the
//! capacity is 0, modules are a plan of what may be bought: `modules=first|largest` takes one. Admissible paths are
//! left out. Format: Orlowski, Pióro, Tomaszewski, Wessäly, SNDlib 1.0: survivable network design library, Networks
//! 55(3), 2010.

use trgen::catalog::{ErrorKind, SpecError};

use super::xml::{Document, Node, root};
use super::{MOST_ATTRIBUTES, head, implied, malformed, word};
use fsin_core::topology::graph::{Description, Modules, Reading, Word, parse_rate, refusal, short};
use fsin_core::words::counted;

const FORM: &str = "give a network of sndlib.put.poznan.pl as it is, native or XML";

/// Maximum number of sections of a file.
const MOST_SECTIONS: usize = 64;

/// True for XML of SNDlib.
pub(crate) fn is_xml(text: &str) -> bool {
    let root = root(text);
    root.starts_with("<network") && root.split('>').next().is_some_and(|tag| tag.contains("http://sndlib"))
}

/// True for SNDlib's native format.
pub(crate) fn is_native(text: &str) -> bool {
    is_title(head(text).lines().next().unwrap_or(""))
}

/// True for the line that names the format, `?SNDlib native format; type: network; version: 1.0`.
fn is_title(line: &str) -> bool {
    let words = line.split(|letter: char| letter.is_whitespace() || letter == ';').filter(|word| !word.is_empty());
    words.take(3).map(str::to_ascii_lowercase).eq(["?sndlib", "native", "format"])
}

/// A file while it is read.
struct File<'d, 'r> {
    to: &'d mut Description<'r>,
    of: &'r Reading<'r>,
    /// The unit of capacities and demands.
    unit: Option<String>,
    /// \[links\] With a capacity, and with modules alone.
    with_capacity: usize,
    planned: usize,
}

/// A capacity and the modules of a link, as they are written.
struct Capacity<'a> {
    installed: Option<Word<'a>>,
    modules: Vec<Word<'a>>,
}

impl<'d, 'r> File<'d, 'r> {
    fn new(to: &'d mut Description<'r>) -> Self {
        let of = to.reading();
        Self { to, of, unit: None, with_capacity: 0, planned: 0 }
    }

    fn node(&mut self, name: &Word<'_>) -> Result<(), SpecError> {
        let of = self.of;
        if self.to.number_of(&name.text).is_some() {
            return Err(refusal(
                &of.places,
                name.at,
                ErrorKind::Conflict,
                format!("node `{}` stands twice", short(&name.text)),
                FORM,
            ));
        }
        self.to.node(name, &[]).map(|_| ())
    }

    fn check(&self, end: &Word<'_>, what: &str) -> Result<(), SpecError> {
        let of = self.of;
        if self.to.number_of(&end.text).is_some() {
            return Ok(());
        }
        Err(refusal(
            &of.places,
            end.at,
            ErrorKind::UnknownName,
            format!("{what} names `{}`, which is no node", short(&end.text)),
            FORM,
        ))
    }

    /// Adds a link.
    fn link(&mut self, ends: [&Word<'_>; 2], capacity: &Capacity<'_>) -> Result<(), SpecError> {
        let of = self.of;
        ends.iter().try_for_each(|end| self.check(end, "a link"))?;
        let value =
            |word: &Word<'_>| {
                word.text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0).ok_or_else(|| {
                    malformed(&of.places, word.at, format!("`{}` is no capacity", short(&word.text)), FORM)
                })
            };
        let installed = capacity
            .installed
            .as_ref()
            .map(|word| Ok((value(word)?, word.at)))
            .transpose()?
            .filter(|&(value, _)| value > 0.0);
        let modules: Vec<(f64, usize)> =
            capacity.modules.iter().map(|word| Ok((value(word)?, word.at))).collect::<Result<_, SpecError>>()?;
        let planned = match of.options.modules {
            Some(Modules::First) => modules.first().copied(),
            Some(Modules::Largest) => {
                modules.iter().copied().reduce(|one, other| if other.0 > one.0 { other } else { one })
            }
            None => None,
        };
        self.with_capacity += usize::from(installed.is_some());
        self.planned += usize::from(installed.is_none() && !modules.is_empty());
        let mut attributes = Vec::new();
        let unit = of.options.rate_unit.clone().or_else(|| self.unit.clone());
        if let (Some((value, at)), Some(unit)) = (installed.or(planned).filter(|&(value, _)| value > 0.0), unit) {
            let bits = parse_rate(&format!("1{unit}"))
                .map(|bits| value * bits as f64)
                .filter(|bits| (1.0..1e18).contains(bits));
            let bits = bits.ok_or_else(|| {
                malformed(&of.places, at, format!("a capacity of {value} {unit}"), "use a rate of whole bits a second")
            })?;
            attributes.push(implied("rate", format!("{:.0}b/s", bits), at));
        }
        self.to.edge(ends, false, &attributes)
    }

    fn demand(&mut self, ends: [&Word<'_>; 2], value: &Word<'_>) -> Result<(), SpecError> {
        let of = self.of;
        ends.iter().try_for_each(|end| self.check(end, "a demand"))?;
        let number = value.text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        let number = number
            .ok_or_else(|| malformed(&of.places, value.at, format!("`{}` is no demand", short(&value.text)), FORM))?;
        self.to.demand(ends, number);
        Ok(())
    }

    /// The unit of META, in the words of this project.
    fn unit(&mut self, given: &str) {
        let of = self.of;
        let unit = match given.trim().to_ascii_uppercase().as_str() {
            "BITPERSEC" => "b/s",
            "KBITPERSEC" => "kb/s",
            "MBITPERSEC" => "Mb/s",
            "GBITPERSEC" => "Gb/s",
            "TBITPERSEC" => "Tb/s",
            "BYTEPERSEC" => "B/s",
            "KBYTEPERSEC" => "kB/s",
            "MBYTEPERSEC" => "MB/s",
            "GBYTEPERSEC" => "GB/s",
            _ => {
                of.note(format!("unit {} of META is none of a rate: capacities and demands have none", short(given)));
                return;
            }
        };
        self.unit = Some(unit.to_owned());
    }

    fn finish(self) {
        let of = self.of;
        let unit = of.options.rate_unit.clone().or_else(|| self.unit.clone());
        match &unit {
            Some(unit) if of.options.rate_unit.is_some() => {
                of.unit(format!("rates and demands in {unit}, by rate-unit"))
            }
            Some(unit) => of.unit(format!("rates and demands in {unit} (META)")),
            None if self.with_capacity > 0 || of.options.modules.is_some() => {
                of.note(format!(
                    "the file states no unit: capacities of {} are no rates",
                    counted(self.with_capacity, "link", "links")
                ));
            }
            None => {}
        }
        if unit.is_none() {
            of.option("rate-unit=Mb/s: capacities are rates of links, and demands have that unit");
        }
        if self.planned > 0 && of.options.modules.is_none() {
            of.note(format!(
                "{} no capacity, and modules that may be bought: without a rate",
                counted(self.planned, "link has", "links have")
            ));
            of.option("modules=first or modules=largest: a module of each link that has no capacity is its rate");
        }
        if let Some(bits) = unit.and_then(|unit| parse_rate(&format!("1{unit}"))) {
            self.to.set_demand_unit(bits as f64);
        }
    }
}

/// The statements of a native file.
pub(crate) fn parse_native(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    let mut file = File::new(to);
    let mut section: Option<&str> = None;
    let mut depth = 0_usize;
    let mut seen: Vec<&str> = Vec::new();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let at = begin;
        begin += line.len();
        let code = line.split('#').next().unwrap_or("");
        if code.trim().is_empty() || section.is_none() && is_title(code) {
            continue;
        }
        let offset = |part: &str| at + (part.as_ptr() as usize - line.as_ptr() as usize);
        let code = code.trim();
        let Some(open) = section else {
            let name = code.strip_suffix('(').map(str::trim).filter(|name| {
                !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
            });
            let name = name
                .ok_or_else(|| malformed(places, offset(code), format!("`{}` begins no section", short(code)), FORM))?;
            if seen.len() > MOST_SECTIONS {
                let what = format!("more than {MOST_SECTIONS} sections");
                return Err(refusal(places, offset(name), ErrorKind::TooLarge, what, FORM));
            }
            if seen.contains(&name) {
                return Err(refusal(
                    places,
                    offset(name),
                    ErrorKind::Conflict,
                    format!("section {name} stands twice"),
                    FORM,
                ));
            }
            seen.push(name);
            section = Some(name);
            continue;
        };
        if code == ")" {
            match depth {
                0 => section = None,
                _ => depth -= 1,
            }
            continue;
        }
        if !matches!(open, "META" | "NODES" | "LINKS" | "DEMANDS") {
            // Paths of a demand stand in brackets of their own.
            depth += usize::from(code.ends_with('('));
            if depth == 0 || code.ends_with('(') {
                of.decorated(open);
            }
            continue;
        }
        // Brackets stand apart from words, or do not.
        let mut words: Vec<Word<'_>> = Vec::new();
        for piece in code.split_whitespace() {
            let mut rest = piece;
            while let Some(bracket) = rest.find(['(', ')']) {
                if bracket > 0 {
                    words.push(word(&rest[..bracket], offset(rest)));
                }
                words.push(word(&rest[bracket..=bracket], offset(&rest[bracket..])));
                rest = &rest[bracket + 1..];
            }
            if !rest.is_empty() {
                words.push(word(rest, offset(rest)));
            }
            if words.len() > MOST_ATTRIBUTES {
                let what = format!("more than {MOST_ATTRIBUTES} words of a {open}");
                return Err(refusal(places, at, ErrorKind::TooLarge, what, FORM));
            }
        }
        let of_section = |what: &str| malformed(places, offset(code), format!("`{}` is no {what}", short(code)), FORM);
        match open {
            "META" => {
                if let Some((key, value)) = code.split_once('=')
                    && key.trim() == "unit"
                {
                    file.unit(value);
                }
            }
            "NODES" => match words.first() {
                Some(name) if name.text != "(" => file.node(name)?,
                _ => return Err(of_section("node")),
            },
            "LINKS" | "DEMANDS" => {
                let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
                let ([_, "(", _, _, ")", ..], [_, _, one, other, _, rest @ ..]) = (&texts[..], &words[..]) else {
                    return Err(of_section(if open == "LINKS" { "link" } else { "demand" }));
                };
                let ends = [one, other];
                match (open, rest) {
                    ("LINKS", [installed, _, _, _, modules @ ..]) => {
                        // Pairs of a capacity and its cost between brackets.
                        let inner = modules.iter().filter(|word| !matches!(&*word.text, "(" | ")"));
                        let modules = inner.step_by(2).cloned().collect();
                        file.link(ends, &Capacity { installed: Some(installed.clone()), modules })?;
                    }
                    ("LINKS", _) => return Err(of_section("link")),
                    (_, [_unit, value, ..]) => file.demand(ends, value)?,
                    (..) => return Err(of_section("demand")),
                }
            }
            _ => {}
        }
    }
    if let Some(open) = section {
        return Err(malformed(
            places,
            text.trim_end().len(),
            format!("section {open} does not end"),
            "the file ends too early: write `)`",
        ));
    }
    for needed in ["NODES", "LINKS"] {
        if !seen.contains(&needed) {
            return Err(malformed(
                places,
                text.len(),
                format!("no section {needed}"),
                "the file ends too early, or is another",
            ));
        }
    }
    file.finish();
    Ok(())
}

/// The statements of an XML file.
pub(crate) fn parse_xml(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    let document = Document::new(text, places)?;
    let root = document.root();
    let mut file = File::new(to);
    let is = |node: &Node<'_>, name: &str| node.name() == name;
    let text_of = |node: Node<'_>, name: &str| -> Option<Word<'static>> {
        let child = node.children().find(|child| is(child, name))?;
        Some(word(child.text().map_or_else(String::new, |text| text.trim().to_owned()), child.at()))
    };
    let need = |node: Node<'_>, name: &str| {
        text_of(node, name)
            .ok_or_else(|| malformed(places, node.at(), format!("<{}> without <{name}>", node.name()), FORM))
    };
    let id = |node: Node<'_>| {
        node.attribute("id")
            .map(|id| word(id.to_owned(), node.at()))
            .ok_or_else(|| malformed(places, node.at(), "a node without its id", FORM))
    };
    let in_list = |node: &Node<'_>, list: &str| node.parent().is_some_and(|parent| is(&parent, list));
    for node in root.descendants() {
        match node.name() {
            "unit" if in_list(&node, "meta") => file.unit(&node.text().unwrap_or_default()),
            "node" if in_list(&node, "nodes") => file.node(&id(node)?)?,
            "admissiblePaths" => of.decorated("admissiblePaths"),
            _ => {}
        }
    }
    for node in root.descendants() {
        if is(&node, "link") && in_list(&node, "links") {
            let capacity = |node: Node<'_>| text_of(node, "capacity");
            let installed = node.children().find(|child| is(child, "preInstalledModule")).and_then(capacity);
            let modules = node.descendants().filter(|child| is(child, "addModule")).filter_map(capacity).collect();
            file.link([&need(node, "source")?, &need(node, "target")?], &Capacity { installed, modules })?;
        } else if is(&node, "demand") && in_list(&node, "demands") {
            file.demand([&need(node, "source")?, &need(node, "target")?], &need(node, "demandValue")?)?;
        }
    }
    file.finish();
    Ok(())
}
