//! `airpathd`: loads the BPF programs of a host or a router and keeps them attached while it runs.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its user")]

use std::path::PathBuf;
use std::process::ExitCode;

use airpath_linux::config_file::ConfigFile;
use airpath_linux::daemon::{self, Asked, Door, Namespace};
use airpath_linux::host::{Host, HostConfig};
use airpath_linux::router::{Router, RouterConfig, RouterSettings};
use airpath_linux::{Error, capability};
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
    /// Be the router of a device's queue, until interrupted or detached.
    Router {
        /// Configuration file; arguments go before what it says
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        settings: RouterSettings,
    },
    /// Say what the daemons of this network namespace do, as JSON, one line each.
    Status {
        /// Only this one, such as `router/eth1`
        name: Option<String>,
        /// The text format of Prometheus instead
        #[arg(long)]
        metrics: bool,
        /// Of this network namespace: a name of `ip netns`, or a path
        #[arg(long)]
        netns: Option<String>,
    },
    /// End a daemon; what it attached is gone when this returns.
    Detach {
        /// Which, such as `router/eth1`; all of this network namespace when nothing is said
        name: Option<String>,
        /// Of this network namespace: a name of `ip netns`, or a path
        #[arg(long)]
        netns: Option<String>,
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
        Command::Router { config, settings } => router(config, settings),
        Command::Status { name, metrics, netns } => {
            for name in chosen(name, netns.as_deref())? {
                let status = daemon::ask(&name, Asked::Status)?;
                if metrics {
                    print!("{}", daemon::metrics(&status));
                } else {
                    println!("{status}");
                }
            }
            Ok(())
        }
        Command::Detach { name, netns } => {
            for name in chosen(name, netns.as_deref())? {
                println!("{}", daemon::ask(&name, Asked::Detach)?);
            }
            Ok(())
        }
    }
}

/// The daemons that are meant: one, or all of the namespace.
fn chosen(name: Option<String>, netns: Option<&str>) -> Result<Vec<String>, Error> {
    Namespace::enter(netns)?;
    name.map_or_else(daemon::names, |name| Ok(vec![name]))
}

fn router(file: Option<PathBuf>, settings: RouterSettings) -> Result<(), Error> {
    let file = file.map(|path| ConfigFile::read(&path)).transpose()?.unwrap_or_default();
    let config = RouterConfig::try_from(settings.over(file.router))?;
    if let Some(reason) = capability::missing() {
        return Err(Error::Config { problem: reason.to_owned() });
    }
    let signals = daemon::block_signals()?;
    let namespace = Namespace::enter(config.netns.as_deref())?;
    // The name first: two routers of one device would both count and write.
    let door = Door::open(&format!("router/{}", config.device))?;
    let router = Router::start(config)?;
    println!("{}", serde_json::json!({ "event": "ready", "name": door.name() }));
    daemon::serve(router, &door, &signals, &namespace)?;
    println!("{}", serde_json::json!({ "event": "end", "name": door.name() }));
    Ok(())
}
