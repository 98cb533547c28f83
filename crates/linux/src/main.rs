//! `airpathd`: loads the BPF programs of a host or a router and keeps them attached while it runs.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its user")]

use std::path::PathBuf;
use std::process::ExitCode;

use airpath_linux::config_file::ConfigFile;
use airpath_linux::daemon::{self, Asked, Door, Namespace};
use airpath_linux::host::{CONTROLLERS, Host, HostConfig, HostSettings};
use airpath_linux::router::{Router, RouterConfig, RouterSettings};
use airpath_linux::{Error, capability};
use clap::{Parser, Subcommand};
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
    /// Prints a line of JSON when everything is attached ({"event":"ready", …}) and one at the end with what was counted
    /// ({"event":"end", …}).
    Host {
        /// Configuration file; arguments go before what it says
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        settings: HostSettings,
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
        Command::Host { config, settings } => {
            let file = config.map(|path| ConfigFile::read(&path)).transpose()?.unwrap_or_default();
            host(&HostConfig::try_from(settings.over(file.host))?)
        }
        Command::Router { config, settings } => router(config, settings),
        Command::Status { name, metrics, netns } => {
            let names = chosen(name, netns.as_deref())?;
            let asked = names.iter().map(|name| daemon::ask(name, Asked::Status));
            let statuses = asked.collect::<Result<Vec<_>, _>>()?;
            if metrics {
                print!("{}", daemon::metrics(&statuses));
            } else {
                for status in &statuses {
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

fn host(config: &HostConfig) -> Result<(), Error> {
    if let Some(problem) = capability::hosts_missing() {
        return Err(Error::Config { problem });
    }
    let signals = daemon::block_signals()?;
    let namespace = Namespace::enter(None)?;
    let door = Door::open("host")?;
    let host = Host::load(config)?;
    let devices: Vec<String> = host.devices().iter().map(ToString::to_string).collect();
    println!(
        "{}",
        json!({
            "event": "ready", "name": door.name(), "pid": std::process::id(),
            "controllers": CONTROLLERS, "devices": devices,
        })
    );
    let last = daemon::serve(host, &door, &signals, &namespace)?;
    end(&door, &last);
    Ok(())
}

fn router(file: Option<PathBuf>, settings: RouterSettings) -> Result<(), Error> {
    let file = file.map(|path| ConfigFile::read(&path)).transpose()?.unwrap_or_default();
    let config = RouterConfig::try_from(settings.over(file.router))?;
    if let Some(problem) = capability::routers_missing() {
        return Err(Error::Config { problem });
    }
    let signals = daemon::block_signals()?;
    let namespace = Namespace::enter(config.netns.as_deref())?;
    // The name first: two routers of one device would both count and write.
    let door = Door::open(&format!("router/{}", config.device))?;
    let router = Router::start(config)?;
    println!("{}", json!({ "event": "ready", "name": door.name() }));
    let last = daemon::serve(router, &door, &signals, &namespace)?;
    end(&door, &last);
    Ok(())
}

/// What was counted is said at the end too: afterwards nobody can ask.
fn end(door: &Door, last: &serde_json::Value) {
    println!("{}", json!({ "event": "end", "name": door.name(), "counters": last["counters"] }));
}
