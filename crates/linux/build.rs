//! Compiles the BPF programs `bpf/*.bpf.c` with clang and writes a typed loader for each into `OUT_DIR`.

use std::env;
use std::path::{Path, PathBuf};

use libbpf_cargo::SkeletonBuilder;

/// The objects; `bpf/NAME.bpf.c` becomes `NAME.skel.rs`.
const OBJECTS: [&str; 3] = ["host", "replay", "router"];

fn main() {
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-env-changed=CLANG");
    cc::Build::new()
        .file("bpf/control/native.c")
        .warnings(true)
        .extra_warnings(true)
        .flag_if_supported("-Wno-unused-function")
        .compile("airpath_control");
    let out = PathBuf::from(variable("OUT_DIR"));
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    for name in OBJECTS {
        let source = Path::new("bpf").join(format!("{name}.bpf.c"));
        SkeletonBuilder::new()
            .source(&source)
            .clang(&clang)
            .clang_args(arguments())
            .build_and_generate(out.join(format!("{name}.skel.rs")))
            .unwrap_or_else(|error| {
                panic!(
                    "cannot build {} ({error:#}); tools/prerequisites-linux installs what is needed",
                    source.display()
                )
            });
    }
}

/// Returns the arguments of clang other than the target. On Debian, the kernel's user headers that depend on
/// the machine are in a separate folder, which clang does not search for the target `bpf`.
fn arguments() -> Vec<String> {
    let machine = variable("CARGO_CFG_TARGET_ARCH");
    ["-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-mcpu=v3"]
        .map(str::to_owned)
        .into_iter()
        .chain([format!("-I/usr/include/{machine}-linux-gnu")])
        .collect()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
