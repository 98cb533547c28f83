//! G-NetTrack: CSV with header, one or several rows per second.
//!
//! Rates of rows with the same timestamp are averaged. A rate `-` is missing, and the previous rate holds;
//! the series starts at its first known rate.

use crate::line::{Line, first_line, lines};
use crate::series::Series;
use crate::{Direction, Trace, TraceError};

const HEADER: &str = "a header with the columns Timestamp and DL_bitrate or UL_bitrate";
const TIMESTAMP: &str = "a time as 2019.12.16_07.22.43";
const RATE: &str = "a non-negative number of kbit/s, or -";
const MISSING: &[u8] = b"-";

/// Returns whether the line is a header of this format.
pub(crate) fn is_header(line: Line<'_>) -> bool {
    let has = |name: &[u8]| line.comma_fields().any(|field| field == name);
    has(b"Timestamp") && (has(b"DL_bitrate") || has(b"UL_bitrate"))
}

pub(crate) fn read(bytes: &[u8], direction: Direction, drop_ping_rows: bool) -> Result<Trace, TraceError> {
    let header = first_line(bytes, HEADER)?;
    let columns = Columns::of(header, direction, drop_ping_rows)?;
    let mut series = Series::default();
    let mut second: Option<Second<'_>> = None;
    for line in lines(bytes).skip(1) {
        let (time, rate) = columns.row(line)?;
        if let Some(current) = second.filter(|current| current.time_ns != time) {
            current.add_to(&mut series)?;
            if time < current.time_ns {
                return Err(line.refuse(line.text, "a time not before that of the line above"));
            }
        }
        let current = second.filter(|current| current.time_ns == time);
        second = Some(current.unwrap_or(Second { line, time_ns: time, sum: 0, count: 0 }).with(rate));
    }
    let Some(last) = second else {
        return Err(header.refuse(header.text, "the header and at least one row"));
    };
    last.add_to(&mut series)?;
    series
        .finish_holding(last.time_ns)
        .ok_or_else(|| TraceError::described(last.line.number, "the end without any rate", RATE))
}

/// The column indices of the fields.
#[derive(Clone, Copy, Debug)]
struct Columns {
    count: usize,
    time: usize,
    rate: usize,
    ping: Option<usize>,
}

impl Columns {
    fn of(header: Line<'_>, direction: Direction, drop_ping_rows: bool) -> Result<Self, TraceError> {
        let find = |name: &'static str| {
            header
                .comma_fields()
                .position(|field| field == name.as_bytes())
                .ok_or_else(|| header.refuse(header.text, &format!("a header with the column {name}")))
        };
        Ok(Self {
            count: header.comma_fields().count(),
            time: find("Timestamp")?,
            rate: find(match direction {
                Direction::Down => "DL_bitrate",
                Direction::Up => "UL_bitrate",
            })?,
            ping: if drop_ping_rows { Some(find("PINGAVG")?) } else { None },
        })
    }

    /// Returns the time in nanoseconds and the rate in bits per second, if known.
    fn row(&self, line: Line<'_>) -> Result<(u64, Option<u64>), TraceError> {
        let (mut time, mut rate, mut pings, mut count) = (&b""[..], MISSING, false, 0);
        for field in line.comma_fields() {
            if count == self.time {
                time = field;
            }
            if count == self.rate {
                rate = field;
            }
            pings |= Some(count) == self.ping && field != MISSING;
            count += 1;
        }
        if count != self.count {
            let found = format!("{count} fields");
            return Err(TraceError::described(line.number, found, &format!("{} fields", self.count)));
        }
        let time = timestamp_ns(time).ok_or_else(|| line.refuse(time, TIMESTAMP))?;
        let rate = if rate == MISSING { None } else { Some(line.number(rate, 3, RATE)?) };
        Ok((time, rate.filter(|_| !pings)))
    }
}

/// The rows with one timestamp.
#[derive(Clone, Copy, Debug)]
struct Second<'a> {
    line: Line<'a>,
    time_ns: u64,
    sum: u128,
    count: u128,
}

impl Second<'_> {
    fn with(mut self, rate: Option<u64>) -> Self {
        self.sum += u128::from(rate.unwrap_or(0));
        self.count += u128::from(rate.is_some());
        self
    }

    /// Adds the mean rate, rounded to the nearest bit per second, unless none is known.
    fn add_to(self, series: &mut Series) -> Result<(), TraceError> {
        if self.count == 0 {
            return Ok(());
        }
        // A mean of 64-bit values fits into 64 bits.
        series.push(self.line, self.time_ns, ((self.sum + self.count / 2) / self.count) as u64)
    }
}

/// Returns nanoseconds since the start of 1970 for `YYYY.MM.DD_hh.mm.ss`.
fn timestamp_ns(text: &[u8]) -> Option<u64> {
    let shape = b"dddd.dd.dd_dd.dd.dd";
    let fits = |(byte, form): (&u8, &u8)| if *form == b'd' { byte.is_ascii_digit() } else { byte == form };
    if text.len() != shape.len() || !text.iter().zip(shape).all(fits) {
        return None;
    }
    let number = |at: core::ops::Range<usize>| {
        text[at].iter().fold(0, |value: u64, byte| value * 10 + u64::from(byte - b'0'))
    };
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let (hour, minute, second) = (number(11..13), number(14..16), number(17..19));
    if year < 1970 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = days_since_1970(year, month, day)? * 86_400 + hour * 3_600 + minute * 60 + second;
    seconds.checked_mul(1_000_000_000)
}

/// Returns days of the Gregorian calendar since 1970-01-01; `None` for a day that does not exist.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let lengths = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let before = usize::try_from(month).ok()?.checked_sub(1)?;
    if day == 0 || day > *lengths.get(before)? {
        return None;
    }
    let leap_days = |year: u64| year / 4 - year / 100 + year / 400;
    let years = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    Some(years + lengths[..before].iter().sum::<u64>() + day - 1)
}
