//! The queues of a port with classes: one for each class of data, one for control, and the pause frames of the port.
//!
//! Pause frames are first, then control, then the classes by their [schedule](super::schedule); data that control
//! frames overtake are sent after a number of them. A paused class is passed over. Each queue is first in, first out.
//!
//! Decision: docs/decisions/0523-headers-and-lost-requests.md.

use std::collections::VecDeque;

use super::frame::{CLASSES, CONTROL};
use super::schedule::{Plan, Turn};

/// A frame that waits; `T` is what an engine knows it by.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    frame: T,
    /// \[bytes\] Size on the wire.
    bytes: u16,
}

/// What a port sends next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next<T> {
    /// A pause frame for a class of the other end.
    Pause { class: u8, is_off: bool },
    /// A frame that waited. `behind` is what still waits of its class \[bytes\].
    Frame { frame: T, class: u8, behind: u64 },
}

/// The queues of a port.
#[derive(Clone, Debug)]
pub(crate) struct Queues<T> {
    /// Pause frames that wait: their classes, and whether they stop it.
    pauses: VecDeque<(u8, bool)>,
    /// By class, control last.
    queues: [VecDeque<Entry<T>>; CLASSES + 1],
    /// \[bytes\] By class: what waits.
    bytes: [u64; CLASSES],
    /// \[bytes\] Of control: likewise.
    control_bytes: u64,
    /// Classes with frames that wait, a bit for each; bit 8 is control.
    ready: u16,
    /// Classes that the other end has paused, a bit for each.
    pub(crate) paused: u16,
    /// Whose turn it is.
    turn: Turn,
    /// \[frames\] Control frames that were sent while data waited, since data were last sent.
    ahead: u32,
    /// \[frames\] Frames that wait, without pause frames.
    waiting: u32,
}

impl<T> Default for Queues<T> {
    fn default() -> Self {
        Self {
            pauses: VecDeque::new(),
            queues: std::array::from_fn(|_| VecDeque::new()),
            bytes: [0; CLASSES],
            control_bytes: 0,
            ready: 0,
            paused: 0,
            turn: Turn::default(),
            ahead: 0,
            waiting: 0,
        }
    }
}

impl<T: Copy> Queues<T> {
    /// Appends a frame to the queue of its class.
    #[inline]
    pub(crate) fn push(&mut self, class: u8, bytes: u16, frame: T) {
        self.queues[usize::from(class)].push_back(Entry { frame, bytes });
        self.ready |= 1 << class;
        self.waiting += 1;
        *self.bytes_of(class) += u64::from(bytes);
    }

    /// Replaces the last frame of a class. Returns the frame that was replaced.
    pub(crate) fn replace_last(&mut self, class: u8, bytes: u16, frame: T) -> Option<T> {
        let last = self.queues[usize::from(class)].back_mut()?;
        let old = std::mem::replace(last, Entry { frame, bytes });
        let sum = self.bytes_of(class);
        *sum = *sum - u64::from(old.bytes) + u64::from(bytes);
        Some(old.frame)
    }

    /// \[bytes\] Length of the queue of control frames.
    #[inline]
    pub(crate) const fn bytes_of_control(&self) -> u64 {
        self.control_bytes
    }

    #[inline]
    fn bytes_of(&mut self, class: u8) -> &mut u64 {
        self.bytes.get_mut(usize::from(class)).unwrap_or(&mut self.control_bytes)
    }

    /// Appends a pause frame.
    pub(crate) fn push_pause(&mut self, class: u8, is_off: bool) {
        self.pauses.push_back((class, is_off));
    }

    /// True if the port has something to send.
    #[inline]
    pub(crate) fn has_next(&self) -> bool {
        !self.pauses.is_empty() || self.ready & !self.paused != 0
    }

    /// A frame of a class goes through the port without waiting, where [nothing else does](Self::has_next) and the class
    /// is not paused: as after [`push`](Self::push) and [`pop`](Self::pop).
    #[inline]
    pub(crate) const fn pass(&mut self, plan: &Plan, class: u8) {
        if class != CONTROL {
            self.ahead = 0;
            self.turn.pass(plan, class);
        }
    }

    /// Takes what the port sends next.
    #[inline]
    pub(crate) fn pop(&mut self, plan: &Plan) -> Option<Next<T>> {
        if let Some((class, is_off)) = self.pauses.pop_front() {
            return Some(Next::Pause { class, is_off });
        }
        let data = (self.ready & !self.paused) as u8;
        let class = if self.ready >> CONTROL & 1 == 1 && (data == 0 || self.ahead < plan.most_ahead) {
            self.ahead += u32::from(data != 0);
            CONTROL
        } else {
            self.ahead = 0;
            let queues = &self.queues;
            let head = |class: u8| queues[usize::from(class)].front().map_or(0, |entry| u32::from(entry.bytes));
            self.turn.choose(plan, data, head)?
        };
        let queue = &mut self.queues[usize::from(class)];
        let Entry { frame, bytes } = queue.pop_front()?;
        self.waiting -= 1;
        let is_empty = queue.is_empty();
        if is_empty {
            self.ready &= !(1 << class);
        }
        if is_empty && class != CONTROL {
            self.turn.emptied(class);
        }
        let left = self.bytes_of(class);
        *left -= u64::from(bytes);
        Some(Next::Frame { frame, class, behind: *left })
    }

    /// \[bytes\] What waits of a class of data.
    #[inline]
    pub(crate) const fn bytes(&self, class: u8) -> u64 {
        self.bytes[class as usize]
    }

    /// \[bytes\] What waits of all classes and of control.
    pub(crate) fn all_bytes(&self) -> u64 {
        self.bytes.iter().sum::<u64>() + self.control_bytes
    }

    /// \[frames\] Frames that wait, without pause frames.
    #[inline]
    pub(crate) const fn waiting(&self) -> u32 {
        self.waiting
    }

    /// \[frames\] Frames of data that wait.
    #[inline]
    pub(crate) fn waiting_data(&self) -> u32 {
        self.waiting - self.queues[CLASSES].len() as u32
    }

    /// Classes with frames that wait, a bit for each; bit 8 is control.
    #[inline]
    pub(crate) const fn ready(&self) -> u16 {
        self.ready
    }

    /// True if a pause frame waits for a class.
    pub(crate) fn has_pause(&self, class: u8) -> bool {
        self.pauses.iter().any(|&(of, _)| of == class)
    }

    /// True if a pause frame waits that lets a class go on.
    pub(crate) fn has_resume(&self) -> bool {
        self.pauses.iter().any(|(_, is_off)| !is_off)
    }

    /// The frames that wait of a class.
    pub(crate) fn of(&self, class: u8) -> impl Iterator<Item = T> {
        self.queues[usize::from(class)].iter().map(|entry| entry.frame)
    }

    /// Removes the frames that wait of a class, in their order.
    pub(crate) fn clear_class(&mut self, class: u8) -> Vec<T> {
        self.ready &= !(1 << class);
        *self.bytes_of(class) = 0;
        if class != CONTROL {
            self.turn.emptied(class);
        }
        let removed: Vec<T> = self.queues[usize::from(class)].drain(..).map(|entry| entry.frame).collect();
        self.waiting -= removed.len() as u32;
        removed
    }

    /// Removes all that waits: frames by class, each in their order, control last. No class is paused any more.
    pub(crate) fn clear(&mut self) -> Vec<T> {
        self.paused = 0;
        self.pauses.clear();
        (0..=CONTROL).flat_map(|class| self.clear_class(class)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::Schedule;
    use super::*;

    #[test]
    fn pauses_are_first_then_control_then_classes_that_are_not_paused() {
        let plan = Plan::new(&"2:strict".parse().unwrap(), u32::MAX);
        let mut queues = Queues::default();
        for (class, frame) in [(0, 'a'), (2, 'b'), (1, 'c'), (8, 'd'), (0, 'e'), (2, 'f')] {
            queues.push(class, 100, frame);
        }
        queues.push_pause(5, true);
        queues.paused = 0b100;
        assert_eq!((queues.waiting(), queues.waiting_data(), queues.ready()), (6, 5, 0b1_0000_0111));
        let frame = |frame, class, behind| Some(Next::Frame { frame, class, behind });
        assert_eq!(queues.pop(&plan), Some(Next::Pause { class: 5, is_off: true }));
        assert_eq!(queues.pop(&plan), frame('d', 8, 0));
        assert_eq!(queues.pop(&plan), frame('a', 0, 100));
        queues.paused = 0;
        assert_eq!(queues.pop(&plan), frame('b', 2, 100));
        queues.paused = 0b100;
        assert_eq!(
            [queues.pop(&plan), queues.pop(&plan), queues.pop(&plan)],
            [frame('c', 1, 0), frame('e', 0, 0), None]
        );
        assert!(!queues.has_next());
        assert_eq!((queues.clear(), queues.waiting(), queues.bytes(2)), (vec!['f'], 0, 0));
    }

    #[test]
    fn data_pass_after_a_number_of_control_frames() {
        let plan = Plan::new(&Schedule::default(), 2);
        let mut queues = Queues::default();
        for (class, frame) in [(8, 'a'), (8, 'b'), (8, 'c'), (8, 'd'), (8, 'e'), (0, 'x'), (0, 'y')] {
            queues.push(class, 100, frame);
        }
        let sent = std::iter::from_fn(|| match queues.pop(&plan)? {
            Next::Frame { frame, .. } => Some(frame),
            Next::Pause { .. } => None,
        });
        assert_eq!(sent.collect::<String>(), "abxcdye");
    }
}
