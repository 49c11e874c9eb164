//! Lines and text: what stands between bytes and a handler that talks.

use std::sync::{Arc, Mutex, MutexGuard};

use super::ChannelError;
use super::context::{Context, Direction, Handler, Inbound, Message, Outbound};

/// Cuts a stream of bytes into lines, without their ends (Netty `LineBasedFrameDecoder`). Keeps the rest of a line
/// that has not arrived whole, so it belongs to one pipeline.
#[derive(Debug)]
pub struct LineDecoder {
    limit: usize,
    state: Mutex<LineState>,
}

#[derive(Debug, Default)]
struct LineState {
    rest: Vec<u8>,
    /// The present line was too long: what belongs to it is thrown away.
    skipping: bool,
}

impl LineDecoder {
    /// Lines of at most `limit` bytes; a longer one is an [`ChannelError::FrameTooLong`] and thrown away.
    pub fn new(limit: usize) -> LineDecoder {
        LineDecoder { limit, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Takes bytes in and passes on what they complete; the lock is not held meanwhile.
    fn feed(&self, bytes: Vec<u8>, pass_on: impl FnMut(Inbound)) {
        match self.whole_line(bytes) {
            Ok(line) => Some(Inbound::Read(Message::Bytes(line))).into_iter().for_each(pass_on),
            Err(bytes) => self.cut(&bytes).into_iter().for_each(pass_on),
        }
    }

    /// Bytes that are just one line, as most are: it needs no copy. Gives other bytes back.
    fn whole_line(&self, mut bytes: Vec<u8>) -> Result<Vec<u8>, Vec<u8>> {
        let ends_at = bytes.iter().position(|byte| *byte == b'\n');
        let is_line = ends_at.is_some_and(|end| end + 1 == bytes.len() && end <= self.limit);
        if !is_line || !self.lock().is_between_lines() {
            return Err(bytes);
        }
        bytes.pop();
        Ok(without_return(bytes))
    }

    fn cut(&self, bytes: &[u8]) -> Vec<Inbound> {
        let mut state = self.lock();
        let mut out = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (content, ends) = match part.strip_suffix(b"\n") {
                Some(content) => (content, true),
                None => (part, false),
            };
            state.take(content, self.limit, &mut out);
            if ends {
                state.end_line(&mut out);
            }
        }
        out
    }
}

fn without_return(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    line
}

impl LineState {
    fn is_between_lines(&self) -> bool {
        self.rest.is_empty() && !self.skipping
    }

    fn take(&mut self, content: &[u8], limit: usize, out: &mut Vec<Inbound>) {
        if self.skipping {
            return;
        }
        self.rest.extend_from_slice(content);
        if self.rest.len() > limit {
            self.skipping = true;
            self.rest.clear();
            out.push(Inbound::Exception(Arc::new(ChannelError::FrameTooLong { limit })));
        }
    }

    fn end_line(&mut self, out: &mut Vec<Inbound>) {
        let line = std::mem::take(&mut self.rest);
        if std::mem::take(&mut self.skipping) {
            return;
        }
        out.push(Inbound::Read(Message::Bytes(without_return(line))));
    }
}

impl Handler for LineDecoder {
    fn inbound(&self, ctx: &Context, event: Inbound) {
        match event {
            Inbound::Read(Message::Bytes(bytes)) => self.feed(bytes, |event| ctx.fire(event)),
            event => ctx.fire(event),
        }
    }
}

/// Makes text of bytes (Netty `StringDecoder`).
#[derive(Debug)]
pub struct StringDecoder;

impl Handler for StringDecoder {
    fn is_sharable(&self) -> bool {
        true
    }

    fn inbound(&self, ctx: &Context, event: Inbound) {
        match event {
            Inbound::Read(Message::Bytes(bytes)) => ctx.fire(match String::from_utf8(bytes) {
                Ok(text) => Inbound::Read(Message::Text(text)),
                Err(_) => Inbound::Exception(Arc::new(ChannelError::NotUtf8)),
            }),
            event => ctx.fire(event),
        }
    }
}

/// Makes bytes of text (Netty `StringEncoder`).
#[derive(Debug)]
pub struct StringEncoder;

impl Handler for StringEncoder {
    fn direction(&self) -> Direction {
        Direction::Outbound
    }

    fn is_sharable(&self) -> bool {
        true
    }

    fn outbound(&self, ctx: &Context, operation: Outbound) {
        match operation {
            Outbound::Write(Message::Text(text), promise) => {
                ctx.forward(Outbound::Write(Message::Bytes(text.into_bytes()), promise));
            }
            operation => ctx.forward(operation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(decoder: &LineDecoder, bytes: &[u8]) -> Vec<Result<String, String>> {
        let text = |event| match event {
            Inbound::Read(Message::Bytes(bytes)) => Ok(String::from_utf8(bytes).unwrap()),
            Inbound::Exception(error) => Err(error.to_string()),
            other => panic!("{other:?}"),
        };
        let mut out = Vec::new();
        decoder.feed(bytes.to_vec(), |event| out.push(text(event)));
        out
    }

    #[test]
    fn lines_are_cut_wherever_the_bytes_are() {
        let decoder = LineDecoder::new(10);
        assert_eq!(lines(&decoder, b"hel"), []);
        assert_eq!(lines(&decoder, b"lo\r\niron man\nb"), [Ok("hello".into()), Ok("iron man".into())]);
        assert_eq!(lines(&decoder, b"ye\n\n"), [Ok("bye".into()), Ok(String::new())]);
        assert_eq!(lines(&decoder, b"whole\r\n"), [Ok("whole".into())]);
    }

    #[test]
    fn a_line_too_long_is_named_once_and_the_next_is_fine() {
        let decoder = LineDecoder::new(4);
        assert_eq!(lines(&decoder, b"abcde"), [Err("a frame of more than 4 bytes".into())]);
        assert_eq!(lines(&decoder, b"fgh"), []);
        assert_eq!(lines(&decoder, b"i\n"), []);
        assert_eq!(lines(&decoder, b"ok\n"), [Ok("ok".into())]);
        assert_eq!(lines(&decoder, b"whole\n"), [Err("a frame of more than 4 bytes".into())]);
        assert_eq!(lines(&decoder, b"four\n"), [Ok("four".into())]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_bytes_arrive(text in "[a-c\n]{0,60}", cuts in prop::collection::vec(0usize..60, 0..6)) {
            let whole = lines(&LineDecoder::new(100), text.as_bytes());
            let decoder = LineDecoder::new(100);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let parts = cuts.windows(2).flat_map(|pair| lines(&decoder, &text.as_bytes()[pair[0]..pair[1]]));
            prop_assert_eq!(parts.collect::<Vec<_>>(), whole);
        }
    }
}
