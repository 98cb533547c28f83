//! The parsers of `airpathd`: its configuration, requests and responses on its socket, and statuses.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::thread;

use airpath_linux::config_file::ConfigFile;
use airpath_linux::daemon::{Asked, Door, ask, metrics};
use airpath_linux::router::RouterConfig;
use serde_json::{Value, json};

use crate::target::Target;

const CONFIGURATIONS: [&str; 3] = [
    include_str!("../../linux/dist/host.toml"),
    include_str!("../../linux/dist/router.toml"),
    "[router]\ndevice = \"eth1\"\nprotocol = \"xcp\"\ncapacity = \"qfcp\"\nrate = \"10Mbit\"\nloss_device = \"eth0\"\n\
     loss_hook = \"ingress\"\nloss_seed = 1\n[router.loss]\nkind = \"fading\"\nsnr = 12.0\nbad_snr_drop = 10.0\n\
     antennas = \"2x2\"\ncode_rate = \"223/255\"\n[host]\ndevices = [\"/run/netns/a:eth0\"]\ncontroller = \"airpath_vcp\"\n",
];

const ANSWERS: [&str; 3] = [
    "{\"error\": \"it answers root and its own user only\"}\n",
    "{\"name\": \"router/eth1\",\n \"pid\": 7,\n \"counters\": {\"packets\": 3, \"drops\": 1e9},\n \
     \"observed\": {\"load_factor\": 0.5},\n \"warnings\": [\"x\"]}\n",
    "{\"event\": \"detached\", \"name\": \"host\"}\n",
];

pub(crate) fn targets() -> Vec<Target> {
    let texts = |all: &[&str]| all.iter().map(|text| text.as_bytes().to_vec()).collect();
    vec![
        Target { name: "daemon-files", seeds: texts(&CONFIGURATIONS), parse: Box::new(configures) },
        Target { name: "statuses", seeds: texts(&ANSWERS), parse: Box::new(measures) },
        Target { name: "questions", seeds: texts(&["status\n", "detach\n"]), parse: Box::new(questioned()) },
        Target { name: "answers", seeds: texts(&ANSWERS), parse: Box::new(answered()) },
    ]
}

fn configures(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    match ConfigFile::parse(text, Path::new("fuzzed.toml")) {
        Ok(ConfigFile { router, .. }) => RouterConfig::try_from(router)
            .map_err(|error| assert!(error.to_string().contains("router"), "{error}"))
            .is_ok(),
        Err(error) => {
            let said = error.to_string();
            let place = said.contains("line ") || said.contains("recursion limit"); // the latter has no position
            assert!(said.contains("fuzzed.toml: ") && place, "{said}");
            false
        }
    }
}

fn measures(bytes: &[u8]) -> bool {
    let Ok(status) = serde_json::from_slice::<Value>(bytes) else { return false };
    let text = metrics(&[status.clone(), status]);
    !text.is_empty()
}

fn address(name: &str) -> SocketAddr {
    SocketAddr::from_abstract_name(format!("airpathd/{name}")).unwrap()
}

/// A daemon that receives arbitrary requests and answers those that it understands.
fn questioned() -> impl FnMut(&[u8]) -> bool {
    let name = format!("fuzzed-{}", std::process::id());
    let door = Door::open(&name).unwrap();
    let status = json!({ "name": name });
    move |bytes| {
        let mut stream = UnixStream::connect_addr(&address(door.name())).unwrap();
        let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
        let goodbye = door.answer(|| status.clone());
        let detaches = goodbye.is_some();
        drop(goodbye);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        detaches || !answer.is_empty()
    }
}

/// A client whose request gets an arbitrary response.
fn answered() -> impl FnMut(&[u8]) -> bool {
    let name = format!("answers-{}", std::process::id());
    let listener = UnixListener::bind_addr(&address(&name)).unwrap();
    move |bytes| {
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                // A request that was not read would be repeated.
                let _ = stream.read(&mut [0; 64]);
                let _ = stream.write_all(bytes);
            });
            match ask(&name, Asked::Status) {
                Ok(_) => true,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    false
                }
            }
        })
    }
}
