//! Tables that are wrong, without a library.

use core::ffi::{c_int, c_void};
use core::ptr;

use airpath_plugin::abi::{
    Ack, Capacity, Congestion, Connection, Control, Controller, Link, Parameter, Source, Value, Waiting,
    code, kind,
};

use super::*;

unsafe extern "C" fn create(_: *const Connection, _: *mut Control) -> *mut c_void {
    ptr::null_mut()
}
unsafe extern "C" fn destroy(_: *mut c_void) {}
unsafe extern "C" fn on_ack(_: *mut c_void, _: *const Ack, _: *mut Control) -> c_int {
    0
}
unsafe extern "C" fn on_congestion(_: *mut c_void, _: *const Congestion, _: *mut Control) -> c_int {
    0
}
unsafe extern "C" fn create_source(_: *const Link, _: *mut Capacity) -> *mut c_void {
    ptr::null_mut()
}
unsafe extern "C" fn on_departure(_: *mut c_void, _: *const Waiting, _: *mut Capacity) -> c_int {
    0
}

const TABLE: Controller = Controller {
    size: size_of::<Controller>() as u32,
    abi: abi::ABI,
    title: c"Test".as_ptr(),
    description: c"For tests.".as_ptr(),
    parameters: ptr::null(),
    parameter_count: 0,
    reserved: 0,
    quantities: ptr::null(),
    create: Some(create),
    destroy: Some(destroy),
    on_ack: Some(on_ack),
    on_congestion: Some(on_congestion),
    on_sent: None,
    on_spurious: None,
    on_timer: None,
};

const PARAMETER: Parameter = Parameter {
    size: size_of::<Parameter>() as u32,
    kind: kind::NUMBER,
    name: c"gain".as_ptr(),
    help: c"Gain.".as_ptr(),
    initial: Value { number: 0.5, integer: 0 },
    least: 0.0,
    most: 0.0,
    choices: ptr::null(),
    flags: 0,
    reserved: 0,
};

fn opened(table: &Controller) -> Result<Component<Controller>, String> {
    // SAFETY: all pointers of the tables here are null or to constants.
    unsafe { Component::of_table(table) }.map_err(|error| error.to_string())
}

/// Opens a table with these parameters.
fn with(parameters: &[Parameter]) -> Result<Component<Controller>, String> {
    let (first, count) = (parameters.as_ptr(), parameters.len() as u32);
    opened(&Controller { parameters: first, parameter_count: count, ..TABLE })
}

#[test]
fn a_complete_table_is_accepted() {
    let library = opened(&TABLE).unwrap();
    assert_eq!((library.schema["title"].as_str(), library.quantities.len()), (Some("Test"), 0));
    let named = Controller { quantities: c"w_max  base_rtt_s".as_ptr(), ..TABLE };
    assert_eq!(opened(&named).unwrap().quantities, ["w_max", "base_rtt_s"]);
}

#[test]
fn invalid_tables_are_rejected() {
    // SAFETY: it is null.
    let null = unsafe { Component::<Controller>::of_table(ptr::null()) }.unwrap_err().to_string();
    assert_eq!(null, "airpath_controller returned no table for version 1 of the interface");
    let problem = |table| opened(&table).unwrap_err();
    assert_eq!(
        problem(Controller { abi: 2 << 16, ..TABLE }),
        "it was built for version 2 of the interface; this airpath has version 1"
    );
    assert_eq!(problem(Controller { size: 8, ..TABLE }), "the table has 8 bytes; accepted: at least 104");
    let missing = problem(Controller { on_ack: None, ..TABLE });
    assert_eq!(missing, "the function on_ack is missing in the table");
    assert_eq!(problem(Controller { title: ptr::null(), ..TABLE }), "it has no title");
    let quantity = problem(Controller { quantities: c"w-max".as_ptr(), ..TABLE });
    assert_eq!(quantity, "found the quantity \"w-max\"; accepted: letters, digits and _");
    let count = problem(Controller { parameter_count: 1, ..TABLE });
    assert_eq!(count, "it declares 1 parameters; accepted: a list of up to 1000");
}

const SOURCE: Source = Source {
    size: size_of::<Source>() as u32,
    abi: abi::ABI,
    title: c"Test".as_ptr(),
    description: c"For tests.".as_ptr(),
    parameters: ptr::null(),
    parameter_count: 0,
    reserved: 0,
    quantities: ptr::null(),
    create: Some(create_source),
    destroy: Some(destroy),
    on_arrival: None,
    on_departure: Some(on_departure),
    on_timer: None,
    spare: None,
    observe: None,
};

#[test]
fn a_source_requires_one_of_its_functions() {
    let opened = |table: &Source| {
        // SAFETY: as above.
        unsafe { Component::of_table(table) }.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(opened(&SOURCE), Ok(()));
    assert_eq!(
        opened(&Source { on_departure: None, ..SOURCE }).unwrap_err(),
        "the table has none of the functions on_arrival, on_departure, on_timer, spare"
    );
}

/// A parameter of a later minor version. The next one begins after `size` bytes.
#[repr(C)]
struct Longer(Parameter, u64);

#[test]
fn a_later_minor_version_is_accepted() {
    assert!(opened(&Controller { abi: abi::ABI + 7, ..TABLE }).is_ok());
    let size = size_of::<Longer>() as u32;
    let first = Longer(Parameter { size, ..PARAMETER }, 1);
    let second = Longer(Parameter { size, name: c"other".as_ptr(), ..PARAMETER }, 2);
    let both = [first, second];
    let library =
        opened(&Controller { parameters: both.as_ptr().cast(), parameter_count: 2, ..TABLE }).unwrap();
    assert_eq!(library.schema["x-order"], serde_json::json!(["gain", "other"]));
}

#[test]
fn ranges_become_bounds() {
    let bounds = |parameter| with(&[parameter]).unwrap().schema["properties"]["gain"].clone();
    assert!(bounds(PARAMETER).get("minimum").is_none(), "no range");
    let both = bounds(Parameter { least: 0.25, most: 1.0, ..PARAMETER });
    assert_eq!((both["minimum"].as_f64(), both["maximum"].as_i64()), (Some(0.25), Some(1)));
    let above = bounds(Parameter { flags: code::ABOVE_LEAST, ..PARAMETER });
    assert_eq!((above["exclusiveMinimum"].as_i64(), above.get("maximum")), (Some(0), None));
    let most = f64::INFINITY;
    let one = bounds(Parameter { most, flags: code::BELOW_MOST, ..PARAMETER });
    assert_eq!((one["minimum"].as_i64(), one.get("exclusiveMaximum")), (Some(0), None));
}

#[test]
fn invalid_declared_parameters_are_rejected() {
    let problem = |parameter: Parameter| with(&[parameter]).unwrap_err();
    let whole = |kind, integer| Parameter { kind, initial: Value { number: 0.0, integer }, ..PARAMETER };
    for (parameter, text) in [
        (Parameter { size: 8, ..PARAMETER }, "a parameter has 8 bytes; accepted: at least 72"),
        (Parameter { kind: 9, ..PARAMETER }, "parameter gain: its kind is 9; accepted: 0 to 6"),
        (
            Parameter { name: c"a b".as_ptr(), ..PARAMETER },
            "parameter a b: accepted as its name: letters, digits and _",
        ),
        (Parameter { name: c"kind".as_ptr(), ..PARAMETER }, "parameter kind: accepted as its name"),
        (
            Parameter { least: 1.0, most: 2.0, ..PARAMETER },
            "parameter gain: default: found 0.5, outside its range",
        ),
        (Parameter { least: 2.0, most: 1.0, ..PARAMETER }, "parameter gain: its range is 2 to 1"),
        (Parameter { least: f64::NAN, ..PARAMETER }, "parameter gain: its range is NaN to 0"),
        (whole(kind::CHOICE, 0), "parameter gain: default: found null"),
        (whole(kind::TIME, -1), "parameter gain: default: found -1"),
        (
            Parameter { least: 1.0, most: 2.0, ..whole(kind::TIME, 1) },
            "parameter gain: the range of a time, rate or size can only be more than 0",
        ),
        (
            Parameter { initial: Value { number: f64::NAN, integer: 0 }, ..PARAMETER },
            "parameter gain: default: found null",
        ),
    ] {
        let found = problem(parameter);
        assert!(found.starts_with(text), "{found}");
    }
    assert_eq!(with(&[PARAMETER, PARAMETER]).unwrap_err(), "parameter gain: it is declared twice");
}
