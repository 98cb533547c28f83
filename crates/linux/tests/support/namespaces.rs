//! Two hosts in network namespaces of this process, with a cable between them. The kernel frees them with the process.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::{Duration, Instant};

use airpath_linux::Error;
use airpath_linux::host::{Device, Host, HostConfig};
use nix::sched::{CloneFlags, setns, unshare};
use rustix::net::sockopt::set_tcp_congestion;

/// A network namespace, held by a descriptor.
pub(crate) struct Namespace(File);

impl Namespace {
    fn new() -> Self {
        let made = std::thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            File::open("/proc/thread-self/ns/net").unwrap()
        });
        Self(made.join().unwrap())
    }

    /// A file that stands for it.
    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// Runs a command inside.
    pub(crate) fn command(&self, words: &str) {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.path())).args(words.split(' '));
        let output = command.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {error}");
    }

    /// Runs a function inside, in a thread of its own.
    pub(crate) fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                setns(&self.0, CloneFlags::CLONE_NEWNET).unwrap();
                work()
            });
            inside.join().unwrap()
        })
    }

    /// A counter of TCP (`/proc/net/snmp`).
    pub(crate) fn tcp_counter(&self, name: &str) -> u64 {
        let text = self.within(|| std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap());
        let mut lines = text.lines().filter(|line| line.starts_with("Tcp:"));
        let names: Vec<&str> = lines.next().unwrap().split(' ').collect();
        let values: Vec<&str> = lines.next().unwrap().split(' ').collect();
        values[names.iter().position(|given| *given == name).unwrap()].parse().unwrap()
    }
}

/// Two hosts, 10.77.0.1 and 10.77.0.2, joined by a pair of virtual devices without offloads.
pub(crate) struct Pair {
    pub(crate) left: Namespace,
    pub(crate) right: Namespace,
    /// Between them, where there is one: its device `out` leads to the right.
    pub(crate) middle: Option<Namespace>,
    /// The right host's.
    address: &'static str,
}

impl Pair {
    pub(crate) fn new() -> Self {
        let pair =
            Self { left: Namespace::new(), right: Namespace::new(), middle: None, address: "10.77.0.2" };
        let (left, right) = (&pair.left, &pair.right);
        left.command(&format!("ip link add left type veth peer name right netns {}", right.path()));
        for (namespace, name, address) in [(left, "left", "10.77.0.1/24"), (right, "right", "10.77.0.2/24")] {
            namespace.command(&format!("ip address add {address} dev {name}"));
            namespace.command(&format!("ip link set {name} up"));
            namespace.command("ip link set lo up");
            namespace.command(&format!("ethtool -K {name} tso off gso off gro off tx off"));
        }
        pair
    }

    /// The same with a third host that forwards between them: what it drops was on its way.
    pub(crate) fn through_a_middle() -> Self {
        let (left, middle, right) = (Namespace::new(), Namespace::new(), Namespace::new());
        middle.command(&format!("ip link add in type veth peer name left netns {}", left.path()));
        middle.command(&format!("ip link add out type veth peer name right netns {}", right.path()));
        let devices = [
            (&left, "left", "10.77.0.1/24"),
            (&middle, "in", "10.77.0.2/24"),
            (&middle, "out", "10.77.1.1/24"),
            (&right, "right", "10.77.1.2/24"),
        ];
        for (namespace, name, address) in devices {
            namespace.command(&format!("ip address add {address} dev {name}"));
            namespace.command(&format!("ip link set {name} up"));
            namespace.command(&format!("ethtool -K {name} tso off gso off gro off tx off"));
        }
        left.command("ip route add default via 10.77.0.2");
        right.command("ip route add default via 10.77.1.1");
        middle.within(|| std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap());
        Self { left, right, middle: Some(middle), address: "10.77.1.2" }
    }

    /// Their devices, as airpathd wants them.
    pub(crate) fn devices(&self) -> Vec<Device> {
        let device =
            |namespace: &Namespace, name: &str| format!("{}:{name}", namespace.path()).parse().unwrap();
        vec![device(&self.left, "left"), device(&self.right, "right")]
    }

    /// Sends `bytes` from left to right over a connection with that controller, and says how long it took. Every byte is
    /// compared on arrival.
    pub(crate) fn transfer(&self, controller: &str, bytes: usize) -> Duration {
        let listener = self.right.within(|| TcpListener::bind((self.address, 0)).unwrap());
        let address = listener.local_addr().unwrap();
        let mut sender = self.left.within(|| {
            let socket = rustix::net::socket(
                rustix::net::AddressFamily::INET,
                rustix::net::SocketType::STREAM,
                Some(rustix::net::ipproto::TCP),
            )
            .unwrap();
            set_tcp_congestion(&socket, controller).unwrap();
            rustix::net::connect(&socket, &address).unwrap();
            TcpStream::from(socket)
        });
        let (mut receiver, _) = listener.accept().unwrap();
        let began = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let chunk = pattern();
                let mut left = bytes;
                while left > 0 {
                    let part = left.min(chunk.len());
                    sender.write_all(&chunk[..part]).unwrap();
                    left -= part;
                }
            });
            let expected = pattern();
            let (mut buffer, mut count) = (vec![0; expected.len()], 0);
            loop {
                let read = receiver.read(&mut buffer).unwrap();
                if read == 0 {
                    break;
                }
                for byte in &buffer[..read] {
                    assert_eq!(*byte, expected[count % expected.len()], "byte {count}");
                    count += 1;
                }
            }
            assert_eq!(count, bytes);
        });
        began.elapsed()
    }
}

fn pattern() -> Vec<u8> {
    (0..65_521_u32).map(|number| (number % 251) as u8).collect()
}

/// Loads the host side; waits while somebody else on this machine has the controllers' names.
pub(crate) fn load(config: &HostConfig) -> Host {
    let until = Instant::now() + Duration::from_secs(90);
    loop {
        match Host::load(config) {
            Ok(host) => return host,
            Err(Error::Bpf { action, .. }) if action.contains("register") && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(500));
            }
            Err(error) => panic!("{error}"),
        }
    }
}
