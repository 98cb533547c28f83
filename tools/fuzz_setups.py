"""Traffic control configurations for `fuzz_readers.py`: seeds, and the processing of each input."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from airpath_lint import lint
from airpath_lint.carry import carry_over
from airpath_lint.cli_tables import print_linted
from airpath_lint.describe import as_machine_reads

SETUPS = {
    "script": """#!/bin/bash
DEV=eth0; RATE="10mbit"
sudo tc qdisc del dev $DEV root 2>/dev/null || true
sudo tc qdisc add dev ${DEV} root handle 1: htb default 10 r2q 5
sudo tc class add dev $DEV parent 1: classid 1:1 htb rate $RATE ceil 12mbit burst 15k
tc class add dev $DEV parent 1:1 classid 1:10 htb rate 5mbit quantum 1514
tc qdisc add dev $DEV parent 1:10 handle 20: fq_codel limit 300 target 5ms interval 100ms noecn
tc filter add dev $DEV parent 1: protocol ip u32 match ip dst 10.0.0.1 flowid 1:10
for d in 1 2; do
  ip netns exec ns$d tc qdisc replace dev veth$d root netem \\
    delay ${d}0ms 5ms 25% distribution normal loss 1% rate 8mbit limit 100 seed 3
done
if [ "$1" = on ]; then tc qdisc add dev eth1 root tbf rate 1mbit burst 32kbit latency 50ms; else echo; fi
shape() { tc qdisc add dev $1 root netem delay $2; }
shape eth2 10ms; ethtool -K eth0 tso off gso off
case $x in a) tc qdisc add dev eth3 ingress;; esac
tc filter add dev eth3 parent ffff: matchall police rate 1mbit burst 10k action mirred egress redirect dev i0
tc -b - <<END
qdisc add dev i0 root netem loss gemodel 1% 10% 70% 0.1% duplicate 1% corrupt 0.1% reorder 1% delay 9ms
END
iperf3 -c 10.0.0.1 -C bbr
""",
    "screen": """qdisc netem 8001: dev eth0 root refcnt 2 limit 50 delay 9ms  1ms loss state p13 1% p31 9%
 Sent 12345 bytes 678 pkt (dropped 90, overlimits 0 requeues 3)
 backlog 1514Kb 950p requeues 3
qdisc htb 1: dev eth1 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 4
class htb 1:10 dev eth1 parent 1:1 leaf 10: prio 0 rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
qdisc tbf 10: dev eth1 parent 1:10 rate 1Mbit burst 5Kb lat 50ms
filter dev eth1 parent 1: protocol ip pref 1 u32 fh 800::800 order 2048 flowid 1:10
""",
    "json": """[{"kind":"netem","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":1000,
"delay":{"delay":0.1,"jitter":0.01,"correlation":0},"loss-gemodel":{"p":0.01,"r":0.1,"1-h":1,"1-k":0},
"rate":{"rate":1250000,"packetoverhead":0},"seed":7,"ecn":false,"gap":0},"bytes":1,"packets":200,"drops":50,
"overlimits":0,"requeues":0,"backlog":0,"qlen":0},
{"kind":"tbf","handle":"8002:","dev":"eth1","root":true,"options":{"rate":125000,"burst":5120,"lat":50000}},
{"class":"htb","handle":"1:10","dev":"eth2","parent":"1:1","rate":1250000,"ceil":1250000,"stats":{"bytes":0}}]
""",
}
"""The seeds by name: a script, and output of `tc` as text and as JSON."""


def judged(file: Path) -> bool:
    """Check a configuration, print it, and make its scenario; return whether it contained one.

    Raises
    ------
    AirpathError
        If it is refused, or cannot become a scenario.
    """
    linted = lint([file])
    assert json.dumps(as_machine_reads(linted), allow_nan=False)
    with redirect_stdout(StringIO()):
        print_linted(linted)
    if linted.directions.lanes:
        assert carry_over(linted).scenario.plan()
    return bool(linted.trees)
