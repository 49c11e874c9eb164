//! Timers ordered by (deadline, sequence), with removal from the middle.
//!
//! A four-ary heap of small entries points into a slab that holds the values, and each slot knows its place in the
//! heap. So cancelling is a removal, and a cancelled timer costs no memory until its deadline.

use crate::time::Time;

/// Names one insertion. Of a timer that has left the heap it names nothing, even when its slot is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerKey {
    slot: u32,
    generation: u32,
}

/// A heap of timers.
#[derive(Debug)]
pub struct TimerHeap<T> {
    entries: Vec<Entry>,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    next_rank: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    deadline: Time,
    /// Orders equal deadlines.
    rank: u64,
    slot: u32,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    place: u32,
    value: Option<T>,
}

/// Children of each node. Four keep a node's children within one or two cache lines.
const ARITY: usize = 4;

impl<T> Default for TimerHeap<T> {
    fn default() -> Self {
        TimerHeap { entries: Vec::new(), slots: Vec::new(), free: Vec::new(), next_rank: 0 }
    }
}

impl<T> TimerHeap<T> {
    /// How many timers there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The earliest deadline.
    pub fn next_deadline(&self) -> Option<Time> {
        self.entries.first().map(|entry| entry.deadline)
    }

    /// Adds a timer behind all with the same deadline.
    pub fn insert(&mut self, deadline: Time, value: T) -> TimerKey {
        self.insert_ranked(deadline, self.next_rank, value)
    }

    /// Adds a timer before all with the same deadline: what a heap without a sequence number may do.
    pub fn insert_first(&mut self, deadline: Time, value: T) -> TimerKey {
        self.insert_ranked(deadline, u64::MAX - self.next_rank, value)
    }

    fn insert_ranked(&mut self, deadline: Time, rank: u64, value: T) -> TimerKey {
        self.next_rank += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, place: 0, value: None });
            (self.slots.len() - 1) as u32
        });
        self.slots[slot as usize].value = Some(value);
        self.entries.push(Entry { deadline, rank, slot });
        self.rise(self.entries.len() - 1);
        TimerKey { slot, generation: self.slots[slot as usize].generation }
    }

    /// Takes out the earliest timer if its deadline is not after `now`.
    pub fn pop_due(&mut self, now: Time) -> Option<(Time, T)> {
        let first = *self.entries.first().filter(|entry| entry.deadline <= now)?;
        self.take_out(0).map(|value| (first.deadline, value))
    }

    /// Takes out a timer that has not left the heap.
    pub fn remove(&mut self, key: TimerKey) -> Option<T> {
        let slot = self.slots.get(key.slot as usize)?;
        if slot.generation != key.generation || slot.value.is_none() {
            return None;
        }
        self.take_out(slot.place as usize)
    }

    /// All timers, in no order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| slot.value.as_ref())
    }

    fn take_out(&mut self, place: usize) -> Option<T> {
        let entry = self.entries.swap_remove(place);
        if place < self.entries.len() {
            // The former last entry may belong above or below this place.
            self.sink(place);
            self.rise(place);
        }
        let slot = &mut self.slots[entry.slot as usize];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(entry.slot);
        slot.value.take()
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.entries[place];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.entries[parent] <= entry {
                break;
            }
            self.put(place, self.entries[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.entries[place];
        loop {
            let children = place * ARITY + 1..(place * ARITY + 1 + ARITY).min(self.entries.len());
            let Some(least) = children.min_by_key(|&child| self.entries[child]) else {
                break;
            };
            if self.entries[least] >= entry {
                break;
            }
            self.put(place, self.entries[least]);
            place = least;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.entries[place] = entry;
        self.slots[entry.slot as usize].place = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn a_key_of_a_timer_that_left_names_nothing() {
        let mut heap = TimerHeap::default();
        let first = heap.insert(at(1), "a");
        assert_eq!(heap.remove(first), Some("a"));
        heap.insert(at(2), "b");
        assert_eq!(heap.remove(first), None);
        assert_eq!(heap.pop_due(at(1)), None);
        assert_eq!(heap.pop_due(at(2)), Some((at(2), "b")));
    }

    #[test]
    fn ties_keep_their_order_or_turn_it_round() {
        let mut heap = TimerHeap::default();
        for n in 0..20 {
            heap.insert(at(5), n);
        }
        assert!((0..20).all(|n| heap.pop_due(at(5)) == Some((at(5), n))));
        for n in 0..20 {
            heap.insert_first(at(5), n);
        }
        assert!((0..20).rev().all(|n| heap.pop_due(at(5)) == Some((at(5), n))));
    }

    proptest! {
        /// Against a sorted list: the same timers leave in the same order whatever is removed in between.
        #[test]
        fn it_behaves_as_a_sorted_list(ops in prop::collection::vec((0u8..4, 0u64..50), 1..300)) {
            let mut heap = TimerHeap::default();
            let mut list: Vec<(u64, usize, TimerKey)> = Vec::new();
            for (n, (op, value)) in ops.into_iter().enumerate() {
                match op {
                    0 | 1 => {
                        let key = heap.insert(at(value), n);
                        list.push((value, n, key));
                        list.sort_by_key(|&(deadline, n, _)| (deadline, n));
                    }
                    2 if !list.is_empty() => {
                        let (_, n, key) = list.remove(value as usize % list.len());
                        prop_assert_eq!(heap.remove(key), Some(n));
                        prop_assert_eq!(heap.remove(key), None);
                    }
                    _ => {
                        let due = list.first().filter(|first| first.0 <= value).copied();
                        if due.is_some() {
                            list.remove(0);
                        }
                        prop_assert_eq!(heap.pop_due(at(value)), due.map(|(deadline, n, _)| (at(deadline), n)));
                    }
                }
                prop_assert_eq!(heap.len(), list.len());
                prop_assert_eq!(heap.next_deadline(), list.first().map(|first| at(first.0)));
                prop_assert_eq!(heap.values().count(), list.len());
            }
        }
    }
}
