//! Two hosts in network namespaces of this process, connected by a veth pair.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use airpath_linux::host::Device;
use rustix::net::sockopt::set_tcp_congestion;

use crate::support::namespace::Namespace;

/// Two hosts, 10.77.0.1 and 10.77.0.2, connected by a pair of virtual devices without offloads.
pub(crate) struct Pair {
    pub(crate) left: Namespace,
    pub(crate) right: Namespace,
    /// The host between them, if any: its device `in` leads to the left, `out` to the right.
    pub(crate) middle: Option<Namespace>,
    /// Address of the right host.
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

    /// Creates a pair with a third host that forwards between them; packets that it drops were in flight.
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

    /// Creates a pair with a host between them that forwards nothing: a [`crate::tools::wire::Wire`] must do
    /// so. The hosts know each other's hardware addresses, and are neighbors.
    pub(crate) fn over_a_wire() -> Self {
        let (left, middle, right) = (Namespace::new(), Namespace::new(), Namespace::new());
        for (namespace, name, device, own, other) in
            [(&left, "left", "in", "1", "2"), (&right, "right", "out", "2", "1")]
        {
            let address = |number| format!("02:00:00:00:00:0{number}");
            middle.command(&format!(
                "ip link add {device} type veth peer name {name} netns {}",
                namespace.path()
            ));
            middle.command(&format!("ip link set {device} up"));
            namespace.command(&format!("ip link set {name} address {} up", address(own)));
            namespace.command(&format!("ip address add 10.77.0.{own}/24 dev {name}"));
            let neighbour = format!("10.77.0.{other} lladdr {} dev {name}", address(other));
            namespace.command(&format!("ip neighbour add {neighbour} nud permanent"));
            namespace.command(&format!("ethtool -K {name} tso off gso off gro off tx off"));
        }
        Self { left, right, middle: Some(middle), address: "10.77.0.2" }
    }

    /// Puts a token bucket in front of the middle's device `out`, in tc's syntax. Senders on the left have at
    /// most `window` bytes in flight, which bounds the bucket's queue.
    pub(crate) fn slow(&self, bucket: &str, window: u32) {
        self.middle.as_ref().unwrap().command(&format!("tc qdisc add dev out root tbf {bucket}"));
        let memory = format!("4096 {window} {window}");
        self.left.within(|| std::fs::write("/proc/sys/net/ipv4/tcp_wmem", memory).unwrap());
    }

    /// Returns their devices in the format of airpathd.
    pub(crate) fn devices(&self) -> Vec<Device> {
        let device =
            |namespace: &Namespace, name: &str| format!("{}:{name}", namespace.path()).parse().unwrap();
        vec![device(&self.left, "left"), device(&self.right, "right")]
    }

    /// Sends `bytes` from left to right over a connection with that controller, and returns the duration.
    /// Every byte is compared on arrival.
    pub(crate) fn transfer(&self, controller: &str, bytes: usize) -> Duration {
        transfer(&self.left, (&self.right, self.address), controller, bytes)
    }

    /// Sends from left to right for this number of seconds at full speed over a connection with that
    /// controller. Returns the received rate of each second, Mbit/s.
    pub(crate) fn bulk(&self, controller: &str, seconds: usize) -> Vec<f64> {
        bulk(self.connect(controller), seconds)
    }

    /// Opens a connection with that controller from left to right. Returns its two endpoints.
    pub(crate) fn connect(&self, controller: &str) -> (TcpStream, TcpStream) {
        connect(&self.left, (&self.right, self.address), controller)
    }
}

/// Sends over a connection for this number of seconds, as [`Pair::bulk`], and closes it.
pub(crate) fn bulk((mut sender, mut receiver): (TcpStream, TcpStream), seconds: usize) -> Vec<f64> {
    let sender = std::thread::spawn(move || {
        let chunk = pattern();
        while sender.write_all(&chunk).is_ok() {}
    });
    receiver.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let (mut buffer, mut arrived) = (pattern(), vec![0.0; seconds]);
    let began = Instant::now();
    while let Some(second) = arrived.get_mut(began.elapsed().as_secs() as usize) {
        match receiver.read(&mut buffer) {
            Ok(0) => panic!("the connection ended"),
            Ok(read) => *second += read as f64 * 8e-6,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
    }
    // Data still in flight meets a closed connection, which stops the sender.
    drop(receiver);
    sender.join().unwrap();
    arrived
}

/// Timeout of sockets, longer than any fault here: an operation that is still blocked would block forever.
const PATIENCE: Duration = Duration::from_secs(40);

/// Opens a connection with that controller to an address of the other host. Returns its two endpoints.
pub(crate) fn connect(
    from: &Namespace,
    (to, address): (&Namespace, &str),
    controller: &str,
) -> (TcpStream, TcpStream) {
    let listener = to.within(|| TcpListener::bind((address, 0)).unwrap());
    let address = listener.local_addr().unwrap();
    let sender = from.within(|| {
        // Without `CLOEXEC`, child processes would keep the socket open.
        let socket = rustix::net::socket_with(
            rustix::net::AddressFamily::INET,
            rustix::net::SocketType::STREAM,
            rustix::net::SocketFlags::CLOEXEC,
            Some(rustix::net::ipproto::TCP),
        )
        .unwrap();
        set_tcp_congestion(&socket, controller).unwrap();
        rustix::net::connect(&socket, &address).unwrap();
        TcpStream::from(socket)
    });
    let (receiver, _) = listener.accept().unwrap();
    sender.set_write_timeout(Some(PATIENCE)).unwrap();
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    (sender, receiver)
}

/// Sends `bytes` to an address of the other host, as [`Pair::transfer`].
pub(crate) fn transfer(from: &Namespace, to: (&Namespace, &str), controller: &str, bytes: usize) -> Duration {
    let (mut sender, mut receiver) = connect(from, to, controller);
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

fn pattern() -> Vec<u8> {
    (0..65_521_u32).map(|number| (number % 251) as u8).collect()
}
