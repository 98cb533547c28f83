//! Logs of emulated links and of tunnels.

use std::io::Cursor;

use crate::target::Target;
use airpath_trace::link_log::{LinkLogError, read_link_log};

#[path = "../../trace/tests/it/link_logs.rs"]
mod seeds;

pub(crate) fn target() -> Target {
    let seeds = seeds::LOGS.map(|text| text.as_bytes().to_vec()).to_vec();
    Target { name: "link-logs", seeds, parse: Box::new(parse) }
}

fn parse(bytes: &[u8]) -> bool {
    let lines = bytes.split(|&byte| byte == b'\n').count();
    match read_link_log(Cursor::new(bytes.to_vec())) {
        Ok(log) => {
            let departures = &log.departures;
            assert_eq!(departures.time_ns.len(), departures.flow.len());
            for (time_ns, delay_ns) in departures.time_ns.iter().zip(&departures.delay_ns) {
                assert!(time_ns.checked_sub(*delay_ns).is_some(), "a packet was sent at no time");
            }
            true
        }
        Err(error) => {
            assert!(error.to_string().len() < 1000, "{error}");
            if let LinkLogError::Line(error) = error {
                // Compressed logs have different line numbers.
                assert!(bytes.starts_with(&[0x1f, 0x8b]) || (1..=lines).contains(&error.line), "{error}");
            }
            false
        }
    }
}
