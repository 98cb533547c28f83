"""Reads the types of the engine's plan out of its Rust source, and holds a plan against them.

The source is the contract: a field that is added, renamed or retyped there must show up here as a failure.
Types of other crates that stand in a plan are read there.
"""

import json
import re
from pathlib import Path

from airpath import _core, declarations

CRATES = Path(__file__).parents[3] / "crates"
FOLDER = CRATES / "plan" / "src"
FILES = [FOLDER / "plan.rs", *sorted((FOLDER / "plan").glob("*.rs"))]


def _definition(name, path):
    """The text of one type among others of its file, its attributes as the plan's files write them."""
    text = path.read_text(encoding="utf-8").replace("#[default]", "")
    text = re.sub(r'#\[cfg_attr\(feature = "(?:serde|declare)", (.*)\)\]', r"#[\1]", text)
    return re.search(rf"\n\n((?:///[^\n]*\n|#\[[^\n]*\n)*pub enum {name} \{{.*?\n\}}\n)", text, re.DOTALL)[1]


SOURCE = "\n".join(
    [path.read_text(encoding="utf-8") for path in FILES]
    + [_definition(name, CRATES / "channel" / "src" / "fading.rs") for name in ("Antennas", "Psk")]
)


class RustTypes:
    """Structs (fields by name) and enums (variants by serialised name; `None` for a variant without tag)."""

    def __init__(self, source=None):
        text = re.sub(r"//[^\n]*", "", source or SOURCE)
        self.structs = {}
        self.enums = {}
        for attributes, kind, name, body in re.findall(
            r"((?:#\[[^\n]*\]\s*)*)pub (struct|enum) (\w+) \{(.*?)\n\}", text, re.DOTALL
        ):
            if kind == "struct":
                self.structs[name] = _fields(body, "pub ")
            else:
                self.enums[name] = ("tag =" in attributes, _variants(body, "kebab-case" in attributes))

    def check(self, value, rust_type, path="plan"):
        """Raise AssertionError where `value` is not what serde would accept for `rust_type`, strictly."""
        if inner := re.fullmatch(r"Option<(.*)>", rust_type):
            if value is not None:
                self.check(value, inner[1], path)
        elif inner := re.fullmatch(r"Vec<(.*)>", rust_type):
            assert isinstance(value, list), f"{path}: {value!r} is no list"
            for index, item in enumerate(value):
                self.check(item, inner[1], f"{path}[{index}]")
        elif inner := re.fullmatch(r"Box<(.*)>", rust_type):
            self.check(value, inner[1], path)
        elif inner := re.fullmatch(r"\((.*)\)", rust_type):
            types = inner[1].split(", ")
            assert isinstance(value, list), f"{path}: {value!r} is no list"
            assert len(value) == len(types), f"{path}: {value!r} has not {len(types)} items"
            for index, (item, item_type) in enumerate(zip(value, types, strict=True)):
                self.check(item, item_type, f"{path}[{index}]")
        elif rust_type in DECLARED and value["kind"] in declarations.ids(DECLARED[rust_type]):
            _check_component(DECLARED[rust_type], value, path)
        elif rust_type in PRIMITIVES:
            assert PRIMITIVES[rust_type](value), f"{path}: {value!r} is no {rust_type}"
        elif rust_type in self.structs:
            self._check_fields(value, self.structs[rust_type], path)
        else:
            tagged, variants = self.enums[rust_type]
            if tagged:
                assert value["kind"] in variants, f"{path}: {value['kind']!r} is not in {sorted(variants)}"
                rest = {key: item for key, item in value.items() if key != "kind"}
                self._check_fields(rest, variants[value["kind"]], path)
            else:
                assert value in variants, f"{path}: {value!r} is not in {sorted(variants)}"

    def _check_fields(self, value, fields, path):
        assert set(value) == set(fields), f"{path}: {set(value) ^ set(fields)} differ"
        for name, rust_type in fields.items():
            self.check(value[name], rust_type, f"{path}.{name}")


DECLARED = {
    "ControllerPlan": "controller",
    "ManagementPlan": "queue",
    "ProtocolPlan": "router-protocol",
    "SourcePlan": "capacity-source",
    "AckRateConfig": "ack-rate",
}
"""Types of the plan, some of whose kinds are components that declare themselves."""


def _check_component(kind, value, path):
    """Let the engine read a component; a plan says every value."""
    completed = json.loads(_core.complete_component(kind, json.dumps(value), "{}"))
    given = {key: item for key, item in value.items() if key != "kind"}
    assert given == completed, f"{path}: {given} is not {completed}"


PRIMITIVES = {
    "bool": lambda value: isinstance(value, bool),
    "f64": lambda value: isinstance(value, float),
    "String": lambda value: isinstance(value, str),
    "u8": lambda value: type(value) is int and 0 <= value < 2**8,
    "u16": lambda value: type(value) is int and 0 <= value < 2**16,
    "u32": lambda value: type(value) is int and 0 <= value < 2**32,
    "u64": lambda value: type(value) is int and 0 <= value < 2**64,
    "usize": lambda value: type(value) is int and 0 <= value < 2**32,
}


def _fields(body, prefix=""):
    return dict(re.findall(rf"^\s*{prefix}(\w+): (.+),$", body, re.MULTILINE))


def _variants(body, kebab):
    """Variants by serialised name, each with its fields."""
    variants = {}
    found = re.finditer(
        r'^    (?:#\[serde\(rename = "([^"]+)"\)\]\s*)?(\w+)(?: \{(?:\}|(.*?)^    \}))?,',
        body,
        re.DOTALL | re.MULTILINE,
    )
    for rename, name, inner in (match.groups() for match in found):
        kebab_name = re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
        variants[rename or (kebab_name if kebab else name)] = _fields(inner or "")
    return variants
