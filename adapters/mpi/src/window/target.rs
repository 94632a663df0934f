//! What a rank does with a message of a window.

use std::rc::Rc;

use super::{Code, Order, Window};
use crate::abi::*;
use crate::datatype::Type;
use crate::error::{Outcome, error};
use crate::operation::{self, Terms};

/// What follows from a message: messages to ranks of the window, with their data, and the number of the answer that the
/// message is.
#[derive(Default, Debug)]
pub(crate) struct Carried {
    pub(crate) replies: Vec<(usize, Order, Vec<u8>)>,
    pub(crate) answer: Option<u64>,
}

impl Carried {
    /// A message to a rank, without data.
    fn notice(to: usize, code: Code) -> (usize, Order, Vec<u8>) {
        (to, Order::of(code), Vec::new())
    }

    /// Notices that locks are granted.
    fn granted(ranks: Vec<usize>) -> Vec<(usize, Order, Vec<u8>)> {
        ranks.into_iter().map(|rank| Self::notice(rank, Code::Granted)).collect()
    }
}

/// Carries out a message of a rank.
///
/// # Errors
/// It accesses memory outside of the window, or its data do not fit.
pub(crate) fn carry_out(window: &mut Window, rank: usize, order: &Order, data: &[u8]) -> Outcome<Carried> {
    let mut carried = Carried::default();
    let mut arrived = || {
        if let Some(expected) = window.expected.get_mut(&rank) {
            *expected = expected.saturating_sub(1);
        }
    };
    match order.code {
        Code::Put | Code::Accumulate | Code::Get | Code::Fetch | Code::Compare => {
            window.arrived += i32::from(order.is_counted);
            if let Some(found) = access(window, order, data)? {
                carried.replies.push((rank, Order { id: order.id, ..Order::of(Code::Answer) }, found));
            }
        }
        Code::Answer => {
            arrived();
            carried.answer = Some(order.id);
        }
        Code::Done => arrived(),
        Code::LockShared | Code::LockExclusive => {
            carried.replies = Carried::granted(window.lock((rank, order.code == Code::LockExclusive)));
        }
        Code::Granted => drop(window.locked.insert(rank, true)),
        Code::Unlock => {
            carried.replies.push(Carried::notice(rank, Code::Done));
            carried.replies.extend(Carried::granted(window.unlock(rank)));
        }
        Code::Flush => carried.replies.push(Carried::notice(rank, Code::Done)),
        Code::Post => drop(window.exposed.insert(rank)),
        Code::Complete => drop(window.completed.insert(rank)),
    }
    Ok(carried)
}

/// Accesses the memory of this rank. Returns the data for the answer, if there is one.
fn access(window: &Window, order: &Order, data: &[u8]) -> Outcome<Option<Vec<u8>>> {
    let Some(ty) = &order.ty else {
        let old = if matches!(order.code, Code::Put | Code::Accumulate) { None } else { Some(Vec::new()) };
        return Ok(old);
    };
    let address = window.address(order.place, order.count, ty)?;
    let bytes = ty.bytes(order.count) as usize;
    let mut old = Vec::new();
    if order.code != Code::Put {
        // SAFETY: the values lie within the window, as has been checked.
        unsafe { ty.pack(address as P, order.count, &mut old) }?;
    }
    let new = match order.code {
        Code::Get => None,
        Code::Put => Some(data.to_vec()),
        Code::Compare => data.split_at_checked(bytes).filter(|(wanted, _)| *wanted == old).map(|(_, new)| new.to_vec()),
        _ => combined(order, ty, data, &old)?,
    };
    if let Some(new) = new {
        if new.len() != bytes {
            return error(ERR_RMA_RANGE, format!("{bytes} bytes with {}", new.len()));
        }
        // SAFETY: as above.
        unsafe { ty.unpack(&new, address as M, order.count) };
    }
    Ok(if matches!(order.code, Code::Put | Code::Accumulate) { None } else { Some(old) })
}

/// The values of a window after a combination with data; `None` if they stay.
fn combined(order: &Order, ty: &Rc<Type>, data: &[u8], old: &[u8]) -> Outcome<Option<Vec<u8>>> {
    match order.op {
        OP_NO_OP => Ok(None),
        OP_REPLACE => Ok(Some(data.to_vec())),
        op if data.len() == old.len() => {
            let mut new = old.to_vec();
            let terms = Terms { op, function: None, handle: 0, ty: Rc::clone(ty), count: order.count };
            operation::predefined(&terms, data, &mut new);
            Ok(Some(new))
        }
        _ => error(ERR_RMA_RANGE, format!("{} bytes with {}", old.len(), data.len())),
    }
}
