//! `airpathd`: loads the BPF programs of a host or a router and keeps them attached while it runs.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its user")]

use std::path::PathBuf;
use std::process::ExitCode;

use airpath_linux::config_file::ConfigFile;
use airpath_linux::daemon::{self, Asked, Door, Namespace, Service};
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
    /// Prints a line of JSON when everything is attached ({"event":"ready", …}) and one at the end with the
    /// counters ({"event":"end", …}).
    Host {
        /// Configuration file; arguments take precedence over it
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        settings: HostSettings,
    },
    /// Run a router for a device's queue, until interrupted or detached.
    Router {
        /// Configuration file; arguments take precedence over it
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        settings: RouterSettings,
    },
    /// Print the status of the daemons in this network namespace as JSON, one line each.
    Status {
        /// Name of a single daemon, such as `router/eth1`
        name: Option<String>,
        /// Print in the Prometheus text format instead
        #[arg(long)]
        metrics: bool,
        /// Network namespace: a name of `ip netns`, or a path
        #[arg(long)]
        netns: Option<String>,
    },
    /// End a daemon; everything it attached is detached when this command returns.
    Detach {
        /// Name of the daemon, such as `router/eth1` [default: all in this network namespace]
        name: Option<String>,
        /// Network namespace: a name of `ip netns`, or a path
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

/// Returns the selected daemons: the one that is named, or all in the namespace.
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
    warn(&host);
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
    // Bind the name first: two routers on one device would both count and modify packets.
    let door = Door::open(&format!("router/{}", config.device))?;
    let router = Router::start(config)?;
    warn(&router);
    println!("{}", json!({ "event": "ready", "name": door.name() }));
    let last = daemon::serve(router, &door, &signals, &namespace)?;
    end(&door, &last);
    Ok(())
}

/// Prints the warnings of the service at startup.
fn warn(service: &impl Service) {
    for warning in service.warnings() {
        eprintln!("airpathd: warning: {warning}");
    }
}

/// Prints the last status at the end, because nothing can query it afterwards.
fn end(door: &Door, last: &serde_json::Value) {
    println!("{}", json!({ "event": "end", "name": door.name(), "counters": last["counters"] }));
}
