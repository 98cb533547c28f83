//! Lines and their fields.

use crate::TraceError;
use crate::decimal;

/// One line without its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// The line number, counted from 1.
    pub(crate) number: usize,
    pub(crate) text: &'a [u8],
}

/// Returns the lines of a text, which end with LF or CRLF; the last one may lack its end. A UTF-8 byte order
/// mark before them is skipped.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let pieces = (!bytes.is_empty()).then(|| body.split(|byte| *byte == b'\n'));
    pieces
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(index, text)| Line { number: index + 1, text: text.strip_suffix(b"\r").unwrap_or(text) })
}

pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns the first line, or an error if there is none.
pub(crate) fn first_line<'a>(bytes: &'a [u8], accepted: &str) -> Result<Line<'a>, TraceError> {
    lines(bytes).next().ok_or_else(|| TraceError::described(1, "an empty file", accepted))
}

impl<'a> Line<'a> {
    /// Returns the comma-separated fields, without surrounding white space.
    pub(crate) fn comma_fields(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.text.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
    }

    /// Returns the fields between runs of white space.
    pub(crate) fn space_fields(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.text.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
    }

    /// Returns exactly `N` of the fields; otherwise rejects the whole line.
    pub(crate) fn exactly<const N: usize>(
        &self,
        fields: impl Iterator<Item = &'a [u8]>,
        accepted: &str,
    ) -> Result<[&'a [u8]; N], TraceError> {
        let mut array = [&b""[..]; N];
        let mut count = 0;
        for field in fields {
            if let Some(slot) = array.get_mut(count) {
                *slot = field;
            }
            count += 1;
        }
        if count == N { Ok(array) } else { Err(self.refuse(self.text, accepted)) }
    }

    /// Returns a nonnegative number times ten to the power of `decimals`, rounded to the nearest integer.
    pub(crate) fn number(&self, field: &[u8], decimals: i32, accepted: &str) -> Result<u64, TraceError> {
        decimal::parse(field, decimals).ok_or_else(|| self.refuse(field, accepted))
    }

    /// Returns the error for a part of this line.
    pub(crate) fn refuse(&self, part: &[u8], accepted: &str) -> TraceError {
        TraceError::at(self.number, part, accepted)
    }
}
