//! Makes a module from tquic's HyStart++ as released. The whole crate would require building a TLS library.

use cargo_metadata::MetadataCommand;
use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let metadata = MetadataCommand::new().exec().expect("cargo knows where the sources lie");
    let tquic =
        metadata.packages.iter().find(|package| package.name == "tquic").expect("tquic is a dependency");
    let folder = tquic.manifest_path.parent().expect("a manifest lies in a folder");
    let source = folder.join("src/congestion_control/hystart_plus_plus.rs");
    assert!(source.exists(), "{source} is not where tquic 1.6.0 has it");
    let out = env::var_os("OUT_DIR").expect("cargo names it");
    let module = format!("#[path = {:?}]\nmod hystart_plus_plus;\n", source.as_str());
    fs::write(Path::new(&out).join("tquic.rs"), module).expect("the folder can be written");
}
