//! Writes Chakra traces for tests: an encoder of its own, which shares nothing with the reader.

/// A value of an attribute, as one of the integer kinds of the schema or a text.
#[derive(Clone, Debug)]
pub enum Attr {
    /// int32.
    Int32(i32),
    /// int64.
    Int64(i64),
    /// uint64.
    Uint64(u64),
    /// sint64.
    Sint64(i64),
    /// bool.
    Bool(bool),
    /// string.
    Text(&'static str),
}

/// A node to be written.
#[derive(Clone, Default, Debug)]
pub struct Node {
    /// Number.
    pub id: u64,
    /// Name.
    pub name: &'static str,
    /// Type: 1 metadata, 4 compute, 5 send, 6 receive, 7 collective.
    pub kind: u64,
    /// Dependencies of control.
    pub control: Vec<u64>,
    /// Dependencies of data.
    pub data: Vec<u64>,
    /// \[us\] Duration.
    pub micros: u64,
    /// The first value of its inputs.
    pub input: Option<&'static str>,
    /// Attributes.
    pub attributes: Vec<(&'static str, Attr)>,
}

/// A number in groups of seven bits.
pub fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A field that holds a number.
fn number(field: u64, value: u64, out: &mut Vec<u8>) {
    varint(field << 3, out);
    varint(value, out);
}

/// A field that holds bytes.
fn bytes(field: u64, value: &[u8], out: &mut Vec<u8>) {
    varint(field << 3 | 2, out);
    varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

/// The message of an attribute.
fn attribute(name: &str, value: &Attr) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(1, name.as_bytes(), &mut out);
    match *value {
        Attr::Int32(value) => number(7, i64::from(value) as u64, &mut out),
        Attr::Int64(value) => number(9, value as u64, &mut out),
        Attr::Uint64(value) => number(13, value, &mut out),
        Attr::Sint64(value) => number(17, (value << 1 ^ value >> 63) as u64, &mut out),
        Attr::Bool(value) => number(27, u64::from(value), &mut out),
        Attr::Text(text) => bytes(29, text.as_bytes(), &mut out),
    }
    out
}

/// The message of a node; its lists of dependencies packed or not. Zero values are left out.
#[must_use]
pub fn node(node: &Node, packed: bool) -> Vec<u8> {
    let mut out = Vec::new();
    if node.id != 0 {
        number(1, node.id, &mut out);
    }
    if !node.name.is_empty() {
        bytes(2, node.name.as_bytes(), &mut out);
    }
    number(3, node.kind, &mut out);
    for (field, list) in [(4, &node.control), (5, &node.data)] {
        if packed && !list.is_empty() {
            let mut all = Vec::new();
            list.iter().for_each(|&id| varint(id, &mut all));
            bytes(field, &all, &mut out);
        } else {
            list.iter().for_each(|&id| number(field, id, &mut out));
        }
    }
    if node.micros != 0 {
        number(7, node.micros, &mut out);
    }
    if let Some(input) = node.input {
        let mut values = Vec::new();
        bytes(1, input.as_bytes(), &mut values);
        bytes(8, &values, &mut out);
    }
    node.attributes.iter().for_each(|(name, value)| bytes(10, &attribute(name, value), &mut out));
    out
}

/// A file of these nodes: metadata with a version or none, then the nodes, each after its length.
#[must_use]
pub fn file(nodes: &[Node], version: Option<&str>, packed: bool) -> Vec<u8> {
    let mut metadata = Vec::new();
    if let Some(version) = version {
        bytes(1, version.as_bytes(), &mut metadata);
    }
    let mut out = Vec::new();
    varint(metadata.len() as u64, &mut out);
    out.extend(metadata);
    for each in nodes {
        let message = node(each, packed);
        varint(message.len() as u64, &mut out);
        out.extend(message);
    }
    out
}

/// A computation that lasts `micros`.
#[must_use]
pub fn compute(id: u64, micros: u64, data: &[u64]) -> Node {
    Node { id, name: "compute", kind: 4, micros, data: data.to_vec(), ..Node::default() }
}

/// A send.
#[must_use]
pub fn send(id: u64, to: i32, tag: i32, size: u64, data: &[u64]) -> Node {
    let attributes = vec![
        ("comm_dst", Attr::Int32(to)),
        ("comm_tag", Attr::Int32(tag)),
        ("comm_size", Attr::Uint64(size)),
        ("is_cpu_op", Attr::Int32(0)),
    ];
    Node { id, name: "send", kind: 5, data: data.to_vec(), attributes, ..Node::default() }
}

/// A receive.
#[must_use]
pub fn receive(id: u64, from: i32, tag: i32, size: u64, data: &[u64]) -> Node {
    let attributes = vec![
        ("comm_src", Attr::Int32(from)),
        ("comm_tag", Attr::Int32(tag)),
        ("comm_size", Attr::Uint64(size)),
        ("is_cpu_op", Attr::Bool(false)),
    ];
    Node { id, name: "receive", kind: 6, data: data.to_vec(), attributes, ..Node::default() }
}

/// A collective of a group; empty for all ranks.
#[must_use]
pub fn collective(id: u64, kind: i64, size: i64, group: &'static str, data: &[u64]) -> Node {
    let mut attributes =
        vec![("comm_type", Attr::Int64(kind)), ("comm_size", Attr::Sint64(size)), ("is_cpu_op", Attr::Bool(false))];
    if !group.is_empty() {
        attributes.push(("pg_name", Attr::Text(group)));
    }
    Node { id, name: "collective", kind: 7, data: data.to_vec(), attributes, ..Node::default() }
}
