//! Messages, matching and requests: `mail` holds messages and posted receives, `requests` the operations of the
//! program, `waiting` the waits for them.

mod mail;
mod requests;
mod waiting;

pub(crate) use mail::{
    ANSWERS, COLLECTIVE, Mail, Message, Owner, answer, deliver, find, found, kind_of, post, receive, take_out, transmit,
};
pub(crate) use requests::{Request, State, What, cancel, finish, is_over};
pub(crate) use waiting::{Awaited, Until, catch_up, poll, wait, wait_for};
