//! The texts of a sequence, each with its first line number.

use std::io::{BufRead, BufReader, Chain, Cursor, Read};

use serde_json::{Map, Value};

use super::BYTE_ORDER_MARK;
use crate::qlog::write::RECORD_SEPARATOR;

/// The framing of the texts of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Each text begins with a record separator, or is a line.
    Texts,
    /// The file is one long text.
    Document,
}

/// Maximum length of a text; longer ones are skipped. In a document, the maximum length of an event.
pub(super) const LONGEST_TEXT: usize = 16 << 20;
/// Maximum length of a header.
const LONGEST_HEADER: u64 = 1 << 20;

/// Splits a file into texts.
pub(super) struct Texts<R> {
    /// The bytes already inspected to detect the framing, then the rest.
    reader: Chain<Cursor<Vec<u8>>, BufReader<R>>,
    separator: u8,
    /// The line number of the next byte.
    line: u64,
    text: Vec<u8>,
}

impl<R: Read> Texts<R> {
    /// Inspects the beginning of a file.
    pub(super) fn new(mut reader: BufReader<R>) -> (Self, Framing) {
        let mut first = Vec::new();
        // Failures end the file, and are recorded by its source.
        let _ = reader.by_ref().take(LONGEST_HEADER).read_until(b'\n', &mut first);
        if first.starts_with(BYTE_ORDER_MARK) {
            first.drain(..BYTE_ORDER_MARK.len());
        }
        let (framing, separator) = framing(&first);
        let reader = Cursor::new(first).chain(reader);
        (Self { reader, separator, line: 1, text: Vec::new() }, framing)
    }

    /// Returns the whole file.
    pub(super) fn into_reader(self) -> impl Read {
        self.reader
    }

    /// Returns the next text that is not blank, with its line number, or its problem; `None` at the end of
    /// the file.
    pub(super) fn next_text(&mut self) -> Option<(u64, Result<&[u8], String>)> {
        loop {
            let line = self.line;
            let too_long = self.fill()?;
            let begins = self.text.iter().position(|byte| !byte.is_ascii_whitespace());
            let Some(begins) = begins else { continue };
            let line = line + newlines(&self.text[..begins]);
            if too_long {
                return Some((line, Err(format!("a text of more than {} MiB", LONGEST_TEXT >> 20))));
            }
            return Some((line, Ok(&self.text[begins..])));
        }
    }

    /// Reads up to the next separator. Returns whether the text was truncated; `None` at the end of the file.
    fn fill(&mut self) -> Option<bool> {
        self.text.clear();
        let (mut too_long, mut read) = (false, false);
        loop {
            let available = self.reader.fill_buf().unwrap_or_default();
            if available.is_empty() {
                return read.then_some(too_long);
            }
            read = true;
            let end = available.iter().position(|byte| *byte == self.separator);
            let part = &available[..end.unwrap_or(available.len())];
            let room = LONGEST_TEXT.saturating_sub(self.text.len());
            too_long |= part.len() > room;
            self.text.extend_from_slice(&part[..part.len().min(room)]);
            let taken = part.len() + usize::from(end.is_some());
            self.line += newlines(&available[..taken]);
            self.reader.consume(taken);
            if end.is_some() {
                return Some(too_long);
            }
        }
    }
}

/// Returns the framing of a file that begins with this line, and its separator.
fn framing(first: &[u8]) -> (Framing, u8) {
    match first.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(&RECORD_SEPARATOR) => (Framing::Texts, RECORD_SEPARATOR),
        Some(b'{') => {
            let header: Result<Map<String, Value>, _> = serde_json::from_slice(first);
            let is_header = header.is_ok_and(|header| !header.contains_key("traces"));
            (if is_header { Framing::Texts } else { Framing::Document }, b'\n')
        }
        // A file that does not begin with an object is rejected at its first line.
        _ => (Framing::Texts, b'\n'),
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.split(|byte| *byte == b'\n').skip(1).map(|_| 1).sum()
}
