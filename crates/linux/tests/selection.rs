//! The connections of a control group get the controller that was asked for.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::net::{TcpListener, TcpStream};

use airpath_linux::Error;
use airpath_linux::host::{Host, HostConfig};
use rustix::net::sockopt::tcp_congestion;
use support::{OwnCgroup, can_load};

fn controller_of(stream: &TcpStream) -> String {
    tcp_congestion(stream).unwrap()
}

#[test]
fn connections_of_the_cgroup_get_the_controller_while_it_is_attached() {
    if !can_load("selection") {
        return;
    }
    let group = OwnCgroup::join("airpath-selection");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = || TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let before = controller_of(&connect());
    assert_ne!(before, "reno", "this test needs a default that is not reno");
    let host = Host::load(&HostConfig {
        cgroup: group.folder.clone(),
        controller: Some("reno".to_owned()),
        devices: Some(Vec::new()),
        ..HostConfig::default()
    })
    .unwrap();
    assert_eq!(controller_of(&connect()), "reno");
    assert!(host.counters().selected >= 1);
    drop(host);
    assert_eq!(controller_of(&connect()), before);
}

#[test]
fn names_that_do_not_fit_are_refused() {
    if !can_load("selection") {
        return;
    }
    for name in ["", "sixteen-bytes-oh"] {
        let config = HostConfig { controller: Some(name.to_owned()), ..HostConfig::default() };
        assert!(matches!(Host::load(&config), Err(Error::ControllerName { .. })), "{name:?}");
    }
}
