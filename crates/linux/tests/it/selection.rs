//! Selection of the controller of connections for a control group, a network namespace or a socket.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use airpath_linux::Error;
use airpath_linux::host::{CONTROLLERS, Host, HostConfig};
use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};

use crate::support::load;
use crate::support::namespace::Namespace;
use crate::support::{OwnCgroup, alone, can_host};

fn controller_of(stream: &TcpStream) -> String {
    tcp_congestion(stream).unwrap()
}

#[test]
fn connections_of_the_cgroup_use_the_controller_while_it_is_attached() {
    if !can_host("selection") {
        return;
    }
    let _alone = alone();
    let group = OwnCgroup::join("airpath-selection");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = || TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let before = controller_of(&connect());
    assert_ne!(before, "reno", "this test needs a default that is not reno");
    for chosen in ["reno", "airpath_ebe"] {
        let config = HostConfig { controller: Some(chosen.to_owned()), ..of(&group) };
        let host = load(&config);
        assert_eq!(controller_of(&connect()), chosen);
        assert!(host.counters().selected >= 1);
        drop(host);
        assert_eq!(controller_of(&connect()), before);
    }
}

/// Returns a configuration for this group's connections, without devices.
fn of(group: &OwnCgroup) -> HostConfig {
    HostConfig { cgroup: group.folder.clone(), devices: Some(Vec::new()), ..HostConfig::default() }
}

/// One namespace has our controller as its default, the other does not. Any socket of either can select a
/// controller, for any user.
#[test]
fn namespaces_and_sockets_select_the_controller() {
    if !can_host("selection") {
        return;
    }
    let _alone = alone();
    let group = OwnCgroup::join("airpath-choice");
    let host = load(&of(&group));
    let (ours, others) = (Namespace::new(), Namespace::new());
    for namespace in [&ours, &others] {
        namespace.command("ip link set lo up");
    }
    let before = default_of(&others, None);
    for controller in CONTROLLERS {
        assert_eq!(default_of(&ours, Some(controller)), controller);
        let [with_default, with_option] = connected(&ours, "reno");
        assert_eq!((with_default.as_str(), with_option.as_str()), (controller, "reno"));
        let [with_default, with_option] = connected(&others, controller);
        assert_eq!((with_default, with_option.as_str()), (before.clone(), controller));
    }
    assert!(host.counters().started >= 2 * CONTROLLERS.len() as u64, "{:?}", host.counters());
    let allowed =
        others.within(|| std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control"));
    let allowed = allowed.unwrap();
    assert!(CONTROLLERS.iter().all(|name| allowed.split_whitespace().any(|one| one == *name)), "{allowed}");
    // A namespace default keeps its controller loaded after the daemon's end, until the namespace gets
    // another default.
    drop(host);
    let last = CONTROLLERS[CONTROLLERS.len() - 1];
    assert_eq!(connected(&ours, "reno")[0], last);
    default_of(&ours, Some("reno"));
    let refused = ours.within(|| std::fs::write(DEFAULT, last));
    assert!(refused.is_err(), "{last} is still there");
}

const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Sets the default of a namespace if `controller` is given. Returns the default.
fn default_of(namespace: &Namespace, controller: Option<&str>) -> String {
    namespace.within(|| {
        if let Some(controller) = controller {
            std::fs::write(DEFAULT, controller).unwrap();
        }
        std::fs::read_to_string(DEFAULT).unwrap().trim().to_owned()
    })
}

/// Returns the controllers of two connections in a namespace that have sent a byte: one with the default, and
/// one that selected `chosen`.
fn connected(namespace: &Namespace, chosen: &str) -> [String; 2] {
    [None, Some(chosen)].map(|chosen| {
        namespace.within(|| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            if let Some(chosen) = chosen {
                set_tcp_congestion(&stream, chosen).unwrap();
            }
            stream.write_all(&[1]).unwrap();
            listener.accept().unwrap().0.read_exact(&mut [0]).unwrap();
            controller_of(&stream)
        })
    })
}

/// Unknown names are rejected with one message that lists the accepted names, both in arguments and in files,
/// before any program is loaded.
#[test]
fn unknown_names_are_rejected() {
    let hosts = can_host("selection");
    let _alone = hosts.then(alone);
    let file = std::env::temp_dir().join(format!("airpath-mistyped-{}.toml", std::process::id()));
    for name in ["", "airpath_vpc", "Cubic", "sixteen-bytes-oh"] {
        let config = HostConfig { controller: Some(name.to_owned()), ..HostConfig::default() };
        assert!(matches!(Host::load(&config), Err(Error::NoController { .. })), "{name:?}");
        if !hosts {
            continue;
        }
        std::fs::write(&file, format!("[host]\ncontroller = {name:?}\n")).unwrap();
        for words in [["--controller", name], ["--config", file.to_str().unwrap()]] {
            let daemon = ["300", env!("CARGO_BIN_EXE_airpathd"), "host"];
            let ended = Command::new("timeout").args(daemon).args(words).output().unwrap();
            let said = String::from_utf8(ended.stderr).unwrap();
            assert_eq!((ended.status.code(), said.lines().count()), (Some(1), 1), "{said}");
            let accepted = said.split_once("accepted: ").unwrap().1;
            assert!(said.contains(&format!("controller {name:?}")), "{said}");
            assert!(accepted.contains("airpath_vcp, ") && accepted.contains("reno"), "{said}");
        }
    }
    let _ = std::fs::remove_file(&file);
}
