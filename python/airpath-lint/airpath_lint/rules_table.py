"""All rules: stable names, severity, reasons, and sources."""

from typing import Final

from airpath_lint.findings import Level, Rule

_E, _W, _N = Level.ERROR, Level.WARNING, Level.NOTE

_NETEM = "sch_netem.c"
_UNITS = "tc(8), UNITS of PARAMETERS; tc_util.c"
_BLOAT = "bufferbloat.net, Best practices for benchmarking CoDel and FQ CoDel"

_ALL: Final = (
    # Commands that tc refuses, and commands that were not understood.
    Rule(
        "not-understood",
        _W,
        "Commands that are not understood are not checked, and may change the effect of the others.",
        "this linter",
    ),
    Rule(
        "refused",
        _E,
        "tc rejects such a command, and the configuration continues without it.",
        "iproute2, tc/q_*.c",
    ),
    Rule(
        "already-there",
        _E,
        "add fails if the place is occupied: File exists.",
        "tc(8), add, replace",
    ),
    Rule("nothing-there", _E, "The parent or the changed object does not exist.", "tc(8), add, change"),
    Rule(
        "replaced",
        _W,
        "A new discipline replaces the old one, including all attached classes and disciplines.",
        "tc(8), replace; sch_api.c, tc_modify_qdisc",
    ),
    Rule(
        "change-resets",
        _W,
        "Each change of netem resets limit, delay, jitter, loss and duplication; parameters that are not"
        " repeated get their defaults.",
        f"{_NETEM}, netem_change; q_netem.c",
    ),
    # Units.
    Rule(
        "rate-in-bytes",
        _W,
        "In tc the suffix bps means bytes per second, eight times as many bits.",
        f"{_UNITS}; SpaceNetLab/StarryNet#18",
    ),
    Rule("rate-without-unit", _W, "A bare number is bits per second.", _UNITS),
    Rule("time-without-unit", _W, "A bare number is microseconds, although tc-netem(8) mentions ms.", _UNITS),
    Rule("size-in-bits", _N, "kbit and mbit of a size are 128 and 131072 bytes.", _UNITS),
    Rule(
        "loss-without-percent",
        _W,
        "A loss is a percentage with or without the percent sign: 0.01 is 0.01 %.",
        "tc_util.c",
    ),
    # netem's delay.
    Rule(
        "netem-limit",
        _W,
        "netem drops packets above its limit, and the limit includes packets that are only delayed.",
        f"{_NETEM}; iproute2#56, firezone#13839, tylertreat/comcast#28",
    ),
    Rule(
        "jitter-reorders",
        _W,
        "Without a rate each packet is delayed independently, so later packets overtake; TCP interprets"
        " this as loss.",
        f"{_NETEM}, tabledist; moq-dev/moq#2432; RFC 4737 (what counts as reordered)",
    ),
    Rule(
        "reorder-is-early",
        _N,
        "netem sends reordered packets without any delay: they arrive early by the whole delay, not late.",
        "tc-netem(8), reorder",
    ),
    Rule(
        "jitter-above-delay",
        _W,
        "Negative delays become zero, so the mean exceeds the configured delay.",
        f"{_NETEM}, tabledist",
    ),
    Rule(
        "no-seed",
        _N,
        "Without a seed runs cannot be repeated; Linux and iproute2 have seed since 6.6.",
        f"{_NETEM}, TCA_NETEM_PRNG_SEED",
    ),
    Rule(
        "duplicates-through-root",
        _W,
        "netem enqueues duplicates at the root again, through every shaper above it; some kernels since"
        " 2025 reject it in addition to another netem.",
        f"{_NETEM}, netem_enqueue, check_netem_in_tree",
    ),
    Rule(
        "corruption-is-loss",
        _N,
        "One bit anywhere in the frame is flipped; frames that fail a checksum are lost at the receiver,"
        " the others arrive corrupted.",
        f"{_NETEM}, netem_enqueue",
    ),
    # netem's loss.
    Rule(
        "independent-loss",
        _N,
        "Losses of real links occur in bursts; independent ones of the same mean affect a controller more"
        " often.",
        "quic-go/quic-go#4919, moq-dev/moq#2432",
    ),
    Rule(
        "loss-correlation",
        _W,
        "Correlated numbers are no longer uniform, so the loss differs from the configured one.",
        f"tc-netem(8): deprecated; {_NETEM}, get_crandom",
    ),
    Rule(
        "gemodel-swapped",
        _W,
        "The third and fourth numbers are 1-h and 1-k, the losses in the bad and the good state;"
        " papers give h and k.",
        "tc-netem(8); q_netem.c; vishvananda/netlink#1210",
    ),
    Rule(
        "gemodel-without-bursts",
        _W,
        "The default of r is 1-p, which makes losses independent; they occur in bursts if p + r < 1.",
        "tc-netem(8); q_netem.c",
    ),
    Rule(
        "gemodel-mean",
        _W,
        "p is the probability of entering the bad state, not the loss, which is p/(p+r) if 1-h is 1.",
        "tc-netem(8)",
    ),
    # Placement.
    Rule(
        "netem-with-shaper",
        _W,
        "On one device delay and queue share limits and backlog, and their order determines the input of an"
        " AQM.",
        f"{_BLOAT}; sandia-minimega/minimega#752, IntersectMBO/ouroboros-consensus#1756",
    ),
    Rule(
        "inner-replaces-limit",
        _W,
        "With an inner discipline, limit and latency of tbf have no effect.",
        "tc-tbf(8)",
    ),
    Rule(
        "on-the-end-host",
        _W,
        "A sender's own device is not a link: TCP is notified of drops there at once, and delay there"
        " bypasses the limit of TCP small queues.",
        f"{_NETEM}, skb_orphan_partial; google/transperf#2; {_BLOAT}",
    ),
    Rule(
        "host-or-router",
        _N,
        "Delay and queue belong between the hosts; on the sender's own device they are part of its stack.",
        f"{_NETEM}, skb_orphan_partial; google/transperf#2; {_BLOAT}",
    ),
    Rule(
        "one-direction",
        _W,
        "A discipline affects packets that leave a device. The reverse path is neither delayed nor limited.",
        "tc-netem(8): outgoing; SRTLab/srt-cookbook#9",
    ),
    Rule(
        "loopback",
        _W,
        "Both directions cross it and share rate and queue, and the delay counts twice; with its MTU of"
        " 65536 packets have up to 64 kB.",
        "Linux, drivers/net/loopback.c",
    ),
    Rule(
        "offloads",
        _W,
        "netem and queues count super-packets of up to 64 kB: one loss is 44 packets, a limit of"
        " packets is 44 times"
        " as many.",
        f"{_BLOAT}; sch_netem.c, sch_tbf.c (skb_is_gso)",
    ),
    Rule("offloads-not-seen", _N, "The output of tc does not show whether offloads are on.", _BLOAT),
    Rule(
        "pacing-lost",
        _W,
        "Without fq at the root TCP paces by its own timers, and departure times set by applications are"
        " ignored.",
        "tc-fq(8)",
    ),
    # Shapers.
    Rule(
        "burst-below-packet",
        _E,
        "A packet larger than the bucket is never sent.",
        "tc-tbf(8); sch_tbf.c, tbf_enqueue",
    ),
    Rule(
        "burst-below-tick",
        _W,
        "With timers of 1/HZ the rate is not reached below rate/HZ; HZ is 1000 at most.",
        "tc-tbf(8), burst",
    ),
    Rule(
        "burst-large",
        _W,
        "After an idle time the whole bucket passes at the speed of the device, unlike on a link with that"
        " rate.",
        "tc-tbf(8), burst",
    ),
    Rule(
        "buffer-deep",
        _W,
        "Such a buffer holds seconds; results depend on the buffer, not on the controller.",
        _BLOAT,
    ),
    Rule("buffer-shallow", _W, "Two packets do not fit: bursts of two are lost.", "tc-tbf(8), limit"),
    Rule(
        "no-default-class",
        _W,
        "HTB passes unclassified traffic unshaped (direct packets); HFSC drops it.",
        "tc-htb(8), default; tc-hfsc(8)",
    ),
    Rule("no-class", _W, "A classful shaper without classes shapes nothing.", "tc-htb(8)"),
    Rule(
        "rate-above-ceil",
        _E,
        "A class cannot send more than its ceil, so its configured rate is not reached.",
        "tc-htb(8), ceil",
    ),
    Rule(
        "children-exceed-parent",
        _W,
        "Rates of children are guaranteed: if their sum exceeds the parent's rate, the parent's rate is"
        " exceeded.",
        "tc-htb(8), NOTES",
    ),
    Rule(
        "quantum",
        _N,
        "rate / r2q is the amount that a class sends per turn; the kernel limits it to 1000 to 200000 bytes.",
        "tc-htb(8), quantum; sch_htb.c, htb_change_class",
    ),
    Rule("class-unused", _N, "No filter selects this class, and it is not the default.", "tc-htb(8)"),
    Rule(
        "target-below-packet",
        _W,
        "A single packet takes longer than the target, so any queue exceeds it.",
        "RFC 8289, section 4.4; tc-codel(8), target",
    ),
    Rule(
        "aqm-without-shaper",
        _N,
        "The rate is not limited here, so the queue forms elsewhere: in the device, or at the real"
        " bottleneck.",
        _BLOAT,
    ),
    # Ingress.
    Rule(
        "policer",
        _N,
        "A policer has no queue: it drops packets that exceed its bucket, unlike most links.",
        "tc-police(8); facebookarchive/augmented-traffic-control#60",
    ),
    Rule(
        "policer-burst",
        _W,
        "TCP sends windows in bursts; a bucket below a bandwidth-delay product keeps its throughput far"
        " below the rate.",
        "tc-police(8); Flach et al., An Internet-wide analysis of traffic policing, SIGCOMM 2016",
    ),
    Rule(
        "ifb-unshaped",
        _W,
        "Packets cross this ifb device, which has no shaper.",
        "tc-mirred(8)",
    ),
    Rule("ifb-without-redirect", _W, "No filter sends packets to this ifb device.", "tc-mirred(8)"),
    # Statistics.
    Rule(
        "netem-dropped-at-limit",
        _W,
        "netem dropped more packets than its loss explains: the others exceeded its limit.",
        f"{_NETEM}, netem_enqueue",
    ),
    Rule("near-limit", _W, "The queue is at its limit now.", "tc(8), -s"),
    Rule(
        "never-limited",
        _N,
        "The bucket was never empty, so this rate did not limit the traffic.",
        "tc(8), -s; sch_tbf.c (overlimits)",
    ),
    Rule("overflowed", _N, "The buffer overflowed.", "tc(8), -s"),
    Rule("direct-packets", _W, "Packets passed HTB unshaped, because no class was selected.", "tc-htb(8)"),
    Rule(
        "requeued",
        _N,
        "The device was busy and returned packets; for netem this counts the intentionally reordered"
        " packets.",
        f"tc(8), -s; {_NETEM}, netem_enqueue",
    ),
    Rule(
        "nothing-sent",
        _W,
        "No packet passed here, while other parts of the device sent packets.",
        "tc(8), -s",
    ),
)

RULES: Final = {rule.name: rule for rule in _ALL}
"""The rules by name."""
