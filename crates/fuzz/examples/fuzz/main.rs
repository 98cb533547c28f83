//! Feeds corrupted input to all Rust parsers of external data; see `docs/development/fuzzing.md`.
//!
//! `cargo run --profile fuzz -p airpath-fuzz --example fuzz -- MINUTES`
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a tool for developers")]

mod captures;
mod link_logs;
mod packets;
mod plans;
mod qlogs;
mod traces;

use std::process::ExitCode;

use airpath_fuzz::{Arguments, USAGE, files, fuzz};

fn main() -> ExitCode {
    let Some(arguments) = Arguments::of_program() else {
        eprintln!("accepted: {USAGE}");
        return ExitCode::FAILURE;
    };
    let mut targets = vec![traces::target(), link_logs::target(), qlogs::target(), packets::network()];
    #[cfg(target_os = "linux")]
    targets.push(packets::tcp_info());
    targets.extend(plans::targets());
    for target in &mut targets {
        for folder in arguments.seeds(target.name) {
            target
                .seeds
                .extend(files(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())));
        }
    }
    targets.push(captures::target(&arguments)); // reads its folder itself, since seeds may be compressed
    fuzz(&arguments, targets)
}
