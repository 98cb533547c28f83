"""Files of modules: reading, compiling, refusing."""

import textwrap
from pathlib import Path

import pytest

from airpath.plugins.compiled.build import build
from airpath.plugins.specs import Spec

MODULE = """
    #include <linux/module.h>
    #include <net/tcp.h>
    {before}
    static u32 own_ssthresh(struct sock *sk) {{ return {threshold}; }}
    static struct tcp_congestion_ops own = {{
        .ssthresh = own_ssthresh, .cong_avoid = tcp_reno_cong_avoid, .undo_cwnd = tcp_reno_undo_cwnd, {more}
    }};
    static int __init own_register(void) {{ return tcp_register_congestion_control(&own); }}
    module_init(own_register);
"""


@pytest.fixture
def write(folder):
    """Return a function that writes a file of the user; the working directory is its folder."""

    def write(name, text=MODULE, *, before="", threshold="2", more=""):
        (folder / name).write_text(
            textwrap.dedent(text).format(before=before, threshold=threshold, more=more), encoding="utf-8"
        )

    return write


def forms(files):
    """Return the form of the kernel that a module was compiled for."""
    defined = [flag[2:].partition("=") for flag in build(files).flags if flag.startswith("-D")]
    return {name: int(value) for name, _, value in defined}


def test_names_of_modules_are_split():
    spec = Spec.parse("linux:a/tcp_vegas.c+b/tcp_yeah.c:hz=1000,uptime=5s")
    assert spec.files == (Path("a/tcp_vegas.c"), Path("b/tcp_yeah.c"))
    assert spec.options == "hz=1000,uptime=5s"
    assert spec.without_options == "linux:a/tcp_vegas.c+b/tcp_yeah.c"
    assert Spec.parse("linux:tcp_cubic.c").options == ""
    assert Spec.parse("linux:tcp_cubic") is None


def test_parameters_are_listed_with_their_texts(module, airpath):
    outcome = airpath("list", module("sample"))
    assert outcome.code == 0
    (line,) = [line for line in outcome.out.splitlines() if line.strip().startswith("keep")]
    assert "quarters of the window that remain after a loss" in line
    assert line.split()[1] == "3"
    assert any(line.split()[:2] == ["hz", "250"] for line in outcome.out.splitlines())


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("kept=3", 'did you mean "keep"'),
        ("keep=many", "keep"),
        ("keep=5000000000", "keep"),
        ("hz=99", "hz"),
        ("uptime=0s", "uptime"),
    ],
)
def test_wrong_options_are_rejected(module, airpath, option, problem):
    outcome = airpath("compare", module("sample", option), "--link", "12mbps", "--out", "o")
    assert outcome.code != 0
    assert problem in outcome.err


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ({"threshold": "tcp_sk(sk)->no_field"}, "no_field"),
        ({"threshold": "no_function(sk)"}, "no_function"),
        (
            {"before": "u32 elsewhere(void);", "threshold": "elsewhere()"},
            "it uses elsewhere; name the file",
        ),
        ({"more": ".cong_avoid = own_ssthresh"}, "incompatible"),
        ({"before": '_Static_assert(sizeof(long) == 1, "odd");'}, "odd"),
        ({"before": "#if HZ > 100\n#endif"}, "tcp_own.c"),
    ],
    ids=["field", "function", "definition", "type", "assertion", "HZ"],
)
def test_compile_errors_are_named(write, airpath, code, problem):
    write("tcp_own.c", **code)
    outcome = airpath("list", "linux:tcp_own.c")
    assert outcome.code != 0
    assert "tcp_own.c does not compile" in outcome.err
    assert problem in outcome.err
    assert len(outcome.err.splitlines()) <= 6


def test_a_module_that_registers_nothing_does_not_start(write, airpath):
    write("tcp_own.c", "static int __init none(void) {{ return 0; }}\nmodule_init(none);\n")
    outcome = airpath("compare", "linux:tcp_own.c", "--link", "12mbps", "--duration", "1s", "--out", "o")
    assert outcome.code == 1
    assert "the module registers no congestion control" in outcome.err


def test_the_version_of_the_interface_is_found(write):
    newest = {"ICSK_CA_PRIV_SIZE": 104, "AIRPATH_CONG_CONTROL": 4, "AIRPATH_PKTS_ACKED": 2}
    write("tcp_own.c")
    assert forms([Path("tcp_own.c")]) == newest
    write(
        "tcp_old.c",
        before="static void acked(struct sock *sk, u32 packets, s32 rtt_us) {{}}".format(),
        more=".pkts_acked = acked",
    )
    assert forms([Path("tcp_old.c")]) == {**newest, "AIRPATH_PKTS_ACKED": 3}
    write(
        "tcp_control.c",
        before="static void control(struct sock *sk, const struct rate_sample *rs) {{}}".format(),
        more=".cong_control = control",
    )
    assert forms([Path("tcp_control.c")]) == {**newest, "AIRPATH_CONG_CONTROL": 2}
    write("tcp_large.c", before='_Static_assert(ICSK_CA_PRIV_SIZE >= 120, "too small");')
    assert forms([Path("tcp_large.c")]) == {**newest, "ICSK_CA_PRIV_SIZE": 144}


def test_a_changed_header_is_another_module(write, folder):
    (folder / "own.h").write_text("#define THRESHOLD 2\n", encoding="utf-8")
    write("tcp_own.c", before='#include "own.h"', threshold="THRESHOLD")
    first = build([Path("tcp_own.c")])
    assert {path.name for path in first.sources} == {"tcp_own.c", "own.h"}
    (folder / "own.h").write_text("#define THRESHOLD 4\n", encoding="utf-8")
    second = build([Path("tcp_own.c")])
    assert first.library != second.library
    assert first.library.is_file()


def test_the_library_does_not_depend_on_the_folder(write, folder):
    write("tcp_own.c", threshold="2 / (int)tcp_sk(sk)->mss_cache")
    (folder / "other").mkdir()
    (folder / "other" / "tcp_own.c").write_bytes((folder / "tcp_own.c").read_bytes())
    first, second = build([Path("tcp_own.c")]), build([Path("other/tcp_own.c")])
    assert first.library == second.library


def test_a_helper_has_precedence(write, airpath):
    write("tcp_own.c", before="u32 elsewhere(void);", threshold="elsewhere()")
    write("helper.c", "u32 elsewhere(void) {{ return 3; }}\n")
    scheme = "linux:helper.c+tcp_own.c"
    outcome = airpath("compare", scheme, "--link", "12mbps", "--duration", "2s", "--out", "o")
    assert outcome.code == 0, outcome.err


def test_the_distance_of_unsigned_values_has_no_sign(write, airpath):
    distances = "abs((u32)2 - (u32)5) == 3 && abs((u64)2 - (u64)5) == 3 && abs(-3) == 3 && abs((u32)3) == 3"
    write("tcp_own.c", threshold=f"({{ if (!({distances})) BUG(); 2; }})")
    outcome = airpath("compare", "linux:tcp_own.c", "--link", "12mbps", "--duration", "3s", "--out", "o")
    assert outcome.code == 0, outcome.err


def test_without_a_compiler_the_message_has_instructions(write, airpath, monkeypatch):
    write("tcp_own.c")
    monkeypatch.setenv("CC", "no-such-compiler -O3")
    outcome = airpath("list", "linux:tcp_own.c")
    assert outcome.code != 0
    assert "no-such-compiler" in outcome.err
    assert "set CC" in outcome.err


def test_scenario_files_name_modules_with_permission_only(module, airpath, folder):
    (folder / "own.toml").write_text(
        f"""
name = "own"
duration = "2s"

[topology]
kind = "dumbbell"
bottleneck = {{ rate = "20mbps", delay = "20ms" }}

[[flows]]
name = "own"
scheme = "{module("order")}"
""",
        encoding="utf-8",
    )
    outcome = airpath("run", "own.toml", "--out", "o")
    assert outcome.code != 0
    assert "--allow-code" in outcome.err
    assert airpath("run", "own.toml", "--allow-code", "--out", "o").code == 0


@pytest.mark.parametrize("scheme", ["linux:tcp_cubic", "linux:", "linux:tcp_cubic.h"])
def test_other_names_are_rejected(airpath, scheme):
    outcome = airpath("compare", scheme, "--link", "12mbps", "--out", "o")
    assert outcome.code != 0
    assert "linux:FILE.c" in outcome.err
