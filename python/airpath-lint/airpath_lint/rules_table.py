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
        "What is not understood is not judged, and may change all that is.",
        "this linter",
    ),
    Rule(
        "refused", _E, "tc refuses such a command, and the set-up goes on without it.", "iproute2, tc/q_*.c"
    ),
    Rule(
        "already-there",
        _E,
        "add refuses where something was added before: File exists.",
        "tc(8), add, replace",
    ),
    Rule("nothing-there", _E, "What it hangs on or changes was never made.", "tc(8), add, change"),
    Rule(
        "replaced",
        _W,
        "A new discipline takes the place of the old one with all that hangs on it.",
        "tc(8), replace; sch_api.c, tc_modify_qdisc",
    ),
    Rule(
        "change-resets",
        _W,
        "Each change of netem sets limit, delay, jitter, loss and duplication anew, to their"
        " defaults where they are"
        " not given.",
        f"{_NETEM}, netem_change; q_netem.c",
    ),
    # Units.
    Rule(
        "rate-in-bytes",
        _W,
        "For tc what ends in bps is bytes per second, eight times the bits.",
        f"{_UNITS}; SpaceNetLab/StarryNet#18",
    ),
    Rule("rate-without-unit", _W, "A bare number is bits per second.", _UNITS),
    Rule("time-without-unit", _W, "A bare number is microseconds, whatever tc-netem(8) says of ms.", _UNITS),
    Rule("size-in-bits", _N, "kbit and mbit of a size are 128 and 131072 bytes.", _UNITS),
    Rule(
        "loss-without-percent",
        _W,
        "A loss is a percentage with or without its sign: 0.01 is 0.01 %.",
        "tc_util.c",
    ),
    # netem's delay.
    Rule(
        "netem-limit",
        _W,
        "netem drops what exceeds its limit, and the limit counts packets that are only being delayed.",
        f"{_NETEM}; iproute2#56, firezone#13839, tylertreat/comcast#28",
    ),
    Rule(
        "jitter-reorders",
        _W,
        "Without a rate each packet is delayed by itself, so that later ones overtake; TCP takes"
        " that for loss.",
        f"{_NETEM}, tabledist; moq-dev/moq#2432; RFC 4737 (what counts as reordered)",
    ),
    Rule(
        "reorder-is-early",
        _N,
        "What netem reorders is not delayed at all: it arrives earlier by the whole delay, not late.",
        "tc-netem(8), reorder",
    ),
    Rule(
        "jitter-above-delay",
        _W,
        "Delays below zero are no delay, so that the mean is more than what is written.",
        f"{_NETEM}, tabledist",
    ),
    Rule(
        "no-seed",
        _N,
        "Without a seed no run can be repeated; seed came with Linux and iproute2 6.6.",
        f"{_NETEM}, TCA_NETEM_PRNG_SEED",
    ),
    Rule(
        "duplicates-through-root",
        _W,
        "netem puts duplicates in at the root again, through every shaper above it; some kernels"
        " since 2025 refuse it"
        " beside another netem.",
        f"{_NETEM}, netem_enqueue, check_netem_in_tree",
    ),
    Rule(
        "corruption-is-loss",
        _N,
        "One bit is flipped anywhere in the frame; what fails a checksum is lost at the receiver,"
        " the rest arrives"
        " wrong.",
        f"{_NETEM}, netem_enqueue",
    ),
    # netem's loss.
    Rule(
        "independent-loss",
        _N,
        "Losses of links come in bursts; independent ones of the same mean hit a controller more often.",
        "quic-go/quic-go#4919, moq-dev/moq#2432",
    ),
    Rule(
        "loss-correlation",
        _W,
        "Correlated numbers are no longer uniform, so that the loss is not the one that was asked for.",
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
        "r is 1-p where it is not given: losses are then independent; they come in bursts where p + r < 1.",
        "tc-netem(8); q_netem.c",
    ),
    Rule(
        "gemodel-mean",
        _W,
        "p is the probability of entering the bad state, not the loss, which is p/(p+r) where 1-h is 1.",
        "tc-netem(8)",
    ),
    # Placement.
    Rule(
        "netem-with-shaper",
        _W,
        "On one device delay and queue share limits and backlog, and who comes first decides what"
        " an AQM sees.",
        f"{_BLOAT}; sandia-minimega/minimega#752, IntersectMBO/ouroboros-consensus#1756",
    ),
    Rule(
        "inner-replaces-limit",
        _W,
        "Once something hangs in tbf its limit and latency are no longer effective.",
        "tc-tbf(8)",
    ),
    Rule(
        "on-the-end-host",
        _W,
        "TCP's own host is no link: drops at its device are reported to TCP at once, and delay"
        " there takes packets"
        " out of the account of TCP small queues.",
        f"{_NETEM}, skb_orphan_partial; google/transperf#2; {_BLOAT}",
    ),
    Rule(
        "host-or-router",
        _N,
        "Delay and queue belong between the hosts; on the sender's own device TCP sees them as its own.",
        f"{_NETEM}, skb_orphan_partial; google/transperf#2; {_BLOAT}",
    ),
    Rule(
        "one-direction",
        _W,
        "A discipline works on what leaves a device. What comes back is neither delayed nor limited.",
        "tc-netem(8): outgoing; SRTLab/srt-cookbook#9",
    ),
    Rule(
        "loopback",
        _W,
        "Both directions pass it and share rate and queue, and the delay counts twice; with its MTU of 65536"
        " packets have up to 64 kB.",
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
    Rule("offloads-not-seen", _N, "The output of tc does not say whether offloads are on.", _BLOAT),
    Rule(
        "pacing-lost",
        _W,
        "Without fq at the root TCP paces by its own timers, and times of departure set by others"
        " are ignored.",
        "tc-fq(8)",
    ),
    # Shapers.
    Rule(
        "burst-below-packet",
        _E,
        "A packet larger than the bucket never gets through.",
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
        "After a rest the whole bucket passes at the speed of the device: no link with that rate does so.",
        "tc-tbf(8), burst",
    ),
    Rule(
        "buffer-deep",
        _W,
        "Such a buffer holds seconds; no controller is seen at work there, only the buffer.",
        _BLOAT,
    ),
    Rule("buffer-shallow", _W, "Not even two packets fit: bursts of two are lost.", "tc-tbf(8), limit"),
    Rule(
        "no-default-class",
        _W,
        "What no filter chooses passes HTB unshaped (direct packets); HFSC drops it.",
        "tc-htb(8), default; tc-hfsc(8)",
    ),
    Rule("no-class", _W, "A classful shaper without classes shapes nothing.", "tc-htb(8)"),
    Rule(
        "rate-above-ceil",
        _E,
        "A class may not send more than its ceil, so its rate is not what it says.",
        "tc-htb(8), ceil",
    ),
    Rule(
        "children-exceed-parent",
        _W,
        "Rates of children are guaranteed: their sum must not exceed the parent's, else the parent"
        " is exceeded.",
        "tc-htb(8), NOTES",
    ),
    Rule(
        "quantum",
        _N,
        "rate / r2q is what a class sends in its turn beside others; the kernel keeps it within 1000 and"
        " 200000 bytes.",
        "tc-htb(8), quantum; sch_htb.c, htb_change_class",
    ),
    Rule("class-unused", _N, "No filter chooses this class, and it is not the default.", "tc-htb(8)"),
    Rule(
        "target-below-packet",
        _W,
        "A packet alone takes longer than the target, so that the queue is over it as soon as there is one.",
        "RFC 8289, section 4.4; tc-codel(8), target",
    ),
    Rule(
        "aqm-without-shaper",
        _N,
        "Nothing limits the rate here, so the queue forms elsewhere: in the device, or at the real"
        " bottleneck.",
        _BLOAT,
    ),
    # Ingress.
    Rule(
        "policer",
        _N,
        "A policer has no queue: it drops what exceeds its bucket, as few links do.",
        "tc-police(8); facebookarchive/augmented-traffic-control#60",
    ),
    Rule(
        "policer-burst",
        _W,
        "TCP sends windows in bursts; a bucket below a bandwidth-delay product keeps it far below the rate.",
        "tc-police(8); Flach et al., An Internet-wide analysis of traffic policing, SIGCOMM 2016",
    ),
    Rule(
        "ifb-unshaped",
        _W,
        "Packets go through this ifb device, and nothing shapes them there.",
        "tc-mirred(8)",
    ),
    Rule("ifb-without-redirect", _W, "Nothing sends packets to this ifb device.", "tc-mirred(8)"),
    # Statistics.
    Rule(
        "netem-dropped-at-limit",
        _W,
        "netem dropped more than its loss explains: the rest did not fit its limit.",
        f"{_NETEM}, netem_enqueue",
    ),
    Rule("near-limit", _W, "The queue is at its limit now.", "tc(8), -s"),
    Rule(
        "never-limited",
        _N,
        "The bucket never ran empty, so that the traffic was not limited by this rate.",
        "tc(8), -s; sch_tbf.c (overlimits)",
    ),
    Rule("overflowed", _N, "The buffer overflowed.", "tc(8), -s"),
    Rule("direct-packets", _W, "Packets passed HTB unshaped, since no class was chosen.", "tc-htb(8)"),
    Rule(
        "requeued",
        _N,
        "The device was busy and gave packets back; of netem it is how many packets were reordered"
        " on purpose.",
        f"tc(8), -s; {_NETEM}, netem_enqueue",
    ),
    Rule("nothing-sent", _W, "Nothing passed here, while other parts of the device sent.", "tc(8), -s"),
)

RULES: Final = {rule.name: rule for rule in _ALL}
"""The rules by name."""
