"""Measure what the BPF programs of hosts cost: ns a run, and throughput over a pair of devices.

The window is bounded by the socket's memory (MEMORY) below what the kernel queues between two virtual
devices (net.core.netdev_max_backlog, 1000 packets). Without a bound losses there decide, and chance: the
kernel's Reno gave 2 to 11 Gbit/s. Where nothing is lost each controller ends at the same bound, and what
differs is the cost.

Needs root, `target/release/airpathd`, iproute2, ethtool, iperf3 and bpftool. Writes a table, and JSON to the
file given.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

ROUNDS = 40
SECONDS = 1
# Of so many sorted shares these two enclose the median of all rounds with 96 % confidence (binomial).
ENCLOSING = 13, 26
# Of the socket's memory, and the packets that it holds: also the first window, since VCP's would take minutes
# to get there.
MEMORY, WINDOW = "256K", 480
DAEMON = Path("target/release/airpathd")
STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
LEFT, RIGHT = "airpath-bench-left", "airpath-bench-right"
# Each against Reno of the same round, and the least share that is asked for: programs with options, and
# without. The kernel's CUBIC shows what the measure itself is worth.
SCHEMES = {
    "cubic": 0.0,
    "airpath_xcp": 0.7,
    "airpath_vcp": 0.7,
    "airpath_ebe": 0.95,
    "airpath_westw": 0.95,
    "airpath_sarbe": 0.95,
}


def run(*words: str) -> str:
    """Run a command and return what it says."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def inside(namespace: str, *words: str) -> list[str]:
    """Return a command as it runs in a namespace."""
    return ["nsenter", f"--net=/run/netns/{namespace}", *words]


def build() -> None:
    """Make two hosts with a cable between them, without offloads."""
    for namespace in (LEFT, RIGHT):
        run("ip", "netns", "add", namespace)
    run("ip", "link", "add", "left", "netns", LEFT, "type", "veth", "peer", "name", "right", "netns", RIGHT)
    for namespace, device, address in ((LEFT, "left", "10.78.0.1/24"), (RIGHT, "right", "10.78.0.2/24")):
        run("ip", "-n", namespace, "address", "add", address, "dev", device)
        run("ip", "-n", namespace, "link", "set", device, "up")
        off = [word for offload in ("tso", "gso", "gro", "tx") for word in (offload, "off")]
        run(*inside(namespace, "ethtool", "-K", device, *off))
    route = ("10.78.0.0/24", "dev", "left", "src", "10.78.0.1", "initcwnd", str(WINDOW))
    run("ip", "-n", LEFT, "route", "replace", *route)


def remove() -> None:
    """Take both hosts away; whatever ran in them has ended."""
    for namespace in (LEFT, RIGHT):
        subprocess.run(["ip", "netns", "delete", namespace], check=False, capture_output=True)


def transfer(controller: str) -> dict[str, float]:
    """Send over one connection: Mbit/s delivered, and segments sent again."""
    server = subprocess.Popen(
        inside(RIGHT, "iperf3", "--server", "--one-off"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        time.sleep(0.3)
        client = (
            "iperf3",
            "--client",
            "10.78.0.2",
            "--time",
            str(SECONDS),
            "--window",
            MEMORY,
            "--congestion",
            controller,
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
    """Return for each program of ours its runs and the ns that they took."""
    found = {}
    for program in json.loads(run("bpftool", "--json", "prog", "show")):
        name = program.get("name", "")
        if name.startswith(("airpath_", "host_")) and program.get("run_cnt"):
            found[name] = (int(program["run_cnt"]), int(program["run_time_ns"]))
    return found


def measure() -> dict[str, Any]:
    """Measure all schemes in turns, so that whatever else the machine does meets all of them alike."""
    daemon = subprocess.Popen(
        [DAEMON, "host", "--device", f"/run/netns/{LEFT}:left", "--device", f"/run/netns/{RIGHT}:right"],
        stdout=subprocess.PIPE,
        text=True,
    )
    before = STATISTICS.read_text()
    try:
        if daemon.stdout is None or json.loads(daemon.stdout.readline() or "{}").get("event") != "ready":
            raise SystemExit("airpathd did not start")
        rounds = [{name: transfer(name) for name in ("reno", *SCHEMES)} for _ in range(ROUNDS)]
        # Statistics cost time themselves: they are taken after the rounds.
        STATISTICS.write_text("1")
        for name in SCHEMES:
            transfer(name)
        costs = {name: took / runs for name, (runs, took) in sorted(programs().items())}
    finally:
        STATISTICS.write_text(before)
        daemon.send_signal(signal.SIGINT)
        daemon.wait()
    return {
        "rounds": rounds,
        "ns_per_run": costs,
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0],
    }


def main() -> None:
    """Measure, print and write."""
    if os.geteuid() != 0:
        raise SystemExit("bench-datapath: skipped, because it needs root")
    remove()
    try:
        build()
        result = measure()
    finally:
        remove()
    sys.stdout.write(
        f"{ROUNDS} rounds of {SECONDS} s, {result['processors']} processors, load {result['load']:.1f}\n"
    )
    rounds = result["rounds"]
    slow = []
    for name, least in {"reno": 0.0, **SCHEMES}.items():
        shares = sorted(one[name]["mbps"] / one["reno"]["mbps"] for one in rounds)
        speed = median(one[name]["mbps"] for one in rounds)
        resent = median(one[name]["resent"] for one in rounds)
        low, high = (shares[place] for place in ENCLOSING)
        if high < least:
            slow.append(name)
        verdict = (
            "" if low >= least else f"  (less than {least})" if high < least else f"  ({least} is within)"
        )
        sys.stdout.write(
            f"{name:14} {speed:6.0f} Mbit/s, {median(shares):.2f} of reno ({low:.2f} to {high:.2f}), "
            f"{resent:.0f} segments sent again{verdict}\n"
        )
    for name, cost in result["ns_per_run"].items():
        sys.stdout.write(f"{name:24} {cost:6.0f} ns a run\n")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(result, indent=1) + "\n")
    if slow:
        raise SystemExit(f"bench-datapath: slower than is asked for: {', '.join(slow)}")


if __name__ == "__main__":
    main()
