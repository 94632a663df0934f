//! XML as a tree of offsets in its text, which takes about as much memory as the text.
//!
//! Elements have their local names, whatever their namespace. Entities other than those of XML itself are refused.

use std::borrow::Cow;

use fsin_core::topology::graph::{Places, refusal, short};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use trgen::catalog::{ErrorKind, SpecError};

use super::{head, malformed};

/// Maximum depth of elements.
const MAX_DEPTH: usize = 64;

/// Maximum number of elements: more than a file of any valid network has.
const MOST_ELEMENTS: usize = 1 << 21;

const CLOSE: &str = "write an element that ends for each that begins";
const ALONE: &str = "write what describes a network alone, each tag with its `>`";

/// XML from its first element on, without declarations and comments before it; empty for another text.
pub(crate) fn root(text: &str) -> &str {
    if !text.trim_start().starts_with('<') {
        return "";
    }
    let mut rest = head(text);
    // `<!DOCTYPE x [<!ENTITY ...>]>`: declarations stand in each other.
    while rest.starts_with("<!") {
        rest = rest[1..].find('<').map_or("", |next| head(&rest[1 + next..]));
    }
    rest
}

/// True for XML whose first element has this tag.
pub(crate) fn is_xml(text: &str, tag: &str) -> bool {
    root(text).starts_with(tag)
}

/// An element.
#[derive(Clone, Copy)]
struct Element {
    /// \[bytes\] Where its tag begins, and where its local name does.
    at: u32,
    name: u32,
    /// \[bytes\] Length of its local name.
    name_length: u32,
    /// \[bytes\] Where its contents begin; 0 if it has none.
    contents: u32,
    /// Its own number for the outermost one.
    parent: u32,
    /// The first element that is not within it.
    next: u32,
    /// Its first attribute; those of the next element follow.
    attributes: u32,
}

/// An attribute of an element.
#[derive(Clone, Copy)]
struct Attribute {
    /// \[bytes\] Where its name begins.
    key: u32,
    key_length: u32,
    /// \[bytes\] Where its value begins; beyond the end of the text, in [`Document::resolved`].
    value: u32,
    value_length: u32,
}

/// A document.
pub(crate) struct Document<'a> {
    text: &'a str,
    elements: Vec<Element>,
    attributes: Vec<Attribute>,
    /// Values with characters in place of their names.
    resolved: String,
}

impl<'a> Document<'a> {
    /// Reads a text.
    ///
    /// # Errors
    /// Text that is not well-formed, elements that are nested too deep, declared entities.
    pub(crate) fn new(text: &'a str, places: &Places<'_>) -> Result<Self, SpecError> {
        let mut new = Self { text, elements: Vec::new(), attributes: Vec::new(), resolved: String::new() };
        let fault = |at: usize, why: &str, remedy: &str| malformed(places, at, format!("not XML: {why}"), remedy);
        let mut reader = Reader::from_str(text);
        let mut open: Vec<u32> = Vec::new();
        loop {
            let at = reader.buffer_position() as usize;
            let event = reader.read_event().map_err(|error| {
                let at = reader.error_position() as usize;
                match error {
                    quick_xml::Error::Syntax(_) => malformed(places, at, "a tag does not end", ALONE),
                    error => fault(at, &error.to_string(), CLOSE),
                }
            })?;
            let is_start = matches!(event, Event::Start(_));
            match event {
                Event::Start(tag) | Event::Empty(tag) => {
                    if open.is_empty() && !new.elements.is_empty() {
                        return Err(fault(at, "a second outermost element", CLOSE));
                    }
                    if new.elements.len() >= MOST_ELEMENTS {
                        let what = format!("more than {MOST_ELEMENTS} elements");
                        return Err(refusal(places, at, ErrorKind::TooLarge, what, "use a smaller network"));
                    }
                    let number = new.elements.len() as u32;
                    let parent = open.last().copied().unwrap_or(number);
                    new.element(at, parent, &tag).map_err(|why| fault(at, &why, CLOSE))?;
                    if is_start {
                        new.elements[number as usize].contents = reader.buffer_position() as u32;
                        open.push(number);
                    }
                    if open.len() > MAX_DEPTH {
                        return Err(malformed(
                            places,
                            at,
                            format!("elements are nested deeper than {MAX_DEPTH}"),
                            ALONE,
                        ));
                    }
                }
                Event::End(_) => {
                    let next = new.elements.len() as u32;
                    if let Some(element) = open.pop().and_then(|number| new.elements.get_mut(number as usize)) {
                        element.next = next;
                    }
                }
                Event::Text(_) if open.is_empty() && text[at..].trim_start().starts_with('<') => {}
                Event::Text(_) if open.is_empty() && text[at..].trim().is_empty() => {}
                Event::Text(_) | Event::CData(_) if open.is_empty() => {
                    return Err(fault(at, "text outside of the outermost element", CLOSE));
                }
                Event::GeneralRef(reference) => {
                    let name = format!("&{};", &*reference);
                    if open.is_empty() || unescape(&name).is_err() {
                        return Err(fault(
                            at,
                            &format!("`{}` is not known", short(&name)),
                            "write the character itself",
                        ));
                    }
                }
                // An internal subset of declarations, in which quotes and comments have rules of their own.
                Event::DocType(declared) if declared.contains('[') || declared.contains("<!ENTITY") => {
                    return Err(malformed(places, at, "the file declares entities", ALONE));
                }
                Event::Eof => break,
                Event::Text(_)
                | Event::CData(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::DocType(_) => {}
            }
        }
        if let Some(&last) = open.last() {
            let element = Node { document: &new, number: last };
            let what = format!("<{}> is not closed", short(element.name()));
            return Err(malformed(places, element.at(), what, CLOSE));
        }
        if new.elements.is_empty() {
            return Err(fault(text.len(), "there is no element", CLOSE));
        }
        Ok(new)
    }

    /// Adds an element; why its tag is wrong.
    fn element(&mut self, at: usize, parent: u32, tag: &BytesStart<'_>) -> Result<(), String> {
        let text = self.text;
        let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
        let name = tag.local_name().into_inner();
        let number = self.elements.len() as u32;
        self.elements.push(Element {
            at: at as u32,
            name: offset(name) as u32,
            name_length: name.len() as u32,
            contents: 0,
            parent,
            next: number + 1,
            attributes: self.attributes.len() as u32,
        });
        // The check of quick-xml compares each with all before it.
        let mut attributes = tag.attributes();
        let first = self.attributes.len();
        for attribute in attributes.with_checks(false) {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let key = attribute.key.into_inner();
            if key == "xmlns" || key.starts_with("xmlns:") {
                continue;
            }
            let raw: &str = &attribute.value;
            let (value, length) = match raw.contains(['&', '\n', '\t', '\r']) {
                false => (offset(raw), raw.len()),
                true => {
                    let plain = raw.replace(['\n', '\t', '\r'], " ");
                    let plain = unescape(&plain).map_err(|error| error.to_string())?;
                    self.resolved.push_str(&plain);
                    (text.len() + self.resolved.len() - plain.len(), plain.len())
                }
            };
            self.attributes.push(Attribute {
                key: offset(key) as u32,
                key_length: key.len() as u32,
                value: value as u32,
                value_length: length as u32,
            });
        }
        let mut names: Vec<&str> = self.attributes[first..].iter().map(|of| self.key(*of)).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("attribute `{}` stands twice", short(pair[0]))),
            None => Ok(()),
        }
    }

    fn part(&self, begin: u32, length: u32) -> &str {
        let (begin, length) = (begin as usize, length as usize);
        match begin.checked_sub(self.text.len()) {
            Some(begin) => self.resolved.get(begin..begin + length).unwrap_or(""),
            None => self.text.get(begin..begin + length).unwrap_or(""),
        }
    }

    fn key(&self, of: Attribute) -> &str {
        self.part(of.key, of.key_length)
    }

    /// The outermost element.
    pub(crate) fn root(&self) -> Node<'_> {
        Node { document: self, number: 0 }
    }
}

/// An element of a document.
#[derive(Clone, Copy)]
pub(crate) struct Node<'d> {
    document: &'d Document<'d>,
    number: u32,
}

impl<'d> Node<'d> {
    fn row(self) -> Element {
        self.document.elements[self.number as usize]
    }

    /// Its local name.
    pub(crate) fn name(self) -> &'d str {
        self.document.part(self.row().name, self.row().name_length)
    }

    /// \[bytes\] Its offset.
    pub(crate) fn at(self) -> usize {
        self.row().at as usize
    }

    /// The value of an attribute that has no namespace.
    pub(crate) fn attribute(self, name: &str) -> Option<&'d str> {
        let document = self.document;
        let found = self.rows().iter().find(|of| document.key(**of) == name);
        found.map(|of| document.part(of.value, of.value_length))
    }

    /// The local names of its attributes.
    pub(crate) fn attributes(self) -> impl Iterator<Item = &'d str> {
        let document = self.document;
        self.rows().iter().map(|of| document.key(*of)).map(|key| key.split_once(':').map_or(key, |(_, key)| key))
    }

    fn rows(self) -> &'d [Attribute] {
        let attributes = &self.document.attributes;
        let end =
            self.document.elements.get(self.number as usize + 1).map_or(attributes.len(), |of| of.attributes as usize);
        attributes.get(self.row().attributes as usize..end).unwrap_or(&[])
    }

    /// The element that it stands in.
    pub(crate) fn parent(self) -> Option<Self> {
        let number = self.row().parent;
        (number != self.number).then_some(Self { number, ..self })
    }

    /// The elements in it.
    pub(crate) fn children(self) -> impl Iterator<Item = Self> {
        let end = self.row().next;
        let first = (self.number + 1 < end).then_some(Self { number: self.number + 1, ..self });
        std::iter::successors(first, move |child| {
            let number = child.row().next;
            (number < end).then_some(Self { number, ..self })
        })
    }

    /// This element and all within it.
    pub(crate) fn descendants(self) -> impl Iterator<Item = Self> {
        (self.number..self.row().next).map(move |number| Self { number, ..self })
    }

    /// The text at its beginning; `None` if something else stands there.
    pub(crate) fn text(self) -> Option<Cow<'d, str>> {
        const CDATA: &str = "<![CDATA[";
        let mut rest = self.document.text.get(self.row().contents as usize..).filter(|_| self.row().contents > 0)?;
        let mut text = Cow::Borrowed("");
        let mut is_any = false;
        loop {
            let piece = match rest.strip_prefix(CDATA).and_then(|inner| inner.split_once("]]>")) {
                Some((inner, after)) => {
                    rest = after;
                    Cow::Borrowed(inner)
                }
                None => {
                    let end = rest.find('<').unwrap_or(rest.len());
                    let raw = &rest[..end];
                    if raw.is_empty() {
                        return is_any.then_some(text);
                    }
                    rest = &rest[end..];
                    unescape(raw).unwrap_or(Cow::Borrowed(raw))
                }
            };
            text = if is_any { Cow::Owned(text.into_owned() + &piece) } else { piece };
            is_any = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Document<'_>, SpecError> {
        Document::new(text, &Places::new(text))
    }

    #[test]
    fn elements_have_names_attributes_and_text() {
        let text = "<?xml version='1.0'?>\n<!DOCTYPE a>\n<x:a xmlns:x='u' b=\"1 &lt; 2\" c='' x:d='e'>t &amp; <![CDATA[<u>]]> v<!-- w -->\
                    <b/> <c><d/>z</c></x:a>\n<!-- end -->\n";
        let document = read(text).unwrap();
        let root = document.root();
        assert_eq!((root.name(), root.at(), root.parent().is_none()), ("a", 35, true));
        assert_eq!(root.attributes().collect::<Vec<_>>(), ["b", "c", "d"]);
        let of = |name| root.attribute(name);
        assert_eq!([of("b"), of("c"), of("d"), of("x:d")], [Some("1 < 2"), Some(""), None, Some("e")]);
        assert_eq!(root.text().as_deref(), Some("t & <u> v"));
        let names = |nodes: Vec<Node<'_>>| nodes.into_iter().map(Node::name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(root.children().collect()), "b c");
        assert_eq!(names(root.descendants().collect()), "a b c d");
        let [b, c] = root.children().collect::<Vec<_>>()[..] else { panic!("two") };
        assert_eq!((b.text(), c.text(), b.children().count(), c.children().count()), (None, None, 0, 1));
        assert_eq!(c.children().next().and_then(Node::parent).map(Node::name), Some("c"));
    }

    #[test]
    fn what_is_not_well_formed_is_refused_with_its_place() {
        for (text, expected) in [
            ("", "there is no element"),
            ("<a>\n<b>\n</a>", "line 3"),
            ("<a>\n<b/>", "line 1, column 1: <a> is not closed"),
            ("<a/>\n<b/>", "line 2, column 1: not XML: a second outermost element"),
            ("<a/> b", "text outside"),
            ("<a b='1' b='2'/>", "attribute `b` stands twice"),
            ("<a b=1/>", "not XML"),
            ("<a>&b;</a>", "`&b;` is not known"),
            ("<a b='&c;'/>", "not XML"),
            ("<a", "a tag does not end"),
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "the file declares entities"),
        ] {
            let error = read(text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let deep = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
        assert!(read(&deep(64)).is_ok() && read(&deep(65)).is_err());
    }
}
