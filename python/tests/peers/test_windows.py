"""Congestion windows over time, compared with those of ns-2.

Tolerance: 10 % of the time between losses, of the window before a loss, and of the mean window. A value
outside it has an entry in `EXCEPTIONS` with its size and its reason; an entry that is no longer needed fails
as well.
"""

import peer_windows
import pytest

TOLERANCE = 0.1

LINUX_COUNTS_MORE = (
    "Linux 2.6.22 counts each acknowledgment as its moving average of segments for one, which stays at 31/16 "
    "where each segment is acknowledged: its BIC grows 1.94 times as fast as its formula; with 31/16 here "
    "the times between losses agree within 2 %"
)
LINUX_ROUNDS_UP = (
    "Linux looks a(w) up in the table of RFC 3649, in whole numbers rounded upwards: 3 between 118 and 221 "
    "segments, where the formula says 2.0 to 3.0"
)

EXCEPTIONS = {
    ("linux:bic", "10mbps", False, "epoch"): (1.75, 2.13, LINUX_COUNTS_MORE),
    ("linux:bic", "100mbps", False, "epoch"): (1.75, 2.13, LINUX_COUNTS_MORE),
    ("linux:highspeed", "10mbps", False, "epoch"): (1.15, 1.35, LINUX_ROUNDS_UP),
    ("linux:highspeed", "10mbps", True, "epoch"): (1.15, 1.35, LINUX_ROUNDS_UP),
}
"""Minimum and maximum ratio of ours to theirs, and the reason: by peer, link, delayed acknowledgments,
quantity.
"""


@pytest.mark.parametrize("delayed", [False, True], ids=["each", "delayed"])
@pytest.mark.parametrize("case", peer_windows.CASES, ids=lambda case: f"{case.peer}-{case.link.rate}")
def test_the_window_matches_ns_2(case, delayed):
    ours = peer_windows.measure(peer_windows.ours(case, delayed=delayed), case.losses_per_cycle)
    theirs = peer_windows.measure(peer_windows.theirs(case, delayed=delayed), case.losses_per_cycle)
    for quantity in ("epoch", "peak", "mean"):
        own, peer = getattr(ours, quantity), getattr(theirs, quantity)
        assert (own is None) == (peer is None), f"{quantity}: {own}, ns-2 {peer}"
        if own is None:
            continue
        ratio = own / peer
        agrees = abs(ratio - 1) <= TOLERANCE
        known = EXCEPTIONS.get((case.peer, case.link.rate, delayed, quantity))
        if known is None:
            assert agrees, f"{quantity}: {own:.2f}, ns-2 {peer:.2f}"
        else:
            least, most, why = known
            assert least <= ratio <= most, f"{quantity}: {own:.2f}, ns-2 {peer:.2f}; expected: {why}"
            assert not agrees, f"{quantity} agrees; the exception is not needed"


@pytest.mark.parametrize(("delayed", "samples"), [(False, 7), (True, 9)], ids=["each", "delayed"])
def test_vegas_ends_slow_start_when_ns_2_does(delayed, samples):
    case = next(one for one in peer_windows.CASES if one.peer == "linux:vegas")
    ours, theirs = (
        window(case, delayed=delayed)[:samples] for window in (peer_windows.ours, peer_windows.theirs)
    )
    assert theirs[-1] < 0.75 * theirs[-2], "the last sample is the first after slow start"
    # Windows in ns-2 are whole segments.
    assert ours == pytest.approx(theirs, abs=1.0)


def test_measures_of_a_saw():
    # 100 to 180 segments in 4 s, four times, and half of one more; the first reduction is in the transient.
    saw = [100.0 + 2.0 * (step % 40) for step in range(180)]
    measures = peer_windows.measure(saw, 1)
    assert measures.epoch == pytest.approx(4.0)
    assert measures.peak == pytest.approx(178.0)
    assert measures.mean == pytest.approx(sum(saw[100:]) / 80)
    assert peer_windows.measure(saw[:130], 1).epoch is None
    assert peer_windows.measure([86.0, 85.0] * 100, 1).peak is None


def test_a_decrease_spread_over_a_round_trip_is_one_loss():
    saw = ([100.0 + 2.0 * step for step in range(37)] + [150.0, 120.0, 101.0]) * 5
    assert peer_windows.measure(saw, 1).epoch == pytest.approx(4.0)


def test_every_case_has_its_data():
    for case in peer_windows.CASES:
        for delayed in (False, True):
            assert len(peer_windows.theirs(case, delayed=delayed)) == 600
