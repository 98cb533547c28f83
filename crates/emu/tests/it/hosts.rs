//! Hosts: addresses, routes, processes, and cleaning up.

use std::io::Read;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use airpath_emu::{DEVICE, Hosts, NetworkNamespace, Side};

use crate::support::{PATIENCE, hosts_can_be_made, skipped};

/// The other tests are skipped if hosts cannot be created; if the kernel permits them, creating them must
/// succeed.
#[test]
fn hosts_are_created_if_the_kernel_allows_it() {
    const NET_ADMIN: u64 = 1 << 12;
    const SYS_ADMIN: u64 = 1 << 21;
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    let effective = u64::from_str_radix(effective.trim(), 16).unwrap();
    let device = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    if effective & NET_ADMIN == 0 || effective & SYS_ADMIN == 0 || device.is_err() {
        skipped("this needs CAP_NET_ADMIN, CAP_SYS_ADMIN and /dev/net/tun");
        return;
    }
    Hosts::new().unwrap();
}

#[test]
fn every_address_of_a_side_belongs_to_its_host() {
    if !hosts_can_be_made() {
        return;
    }
    let (hosts, _devices) = Hosts::new().unwrap();
    for side in Side::BOTH {
        for flow in [0, 254, 65_000] {
            let (own, other) = (side.address(flow).unwrap(), side.other().address(flow).unwrap());
            hosts
                .host(side)
                .enter(|| {
                    let socket = UdpSocket::bind((own, 0)).unwrap();
                    socket.send_to(b"x", (other, 9)).unwrap();
                    assert!(UdpSocket::bind((other, 0)).is_err(), "the other side's address is not ours");
                    let unbound = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
                    unbound.connect((other, 9)).unwrap();
                    assert_eq!(Some(unbound.local_addr().unwrap().ip()), side.address(0).map(Into::into));
                })
                .unwrap();
        }
    }
}

#[test]
fn hosts_are_isolated_from_each_other_and_from_the_machine() {
    if !hosts_can_be_made() {
        return;
    }
    let (hosts, _devices) = Hosts::new().unwrap();
    let ours = namespace_of_this_thread();
    let [senders, receivers] =
        Side::BOTH.map(|side| hosts.host(side).enter(namespace_of_this_thread).unwrap());
    assert!(senders != receivers && senders != ours && receivers != ours);
    assert_eq!(namespace_of_this_thread(), ours);
    assert!(!std::path::Path::new("/sys/class/net").join(DEVICE).exists(), "the device is not among ours");
}

#[test]
fn loopback_works_within_a_host() {
    if !hosts_can_be_made() {
        return;
    }
    let (hosts, _devices) = Hosts::new().unwrap();
    let received = hosts.host(Side::Senders).enter(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(b"to myself", socket.local_addr().unwrap()).unwrap();
        let mut buffer = [0; 16];
        let length = socket.recv(&mut buffer).unwrap();
        buffer[..length].to_vec()
    });
    assert_eq!(received.unwrap(), b"to myself");
}

#[test]
fn commands_run_in_a_host_and_are_killed_with_it() {
    if !hosts_can_be_made() {
        return;
    }
    let (hosts, _devices) = Hosts::new().unwrap();
    let inside = hosts.host(Side::Receivers).enter(namespace_of_this_thread).unwrap();
    let mut said = hosts
        .spawn(Side::Receivers, Command::new("readlink").arg("/proc/self/ns/net").stdout(Stdio::piped()))
        .unwrap();
    let mut text = String::new();
    said.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text.trim(), inside);
    assert!(said.wait().unwrap().success());

    // A child and its own child, which the emulator does not know.
    let mut shell = hosts
        .spawn(Side::Senders, Command::new("sh").args(["-c", "sleep 1000 & wait"]).process_group(0))
        .unwrap();
    until(|| alive_in_group(shell.id()).len() == 2);
    drop(hosts);
    assert!(!shell.wait().unwrap().success(), "it was killed");
    // Each is killed by a separate signal, so the child's child may end a moment after the child.
    until(|| alive_in_group(shell.id()).is_empty());
}

#[test]
fn a_process_group_is_distinguished_from_other_numbers() {
    let start_time = "44 (kworker/1:1H-kblockd) I 2 0 0 0 -1 69238880 0 0 0 0 0 3751 0 0 0 -20 1 0 35";
    assert!(!is_alive_in_group(start_time, 3751));
    assert!(!is_alive_in_group(start_time, 2));
    assert!(is_alive_in_group("3752 (a) R 1 3751 (b) S 1 3751 2 0 -1", 3751), "a name may hold anything");
    assert!(
        !is_alive_in_group("3752 (sleep) Z 1 3751 2 0 -1", 3751),
        "dead, with its exit status not collected"
    );
}

#[test]
fn a_namespace_is_removed_with_its_descriptor() {
    if !hosts_can_be_made() {
        return;
    }
    let namespace = NetworkNamespace::new().unwrap();
    let name = namespace.enter(namespace_of_this_thread).unwrap();
    // Another process keeps the namespace, so that no namespace of another test gets its number in the
    // meantime.
    let mut inside = namespace.enter(|| Command::new("cat").stdin(Stdio::piped()).spawn()).unwrap().unwrap();
    let held = || {
        std::fs::read_dir("/proc/self/fd").unwrap().any(|descriptor| {
            std::fs::read_link(descriptor.unwrap().path())
                .is_ok_and(|target| target.to_string_lossy() == name)
        })
    };
    assert!(held());
    drop(namespace);
    assert!(!held());
    // `cat` ends with its input.
    drop(inside.stdin.take());
    assert!(inside.wait().unwrap().success());
}

fn namespace_of_this_thread() -> String {
    std::fs::read_link("/proc/thread-self/ns/net").unwrap().to_string_lossy().into_owned()
}

fn until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "not reached within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the `stat` lines of the processes of group `group` that have not ended.
fn alive_in_group(group: u32) -> Vec<String> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok())
        .filter(|stat| is_alive_in_group(stat, group))
        .collect()
}

/// Returns whether the line `PID (NAME) STATE PARENT GROUP …` (`proc_pid_stat(5)`) is that of a running
/// process of `group`. The name may contain blanks and parentheses.
fn is_alive_in_group(stat: &str, group: u32) -> bool {
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_whitespace().collect::<Vec<_>>();
    let (state, of) = (fields[0], fields[2]);
    !["Z", "X"].contains(&state) && of == group.to_string()
}
