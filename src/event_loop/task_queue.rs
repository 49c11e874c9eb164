//! A loop's queue: any thread puts tasks in, the loop's takes them out. With a bound or without.
//!
//! Netty's event loops use an unbounded MPSC queue by default; with a bound, what does not fit is refused at once and
//! never blocks. Timers that were due stand in the same queue and don't count, as in
//! `AbstractScheduledEventExecutor.java`, whose timers have a heap of their own until then.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crossbeam_channel::{Receiver, Sender};

use super::scheduled::Timer;
use super::{Rejected, Task};
use crate::policy::FullQueue;
use crate::time::Time;

/// What stands in a loop's queue.
pub(super) enum Post {
    Task(Ticket, Task),
    /// A timer that was due.
    Timer(Time, Timer),
}

/// Names a task in the queue to the one who put it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket(u64);

pub(super) struct TaskQueue {
    post: Sender<Post>,
    posts: Receiver<Post>,
    bound: Option<usize>,
    full: FullQueue,
    /// How many tasks wait; kept only where there is a bound.
    waiting: AtomicUsize,
    next_ticket: AtomicU64,
    /// Held while somebody looks for a task in the queue, and by the loop when it takes the last ones.
    searching: Mutex<()>,
}

impl TaskQueue {
    pub(super) fn new(bound: Option<usize>, full: FullQueue) -> TaskQueue {
        let (post, posts) = crossbeam_channel::unbounded();
        TaskQueue {
            post,
            posts,
            bound,
            full,
            waiting: AtomicUsize::new(0),
            next_ticket: AtomicU64::new(0),
            searching: Mutex::new(()),
        }
    }

    /// Puts a task in; refused when a bound leaves no room.
    pub(super) fn offer(&self, task: Task) -> Result<Ticket, Rejected> {
        let ticket = Ticket(self.next_ticket.fetch_add(1, Ordering::Relaxed));
        if !self.takes_room() {
            return match self.full {
                FullQueue::Refuses => Err(Rejected),
                FullQueue::Discards => Ok(ticket),
            };
        }
        self.push(Post::Task(ticket, task));
        Ok(ticket)
    }

    /// Puts a timer in that was due.
    pub(super) fn push_timer(&self, due: Time, timer: Timer) {
        self.push(Post::Timer(due, timer));
    }

    /// The first one. By the loop only.
    pub(super) fn take(&self) -> Option<Post> {
        let post = self.posts.try_recv().ok()?;
        if matches!(post, Post::Task(..)) {
            self.gives_room();
        }
        Some(post)
    }

    /// The first one of a loop that has shut down, whose posters may be looking for theirs.
    pub(super) fn take_last(&self) -> Option<Post> {
        let _searching = self.lock();
        self.take()
    }

    /// Takes a task out again; false when it is not there any more. For a loop that has shut down: it is slow.
    pub(super) fn withdraw(&self, ticket: Ticket) -> bool {
        let _searching = self.lock();
        let posts: Vec<Post> = self.posts.try_iter().collect();
        let mut found = false;
        for post in posts {
            match post {
                Post::Task(other, _) if other == ticket => found = true,
                post => self.push(post),
            }
        }
        if found {
            self.gives_room();
        }
        found
    }

    pub(super) fn len(&self) -> usize {
        self.posts.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.posts.is_empty()
    }

    /// Drops all that waits.
    pub(super) fn discard(&self) {
        while self.take().is_some() {}
    }

    fn push(&self, post: Post) {
        // The receiver lives beside the sender, so there is always one.
        let _ = self.post.send(post);
    }

    fn takes_room(&self) -> bool {
        let Some(bound) = self.bound else { return true };
        let one_more = |waiting| (waiting < bound).then_some(waiting + 1);
        let taken = self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more);
        taken.is_ok()
    }

    fn gives_room(&self) {
        if self.bound.is_some() {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.searching.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_loop::Tag;

    fn task(tag: u32) -> Task {
        Task { tag: Tag(tag), work: Box::new(|| {}) }
    }

    fn tags(queue: &TaskQueue) -> Vec<u32> {
        let tag = |post| match post {
            Post::Task(_, task) => task.tag.0,
            Post::Timer(..) => u32::MAX,
        };
        std::iter::from_fn(|| queue.take().map(tag)).collect()
    }

    #[test]
    fn the_bound_refuses_what_does_not_fit_and_keeps_the_rest() {
        let queue = TaskQueue::new(Some(2), FullQueue::Refuses);
        let taken: Vec<bool> = (0..4).map(|n| queue.offer(task(n)).is_ok()).collect();
        assert_eq!(taken, [true, true, false, false]);
        assert_eq!(tags(&queue), [0, 1]);
        assert!(queue.offer(task(5)).is_ok());
    }

    #[test]
    fn a_task_can_be_taken_out_again_once() {
        let queue = TaskQueue::new(None, FullQueue::Refuses);
        let tickets: Vec<Ticket> = (0..3).filter_map(|n| queue.offer(task(n)).ok()).collect();
        assert!(queue.withdraw(tickets[1]) && !queue.withdraw(tickets[1]));
        assert_eq!(tags(&queue), [0, 2]);
        assert!(!queue.withdraw(tickets[0]));
    }
}
