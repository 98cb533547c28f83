//! Corrupted QUIC logs: the input of the fuzz target, replayed by tests.

use std::io::Cursor;

use airpath_replay::analyse_qlog;

use super::estimators::options;

/// Returns whether the bytes were accepted as a log.
pub(crate) fn is_readable(file: Vec<u8>) -> bool {
    match analyse_qlog(Cursor::new(file), &options()) {
        Ok(analysis) => {
            for flow in &analysis.flows {
                assert!(flow.series.len() <= 1024);
                assert!(flow.estimates.iter().all(|estimate| estimate.mean_bps.is_none_or(f64::is_finite)));
            }
            true
        }
        Err(_) => false,
    }
}
