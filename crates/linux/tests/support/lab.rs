//! Two network namespaces with a bottleneck between them, and the daemon over it.
#![allow(clippy::unused_self, reason = "what is done in the lab needs a lab")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use airpath_linux::host::Device;
use serde_json::Value;

use crate::support::namespace::Namespace;

/// Timeout for the end of a daemon. No machine is that slow.
const HANGS: Duration = Duration::from_secs(120);

/// Two namespaces: `a` sends by the device `va`, over a token bucket, to `vb` of `b`. Dropping it removes
/// everything.
pub(crate) struct Lab {
    pub(crate) a: Namespace,
    pub(crate) b: Namespace,
}

impl Lab {
    /// Creates a lab with a bottleneck of `rate`, in tc's syntax.
    pub(crate) fn new(rate: &str) -> Self {
        let lab = Self { a: Namespace::new(), b: Namespace::new() };
        lab.a.command(&format!("ip link add va type veth peer name vb netns {}", lab.b.path()));
        for (namespace, device, address) in [(&lab.a, "va", "10.9.0.1/24"), (&lab.b, "vb", "10.9.0.2/24")] {
            namespace.command(&format!("ip address add {address} dev {device}"));
            namespace.command(&format!("ip link set {device} up"));
            namespace.command(&format!("ethtool -K {device} tso off gso off gro off tx off"));
        }
        lab.rate("add", rate);
        lab
    }

    /// Returns the devices of both ends in the format of airpathd.
    pub(crate) fn devices(&self) -> [Device; 2] {
        self.device_names().map(|name| name.parse().unwrap())
    }

    fn device_names(&self) -> [String; 2] {
        [(&self.a, "va"), (&self.b, "vb")].map(|(namespace, device)| format!("{}:{device}", namespace.path()))
    }

    /// Sets the rate of the bottleneck with the verb `add` or `change`.
    pub(crate) fn rate(&self, verb: &str, rate: &str) {
        self.a.command(&format!("tc qdisc {verb} dev va root tbf rate {rate} burst 5kb limit 575kb"));
    }

    /// Starts a command in one of the namespaces. It is killed when dropped, and when this process ends.
    pub(crate) fn spawn(&self, namespace: &Namespace, words: &[&str]) -> Running {
        let child = namespace
            .inside(&["timeout", "-s", "KILL", "40"])
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Running(child)
    }

    /// Starts the daemon `router` over the bottleneck, with further arguments, and waits until it is ready.
    pub(crate) fn router(&self, words: &[&str]) -> Daemon {
        self.router_under(&[], words)
    }

    /// Starts the same under the command `under`.
    pub(crate) fn router_under(&self, under: &[&str], words: &[&str]) -> Daemon {
        Self::router_at((&self.a, "va"), under, words)
    }

    /// Starts the same over another bottleneck: a device in a namespace.
    pub(crate) fn router_at(
        (namespace, device): (&Namespace, &str),
        under: &[&str],
        words: &[&str],
    ) -> Daemon {
        let path = namespace.path();
        let words = [&["router", "--netns", &path, "--device", device], words].concat();
        let mut daemon = Self::daemon(under, &words, &["--netns", &path]);
        if daemon.is_ready() {
            return daemon;
        }
        panic!("{}", daemon.end().0);
    }

    /// Starts the daemon with these arguments under the command `under`. It runs for at most five minutes,
    /// longer than any test on a slow machine. `airpathd status` finds it by `asked`.
    fn daemon(under: &[&str], words: &[&str], asked: &[&str]) -> Daemon {
        let child = Command::new("timeout")
            .args(["-s", "KILL", "300"])
            .args(under)
            .arg(env!("CARGO_BIN_EXE_airpathd"))
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Daemon { child, asked: asked.iter().map(ToString::to_string).collect() }
    }

    /// Starts the host daemon for both ends and the connections of `cgroup`, and waits until it is ready. A
    /// machine has one at a time, so this also waits for the end of another test's daemon.
    pub(crate) fn hosts(&self, cgroup: &std::path::Path) -> Daemon {
        self.hosts_under(&[], cgroup)
    }

    /// Starts the same under the command `under`.
    pub(crate) fn hosts_under(&self, under: &[&str], cgroup: &std::path::Path) -> Daemon {
        Self::hosts_of(&[self], under, cgroup)
    }

    /// Starts the same for the ends of several labs.
    pub(crate) fn hosts_of(labs: &[&Self], under: &[&str], cgroup: &std::path::Path) -> Daemon {
        let devices = labs.iter().flat_map(|lab| lab.device_names());
        let devices: Vec<String> = devices.map(|device| format!("--device={device}")).collect();
        let mut words = vec!["host", "--cgroup", cgroup.to_str().unwrap()];
        words.extend(devices.iter().map(String::as_str));
        Self::spawn_until_ready(under, &words, &["host"])
    }

    /// Starts a daemon inside the namespace of `a` under the command `under`, and waits until it is ready.
    pub(crate) fn daemon_in_a(&self, under: &[&str], words: &[&str]) -> Daemon {
        let (path, inside) = (self.a.path(), format!("--net={}", self.a.path()));
        Self::spawn_until_ready(&[&["nsenter", &inside], under].concat(), words, &["--netns", &path])
    }

    fn spawn_until_ready(under: &[&str], words: &[&str], asked: &[&str]) -> Daemon {
        let began = Instant::now();
        loop {
            let mut daemon = Self::daemon(under, words, asked);
            if daemon.is_ready() {
                return daemon;
            }
            let (said, _) = daemon.end();
            assert!(began.elapsed() < Duration::from_secs(30), "{said}");
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// Runs a bulk transfer from `a` to `b` for that many seconds. Returns its report.
    pub(crate) fn bulk(&self, seconds: u32) -> Value {
        self.bulk_by("cubic", seconds)
    }

    /// Runs [`Lab::bulk`] with the congestion controller of that name.
    pub(crate) fn bulk_by(&self, controller: &str, seconds: u32) -> Value {
        let _server = self.spawn(&self.b, &["iperf3", "-s", "-1"]);
        let seconds = seconds.to_string();
        let began = Instant::now();
        loop {
            let client =
                self.spawn(&self.a, &["iperf3", "-J", "-c", "10.9.0.2", "-t", &seconds, "-C", controller]);
            let report: Value = serde_json::from_str(&client.text()).unwrap();
            // The server may not be listening yet.
            if report["end"]["sum_received"].is_object() {
                return report;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "{report}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// A process that is killed on drop.
pub(crate) struct Running(Child);

impl Running {
    /// Waits for the end of the process and returns its output.
    pub(crate) fn text(mut self) -> String {
        let mut text = String::new();
        std::io::Read::read_to_string(self.0.stdout.as_mut().unwrap(), &mut text).unwrap();
        text
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running daemon.
pub(crate) struct Daemon {
    pub(crate) child: Child,
    asked: Vec<String>,
}

impl Daemon {
    fn is_ready(&mut self) -> bool {
        let mut line = String::new();
        BufReader::new(self.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line.contains("ready")
    }

    /// Returns its answer to `airpathd status`.
    pub(crate) fn status(&self) -> Value {
        let words: Vec<&str> =
            std::iter::once("status").chain(self.asked.iter().map(String::as_str)).collect();
        serde_json::from_str(&output(env!("CARGO_BIN_EXE_airpathd"), &words)).unwrap()
    }

    /// Returns the process id of the daemon itself.
    pub(crate) fn pid(&self) -> i32 {
        self.status()["pid"].as_i64().unwrap() as i32
    }

    /// Waits for the end of the daemon. Returns its messages, and whether it succeeded.
    pub(crate) fn end(mut self) -> (String, bool) {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                let mut text = String::new();
                std::io::Read::read_to_string(self.child.stderr.as_mut().unwrap(), &mut text).unwrap();
                return (text, status.success());
            }
            assert!(began.elapsed() < HANGS, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The daemon is a child of `timeout`, which forwards the signal.
        let _ = nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(self.child.id() as i32),
            nix::sys::signal::Signal::SIGTERM,
        );
        let _ = self.child.wait();
    }
}

/// Runs a command that must succeed, and returns its output.
pub(crate) fn output(command: &str, words: &[&str]) -> String {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(command).args(words).env("PATH", path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command} {words:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}
