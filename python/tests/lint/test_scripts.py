"""Which parts of a script are understood, and what is reported of the rest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath.errors import LintError
from airpath_lint import lint_text
from airpath_lint.describe import as_machine_reads
from airpath_lint.rules_table import RULES


def netems(text):
    """Return the delay (ms) of the netem at the root of each device."""
    trees = lint_text(text).trees
    return {str(tree.device): tree.root.options.delay_ns / 1e6 for tree in trees if tree.root is not None}


def unread(text):
    return [
        (one.place.line, one.what) for one in lint_text(text).findings if one.rule.name == "not-understood"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "tc qdisc add dev eth0 root netem delay 10ms",
        "qdisc add dev eth0 root netem delay 10ms",
        "tc q add dev eth0 root netem lat 10ms",
        "sudo -E /sbin/tc qdisc replace dev eth0 root netem delay 10ms 2>/dev/null",
        "if ! tc qdisc change dev eth0 root netem; then tc qdisc add dev eth0 root netem delay 10ms; fi",
        "tc qdisc change dev eth0 root netem delay 9ms || tc qdisc add dev eth0 root netem delay 10ms",
        "D=10\nexport DEV=eth0\ntc qdisc add dev $DEV root netem delay ${D}ms",
        "OPTIONS='delay 10ms limit 99'; tc qdisc add dev eth0 root netem $OPTIONS",
        'TC="sudo tc"\n$TC qdisc add dev eth0 root netem \\\n  delay 10ms # a comment',
        "for d in eth0; do tc qdisc add dev $d root netem delay 10ms; done",
        "slow() {\n tc qdisc add dev $1 root netem delay $2\n}\nslow eth0 10ms",
        "function slow { tc qdisc add dev $1 root netem delay 10ms; }; slow eth0",
        'run() { echo "+ $@"; "$@"; }\nrun tc qdisc add dev eth0 root netem delay 10ms',
        "slow() { d=$1; shift; tc qdisc add dev $1 root netem delay $d; }\nslow 10ms eth0",
        'if [ "$(id -u)" != 0 ]; then SUDO=sudo; fi\n$SUDO tc qdisc add dev eth0 root netem delay 10ms',
        "bash -c 'tc qdisc add dev eth0 root netem delay 10ms'",
        "tc -b - <<END\nqdisc add dev eth0 root netem delay 10ms\nEND",
        "tc -batch - <<-'END'\n\tqdisc add dev eth0 root netem delay 10ms\n\tEND",
        "case $1 in\n1) tc qdisc add dev eth0 root netem delay 10ms;;\n2) tc qdisc del dev eth0 root;;\nesac",
        "(cd /tmp && tc qdisc add dev eth0 root netem delay 10ms)",
        "true && { tc qdisc add dev eth0 root netem delay 10ms; }",
        "$ tc qdisc add dev eth0 root netem delay 10ms",
        "while true; do tc qdisc replace dev eth0 root netem delay 10ms; sleep 1; done",
        "tc qdisc add dev eth0 root netem delay 10ms\r\n",
        "tc 2>/dev/null qdisc add dev eth0 root netem delay 10ms",
        "cat <<END | tc -batch -\n\nqdisc add dev eth0 root netem delay 10ms\nEND",
        "O=delay; O+=' 10ms'; tc qdisc add dev eth0 root netem $O",
        'D=10ms\nsudo sh -c "tc qdisc add dev eth0 root netem delay $D\n  true\n"',
        "! tc qdisc change dev eth0 root netem && tc qdisc add dev eth0 root netem delay 10ms",
        # tree-sitter-bash joins these lines (issues 228 and 347).
        "A=1 D=10ms\n\nif x; then\ntc qdisc add dev eth0 root netem delay $D\nfi",
        "ip link | grep eth | head -1 # a comment\ntc qdisc add dev eth0 root netem delay 10ms || exit 1",
    ],
)
def test_the_same_configuration_in_many_forms(text):
    assert netems(text) == {"eth0": 10}
    assert unread(text) == []


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("ip netns exec ns1 tc qdisc add dev eth0 root netem delay 10ms", "ns1/eth0"),
        ("tc -n ns1 qdisc add dev eth0 root netem delay 10ms", "ns1/eth0"),
        ("sudo nsenter --net=/run/netns/ns1 tc qdisc add dev eth0 root netem delay 10ms", "ns1/eth0"),
        (
            'nsexec() { ip netns exec "$@"; }\nnsexec ns1 tc qdisc add dev eth0 root netem delay 10ms',
            "ns1/eth0",
        ),
        ("docker exec -u root box tc qdisc add dev eth0 root netem delay 10ms", "box/eth0"),
        ("ssh -p 22 box 'tc qdisc add dev eth0 root netem delay 10ms'", "box/eth0"),
        ("ip netns exec ns1 sh -c 'tc qdisc add dev eth0 root netem delay 10ms'", "ns1/eth0"),
        # The name of the device does not matter.
        ('tc qdisc add dev "$1" root netem delay 10ms', "$1"),
    ],
)
def test_where_a_command_runs(text, device):
    assert netems(text) == {device: 10}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("\ntc qdisc add dev eth0 root netem delay $1", 2, "$1"),
        ("tc qdisc add dev eth0 root netem delay $(cat delay)", 1, "$(cat delay)"),
        ("D=${1:-10ms}\ntc qdisc add dev eth0 root netem delay $D", 2, "$1"),
        (
            "D=3\nif x; then D=1; else D=2; fi\ntc qdisc add dev eth0 root netem delay ${D}ms",
            3,
            "line 2",
        ),
        ("tc qdisc add dev eth0 root netem loss $L", 1, "$L"),
        ("tc qdisc add dev eth0 root $KIND", 1, "kind"),
        ("tc -batch rules.txt", 1, "batch"),
        ("$TC qdisc add dev eth0 root netem delay 10ms", 1, "$TC"),
        ("os.system('tc qdisc add dev eth0 root netem delay 10ms')", 1, "not a command of this script"),
        ("f() { tc qdisc add dev eth0 root netem delay 10ms; }", 1, "not called"),
        ("tc qdisc add dev eth0 root netem rate 10%", 1, "speed"),
        ("tc qdisc add dev eth0 root netem delay 10ms frobnicate", 1, "frobnicate"),
        (
            "if a; then tc qdisc add dev eth0 root netem; else\ntc qdisc add dev eth1 root netem; fi",
            2,
            "another",
        ),
        (
            "for a in 1 2 3 4 5 6 7 8 9 0; do\n" * 5 + "tc qdisc replace dev e root netem\n" + "done\n" * 5,
            6,
            "more",
        ),
    ],
)
def test_unknown_parts_are_reported_by_line_and_not_guessed(text, line, says):
    remarks = unread(text)
    assert any(where == line and says in what for where, what in remarks), remarks


def test_an_unread_command_is_no_clean_configuration():
    linted = lint_text("tc qdisc add dev eth0 root netem delay $1")
    assert not linted.clean
    assert [tree for tree in linted.trees if tree.disciplines] == []


def test_text_in_quotes_comments_and_here_documents_is_no_command():
    text = """
# tc qdisc add dev eth0 root netem delay 1ms
echo "tc; qdisc add dev eth0 root netem delay 2ms"
cat <<'END'
not tc
END
X='a; b'
tc qdisc add dev eth1 root netem delay 10ms
"""
    assert netems(text) == {"eth1": 10}


def test_functions_that_call_themselves_end():
    assert unread("f() { f; tc qdisc add dev eth0 root netem; }\nf")
    assert lint_text("f() { g; }\ng() { f; }\nf\ntc qdisc add dev eth0 root netem delay 1ms").trees


def test_too_deeply_nested_blocks_are_reported():
    assert "deep" in unread("{ " * 500 + "tc qdisc add dev eth0 root netem")[0][1]


def test_endlessly_growing_words_are_unknown():
    text = "X=aaaaaaaaaaaaaaaa\n" + "X=$X$X\n" * 40 + "tc qdisc add dev eth0 root netem delay $X"
    assert unread(text)


WORDS = r"""
tc qdisc class filter add change replace del dev eth0 ifb0 lo root parent handle 1: 1:1 1:10 ffff: netem
tbf htb hfsc fq_codel red ingress rate 10mbit 1kbps 5 burst 5kb limit 100 latency delay 10ms loss 1% 25%
gemodel state duplicate reorder police mirred redirect flowid $X ${X:-1} $(x) $1 " ' ` ( ) { } [[ ]] ; ;;
&& || | & < << END \ # ! if then elif else fi for x in do done while case esac function f() X=1 shift
sudo ip netns exec ns1 bash -c -b - -n ethtool -K tso off iperf3 0 99999999999 nan
"""
TOKENS = st.sampled_from([*WORDS.split(), "\x00", "\u0663"])


@given(st.lists(st.tuples(TOKENS, st.sampled_from([" ", " ", " ", "\n"])), max_size=60))
def test_any_words_are_read_or_rejected(words):
    text = "".join(word + blank for word, blank in words)
    try:
        linted = lint_text(text)
    except LintError:
        # The text looks like JSON.
        return
    assert all(one.rule.name in RULES and one.place.line for one in linted.findings)
    assert json.dumps(as_machine_reads(linted), allow_nan=False)
