//! The headers and their translation have the same structs and numbers.

use std::collections::BTreeMap;

const HEADER: &str = concat!(
    include_str!("../../../../python/airpath/include/airpath_controller.h"),
    include_str!("../../../../python/airpath/include/airpath_components.h")
);
const RUST: &str = concat!(include_str!("../../src/abi.rs"), include_str!("../../src/abi/components.rs"));

/// Types of C and of Rust that have the same layout. Pointers to functions are compared by name only.
const TYPES: [(&str, &str); 12] = [
    ("uint32_t", "u32"),
    ("uint64_t", "u64"),
    ("int64_t", "i64"),
    ("double", "f64"),
    ("const char *", "*const c_char"),
    ("void *", "*mut c_void"),
    ("struct airpath_value", "Value"),
    ("struct airpath_rtt", "Rtt"),
    ("const struct airpath_value *", "*const Value"),
    ("const struct airpath_host *", "*const Host"),
    ("const struct airpath_parameter *", "*const Parameter"),
    ("function", "function"),
];

type Structs = BTreeMap<String, Vec<(String, String)>>;

#[test]
fn structs_have_the_same_fields_in_the_same_order() {
    let (c, rust) = (structs_of_c(), structs_of_rust());
    assert!(c.len() == 21 && c.values().map(Vec::len).sum::<usize>() > 190, "{c:?}");
    assert_eq!(c, rust);
}

#[test]
fn numbers_are_the_same() {
    let (c, rust) = (numbers_of_c(), numbers_of_rust());
    assert!(c.len() > 58, "{c:?}");
    for (name, value) in &rust {
        assert_eq!(c.get(name), Some(value), "{name}");
    }
    let phases = c.keys().filter(|name| name.starts_with("PHASE_")).count();
    assert_eq!(phases, airpath_plugin::abi::PHASES.len());
    assert_eq!(c.len(), rust.len() + phases, "{c:?} {rust:?}");
}

#[test]
fn phases_have_the_numbers_of_the_header() {
    let numbers = numbers_of_c();
    for (number, phase) in (0..).zip(airpath_plugin::abi::PHASES) {
        let words = format!("{phase:?}").chars().fold(String::new(), |mut name, letter| {
            if letter.is_uppercase() {
                name.push('_');
            }
            name.push(letter.to_ascii_uppercase());
            name
        });
        assert_eq!(numbers.get(&format!("PHASE{words}")), Some(&number), "{phase:?}");
    }
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once("*/").unwrap().1)
}

fn structs_of_c() -> Structs {
    let header = without_comments(HEADER);
    let bodies = header.split("\nstruct airpath_").skip(1).filter_map(|rest| rest.split_once(" {\n"));
    let read = |(name, rest): (&str, &str)| {
        let fields = rest.split("\n};").next().unwrap().split(';').map(str::trim);
        (name.to_owned(), fields.filter(|field| !field.is_empty()).map(field_of_c).collect())
    };
    bodies.map(read).collect()
}

fn field_of_c(field: &str) -> (String, String) {
    if let Some((_, rest)) = field.split_once("(*") {
        return (rest.split(')').next().unwrap().to_owned(), "function".to_owned());
    }
    let name = field.rsplit([' ', '*']).next().unwrap();
    let kind = field.strip_suffix(name).unwrap().trim();
    let (_, rust) = TYPES.iter().find(|(c, _)| *c == kind).unwrap_or_else(|| panic!("{field:?}"));
    (name.to_owned(), (*rust).to_owned())
}

fn structs_of_rust() -> Structs {
    let bodies = RUST.split("pub struct ").skip(1).map(|rest| rest.split_once(" {\n").unwrap());
    let read = |(name, rest): (&str, &str)| {
        let fields = rest.split("\n}").next().unwrap().split("    pub ").map(str::trim);
        let fields = fields.filter(|field| !field.is_empty()).map(|field| {
            let (name, kind) = field.trim_end_matches(',').split_once(':').unwrap();
            let kind = kind.trim();
            let is_function = kind.starts_with("Option<") || kind.starts_with("On");
            (name.to_owned(), if is_function { "function" } else { kind }.to_owned())
        });
        (name.to_lowercase(), fields.collect())
    };
    bodies.map(read).collect()
}

/// Returns a number as both languages write it: decimal, hexadecimal, or a bit.
fn number(text: &str) -> i64 {
    let text = text.trim().trim_end_matches(',').trim_end_matches('u');
    if let Some((one, shift)) = text.split_once(" << ") {
        return number(one) << shift.trim().parse::<u32>().unwrap();
    }
    match text.trim_end_matches('u').strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).unwrap(),
        None => text.trim_end_matches('u').parse().unwrap_or_else(|_| panic!("{text:?}")),
    }
}

/// The constants of enums, and the numbers of quantities.
fn numbers_of_c() -> BTreeMap<String, i64> {
    let header = without_comments(HEADER);
    let lines = header.lines().map(str::trim);
    let of_enums = lines.clone().filter_map(|line| line.strip_prefix("AIRPATH_")?.split_once(" = "));
    let of_macros = lines.filter_map(|line| line.strip_prefix("#define AIRPATH_")?.split_once(' '));
    let of_macros = of_macros.filter(|(name, _)| name.starts_with("BANDWIDTH"));
    of_enums.chain(of_macros).map(|(name, value)| (name.to_owned(), number(value))).collect()
}

fn numbers_of_rust() -> BTreeMap<String, i64> {
    let (_, modules) = RUST.split_once("pub mod kind").unwrap();
    let (modules, _) = modules.split_once("pub const PHASES").unwrap();
    let lines = modules.lines().filter_map(|line| line.trim().strip_prefix("pub const "));
    let read = |line: &str| {
        let (name, value) = line.trim_end_matches(';').split_once(": u32 = ").unwrap();
        let value = match value {
            "u32::MAX" => i64::from(u32::MAX),
            "u32::MAX - 1" => i64::from(u32::MAX) - 1,
            value => number(value),
        };
        (name.to_owned(), value)
    };
    lines.map(read).collect()
}
