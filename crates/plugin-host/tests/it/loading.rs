//! What is loaded, and what is refused.

use std::path::Path;
use std::sync::Arc;

use airpath_control::declare::Controllers;
use airpath_plugin_host::Library;
use airpath_sim::{Components, Simulation};
use serde_json::{Value, json};

use crate::examples::example;
use crate::support::{FirstFault, ID, library, shared_link};

/// Returns the schema of the component of a kind.
fn schema_of<'a>(library: &'a Library, kind: &str) -> &'a Value {
    library.schemas().find(|(name, _)| *name == kind).unwrap().1
}

#[test]
fn a_library_has_one_component_of_some_kinds() {
    let kinds = |name: &str| -> Vec<_> {
        let library = Library::open(&example(name)).unwrap();
        library.schemas().map(|(kind, _)| kind).collect()
    };
    assert_eq!(kinds("cubic"), ["controller"]);
    assert_eq!(kinds("codel"), ["queue"]);
    assert_eq!(kinds("router"), ["capacity-source", "queue"]);
    assert_eq!(kinds("faulty_components"), ["ack-rate", "capacity-source", "queue"]);
    let faults: Arc<dyn airpath_plugin_host::FaultSink> = Arc::new(FirstFault::default());
    let library = Library::open(&example("codel")).unwrap();
    assert!(library.entry::<Controllers>(ID, &faults).is_none());
    let target = &schema_of(&library, "queue")["properties"]["target"];
    assert_eq!((&target["x-unit"], &target["default"]), (&json!("ns"), &json!(5_000_000)));
}

#[test]
fn parameters_become_a_schema() {
    let library = Library::open(&example("faulty")).unwrap();
    let schema = schema_of(&library, "controller");
    assert_eq!(schema["title"], "Faulty");
    assert_eq!(schema["description"], "A fixed window, and a fault.");
    assert_eq!(schema["x-order"], json!(["fault", "packets", "after", "most", "least", "quick"]));
    let properties = &schema["properties"];
    assert_eq!(properties["fault"]["oneOf"][1], json!({ "const": "panic" }));
    assert_eq!(properties["fault"]["default"], "none");
    assert_eq!(
        properties["packets"],
        json!({
            "type": "integer", "minimum": 1, "maximum": 1000, "default": 20, "description": "Window, packets."
        })
    );
    assert_eq!(properties["after"]["x-unit"], "ns");
    assert_eq!(properties["after"]["default"], 25_000_000);
    assert_eq!(properties["most"]["exclusiveMinimum"], 0);
    assert_eq!(properties["least"]["x-unit"], "B");
    assert_eq!(
        properties["quick"],
        json!({ "type": "boolean", "default": true, "description": "Not used." })
    );
    let cubic = Library::open(&example("cubic")).unwrap();
    let beta = &schema_of(&cubic, "controller")["properties"]["beta"];
    assert_eq!((&beta["exclusiveMinimum"], &beta["exclusiveMaximum"]), (&json!(0), &json!(1)));
}

#[test]
fn invalid_values_are_rejected_before_the_run() {
    let loaded = Arc::new(Library::open(&example("faulty")).unwrap());
    let sink: Arc<dyn airpath_plugin_host::FaultSink> = Arc::new(FirstFault::default());
    let mut components = Components::builtin();
    components.control.controllers.register(loaded.entry(ID, &sink).unwrap()).unwrap();
    let refused = |options| {
        let plan = shared_link(&library(options), 1);
        Simulation::with_components(&plan, &[], 1, &components).map(|_| ()).unwrap_err().to_string()
    };
    for (options, problem) in [
        (json!({ "pakets": 5 }), "unknown key"),
        (json!({ "packets": 0 }), "found 0, outside its range"),
        (json!({ "packets": 1001 }), "found 1001, outside its range"),
        (json!({ "packets": 2.5 }), "found 2.5, which is of another type"),
        (json!({ "fault": "other" }), "found \"other\""),
        (json!({ "most": 0 }), "found 0, outside its range"),
        (json!({ "after": -1 }), "found -1"),
    ] {
        let text = refused(options);
        assert!(text.contains(problem), "{text}");
    }
}

#[test]
fn files_that_are_no_libraries_are_rejected_in_one_line() {
    let text = |file: &Path| Library::open(file).unwrap_err().to_string();
    assert!(text(Path::new("missing.so")).contains("No such file"), "{}", text(Path::new("missing.so")));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let (problem, path) = (text(&source), source.display().to_string());
    assert!(problem.lines().count() == 1 && !problem.contains(&path), "{problem}");
    #[cfg(target_os = "linux")]
    assert!(problem.contains("invalid ELF header"), "{problem}");
}
