//! The limits of an input. In a process of its own, because memory is that of the whole process.

#![cfg(target_os = "linux")]

use airpath_fuzz::Target;

#[test]
#[should_panic(expected = "MiB of memory")]
fn an_input_that_uses_much_memory_fails() {
    let parse = |_: &[u8]| vec![1_u8; 600 << 20].iter().all(|byte| *byte == 1);
    Target { name: "large", seeds: vec![], parse: Box::new(parse) }.feed(b"abc");
}
