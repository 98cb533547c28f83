//! Real-time checks, skipped if they cannot run.

use std::any::type_name;
use std::time::Duration;

use airpath_realtime::check;

use crate::support::{alone, can_host, can_route};

/// Time for which the programs of a router continue without its daemon. The daemon ignores longer pauses.
pub(crate) const HOLD: Duration = Duration::from_secs(1);

/// Runs [`check`] if hosts can run. `bound` is the shortest delay of a thread that can make `body` fail.
pub(crate) fn check_host<F: FnMut() -> Result<(), String>>(bound: Duration, body: F) {
    if can_host(type_name::<F>()) {
        let _alone = alone();
        check(bound, body);
    }
}

/// Runs [`check`] if routers can run, as [`check_host`].
pub(crate) fn check_router<F: FnMut() -> Result<(), String>>(bound: Duration, body: F) {
    if can_route(type_name::<F>()) {
        check(bound, body);
    }
}
