//! stub
#![allow(missing_docs)]
use crate::time::Time;
use std::io;
use std::time::Instant;
#[derive(Debug)]
pub struct DeadlineTimer;
impl DeadlineTimer {
    pub fn new(_o: Instant) -> io::Result<Option<DeadlineTimer>> {
        Ok(None)
    }
    pub fn arm(&mut self, _u: Option<Time>) -> io::Result<()> {
        Ok(())
    }
    pub fn clear(&mut self) {}
}
impl mio::event::Source for DeadlineTimer {
    fn register(&mut self, _: &mio::Registry, _: mio::Token, _: mio::Interest) -> io::Result<()> {
        Ok(())
    }
    fn reregister(&mut self, _: &mio::Registry, _: mio::Token, _: mio::Interest) -> io::Result<()> {
        Ok(())
    }
    fn deregister(&mut self, _: &mio::Registry) -> io::Result<()> {
        Ok(())
    }
}
#[derive(Debug, Clone, Copy)]
pub struct ThreadId;
pub fn thread_id() -> Option<ThreadId> {
    None
}

pub fn clock_resolution() -> std::time::Duration {
    std::time::Duration::from_nanos(1)
}
pub fn timer_slack() -> std::time::Duration {
    std::time::Duration::from_micros(50)
}
