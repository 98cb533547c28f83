//! Parsing of one line of a log.

use super::lines::LogLine;
use crate::TraceError;
use crate::decimal;

/// The accepted forms of a line, for error messages.
pub(super) const ACCEPTED: &str = "`TIME # BYTES`, `TIME + BYTES [FLOW]`, `TIME - BYTES DELAY [FLOW]`, `TIME d PACKETS BYTES`, \
    `TIME d BYTES` (times in milliseconds), or a header that begins with #";

/// Upper bound of the log's clock, in nanoseconds (126 years).
pub(super) const LATEST_NS: u64 = 4_000_000_000_000_000_000;

/// Upper bound of delays, in nanoseconds (11 days).
const LONGEST_DELAY_NS: u64 = 1_000_000_000_000_000;

const BASE: &[u8] = b"# base timestamp:";
const ACCEPTED_BASE: &str = "`# base timestamp: MILLISECONDS`, up to 4000000000000";
const ACCEPTED_TIME: &str = "milliseconds, not negative, up to 4000000000000";
const ACCEPTED_DELAY: &str = "milliseconds, up to 1000000000";
const ACCEPTED_COUNT: &str = "a whole number up to 4294967295";
const ACCEPTED_WHOLE: &str = "a line of at most a kilobyte";
const ACCEPTED_MERGED: &str = "`TIME - BYTES DELAY`; this is what one end of a tunnel logs (`TIME - PACKET - BYTES`), and \
    Pantheon's merge_tunnel_logs makes one log of those of both ends";

/// An event of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Opportunity { bytes: u32 },
    Arrival { bytes: u32, flow: Option<u32> },
    Departure { bytes: u32, delay_ns: i64, flow: Option<u32> },
    Drop { packets: u32, bytes: u32 },
}

/// Returns the base timestamp in nanoseconds, if the header states it.
pub(super) fn parse_base(line: &LogLine<'_>) -> Result<Option<u64>, TraceError> {
    let Some(stated) = line.text.strip_prefix(BASE) else { return Ok(None) };
    let base = milliseconds(stated.trim_ascii()).filter(|_| line.is_whole);
    base.map(Some).ok_or_else(|| line.refuse(ACCEPTED_BASE))
}

/// Returns the time of an event, in nanoseconds on the clock of the log, and the event.
pub(super) fn parse_event(line: &LogLine<'_>) -> Result<(u64, Event), TraceError> {
    if !line.is_whole {
        return Err(line.refuse(ACCEPTED_WHOLE));
    }
    let mut fields = [&b""[..]; MOST_FIELDS];
    let mut count = 0;
    for field in line.text.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()) {
        *fields.get_mut(count).ok_or_else(|| line.refuse(ACCEPTED))? = field;
        count += 1;
    }
    let part = |field: &[u8], accepted: &str| TraceError::at(line.number, field, accepted);
    let whole = |field: &[u8]| number(field).ok_or_else(|| part(field, ACCEPTED_COUNT));
    let event = match fields[..count] {
        [_, b"#", bytes] => Event::Opportunity { bytes: whole(bytes)? },
        [_, b"+", bytes] => Event::Arrival { bytes: whole(bytes)?, flow: None },
        [_, b"+", bytes, flow] => Event::Arrival { bytes: whole(bytes)?, flow: Some(whole(flow)?) },
        [_, b"-", _, b"-", _] => return Err(line.refuse(ACCEPTED_MERGED)),
        [_, b"-", bytes, delay, ref flow @ ..] => Event::Departure {
            bytes: whole(bytes)?,
            delay_ns: signed_milliseconds(delay).ok_or_else(|| part(delay, ACCEPTED_DELAY))?,
            flow: flow.first().map(|flow| whole(flow)).transpose()?,
        },
        [_, b"d", bytes] => Event::Drop { packets: 1, bytes: whole(bytes)? },
        [_, b"d", packets, bytes] => Event::Drop { packets: whole(packets)?, bytes: whole(bytes)? },
        _ => return Err(line.refuse(ACCEPTED)),
    };
    let time_ns = milliseconds(fields[0]).ok_or_else(|| part(fields[0], ACCEPTED_TIME))?;
    Ok((time_ns, event))
}

const MOST_FIELDS: usize = 5;

/// Converts milliseconds to nanoseconds.
fn milliseconds(field: &[u8]) -> Option<u64> {
    decimal::parse(field, 6).filter(|time_ns| *time_ns <= LATEST_NS)
}

fn signed_milliseconds(field: &[u8]) -> Option<i64> {
    let (sign, amount) = match field {
        [b'-', amount @ ..] => (-1, amount),
        amount => (1, amount),
    };
    milliseconds(amount)
        .filter(|delay_ns| *delay_ns <= LONGEST_DELAY_NS)
        .map(|delay_ns| sign * delay_ns as i64)
}

fn number(field: &[u8]) -> Option<u32> {
    if !field.iter().all(u8::is_ascii_digit) {
        return None;
    }
    decimal::parse(field, 0).and_then(|number| u32::try_from(number).ok())
}
