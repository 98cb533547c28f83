//! Host configurations: accepted settings, error messages, and the systemd units. Needs no kernel support.

use std::path::PathBuf;
use std::process::Command;

use airpath_linux::host::{HostConfig, HostSettings};

use crate::configuration::{read_configuration, uncommented};
use crate::support::skipped;

fn read(text: &str) -> Result<HostSettings, String> {
    read_configuration(text).map(|file| file.host).map_err(|error| error.to_string())
}

#[test]
fn the_example_is_accepted_with_and_without_its_comments() {
    let example = include_str!("../../dist/host.toml");
    let plain = read(example).unwrap();
    let devices = vec!["eth0".parse().unwrap()];
    assert_eq!(plain, HostSettings { devices: devices.clone(), ..HostSettings::default() });
    let all = HostConfig::try_from(read(&uncommented(example)).unwrap()).unwrap();
    let wanted = HostConfig {
        cgroup: PathBuf::from("/sys/fs/cgroup/trial"),
        controller: Some("airpath_vcp".to_owned()),
        devices: Some(devices),
        record: false,
    };
    assert_eq!(all, wanted);
}

#[test]
fn arguments_go_before_the_file() {
    let file = read("[host]\ncontroller = \"airpath_xcp\"\ndevices = [\"/run/netns/left:veth0\"]\n").unwrap();
    let said = HostSettings { controller: Some("airpath_vcp".to_owned()), ..HostSettings::default() };
    let both = said.over(file.clone());
    assert_eq!((both.controller.as_deref(), &both.devices), (Some("airpath_vcp"), &file.devices));
    let other = HostSettings { devices: vec!["eth1".parse().unwrap()], ..HostSettings::default() };
    assert_eq!(other.clone().over(file).devices, other.devices);
}

#[test]
fn errors_name_the_mistake() {
    for (text, said) in [
        ("[host]\ndevices = [\"a/b\"]\n", "is no name of a device"),
        ("[host]\ndevices = \"eth0\"\n", "invalid type: string"),
        ("[host]\ndevice = \"eth0\"\n", "unknown field `device`"),
        ("[hosts]\n", "unknown field `hosts`"),
    ] {
        let message = read(text).unwrap_err();
        assert!(message.contains(said) && message.contains("line"), "{text}: {message}");
    }
}

/// `systemd-analyze verify` reports nothing about the units except that the programs are not installed.
#[test]
fn systemd_accepts_the_units() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("dist");
    for unit in ["airpathd-host.service", "airpathd-router@.service"] {
        let Ok(verified) =
            Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(folder.join(unit)).output()
        else {
            return skipped("units for systemd", "there is no systemd-analyze");
        };
        let said = String::from_utf8_lossy(&verified.stderr);
        let about: Vec<_> = said
            .lines()
            .filter(|line| line.contains("airpathd") && !line.contains("is not executable"))
            .collect();
        assert!(about.is_empty(), "{about:#?}");
        // The verification ran: airpathd is installed, or reported as missing.
        assert!(verified.status.success() || said.contains("is not executable"), "{said}");
    }
}
