//! Encoding and decoding of each type of frame.

use bytes::{BufMut, Bytes, BytesMut};

use super::{
    Body, Class, Code, Deliver, Hello, Inject, MAGIC, MAX_ENDPOINTS, Malformed, Mode, OPTIONAL, REPLY, Reader, Role,
    Welcome, Writer,
};

/// Types of frames.
const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const CHALLENGE: u8 = 3;
const INJECT: u8 = 4;
const DELIVER: u8 = 5;
const DONE: u8 = 6;
const TIMESTAMP: u8 = 7;
const GO_AHEAD: u8 = 8;
const MARK: u8 = 9;
const BYE: u8 = 11;
const ERROR: u8 = 12;
const PART: u8 = 14;
const BUSY: u8 = 15;
const AWAITS: u8 = 16;

/// Inject flag: requests a Done.
const NOTIFY: u8 = 1;
/// Inject flag: the payload may exceed the size.
const UNMODELLED: u8 = 2;
/// Inject flag: the number of payload bytes that identify the message follows the cookie.
const IDENTIFIED: u8 = 4;

impl Body {
    /// Name of the frame, for messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "Hello",
            Self::Welcome(_) => "Welcome",
            Self::Challenge(_) => "Challenge",
            Self::Proof(_) => "Proof",
            Self::Inject(_) => "Inject",
            Self::Deliver(_) => "Deliver",
            Self::Done { .. } => "Done",
            Self::Timestamp { .. } => "Timestamp",
            Self::GoAhead { .. } => "GoAhead",
            Self::Mark { .. } => "Mark",
            Self::Bye { .. } => "Bye",
            Self::Error { .. } => "Error",
            Self::Part(_) => "Part",
            Self::Busy { .. } => "Busy",
            Self::Awaits { .. } => "Awaits",
        }
    }

    /// Name of the frame with its article, for messages.
    #[must_use]
    pub(crate) fn a_name(&self) -> String {
        format!("{} {}", super::article(self.name()), self.name())
    }

    /// Type and flags of the header.
    pub(crate) const fn kind(&self) -> (u8, u8) {
        match self {
            Self::Hello(_) => (HELLO, 0),
            Self::Welcome(_) => (WELCOME, 0),
            Self::Challenge(_) => (CHALLENGE, 0),
            Self::Proof(_) => (CHALLENGE, REPLY),
            Self::Inject(_) => (INJECT, 0),
            Self::Deliver(_) => (DELIVER, 0),
            Self::Done { .. } => (DONE, 0),
            Self::Timestamp { .. } => (TIMESTAMP, 0),
            Self::GoAhead { .. } => (GO_AHEAD, 0),
            Self::Mark { .. } => (MARK, 0),
            Self::Bye { .. } => (BYE, 0),
            Self::Error { .. } => (ERROR, 0),
            Self::Part(_) => (PART, 0),
            Self::Busy { .. } => (BUSY, 0),
            Self::Awaits { .. } => (AWAITS, 0),
        }
    }

    /// The payload of the message that the frame carries, which ends the frame.
    pub(crate) const fn carried(&self) -> Option<&Bytes> {
        match self {
            Self::Inject(Inject { payload, .. }) | Self::Deliver(Deliver { payload, .. }) | Self::Part(payload) => {
                Some(payload)
            }
            _ => None,
        }
    }

    /// Appends the payload of the frame, without what it [carries](Self::carried).
    pub(crate) fn write(&self, out: &mut BytesMut) {
        match self {
            Self::Hello(hello) => {
                out.put_slice(&MAGIC);
                out.put_u16_le(hello.major);
                out.put_u16_le(hello.minor);
                out.put_u64_le(hello.capabilities);
                out.put_u8(match hello.class {
                    Class::Stepped => 0,
                    Class::Causal => 1,
                    Class::Realtime => 2,
                });
                out.put_u8(match hello.role {
                    Role::Node => 0,
                    Role::Central => 1,
                    Role::Data => 2,
                });
                out.put_u32_le(hello.group);
                out.put_u64_le(hello.step);
                out.put_u64_le(hello.slack);
                out.put_u32_le(hello.max_payload);
                out.put_slice(&hello.manifest);
                Writer(out).text(&hello.name);
                let nodes = &hello.nodes[..hello.nodes.len().min(MAX_ENDPOINTS)];
                out.put_u16_le(nodes.len() as u16);
                nodes.iter().for_each(|&node| out.put_u32_le(node));
            }
            Self::Welcome(welcome) => {
                out.put_u16_le(welcome.minor);
                out.put_u8(match welcome.mode {
                    Mode::Exact => 0,
                    Mode::Quantised => 1,
                    Mode::Realtime => 2,
                });
                out.put_u64_le(welcome.capabilities);
                out.put_u64_le(welcome.session);
                out.put_u32_le(welcome.node_count);
                out.put_u64_le(welcome.step);
                out.put_u64_le(welcome.horizon);
                out.put_u64_le(welcome.cycle.0);
                out.put_u64_le(welcome.cycle.1);
                out.put_u32_le(welcome.max_payload);
                out.put_u32_le(welcome.window);
                out.put_u32_le(welcome.stall_ms);
                out.put_u64_le(welcome.seed);
                out.put_u32_le(welcome.pace);
            }
            Self::Challenge(bytes) | Self::Proof(bytes) => out.put_slice(bytes),
            Self::Part(_) => {}
            Self::Inject(inject) => {
                out.put_u32_le(inject.destination);
                let unmodelled = if inject.unmodelled { UNMODELLED } else { 0 };
                let identified = if inject.identified.is_some() { IDENTIFIED } else { 0 };
                out.put_u8(unmodelled | identified | if inject.notify { NOTIFY } else { 0 });
                out.put_u64_le(inject.size);
                out.put_u64_le(inject.cookie);
                inject.identified.iter().for_each(|&bytes| out.put_u32_le(bytes));
            }
            Self::Deliver(deliver) => {
                out.put_u32_le(deliver.source);
                out.put_u64_le(deliver.source_sequence);
                out.put_u64_le(deliver.cookie);
                out.put_u64_le(deliver.injected);
                out.put_u64_le(deliver.late);
                out.put_u64_le(deliver.size);
            }
            Self::Done { cookie } => out.put_u64_le(*cookie),
            Self::Busy { until } => out.put_u64_le(*until),
            Self::Awaits { sources } => {
                let sources = &sources[..sources.len().min(MAX_ENDPOINTS)];
                out.put_u16_le(sources.len() as u16);
                sources.iter().for_each(|&source| out.put_u32_le(source));
            }
            Self::Timestamp { next: a, injects: b } | Self::GoAhead { until: a, notices: b } => {
                out.put_u64_le(*a);
                out.put_u64_le(*b);
            }
            Self::Mark { label } => Writer(out).text(label),
            Self::Bye { reason, injects, notices } => {
                out.put_u64_le(*injects);
                out.put_u64_le(*notices);
                Writer(out).text(reason);
            }
            Self::Error { code, text } => {
                out.put_u16_le(*code as u16);
                Writer(out).text(text);
            }
        }
    }

    /// Reads a complete payload; `None` for a frame to be skipped.
    pub(crate) fn read(kind: u8, flags: u8, payload: Bytes) -> Result<Option<Self>, Malformed> {
        if flags & !(OPTIONAL | REPLY) != 0 || (flags & REPLY != 0 && kind != CHALLENGE) {
            return Err(Malformed::Flags { flags, kind });
        }
        let name = match kind {
            HELLO => "Hello",
            WELCOME => "Welcome",
            CHALLENGE => "Challenge",
            INJECT => "Inject",
            DELIVER => "Deliver",
            DONE => "Done",
            TIMESTAMP => "Timestamp",
            GO_AHEAD => "GoAhead",
            MARK => "Mark",
            BYE => "Bye",
            ERROR => "Error",
            PART => "Part",
            BUSY => "Busy",
            AWAITS => "Awaits",
            _ if flags & OPTIONAL != 0 => return Ok(None),
            _ => return Err(Malformed::UnknownType { kind }),
        };
        let mut from = Reader::new(name, payload);
        let body = match kind {
            HELLO => Self::Hello(Box::new(hello(&mut from)?)),
            WELCOME => Self::Welcome(Box::new(welcome(&mut from)?)),
            CHALLENGE if flags & REPLY != 0 => Self::Proof(from.array()?),
            CHALLENGE => Self::Challenge(from.array()?),
            INJECT => Self::Inject(inject(&mut from)?),
            DELIVER => Self::Deliver(Deliver {
                source: from.u32()?,
                source_sequence: from.u64()?,
                cookie: from.u64()?,
                injected: from.u64()?,
                late: from.u64()?,
                size: from.u64()?,
                payload: from.rest(),
            }),
            DONE => Self::Done { cookie: from.u64()? },
            TIMESTAMP => Self::Timestamp { next: from.u64()?, injects: from.u64()? },
            GO_AHEAD => Self::GoAhead { until: from.u64()?, notices: from.u64()? },
            PART => Self::Part(from.rest()),
            BUSY => Self::Busy { until: from.u64()? },
            AWAITS => {
                let count = usize::from(from.u16()?);
                if count > MAX_ENDPOINTS {
                    return Err(from.value("sources"));
                }
                Self::Awaits { sources: (0..count).map(|_| from.u32()).collect::<Result<_, _>>()? }
            }
            MARK => Self::Mark { label: from.text("label")? },
            BYE => Self::Bye { injects: from.u64()?, notices: from.u64()?, reason: from.text("reason")? },
            _ => Self::Error { code: code(&mut from)?, text: from.text("text")? },
        };
        from.end()?;
        Ok(Some(body))
    }
}

/// Reads the payload of a Hello.
fn hello(from: &mut Reader) -> Result<Hello, Malformed> {
    if from.array()? != MAGIC {
        return Err(Malformed::Magic);
    }
    let (major, minor, capabilities) = (from.u16()?, from.u16()?, from.u64()?);
    let class = match from.u8()? {
        0 => Class::Stepped,
        1 => Class::Causal,
        2 => Class::Realtime,
        _ => return Err(from.value("class")),
    };
    let role = match from.u8()? {
        0 => Role::Node,
        1 => Role::Central,
        2 => Role::Data,
        _ => return Err(from.value("role")),
    };
    let group = from.u32()?;
    let (step, slack, max_payload) = (from.u64()?, from.u64()?, from.u32()?);
    let (manifest, name) = (from.array()?, from.text("name")?);
    let count = usize::from(from.u16()?);
    if count > MAX_ENDPOINTS {
        return Err(from.value("endpoints"));
    }
    // The list grows with the data that are present: a false count allocates no memory.
    let mut nodes = Vec::new();
    for _ in 0..count {
        nodes.push(from.u32()?);
    }
    Ok(Hello { major, minor, capabilities, class, role, group, step, slack, max_payload, manifest, name, nodes })
}

/// Reads the payload of a Welcome.
fn welcome(from: &mut Reader) -> Result<Welcome, Malformed> {
    Ok(Welcome {
        minor: from.u16()?,
        mode: match from.u8()? {
            0 => Mode::Exact,
            1 => Mode::Quantised,
            2 => Mode::Realtime,
            _ => return Err(from.value("mode")),
        },
        capabilities: from.u64()?,
        session: from.u64()?,
        node_count: from.u32()?,
        step: from.u64()?,
        horizon: from.u64()?,
        cycle: (from.u64()?, from.u64()?),
        max_payload: from.u32()?,
        window: from.u32()?,
        stall_ms: from.u32()?,
        seed: from.u64()?,
        pace: from.u32()?,
    })
}

/// Reads the payload of an Inject.
fn inject(from: &mut Reader) -> Result<Inject, Malformed> {
    let destination = from.u32()?;
    let flags = from.u8()?;
    if flags & !(NOTIFY | UNMODELLED | IDENTIFIED) != 0 {
        return Err(from.value("flags"));
    }
    let (notify, unmodelled) = (flags & NOTIFY != 0, flags & UNMODELLED != 0);
    let (size, cookie) = (from.u64()?, from.u64()?);
    let identified = if flags & IDENTIFIED != 0 { Some(from.u32()?) } else { None };
    let payload = from.rest();
    if !unmodelled && payload.len() as u64 > size {
        return Err(Malformed::Carries { carried: payload.len() as u64, size });
    }
    Ok(Inject { destination, notify, size, cookie, unmodelled, identified, payload })
}

/// Reads the code of an Error.
fn code(from: &mut Reader) -> Result<Code, Malformed> {
    const ALL: [Code; 10] = [
        Code::Malformed,
        Code::Version,
        Code::Token,
        Code::Node,
        Code::Step,
        Code::Order,
        Code::Message,
        Code::Limit,
        Code::Stalled,
        Code::Run,
    ];
    let number = from.u16()?;
    ALL.into_iter().find(|&code| code as u16 == number).ok_or_else(|| from.value("code"))
}
