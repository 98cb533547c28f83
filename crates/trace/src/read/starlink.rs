//! Starlink-Emulator: headerless CSV of up Mbit/s, down Mbit/s, up delay ms, down delay ms, up loss, down
//! loss, milliseconds; one row per 100 ms. Only the rates are used; the other columns are only validated.

use crate::line::{Line, lines};
use crate::series::Series;
use crate::{Direction, Trace, TraceError, decimal};

const ROW: &str = "seven numbers between commas: up and down Mbit/s, up and down delay in ms, up and down loss \
                   from 0 to 1, time in ms";

/// Returns whether the line could be a row.
pub(crate) fn is_row(line: Line<'_>) -> bool {
    line.exactly::<7>(line.comma_fields(), ROW)
        .is_ok_and(|fields| fields.iter().all(|field| decimal::parse(field, 0).is_some()))
}

pub(crate) fn read(bytes: &[u8], direction: Direction) -> Result<Trace, TraceError> {
    let mut series = Series::default();
    for line in lines(bytes) {
        let [up, down, up_delay, down_delay, up_loss, down_loss, time] =
            line.exactly(line.comma_fields(), ROW)?;
        for delay in [up_delay, down_delay] {
            line.number(delay, 6, ROW)?;
        }
        for loss in [up_loss, down_loss] {
            if line.number(loss, 9, ROW)? > 1_000_000_000 {
                return Err(line.refuse(loss, "a loss from 0 to 1"));
            }
        }
        let rates = [line.number(down, 6, ROW)?, line.number(up, 6, ROW)?];
        let rate = match direction {
            Direction::Down => rates[0],
            Direction::Up => rates[1],
        };
        series.push(line, line.number(time, 6, ROW)?, rate)?;
    }
    series.finish().ok_or_else(|| TraceError::described(1, "an empty file", ROW))
}
