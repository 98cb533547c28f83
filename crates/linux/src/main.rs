//! `airpathd`: loads the BPF programs of a host or a router and keeps them attached while it runs.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its user")]

use std::path::PathBuf;
use std::process::ExitCode;

use airpath_linux::Error;
use airpath_linux::host::{Host, HostConfig};
use clap::{Parser, Subcommand};
use nix::sys::signal::{SigSet, Signal};

/// Congestion controllers and routers of airpath in the Linux kernel.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Give the TCP connections of a cgroup a congestion controller, until interrupted.
    Host {
        /// Folder of the cgroup (version 2).
        #[arg(long)]
        cgroup: PathBuf,
        /// Name of the controller.
        #[arg(long)]
        controller: String,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("airpathd: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Error> {
    match command {
        Command::Host { cgroup, controller } => {
            // Blocked first: a signal that comes while loading is waited for, and nothing is left half done.
            let mut signals = SigSet::empty();
            signals.add(Signal::SIGINT);
            signals.add(Signal::SIGTERM);
            let blocked = signals.thread_block();
            let host = Host::load(&HostConfig { cgroup, controller })?;
            println!("{}", serde_json::json!({ "event": "ready" }));
            if blocked.is_ok() {
                let _ = signals.wait();
            }
            println!("{}", serde_json::json!({ "event": "end", "connections": host.connections() }));
            Ok(())
        }
    }
}
