//! Tags as plain numbers, for formats with a single tag space and no communicators.
//!
//! Decision: docs/decisions/0028-tags.md.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::program::{Event, Program, Receive, Tag, TagFilter};

/// A number for each tag of a program. The program's tags on its world communicator keep their number if it is small
/// enough; those of other communicators and of expanded collectives get the smallest free numbers, in order of context
/// and label. The same program always gets the same numbers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Labels {
    numbers: HashMap<Tag, u32>,
}

impl Labels {
    /// Assigns numbers below `limit`. If the program has more than `limit` different tags, some get no number.
    #[must_use]
    pub fn below(limit: u32, program: &Program) -> Self {
        let mut numbers = HashMap::new();
        number(&mut numbers, Self::all(program).into_iter().collect(), 0..limit);
        Self { numbers }
    }

    /// Assigns numbers below `limit`. If the program receives with any tag, those of collectives are above all others.
    /// Returns also the first number of collectives, or `limit` if they are not separate.
    #[must_use]
    pub fn parted(limit: u32, program: &Program) -> (Self, u32) {
        let is_wild = |event: &Event| matches!(event, Event::Recv(receive) | Event::Irecv(receive, _) if matches!(receive.tag, TagFilter::AnyIn(_)));
        let (collective, own): (Vec<Tag>, Vec<Tag>) =
            Self::all(program).into_iter().partition(|tag| tag.is_collective());
        if collective.is_empty() || !program.tasks.iter().flatten().any(is_wild) {
            return (Self::below(limit, program), limit);
        }
        let mut numbers = HashMap::new();
        let bound = limit.saturating_sub(u32::try_from(collective.len()).unwrap_or(limit));
        number(&mut numbers, own, 0..bound);
        number(&mut numbers, collective, bound..limit);
        (Self { numbers }, bound)
    }

    /// All tags of messages.
    fn all(program: &Program) -> BTreeSet<Tag> {
        let mut all = BTreeSet::new();
        for event in program.tasks.iter().flatten() {
            match event {
                Event::Send(send) | Event::Isend(send, _) => all.insert(send.tag),
                Event::Recv(Receive { tag: TagFilter::Exactly(tag), .. })
                | Event::Irecv(Receive { tag: TagFilter::Exactly(tag), .. }, _) => all.insert(*tag),
                _ => false,
            };
        }
        all
    }

    /// The number of a tag; `None` if all numbers were in use, or if the program has no such tag.
    #[must_use]
    pub fn number(&self, tag: Tag) -> Option<u32> {
        self.numbers.get(&tag).copied()
    }
}

/// Numbers tags in their order within a range; tags of the world communicator keep their own numbers.
fn number(numbers: &mut HashMap<Tag, u32>, tags: Vec<Tag>, range: Range<u32>) {
    let own = |tag: &Tag| (tag.context == Tag::POINT_TO_POINT).then(|| u32::try_from(tag.label).ok()).flatten();
    numbers.extend(tags.iter().filter_map(|tag| Some((*tag, own(tag).filter(|number| range.contains(number))?))));
    let used: BTreeSet<u32> = numbers.values().copied().collect();
    let mut free = range.filter(|number| !used.contains(number));
    for tag in tags {
        if !numbers.contains_key(&tag)
            && let Some(number) = free.next()
        {
            numbers.insert(tag, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::program::Send;
    use crate::units::TaskId;

    #[test]
    fn own_tags_keep_their_numbers_and_others_get_free_ones() {
        let tags = [
            Tag::user(0),
            Tag::user(2),
            Tag::user(-7),
            Tag::user(1 << 40),
            Tag::collective(0),
            Tag { context: 4, label: 0 },
        ];
        let event = |&tag: &Tag| Event::Send(Send { to: TaskId(0), tag, bytes: 0 });
        let program = Program { tasks: vec![tags.iter().map(event).collect()] };
        let labels = Labels::below(1 << 31, &program);
        // In order of context and label: -7, then 2^40, then the collective, then the other communicator.
        assert_eq!(tags.map(|tag| labels.number(tag)), [0, 2, 1, 3, 4, 5].map(Some));
        // Nothing is received with any tag.
        assert_eq!(Labels::parted(1 << 31, &program), (labels, 1 << 31));
        let few = Labels::below(4, &program);
        assert_eq!(tags.map(|tag| few.number(tag)), [Some(0), Some(2), Some(1), Some(3), None, None]);
    }
}
