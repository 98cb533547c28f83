//! The lines of a stream, each of which may have any length.

use std::io::BufRead;

use crate::TraceError;
use crate::line::BYTE_ORDER_MARK;

/// Maximum number of bytes kept of a line: more than any event needs.
const KEPT_BYTES: usize = 1024;

/// One line, without its end.
#[derive(Debug)]
pub(super) struct LogLine<'a> {
    /// The line number, counted from 1.
    pub(super) number: usize,
    /// Its first bytes.
    pub(super) text: &'a [u8],
    /// Whether `text` is the whole line.
    pub(super) is_whole: bool,
    /// Whether the line ended with a line break.
    pub(super) ended: bool,
}

impl LogLine<'_> {
    /// Returns the error for the whole line.
    pub(super) fn refuse(&self, accepted: &str) -> TraceError {
        TraceError::at(self.number, self.text, accepted)
    }
}

/// Splits a stream into lines; a failure ends the stream.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    text: Vec<u8>,
    read: usize,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, text: Vec::with_capacity(KEPT_BYTES), read: 0 }
    }

    /// Returns the number of lines returned so far.
    pub(super) fn read(&self) -> usize {
        self.read
    }

    /// Returns the next line; `None` at the end.
    pub(super) fn next_line(&mut self) -> Option<LogLine<'_>> {
        self.text.clear();
        let (mut length, mut ended) = (0, false);
        while !ended {
            let Ok(bytes) = self.reader.fill_buf() else { break };
            if bytes.is_empty() {
                break;
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            self.text.extend(piece.iter().take(KEPT_BYTES - self.text.len()));
            length += piece.len();
            let taken = piece.len() + usize::from(end.is_some());
            ended = end.is_some();
            self.reader.consume(taken);
        }
        if length == 0 && !ended {
            return None;
        }
        self.read += 1;
        let is_whole = self.text.len() == length;
        let text = self.text.strip_suffix(b"\r").unwrap_or(&self.text);
        let text = if self.read == 1 { text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text) } else { text };
        Some(LogLine { number: self.read, text, is_whole, ended })
    }
}
