//! The bytes of a file, decompressed if necessary.

use std::io::{self, Cursor, Read};
use std::sync::{Arc, Mutex};

use flate2::read::MultiGzDecoder;

/// A reader that ends at the first failure and records it: the bytes before the failure can be read.
pub(crate) struct Source {
    reader: Box<dyn Read + Send>,
    failure: Failure,
}

/// The reason why a file cannot be read at all.
pub(crate) enum NothingToRead {
    /// The file is empty.
    Empty,
    /// The first bytes cannot be read, for the given reason.
    Unreadable(String),
}

/// The failure that ended a source.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<String>>>);

impl Failure {
    /// Takes the failure, so that later calls return `None`.
    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().ok().and_then(|mut failure| failure.take())
    }
}

impl Source {
    pub(crate) fn new(mut reader: impl Read + Send + 'static) -> Result<(Self, Failure), NothingToRead> {
        let mut first = Vec::new();
        reader
            .by_ref()
            .take(GZIP.len() as u64)
            .read_to_end(&mut first)
            .map_err(|error| NothingToRead::Unreadable(error.to_string()))?;
        if first.is_empty() {
            return Err(NothingToRead::Empty);
        }
        let compressed = first == GZIP;
        let whole = Cursor::new(first).chain(reader);
        let reader: Box<dyn Read + Send> =
            if compressed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
        let failure = Failure::default();
        Ok((Self { reader, failure: failure.clone() }, failure))
    }
}

impl Read for Source {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader.read(space) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    if let Ok(mut failure) = self.failure.0.lock() {
                        failure.get_or_insert(format!("the file cannot be read further: {error}"));
                    }
                    return Ok(0);
                }
            }
        }
    }
}

/// The magic of gzip (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
