//! Output of daemons: permissions, metrics, and warnings about configurations that impair their work.

use std::collections::BTreeMap;
use std::process::{Command, Output};

use crate::support::OwnCgroup;
use crate::support::lab::{Daemon, Lab, output};
use crate::tools::check::{HOLD, check_host};

const AIRPATHD: &str = env!("CARGO_BIN_EXE_airpathd");
const ROUTER: [&str; 7] = ["router", "--device", "va", "--protocol", "xcp", "--rate", "10Mbit"];

/// Runs `airpathd` in the namespace of `a` as the user `nobody`.
fn as_user_nobody(lab: &Lab, words: &[&str]) -> Output {
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", AIRPATHD];
    lab.a.inside(&[&user, words].concat()).output().unwrap()
}

/// Parses the samples of a text in the Prometheus format: metric, daemon and value. One line declares each
/// metric's type before its samples, which are contiguous.
fn samples(text: &str) -> Vec<(String, String, f64)> {
    let mut types: BTreeMap<&str, &str> = BTreeMap::new();
    let (mut samples, mut current) = (Vec::new(), "");
    for line in text.lines() {
        if let Some(declared) = line.strip_prefix("# TYPE ") {
            let (metric, kind) = declared.split_once(' ').unwrap();
            assert!(["counter", "gauge"].contains(&kind), "{line}");
            assert!(types.insert(metric, kind).is_none(), "{metric} has two types:\n{text}");
            current = metric;
            continue;
        }
        let (metric, rest) = line.split_once("{name=\"").unwrap();
        let (daemon, value) = rest.split_once("\"} ").unwrap();
        assert_eq!(metric, current, "{line}");
        assert_eq!(types[metric] == "counter", metric.ends_with("_total"), "{line}");
        samples.push((metric.to_owned(), daemon.to_owned(), value.parse().unwrap()));
    }
    samples
}

#[test]
fn a_host_and_a_router_report_metrics_only_to_root() {
    check_host(HOLD, || {
        let group = OwnCgroup::join("airpath-daemon");
        let lab = Lab::new("10mbit");
        let words = ["host", "--cgroup", group.folder.to_str().unwrap(), "--device", "va"];
        let host = lab.daemon_in_a(&[], &words);
        let router = lab.daemon_in_a(&[], &ROUTER);
        lab.a.command("ping -q -c 5 -i 0.05 10.9.0.2");

        let path = lab.a.path();
        let text = output(AIRPATHD, &["status", "--netns", &path, "--metrics"]);
        let samples = samples(&text);
        assert!(samples.iter().all(|(_, _, value)| value.is_finite()), "{text}");
        let value = |metric: &str, daemon: &str| {
            let found = samples.iter().find(|(name, whose, _)| name == metric && whose == daemon);
            found.unwrap_or_else(|| panic!("{metric} of {daemon}:\n{text}")).2
        };
        assert!(value("airpath_packets_total", "router/va") >= 5.0, "{text}");
        assert!(value("airpath_input_rate_bps", "router/va") >= 0.0, "{text}");
        assert!(value("airpath_options_written_total", "host") >= 0.0, "{text}");

        // The daemon closes the connection before or after the request; ten repetitions cover both.
        for question in [["status", "host"], ["detach", "host"], ["detach", "router/va"]].repeat(10) {
            let refused = as_user_nobody(&lab, &question);
            let said = String::from_utf8(refused.stderr).unwrap();
            assert_eq!(refused.status.code(), Some(1), "{question:?}: {said}");
            assert!(refused.stdout.is_empty(), "{question:?}");
            assert_eq!(said, format!("airpathd: {}: it answers root and its own user only\n", question[1]));
        }
        // The daemons still run, and root can detach them.
        for (daemon, name) in [(host, "host"), (router, "router/va")] {
            let detached = output(AIRPATHD, &["detach", "--netns", &path, name]);
            assert!(detached.contains("detached"), "{detached}");
            assert!(daemon.end().1);
        }
        Ok(())
    });
}

/// Returns the current warnings in a daemon's status.
fn warnings(daemon: &Daemon) -> Vec<String> {
    let status = daemon.status();
    status["warnings"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// Runs the command that a warning recommends.
fn apply_remedy(warning: &str) {
    let cure = warning.split('"').nth(1).unwrap();
    let done =
        Command::new("sh").args(["-c", &format!("PATH=$PATH:/usr/sbin:/sbin {cure}")]).output().unwrap();
    assert!(done.status.success(), "{cure}: {}", String::from_utf8_lossy(&done.stderr));
}

/// The daemon warns of offloads and ECN at the start, with device and remedy, and in its status until they
/// are fixed.
#[test]
fn hosts_warn_of_offloads_and_ecn() {
    check_host(HOLD, || {
        let group = OwnCgroup::join("airpath-warnings");
        let lab = Lab::new("10mbit");
        // With one device, the configuration is correct.
        let daemon = lab.hosts(&group.folder);
        assert_eq!(warnings(&daemon), Vec::<String>::new());
        drop(daemon);

        lab.a.command("ethtool -K va tx on tso on gso on");
        lab.b.command("ethtool -K vb gro on");
        for namespace in [&lab.a, &lab.b] {
            namespace.command("sysctl -q -w net.ipv4.tcp_ecn=1");
        }
        let daemon = lab.hosts(&group.folder);
        let said = warnings(&daemon);
        let (a, b) = (lab.a.path(), lab.b.path());
        let expected = [
            format!("device {a}:va: segments leave in trains (tso, gso)"),
            format!("net.ipv4.tcp_ecn = 1 of {a}"),
            format!("device {b}:vb: segments are joined as they come in (gro)"),
            format!("net.ipv4.tcp_ecn = 1 of {b}"),
        ];
        assert_eq!(said.len(), expected.len(), "{said:#?}");
        for (warning, expected) in said.iter().zip(&expected) {
            assert!(warning.starts_with(expected), "{warning}");
            apply_remedy(warning);
        }
        assert_eq!(warnings(&daemon), Vec::<String>::new());
        // The other remedy for trains of segments.
        lab.a.command("ethtool -K va gso on");
        assert_eq!(warnings(&daemon).len(), 1);
        lab.a.command("ip link set dev va gso_max_segs 1");
        assert_eq!(warnings(&daemon), Vec::<String>::new());
        assert!(output(AIRPATHD, &["detach", "host"]).contains("detached"));
        let (text, success) = daemon.end();
        let lines: Vec<String> = said.iter().map(|warning| format!("airpathd: warning: {warning}")).collect();
        assert!(success);
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
        Ok(())
    });
}

/// A router that drops packets warns of trains of segments, which it would drop as one.
#[test]
fn routers_with_losses_warn_of_segment_trains() {
    check_host(HOLD, || {
        let lab = Lab::new("10mbit");
        lab.a.command("ethtool -K va tx on gso on");
        let router = lab.daemon_in_a(&[], &ROUTER);
        assert_eq!(warnings(&router), Vec::<String>::new(), "it loses nothing");
        drop(router);
        let path = std::env::temp_dir().join(format!("airpath-trains-{}.toml", std::process::id()));
        std::fs::write(&path, "[router.loss]\nkind = \"gilbert\"\nmean_loss = 0.1\nmean_burst = 2.0\n")
            .unwrap();
        let router = lab.daemon_in_a(&[], &[&ROUTER[..], &["--config", path.to_str().unwrap()]].concat());
        std::fs::remove_file(&path).unwrap();
        let said = warnings(&router);
        assert!(
            said.len() == 1 && said[0].starts_with("device va: a train of segments is lost as one"),
            "{said:?}"
        );
        lab.a.command("ethtool -K va tso off gso off");
        assert_eq!(warnings(&router), Vec::<String>::new());
        Ok(())
    });
}
