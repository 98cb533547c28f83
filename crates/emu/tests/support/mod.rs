//! What tests on real hosts have in common.

use airpath_emu::Hosts;

/// Whether hosts can be made here; says why not.
pub(crate) fn hosts_can_be_made() -> bool {
    match Hosts::new() {
        Ok(_) => true,
        Err(error) => {
            eprintln!("skipped: {error}");
            false
        }
    }
}
