//! The handshake: Hello, Challenge, Proof, Welcome. Decides which guests are admitted.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_util::codec::Decoder;

use crate::clock::Time;
use crate::codec::Codec;
use crate::protocol::{Body, Class, Code, Hello, MAJOR, MIN_PAYLOAD, MINOR, Mode, Role, Welcome};
use crate::stream::Link;
use crate::token::{self, Nonces, Side, Token};

use super::listen::Peer;
use super::{Connection, Reservation, Taken, Terms};

/// \[bytes\] Longest frame that is accepted before the handshake is over.
const LONGEST_FIRST: u32 = 32 << 10;

/// Why a connection is refused: the code for the guest's program, and the text for its user.
struct Refusal {
    code: Code,
    text: String,
}

/// Performs the handshake within the time limit. `wanted` is the number of nodes that need a guest. `is_named` becomes
/// true once the peer has said who it is.
///
/// # Errors
/// The reason why the connection was refused, as text that names the guest if its name is known.
pub(super) async fn handshake(
    mut peer: Peer,
    terms: &Terms,
    taken: &Taken,
    wanted: usize,
    is_named: &AtomicBool,
) -> Result<Connection, String> {
    let mut talk = Talk { codec: Codec::default(), incoming: BytesMut::new() };
    talk.codec.set_max_payload(LONGEST_FIRST);
    let mut name = None;
    let outcome = {
        let named = (&mut name, is_named);
        let exchange = async {
            match &mut peer {
                Peer::Tcp(stream, _) => exchange_frames(&mut talk, stream, terms, taken, wanted, named).await,
                Peer::Unix(stream) => exchange_frames(&mut talk, stream, terms, taken, wanted, named).await,
            }
        };
        let timed_out = || Refusal {
            code: Code::Stalled,
            text: format!("no handshake within {} s", terms.handshake.as_secs_f64()),
        };
        tokio::time::timeout(terms.handshake, exchange).await.unwrap_or_else(|_| Err(timed_out()))
    };
    let from = peer.name().to_owned();
    let refused = |why: &str| match &name {
        Some(name) => format!("refused guest `{name}` from {from}: {why}"),
        None => format!("refused a connection from {from} before it said who it is: {why}"),
    };
    match outcome {
        Ok((mut hello, step, reservation)) => {
            hello.max_payload = hello.max_payload.min(terms.max_payload);
            let mut codec = talk.codec;
            codec.set_max_payload(hello.max_payload);
            let link = peer
                .into_stream()
                .and_then(|stream| Link::new(stream, codec, talk.incoming))
                .map_err(|error| refused(&error.to_string()))?;
            Ok(Connection { link, hello, step, members: Vec::new(), _place: reservation })
        }
        Err(refusal) => {
            let error = Body::Error { code: refusal.code, text: refusal.text.clone() };
            // The peer may have closed the connection: an error of sending does not matter.
            let sent = async {
                match &mut peer {
                    Peer::Tcp(stream, _) => talk.send(stream, &error).await,
                    Peer::Unix(stream) => talk.send(stream, &error).await,
                }
            };
            let _ = tokio::time::timeout(Duration::from_secs(1), sent).await;
            Err(refused(&refusal.text))
        }
    }
}

/// The frames of a connection during the handshake.
struct Talk {
    codec: Codec,
    /// Bytes that have been read and not decoded yet.
    incoming: BytesMut,
}

impl Talk {
    /// Sends a frame.
    async fn send(&mut self, stream: &mut (impl AsyncWrite + Unpin), body: &Body) -> io::Result<()> {
        let mut out = BytesMut::new();
        self.codec.put(0, 0, body, &mut out);
        stream.write_all(&out).await
    }

    /// Waits for the next frame and returns its body.
    async fn receive(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<Body, Refusal> {
        let malformed = |text: String| Refusal { code: Code::Malformed, text };
        loop {
            match self.codec.decode(&mut self.incoming) {
                Ok(Some(frame)) => return Ok(frame.body),
                Ok(None) => {}
                Err(error) => return Err(malformed(error.to_string())),
            }
            match stream.read_buf(&mut self.incoming).await {
                Ok(0) => return Err(malformed("it closed the connection".to_owned())),
                Ok(_) => {}
                Err(error) => return Err(malformed(error.to_string())),
            }
        }
    }
}

/// Exchanges the frames of the handshake. Returns the guest's Hello, its step and its reserved nodes. Stores the
/// guest's name in `name`, and that it is known, as soon as it is.
async fn exchange_frames(
    talk: &mut Talk,
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    terms: &Terms,
    taken: &Taken,
    wanted: usize,
    (name, is_named): (&mut Option<String>, &AtomicBool),
) -> Result<(Hello, Time, Reservation), Refusal> {
    let gone = |error: io::Error| Refusal { code: Code::Malformed, text: error.to_string() };
    let hello = match talk.receive(stream).await? {
        Body::Hello(hello) => *hello,
        other => {
            let text = format!("the first frame is {} and not Hello", other.name());
            return Err(Refusal { code: Code::Order, text });
        }
    };
    *name = Some(hello.name.clone());
    is_named.store(true, Ordering::Relaxed);
    if let Some(token) = &terms.token {
        check_token(talk, stream, token).await?;
    }
    let step = check_hello(&hello, terms)?;
    let reservation = Reservation::new(taken, &hello, wanted).map_err(|text| Refusal { code: Code::Node, text })?;
    let welcome = Welcome {
        minor: hello.minor.min(MINOR),
        mode: terms.mode,
        capabilities: 0,
        session: terms.seed,
        node_count: u32::try_from(terms.nodes).unwrap_or(u32::MAX),
        step,
        horizon: terms.horizon,
        cycle: terms.clock.ratio(),
        max_payload: terms.max_payload.min(hello.max_payload),
        window: terms.window,
        stall_ms: u32::try_from(terms.stall.as_millis()).unwrap_or(u32::MAX),
        seed: terms.seed,
        pace: terms.pace,
    };
    talk.send(stream, &Body::Welcome(Box::new(welcome))).await.map_err(gone)?;
    Ok((hello, step, reservation))
}

/// Has the guest prove that it knows the token, then proves the same to the guest. The guest is first, so that a
/// stranger learns nothing that helps to guess the token.
async fn check_token(
    talk: &mut Talk,
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    token: &Token,
) -> Result<(), Refusal> {
    let refused = |text: &str| Refusal { code: Code::Token, text: text.to_owned() };
    let nonce = token::nonce().ok_or_else(|| refused("the system has no random bytes for a challenge"))?;
    talk.send(stream, &Body::Challenge(nonce)).await.map_err(|_| refused("it left at the challenge"))?;
    let nonces = match talk.receive(stream).await? {
        Body::Challenge(guest) => Nonces { endpoint: nonce, guest },
        Body::Proof(_) => {
            return Err(refused("it asks for no proof of the token in return; use a guest of this version"));
        }
        _ => return Err(refused("it does not answer the challenge; give it the token of this run")),
    };
    match talk.receive(stream).await? {
        Body::Proof(proof) if token.proves(Side::Guest, &nonces, &proof) => {}
        Body::Proof(_) => return Err(refused("its token is not the one of this run")),
        _ => return Err(refused("it does not answer the challenge; give it the token of this run")),
    }
    let proof = Body::Proof(token.proof(Side::Endpoint, &nonces));
    talk.send(stream, &proof).await.map_err(|_| refused("it left at the challenge"))
}

/// Checks a Hello against the terms of the run. Returns the longest grant of the guest \[ps\].
fn check_hello(hello: &Hello, terms: &Terms) -> Result<Time, Refusal> {
    let refused = |code: Code, text: String| Err(Refusal { code, text });
    if hello.major != MAJOR {
        let text = format!("it speaks TGP/{} and this endpoint TGP/{MAJOR}; use a guest of this version", hello.major);
        return refused(Code::Version, text);
    }
    if hello.capabilities >> 32 != 0 {
        let unknown = hello.capabilities >> 32 << 32;
        let text = format!("capabilities {unknown:#x} must be understood, and are not; use a guest without them");
        return refused(Code::Version, text);
    }
    if hello.max_payload < MIN_PAYLOAD {
        let text = format!(
            "it announces a longest payload of {} bytes, and some frames are longer; announce {MIN_PAYLOAD} or more",
            hello.max_payload
        );
        return refused(Code::Limit, text);
    }
    let mut nodes = hello.nodes.clone();
    nodes.sort_unstable();
    nodes.dedup();
    if (hello.role == Role::Node) != (hello.group == 0) {
        let text = "its role and its group do not match: a member of a group (role central or data) gives the number of its \
                    group, 1 or more; a guest by itself (role node) gives 0";
        return refused(Code::Node, text.to_owned());
    }
    if (nodes.is_empty() && hello.role != Role::Central) || nodes.len() != hello.nodes.len() {
        let text = "its Hello lists no node, or lists a node twice; list each of its nodes once";
        return refused(Code::Node, text.to_owned());
    }
    if let Some(node) = nodes.iter().find(|&&node| node as usize >= terms.nodes) {
        let text = format!("it wants to be node {node}, and the network has nodes 0 to {}", terms.nodes - 1);
        return refused(Code::Node, text);
    }
    if hello.class == Class::Realtime && terms.mode != Mode::Realtime {
        let text = "it lives by the wall clock, and this run does not; use the real-time mode, or a causal guest";
        return refused(Code::Step, text.to_owned());
    }
    let step = if hello.step == 0 { terms.step } else { hello.step };
    if hello.role != Role::Data
        && hello.class == Class::Stepped
        && terms.mode == Mode::Exact
        && step.saturating_add(hello.slack) > terms.horizon
    {
        let text = format!(
            "its step of {step} ps and its slack of {} ps are together longer than the horizon, {} ps, within which no \
             message can affect another guest; use a shorter step or less slack, larger overheads, or quantised mode",
            hello.slack, terms.horizon
        );
        return refused(Code::Step, text);
    }
    Ok(step)
}
