"""The order in which modules are called, and the windows that the shim sets."""

from itertools import pairwise

# Digits of tcp_order.c.
ACKED, IN_ACK, SSTHRESH, STATE, COMPLETE, AVOID, LOSS, START, RESTART = "123456789"

LIMITED, REPAIRING, MARKED, SAMPLE = 1 << 1, 1 << 2, 1 << 3, 1 << 5
RTT = 50


def sent(now, in_flight, packets=1, flags=0):
    return ("sent", now, packets, in_flight, 0, 0, flags, RTT)


def ack(now, acked, advance, in_flight, flags=0, lost=0):
    return ("ack", now, acked, advance, lost, in_flight, flags | LIMITED | SAMPLE, RTT)


def loss(now):
    return ("signal", now, 0, 1, 0, 0, 0, RTT)


def mark(now):
    return ("signal", now, 1, 0, 0, 0, 0, RTT)


def timeout(now, consecutive=1):
    return ("signal", now, 2, 10, consecutive, 0, 0, RTT)


def flight(now=0, packets=10):
    return [sent(now, number + 1) for number in range(packets)]


def calls(*digits):
    return int("".join(digits))


def test_an_acknowledgment_in_order(drive):
    events = [*flight(), ack(50, 1, 1, 9)]
    assert drive("order", events)[-1].calls == calls(ACKED, IN_ACK, AVOID)
    assert drive("order", events, in_ack_event_first=1)[-1].calls == calls(IN_ACK, ACKED, AVOID)


def test_a_loss_waits_for_its_acknowledgment(drive):
    start = [*flight(), ack(50, 1, 1, 9), sent(50, 10), sent(50, 11)]
    *_, disorder, signal, recovery, repair, end = drive(
        "order",
        [
            *start,
            ack(51, 1, 0, 10),
            loss(52),
            ack(52, 2, 0, 7, REPAIRING, lost=1),
            ack(53, 1, 0, 6, REPAIRING),
            ack(100, 7, 11, 0),
        ],
    )
    assert disorder.calls == calls(ACKED, IN_ACK, STATE)
    assert (signal.window, signal.timer) == (11, 52)
    assert recovery.calls == calls(ACKED, IN_ACK, SSTHRESH, STATE)
    assert (recovery.ssthresh, recovery.timer) == (5, -1)
    assert repair.calls == calls(ACKED, IN_ACK)
    assert end.calls == calls(ACKED, IN_ACK, COMPLETE, STATE, AVOID)
    # The window is the threshold, and one packet more for the window of data that was acknowledged.
    assert end.window == end.ssthresh + 1 == 6


def test_quic_sends_lost_data_again_as_new_data(drive):
    """All acknowledged data counts as in order, and the numbers of lost packets never arrive."""
    events = [*flight(), loss(50), ack(50, 6, 6, 3, REPAIRING, lost=1), sent(51, 4)]
    events += [ack(52, 3, 3, 1), sent(53, 2), ack(101, 1, 1, 1), ack(103, 1, 1, 0)]
    *_, end, _sent, plain, last = drive("order", events)
    assert end.calls == calls(ACKED, IN_ACK, COMPLETE, STATE, AVOID)
    assert plain.calls == last.calls == calls(ACKED, IN_ACK, AVOID)


def test_a_loss_without_acknowledgment_is_handled_at_the_same_instant(drive):
    start = [*flight(), ack(50, 1, 1, 9), loss(60)]
    for event in (("timer", 60, 0, 0, 0, 0, 0, RTT), sent(60, 9, flags=1)):
        *_, signal, late = drive("order", [*start, event])
        assert (signal.window, signal.ssthresh, signal.timer) == (11, -1, 60)
        assert (late.ssthresh, late.timer) == (5, -1)
        assert event[0] == "sent" or late.calls == calls(SSTHRESH, STATE)


def test_a_mark_reduces_the_window_once_a_round(drive):
    events = [*flight(), ack(50, 1, 1, 9), sent(50, 10), mark(51), ack(51, 1, 1, 9, MARKED)]
    events += [ack(52, 1, 1, 8), ack(53, 8, 8, 0), sent(60, 1), ack(110, 1, 1, 0)]
    *_, reduced, within, at_the_end, _sent, beyond = drive("order", events)
    assert reduced.calls == calls(ACKED, IN_ACK, SSTHRESH, STATE)
    assert within.calls == at_the_end.calls == calls(ACKED, IN_ACK)
    assert beyond.calls == calls(START, ACKED, IN_ACK, COMPLETE, STATE, AVOID)


def test_a_timeout_reduces_once_and_ends_when_all_is_acknowledged(drive):
    *_, first, second, end = drive(
        "order", [*flight(), ack(50, 1, 1, 9), timeout(400), timeout(1200, 2), ack(1300, 9, 9, 0)]
    )
    assert first.calls == calls(SSTHRESH, LOSS, STATE)
    assert (first.window, first.ssthresh) == (1, 5)
    assert second.calls == calls(STATE)
    assert (second.window, second.ssthresh) == (1, 5)
    assert end.calls == calls(ACKED, IN_ACK, STATE, AVOID)


def test_a_false_signal_is_undone(drive):
    *_, before, reduced, undone = drive(
        "order", [*flight(), ack(50, 1, 1, 9), timeout(400), ("spurious", 410, 0, 0, 0, 0, 0, RTT)]
    )
    assert (before.window, reduced.window, undone.window) == (11, 1, 11)
    assert undone.ssthresh == -1
    assert undone.calls == calls(STATE)


def test_an_idle_time_halves_the_window_for_each_timeout(drive):
    grown = [*flight(), *(ack(50 + k, 1, 1, 9 - k) for k in range(10)), *flight(60, 20)]
    grown += [ack(110 + k, 1, 1, 19 - k) for k in range(20)]
    # The timeout is 250 ms: RTT and at least 200 ms. Three of them pass.
    events = [*grown, sent(129 + 800, 1), ack(979, 1, 1, 0)]
    *_, before, after, reported = drive("order", events)
    assert (before.window, after.window) == (40, 10)
    assert reported.calls == calls(RESTART, START, ACKED, IN_ACK, AVOID)
    *_, kept, reported = drive("order", events, slow_start_after_idle=0)
    assert (kept.window, reported.calls) == (40, calls(START, ACKED, IN_ACK, AVOID))


def test_proportional_rate_reduction(drive):
    """RFC 6937, section 3, in packets: window = in flight + what may be sent."""
    packets, first = 40, 10
    events = [*flight(0, first), *(ack(50 + k, 1, 1, first - 1 - k) for k in range(first)), *flight(60, 20)]
    events += [ack(110 + k, 1, 1, 19 - k) for k in range(20)]
    events += flight(130, packets)
    start = len(events)
    in_flight = packets - 3 - 1
    events += [ack(180, 3, 0, packets - 3), loss(181), ack(181, 1, 0, in_flight - 1, REPAIRING, lost=1)]
    delivered = [1]
    for k in range(12):
        in_flight -= 1
        events.append(ack(182 + k, 1, 0, in_flight - 1, REPAIRING))
        delivered.append(1)
    answers = drive("order", events)[start + 2 :]
    flights = [event[5] for event in events[start + 2 :]]
    threshold, total, out = packets // 2, 0, 0
    for answer, pipe, newly in zip(answers, flights, delivered, strict=True):
        total += newly
        if pipe > threshold:
            send = -(-threshold * total // packets) - out
        else:
            send = min(threshold - pipe, max(total - out, newly))
        send = max(send, 0 if out else 1)
        assert answer.window == max(pipe + send, 1)
        assert answer.ssthresh == threshold


def test_congestion_avoidance_adds_a_packet_for_each_window(drive):
    events = [*flight(), ack(50, 1, 1, 9), timeout(400), ack(500, 9, 9, 0)]
    for k in range(60):
        events += [sent(600 + 60 * k, 1), ack(650 + 60 * k, 1, 1, 0)]
    windows = [answer.window for answer in drive("order", events)[12:] if answer.ssthresh == 5]
    # Slow start takes 4 of the 9 acknowledgments, and the other 5 add a packet.
    assert windows[0] == 6
    lengths, length = [], 0
    for one, other in pairwise(windows[::2]):
        length += 1
        if other != one:
            assert other == one + 1
            lengths.append(length)
            length = 0
    assert lengths == list(range(6, 6 + len(lengths)))
    assert len(lengths) >= 6
