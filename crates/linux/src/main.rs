//! `airpathd`: loads the BPF programs of a host or a router and keeps them attached while it runs.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its user")]

use std::path::PathBuf;
use std::process::ExitCode;

use airpath_linux::host::{CONTROLLERS, Device, Host, HostConfig};
use airpath_linux::{Error, capability};
use clap::{Parser, Subcommand};
use nix::sys::signal::{SigSet, Signal};
use serde_json::json;

/// Congestion controllers and routers of airpath in the Linux kernel.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Offer airpath's controllers to the TCP connections of this machine, until interrupted.
    ///
    /// Prints a line of JSON when everything is attached ({"event":"ready", …}) and one at the end ({"event":"end", …}).
    Host {
        /// Folder of the cgroup (version 2) whose connections speak to routers [default: all of the machine].
        #[arg(long)]
        cgroup: Option<PathBuf>,
        /// Controller that each new connection of the cgroup gets [default: each keeps its own].
        #[arg(long)]
        controller: Option<String>,
        /// Device by which packets leave: NAME or /PATH/OF/NAMESPACE:NAME; several may be given [default: all of this
        /// network namespace but the loopback].
        #[arg(long)]
        device: Vec<Device>,
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
        Command::Host { cgroup, controller, device } => {
            // Blocked first: a signal that comes while loading is waited for, and nothing is left half done.
            let mut signals = SigSet::empty();
            signals.add(Signal::SIGINT);
            signals.add(Signal::SIGTERM);
            signals.thread_block().map_err(|error| Error::Signals { source: error.into() })?;
            let cgroup = cgroup.or_else(capability::cgroup_root).ok_or(Error::NoCgroups)?;
            let devices = (!device.is_empty()).then_some(device);
            let host = Host::load(&HostConfig { cgroup, controller, devices, record: false })?;
            let devices: Vec<String> = host.devices().iter().map(ToString::to_string).collect();
            println!(
                "{}",
                json!({
                    "event": "ready", "pid": std::process::id(), "controllers": CONTROLLERS, "devices": devices,
                })
            );
            signals.wait().map_err(|error| Error::Signals { source: error.into() })?;
            println!("{}", json!({ "event": "end", "counters": host.counters() }));
            Ok(())
        }
    }
}
