//! The bytes of a file, decompressed where they are compressed.

use std::io::{self, Cursor, Read};
use std::sync::{Arc, Mutex};

use flate2::read::MultiGzDecoder;

use super::CaptureReadError;

/// Gives as many bytes as are asked for while there are any, and ends at the first failure, which it keeps: the
/// parser behind it then sees everything that stands before the failure.
pub(super) struct Source {
    reader: Box<dyn Read + Send>,
    error: SourceError,
}

/// The failure that ended a source.
#[derive(Clone, Default)]
pub(super) struct SourceError(Arc<Mutex<Option<String>>>);

impl SourceError {
    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().ok().and_then(|mut reason| reason.take())
    }
}

impl Source {
    /// The source, where its failure will stand, and its first bytes for a message.
    pub(super) fn new(
        mut reader: impl Read + Send + 'static,
    ) -> Result<(Self, SourceError, String), CaptureReadError> {
        let mut first = Vec::new();
        reader
            .by_ref()
            .take(SNIFFED_BYTES)
            .read_to_end(&mut first)
            .map_err(|error| CaptureReadError::Unreadable(error.to_string()))?;
        if first.is_empty() {
            return Err(CaptureReadError::Empty);
        }
        let said = said(&first);
        let compressed = first.starts_with(&GZIP);
        let whole = Cursor::new(first).chain(reader);
        let reader: Box<dyn Read + Send> =
            if compressed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
        let error = SourceError::default();
        Ok((Self { reader, error: error.clone() }, error, said))
    }
}

impl Read for Source {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < space.len() {
            match self.reader.read(&mut space[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    if let Ok(mut reason) = self.error.0.lock() {
                        reason.get_or_insert(format!("the file cannot be read further: {error}"));
                    }
                    break;
                }
            }
        }
        Ok(filled)
    }
}

/// The first bytes for a message: as text where they are, else as numbers.
fn said(first: &[u8]) -> String {
    let head = &first[..first.len().min(SHOWN_BYTES)];
    match std::str::from_utf8(head) {
        Ok(text) if text.chars().all(|letter| !letter.is_control() || letter.is_whitespace()) => {
            format!("`{}`", text.escape_debug())
        }
        _ => {
            let bytes: Vec<String> = head.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("the bytes {}", bytes.join(" "))
        }
    }
}

/// The magic of gzip (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

const SNIFFED_BYTES: u64 = 16;
const SHOWN_BYTES: usize = 12;
