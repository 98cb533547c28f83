"""Measure the cost of the BPF programs of hosts: ns per run, and throughput over a pair of devices.

The socket's memory (MEMORY) limits the window to less than the kernel queues between two virtual devices
(net.core.netdev_max_backlog, 1000 packets). Without this limit, losses in that queue, and chance, would
decide the result: the kernel's Reno gave 2 to 11 Gbit/s. Without losses each controller ends at the same
limit, and the difference is the cost.

Over a second pair of devices XCP has a router with a configured capacity far above the load: it sends
feedback all the time and never delays the flow. Its bucket never runs empty.

A scheme fails if its median is below the required value. If the interval of the median includes the required
value, the result may be due to chance: everything is measured once more, and the second median counts. Both
are reported.

Needs root, `target/release/airpathd`, iproute2, ethtool, iperf3 and bpftool. Prints a table, and writes JSON
to the file given.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import comb
from pathlib import Path
from statistics import median
from typing import Any

ROUNDS = 40
SECONDS = 1
CONFIDENCE = 0.95
# The socket's memory, and the packets that it holds. They are also the first window, because VCP would take
# minutes to reach it.
MEMORY, WINDOW = "256K", 480
DAEMON = Path("target/release/airpathd")
STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
LEFT, RIGHT = "airpath-bench-left", "airpath-bench-right"
# Paths between the two hosts: the devices at both ends, and the network.
PLAIN, ROUTED = ("left", "right", "10.78.0"), ("left-r", "right-r", "10.78.1")
# Bucket of the second path: its burst is sent in 1 ms.
BUCKET = ("rate", "100gbit", "burst", "12500kb", "limit", "12500kb")


@dataclass(frozen=True)
class Scheme:
    """One scheme to measure."""

    controller: str
    least: float = 0.0
    """The required fraction of Reno's throughput in the same round."""
    way: tuple[str, str, str] = PLAIN


# Programs with and without options. The kernel's CUBIC shows the precision of the measurement, and its Reno
# the cost of the second path.
SCHEMES = {
    "reno": Scheme("reno"),
    "cubic": Scheme("cubic"),
    "airpath_xcp": Scheme("airpath_xcp", 0.7),
    "airpath_vcp": Scheme("airpath_vcp", 0.7),
    "airpath_ebe": Scheme("airpath_ebe", 0.95),
    "airpath_westw": Scheme("airpath_westw", 0.95),
    "airpath_sarbe": Scheme("airpath_sarbe", 0.95),
    "reno, router": Scheme("reno", way=ROUTED),
    "airpath_xcp, router": Scheme("airpath_xcp", 0.7, ROUTED),
}


def run(*words: str) -> str:
    """Run a command and return its output."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def inside(namespace: str, *words: str) -> list[str]:
    """Return a command that runs in a namespace."""
    return ["nsenter", f"--net=/run/netns/{namespace}", *words]


def build() -> None:
    """Create two hosts with two links between them, without offloads."""
    for namespace in (LEFT, RIGHT):
        run("ip", "netns", "add", namespace)
    for left, right, network in (PLAIN, ROUTED):
        run("ip", "link", "add", left, "netns", LEFT, "type", "veth", "peer", "name", right, "netns", RIGHT)
        for namespace, device, host in ((LEFT, left, 1), (RIGHT, right, 2)):
            run("ip", "-n", namespace, "address", "add", f"{network}.{host}/24", "dev", device)
            run("ip", "-n", namespace, "link", "set", device, "up")
            off = [word for offload in ("tso", "gso", "gro", "tx") for word in (offload, "off")]
            run(*inside(namespace, "ethtool", "-K", device, *off))
        route = (f"{network}.0/24", "dev", left, "src", f"{network}.1", "initcwnd", str(WINDOW))
        run("ip", "-n", LEFT, "route", "replace", *route)
    run("tc", "-n", LEFT, "qdisc", "add", "dev", ROUTED[0], "root", "tbf", *BUCKET)


def remove() -> None:
    """Remove both hosts, whose processes have ended."""
    for namespace in (LEFT, RIGHT):
        subprocess.run(["ip", "netns", "delete", namespace], check=False, capture_output=True)


def transfer(scheme: Scheme) -> dict[str, float]:
    """Send over one connection; return Mbit/s delivered, and the number of retransmitted segments."""
    server = subprocess.Popen(
        inside(RIGHT, "iperf3", "--server", "--one-off"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        time.sleep(0.3)
        client = (
            "iperf3",
            "--client",
            f"{scheme.way[2]}.2",
            "--time",
            str(SECONDS),
            "--window",
            MEMORY,
            "--congestion",
            scheme.controller,
            "--json",
        )
        end = json.loads(run(*inside(LEFT, *client)))["end"]
        return {
            "mbps": float(end["sum_received"]["bits_per_second"]) / 1e6,
            "resent": float(end["sum_sent"]["retransmits"]),
        }
    finally:
        server.terminate()
        server.wait()


def programs() -> dict[str, tuple[int, int]]:
    """Return for each of our programs the number of its runs and their time in ns."""
    found = {}
    for program in json.loads(run("bpftool", "--json", "prog", "show")):
        name = program.get("name", "")
        if name.startswith(("airpath_", "host_", "router_")) and program.get("run_cnt"):
            found[name] = (int(program["run_cnt"]), int(program["run_time_ns"]))
    return found


class Daemon:
    """An `airpathd` process that runs inside a `with` block."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def __enter__(self) -> None:
        self._process = subprocess.Popen([DAEMON, *self._words], stdout=subprocess.PIPE, text=True)
        stdout = self._process.stdout
        if stdout is None or json.loads(stdout.readline() or "{}").get("event") != "ready":
            self.__exit__()
            raise SystemExit("airpathd did not start")

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def measure(rounds: int) -> list[dict[str, Any]]:
    """Measure all schemes alternately, so that other load on the machine affects all of them alike."""
    return [{name: transfer(scheme) for name, scheme in SCHEMES.items()} for _ in range(rounds)]


def costs() -> dict[str, float]:
    """Return ns per run of each program; call it after the rounds, because statistics take time."""
    before = STATISTICS.read_text()
    try:
        STATISTICS.write_text("1")
        for scheme in SCHEMES.values():
            transfer(scheme)
        return {name: took / runs for name, (runs, took) in sorted(programs().items())}
    finally:
        STATISTICS.write_text(before)


def enclosing(count: int) -> tuple[int, int]:
    """Return the indices of the two sorted values that enclose the median with probability CONFIDENCE.

    The interval follows from the binomial distribution; it spans all values if there are too few.
    """
    outside = 0.0
    for place in range(count // 2):
        outside += 2 * comb(count, place) / 2**count
        if outside > 1 - CONFIDENCE:
            return max(place - 1, 0), min(count - place, count - 1)
    return 0, count - 1


@dataclass(frozen=True)
class Measured:
    """The throughput of a scheme, as a fraction of Reno's in the same round."""

    share: float
    low: float
    high: float
    mbps: float
    resent: float

    def __str__(self) -> str:
        return (
            f"{self.mbps:6.0f} Mbit/s, {self.share:.2f} of reno ({self.low:.2f} to {self.high:.2f}),"
            f" {self.resent:.0f} segments retransmitted"
        )


def summary(rounds: Sequence[Mapping[str, Mapping[str, float]]], name: str) -> Measured:
    """Return the medians of a scheme, with the interval of its fraction."""
    shares = sorted(one[name]["mbps"] / one["reno"]["mbps"] for one in rounds)
    low, high = (shares[place] for place in enclosing(len(shares)))
    return Measured(
        median(shares),
        low,
        high,
        median(one[name]["mbps"] for one in rounds),
        median(one[name]["resent"] for one in rounds),
    )


def in_doubt(measured: Measured, least: float) -> bool:
    """Return whether the median is below the required value, possibly by chance."""
    return measured.share < least <= measured.high


def too_slow(times: Iterable[Measured], least: float) -> bool:
    """Return whether a scheme is slower than required in its last measurement."""
    *_, last = times
    return last.share < least


def report(name: str, times: Sequence[Measured], least: float) -> list[str]:
    """Return the lines about a scheme, one for each measurement."""
    said = []
    for number, measured in enumerate(times):
        again = " (again)" if number else ""
        verdict = f"  less than {least}" if measured.share < least else ""
        said.append(f"{name + again:22} {measured}{verdict}")
    return said


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="number of rounds of 1 s [%(default)s]")
    parser.add_argument("json", nargs="?", type=Path, help="file for all measurements")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds: found {arguments.rounds}; accepted: 1 or more")
    if os.geteuid() != 0:
        raise SystemExit("bench-datapath: skipped, because it needs root")
    remove()
    try:
        build()
        with ExitStack() as daemons:
            device = [f"/run/netns/{LEFT}:{PLAIN[0]}", f"/run/netns/{RIGHT}:{PLAIN[1]}"]
            device += [f"/run/netns/{LEFT}:{ROUTED[0]}", f"/run/netns/{RIGHT}:{ROUTED[1]}"]
            daemons.enter_context(Daemon("host", *(word for one in device for word in ("--device", one))))
            router = ("--netns", LEFT, "--device", ROUTED[0], "--protocol", "xcp", "--rate", "100Gbit")
            daemons.enter_context(Daemon("router", *router))
            times = [measure(arguments.rounds)]
            first = {name: summary(times[0], name) for name in SCHEMES}
            if any(in_doubt(first[name], scheme.least) for name, scheme in SCHEMES.items()):
                times.append(measure(arguments.rounds))
            ns_per_run = costs()
    finally:
        remove()
    load = os.getloadavg()[0]
    lines = [f"{arguments.rounds} rounds of {SECONDS} s, {os.cpu_count()} processors, load {load:.1f}"]
    slow = []
    for name, scheme in SCHEMES.items():
        measured = [first[name]]
        if in_doubt(first[name], scheme.least):
            measured.append(summary(times[1], name))
        lines += report(name, measured, scheme.least)
        if too_slow(measured, scheme.least):
            slow.append(name)
    lines += [f"{name:24} {cost:6.0f} ns per run" for name, cost in ns_per_run.items()]
    sys.stdout.write("\n".join(lines) + "\n")
    if arguments.json:
        result = {"rounds": times, "ns_per_run": ns_per_run, "processors": os.cpu_count(), "load": load}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    if slow:
        raise SystemExit(f"bench-datapath: slower than required: {', '.join(slow)}")


if __name__ == "__main__":
    main()
