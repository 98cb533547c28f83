"""The parameters of all disciplines except netem, and of classes, after iproute2 (`tc/q_*.c`)."""

from collections.abc import Callable

from airpath_lint.netem import read_netem
from airpath_lint.options import Hfsc, Htb, HtbClass, Managed, Options, Tbf, Unknown
from airpath_lint.units import RefusedError, rate_bps, share, size_bytes, time_ns, whole
from airpath_lint.words import NotUnderstoodError, Words, each_parameter

QUEUES = (
    "pfifo",
    "bfifo",
    "pfifo_fast",
    "pfifo_head_drop",
    "codel",
    "fq_codel",
    "pie",
    "fq_pie",
    "red",
    "sfq",
)
"""Queues that hold packets back only while the device or class below them is busy."""

AQM = ("codel", "fq_codel", "pie", "fq_pie", "red")
"""Queues that drop or mark packets depending on their length or delay."""

SHAPERS = ("tbf", "htb", "hfsc", "cake")
"""Disciplines that limit a rate."""


def read_options(kind: str, words: Words) -> Options:
    """Read the parameters of a discipline.

    Raises
    ------
    RefusedError
        If `tc` would refuse them.
    NotUnderstoodError
        If this linter does not know them.
    """
    if kind == "netem":
        return read_netem(words)
    if kind == "tbf":
        return _tbf(words)
    if kind == "htb":
        return _htb(words)
    if kind == "hfsc":
        return _hfsc(words)
    if kind in (*QUEUES, "fq", "cake"):
        return _managed(kind, words)
    words.rest()
    return Unknown()


def read_class(kind: str, words: Words) -> HtbClass:
    """Read the parameters of a class of HTB or HFSC; those of other kinds are not understood."""
    found = HtbClass()

    def rate() -> None:
        found.rate_bps = words.value("rate", _rate)

    def ceil() -> None:
        found.ceil_bps = words.value("ceil", _rate)

    def burst() -> None:
        found.burst = words.value("burst", _cell_size)

    def quantum() -> None:
        found.quantum = words.value("quantum", size_bytes)

    def skip() -> None:
        words.take()

    if kind == "htb":
        one_value = ("prio", "mtu", "mpu", "overhead", "linklayer", "leaf", "level", "cburst", "maxburst")
        each_parameter(
            kind,
            words,
            {"rate": rate, "ceil": ceil, "burst": burst, "buffer": burst, "quantum": quantum}
            | dict.fromkeys(one_value, skip),
        )
        if found.rate_bps is None and not words.shown:
            raise RefusedError("htb: rate is required")
        return found
    if kind == "hfsc":
        return _hfsc_class(words)
    words.rest()
    return found


def _hfsc_class(words: Words) -> HtbClass:
    """Read `sc`, `rt`, `ls` and `ul`, of each the long-term rate (`m2` or `rate`)."""
    found = HtbClass()
    curve = ""
    while words:
        word = words.take()
        if word in ("sc", "rt", "ls", "ul"):
            curve = word
        elif word in ("m2", "rate"):
            rate = words.value(word, _rate)
            if curve == "ul":
                found.ceil_bps = rate
            elif curve in ("sc", "ls") or found.rate_bps is None:
                found.rate_bps = rate
    return found


def _tbf(words: Words) -> Tbf:
    found = Tbf()
    latency: list[int] = []

    def set_(name: str, read: Callable[[str], int], keep: Callable[[int], None]) -> Callable[[], None]:
        def one() -> None:
            if name in words.given and not words.shown:
                raise RefusedError(f"tbf: {name} is set twice")
            keep(words.value(name, read))

        return one

    def rate(value: int) -> None:
        found.rate_bps = value

    def burst(value: int) -> None:
        found.burst = value

    def limit(value: int) -> None:
        found.limit = value

    def peak(value: int) -> None:
        found.peak_bps = value

    def minburst(value: int) -> None:
        found.minburst = value

    def skip() -> None:
        words.take()

    a_burst = set_("burst", _cell_size, burst)
    a_minburst = set_("minburst", _cell_size, minburst)
    each_parameter(
        "tbf",
        words,
        {
            "limit": set_("limit", size_bytes, limit),
            "latency": set_("latency", time_ns, latency.append),
            "burst": a_burst,
            "buffer": a_burst,
            "maxburst": a_burst,
            "mtu": a_minburst,
            "minburst": a_minburst,
            "mpu": skip,
            "rate": set_("rate", _rate, rate),
            "peakrate": set_("peakrate", _rate, peak),
            "overhead": skip,
            "linklayer": skip,
        },
    )
    if not words.shown:
        if not found.rate_bps or not found.burst:
            raise RefusedError("tbf: rate and burst are required")
        if (found.limit is None) == (not latency):
            raise RefusedError("tbf: either limit or latency is required, and not both")
        if found.peak_bps and not found.minburst:
            raise RefusedError("tbf: minburst (mtu) is required with peakrate")
    if found.limit is None and latency:
        found.limit = found.rate_bps * latency[0] // (8 * 10**9) + found.burst
        if found.peak_bps and found.minburst:
            found.limit = min(found.limit, found.peak_bps * latency[0] // (8 * 10**9) + found.minburst)
    return found


def _htb(words: Words) -> Htb:
    found = Htb()

    def default() -> None:
        found.default = words.value("default", _hexadecimal)

    def r2q() -> None:
        found.r2q = words.value("r2q", whole)

    def direct() -> None:
        found.direct_packets = words.value("direct_packets_stat", whole)

    def skip() -> None:
        words.take()

    each_parameter(
        "htb",
        words,
        {
            "default": default,
            "r2q": r2q,
            "direct_packets_stat": direct,
            "direct_qlen": skip,
            "offload": lambda: None,
        },
    )
    return found


def _hfsc(words: Words) -> Hfsc:
    found = Hfsc()

    def default() -> None:
        found.default = words.value("default", _hexadecimal)

    each_parameter("hfsc", words, {"default": default})
    return found


DEFAULTS = {
    "codel": Managed(limit_packets=1000, target_ns=5_000_000, interval_ns=100_000_000, ecn=False),
    "fq_codel": Managed(
        limit_packets=10240, target_ns=5_000_000, interval_ns=100_000_000, flows=1024, ecn=True
    ),
    "pie": Managed(limit_packets=1000, target_ns=15_000_000, interval_ns=15_000_000, ecn=False),
    "fq_pie": Managed(
        limit_packets=10240, target_ns=15_000_000, interval_ns=15_000_000, flows=1024, ecn=False
    ),
    "sfq": Managed(limit_packets=127),
    "fq": Managed(limit_packets=10_000),
}
"""Default values of parameters, from `tc-codel(8)` and the manual pages of the others."""


def _managed(kind: str, words: Words) -> Managed:
    usual = DEFAULTS.get(kind, Managed())
    found = Managed(
        limit_packets=usual.limit_packets,
        target_ns=usual.target_ns,
        interval_ns=usual.interval_ns,
        flows=usual.flows,
        ecn=usual.ecn,
    )

    def limit() -> None:
        if kind in ("bfifo", "red"):
            found.limit_bytes = words.value("limit", size_bytes)
        else:
            found.limit_packets = words.value("limit", _packets)

    def target() -> None:
        found.target_ns = words.value("target", time_ns)

    def interval() -> None:
        found.interval_ns = words.value("interval", time_ns)

    def quantum() -> None:
        found.quantum = words.value("quantum", size_bytes)

    def flows() -> None:
        found.flows = words.value("flows", whole)

    def bandwidth() -> None:
        found.rate_bps = words.value("bandwidth", _rate)

    def ecn() -> None:
        found.ecn = True

    def noecn() -> None:
        found.ecn = False

    def minimum() -> None:
        found.minimum = words.value("min", size_bytes)

    def maximum() -> None:
        found.maximum = words.value("max", size_bytes)

    def probability() -> None:
        found.probability = words.value("probability", _probability)

    def adaptive() -> None:
        found.adaptive = True

    readers: dict[str, Callable[[], None]] = {"limit": limit}
    if kind in ("codel", "fq_codel", "pie", "fq_pie"):
        readers |= {"target": target, "ecn": ecn, "noecn": noecn}
        readers["tupdate" if "pie" in kind else "interval"] = interval
    if kind.startswith("fq") or kind == "sfq":
        readers |= {"quantum": quantum, "flows": flows}
    if kind == "cake":
        readers = {"bandwidth": bandwidth}
    if kind == "red":
        readers |= {
            "min": minimum,
            "max": maximum,
            "probability": probability,
            "ecn": ecn,
            "adaptive": adaptive,
        }
    each_parameter(kind, words, readers, lenient=True)
    return found


def _packets(text: str) -> int:
    """Read a number of packets; `tc` prints it with the suffix p."""
    return whole(text.removesuffix("p"))


def _probability(text: str) -> float:
    try:
        value = float(text) if len(text) < 32 else 2.0
    except ValueError:
        value = 2.0
    if not 0 <= value <= 1:
        raise RefusedError(f'found "{text}"; accepted: 0 to 1')
    return value


def _hexadecimal(text: str) -> int:
    """Read the minor number of a class, which is hexadecimal with or without the prefix 0x."""
    digits = text.lower().removeprefix("0x")
    if not digits or len(digits) > 8 or set(digits) - set("0123456789abcdef"):
        raise RefusedError(f'found "{text}"; accepted: a class in hexadecimal digits')
    return int(digits, 16)


def _cell_size(text: str) -> int:
    """Read a size that may be followed by a cell size (`6000/16`)."""
    return size_bytes(text.split("/", 1)[0])


def _rate(text: str) -> int:
    if text.endswith("%"):
        share(text)
        raise NotUnderstoodError(f"{text} of the device's speed, which is unknown")
    return rate_bps(text)
