//! The bytes of a file, decompressed if necessary.

use std::io::{self, Cursor, Read};
use std::sync::{Arc, Mutex};

use flate2::read::MultiGzDecoder;

use super::CaptureReadError;

/// A reader that returns as many bytes as requested while there are any. It ends at the first failure and
/// records it, so that the parser processes all bytes before the failure.
pub(super) struct Source {
    reader: Box<dyn Read + Send>,
    account: Account,
}

/// Information about a source: the failure that ended it, and its first bytes, decompressed.
#[derive(Clone, Default)]
pub(super) struct Account(Arc<Mutex<(Option<String>, Vec<u8>)>>);

impl Account {
    /// Takes the failure, so that later calls return `None`.
    pub(super) fn failure(&self) -> Option<String> {
        self.0.lock().ok().and_then(|mut account| account.0.take())
    }

    /// Returns the first bytes for an error message.
    pub(super) fn beginning(&self) -> String {
        self.0.lock().map(|account| said(&account.1)).unwrap_or_default()
    }

    /// Returns whether the first bytes are those of a snoop capture (RFC 1761, section 3).
    pub(super) fn is_snoop(&self) -> bool {
        self.0.lock().is_ok_and(|account| account.1.starts_with(b"snoop\0\0\0"))
    }

    fn note(&self, read: &[u8]) {
        if let Ok(mut account) = self.0.lock() {
            let missing = SHOWN_BYTES - account.1.len();
            account.1.extend(read.iter().take(missing));
        }
    }
}

impl Source {
    /// Returns the source and its account.
    pub(super) fn new(mut reader: impl Read + Send + 'static) -> Result<(Self, Account), CaptureReadError> {
        let mut first = Vec::new();
        reader
            .by_ref()
            .take(SNIFFED_BYTES)
            .read_to_end(&mut first)
            .map_err(|error| CaptureReadError::Unreadable(error.to_string()))?;
        if first.is_empty() {
            return Err(CaptureReadError::Empty);
        }
        let compressed = first.starts_with(&GZIP);
        let whole = Cursor::new(first).chain(reader);
        let reader: Box<dyn Read + Send> =
            if compressed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
        let account = Account::default();
        Ok((Self { reader, account: account.clone() }, account))
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
                    if let Ok(mut account) = self.account.0.lock() {
                        account.0.get_or_insert(format!("the file cannot be read further: {error}"));
                    }
                    break;
                }
            }
        }
        self.account.note(&space[..filled]);
        Ok(filled)
    }
}

/// Formats the first bytes for an error message: as text if possible, else as numbers.
fn said(first: &[u8]) -> String {
    match std::str::from_utf8(first) {
        Ok(text) if text.chars().all(|letter| !letter.is_control() || letter.is_whitespace()) => {
            format!("`{}`", text.escape_debug())
        }
        _ => {
            let bytes: Vec<String> = first.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("the bytes {}", bytes.join(" "))
        }
    }
}

/// The magic of gzip (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

const SNIFFED_BYTES: u64 = 16;
/// Number of bytes shown in an error message.
const SHOWN_BYTES: usize = 12;
