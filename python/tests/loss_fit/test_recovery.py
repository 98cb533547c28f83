"""Known chains are recovered: intervals contain the truth, and tests reject it, at their nominal rates."""

import math

import numpy as np
import pytest

import airpath
from airpath.loss_fit.gilbert_elliott import Runs, log_likelihood

CONFIDENCE = 0.95


def chain(random, count, p, q, loss_good=0.0, loss_bad=1.0):
    """Return one sequence: a transition, then a loss with the probability of the new state."""
    draws = random.random(count).tolist()  # Python's own numbers are compared faster
    bad, states = random.random() < p / (p + q), []
    for draw in draws:
        bad = draw >= q if bad else draw < p
        states.append(bad)
    return random.random(count) < np.where(states, loss_bad, loss_good)


def assert_share(hits, expected, what=""):
    """Check a share of successes against its probability, within 3 standard errors."""
    error = math.sqrt(expected * (1 - expected) / len(hits))
    share = sum(hits) / len(hits)
    assert abs(share - expected) < 3 * error, f"{what}: {share:.3f} of {len(hits)}, expected {expected}"


def holds(estimate, truth):
    return estimate.low <= truth <= estimate.high


@pytest.mark.parametrize(("p", "q", "count"), [(0.01, 0.167, 5000), (0.05, 0.6, 3000), (0.002, 0.05, 40000)])
def test_intervals_of_gilberts_chain_contain_the_true_values(p, q, count):
    random = np.random.default_rng(7)
    truth = {"leave_good": p, "leave_bad": q, "mean_loss": p / (p + q), "mean_burst": 1 / q}
    hits = {name: [] for name in truth}
    for _ in range(300):
        lost = chain(random, count, p, q)
        gilbert = fit_gilbert_only(lost)
        for name, value in truth.items():
            hits[name].append(holds(getattr(gilbert, name), value))
    for name, found in hits.items():
        assert_share(found, CONFIDENCE, name)


def fit_gilbert_only(lost):
    from airpath.loss_fit.gilbert import Transitions, fit_gilbert

    return fit_gilbert(Transitions.of(lost), CONFIDENCE)


def test_intervals_of_gilbert_and_elliotts_chain_contain_the_true_values():
    random = np.random.default_rng(8)
    truth = {"leave_good": 0.005, "leave_bad": 0.05, "loss_good": 0.005, "loss_bad": 0.6}
    hits = []
    for _ in range(30):
        lost = chain(random, 20_000, 0.005, 0.05, 0.005, 0.6)
        (fit,) = airpath.fit(lost)
        assert fit.general_is_better
        hits += [holds(getattr(fit.general, name), value) for name, value in truth.items()]
    # Four intervals of one sequence are dependent: the error is that of 30, not of 120.
    assert abs(sum(hits) / 120 - CONFIDENCE) < 3 * math.sqrt(0.95 * 0.05 / 30)


def test_intervals_of_a_chain_in_time_contain_the_true_values():
    random = np.random.default_rng(9)
    good_s, bad_s = 0.4, 0.02
    hits = []
    for _ in range(60):
        time_s = np.cumsum(random.exponential(0.005, 20_000))
        edges = np.cumsum(random.exponential([good_s, bad_s], (2000, 2)).ravel())
        lost = np.searchsorted(edges, time_s) % 2 == 1
        (fit,) = airpath_fit_with_times(time_s, lost)
        hits.append(holds(fit.in_time.mean_loss, bad_s / (good_s + bad_s)))
        hits.append(holds(fit.in_time.mean_burst_s, bad_s))
    assert abs(sum(hits) / 120 - CONFIDENCE) < 3 * math.sqrt(0.95 * 0.05 / 60)


def airpath_fit_with_times(time_s, lost):
    from airpath.loss_fit.in_time import fit_in_time
    from airpath.loss_fit.results import LossFit

    found = fit_in_time(time_s, lost, CONFIDENCE)
    return (LossFit("", "", "packets", None, len(lost), int(lost.sum()), 0, in_time=found),)


def test_independent_losses_are_called_bursts_once_in_twenty():
    from airpath.loss_fit.gilbert import Transitions, against_independence, fit_gilbert

    random = np.random.default_rng(10)

    def p_value(lost):
        seen = Transitions.of(lost)
        return against_independence(seen, fit_gilbert(seen, CONFIDENCE)).p

    assert_share([p_value(random.random(20_000) < 0.05) < 0.05 for _ in range(400)], 0.05)
    assert all(p_value(chain(random, 2000, 0.02, 0.3)) < 1e-4 for _ in range(20))


def test_lengths_of_bursts_are_rejected_once_in_twenty_and_if_not_geometric():
    random = np.random.default_rng(11)

    def test_of(lost):
        from airpath.loss_fit.fitting import _whole_runs
        from airpath.loss_fit.gilbert import burst_lengths, geometric

        return burst_lengths(_whole_runs(lost), geometric(fit_gilbert_only(lost).leave_bad.value), 1)

    assert_share([test_of(chain(random, 20_000, 0.02, 0.3)).p < 0.05 for _ in range(200)], 0.05)
    # Bursts of exactly four.
    fixed = np.tile(np.repeat([False, True], [40, 4]), 200)
    assert test_of(fixed).p < 1e-6


def test_the_likelihood_is_that_of_the_forward_algorithm():
    random = np.random.default_rng(12)
    for loss_good, loss_bad in [(0.01, 0.7), (0.3, 0.9), (0.0, 1.0)]:
        p, q = 0.1, 0.3
        lost = chain(random, 500, p, q, loss_good, loss_bad)
        steps = np.array([[1 - p, p], [q, 1 - q]])
        state, expected = np.array([q, p]) / (p + q), 0.0
        for one in lost:
            loss = np.array([loss_good, loss_bad])
            state = state @ steps * (loss if one else 1 - loss)
            expected += math.log(state.sum())
            state /= state.sum()
        found = log_likelihood(Runs.of(lost), p, q, loss_good, loss_bad)
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lost", [[0, 1, 0], [0, 1] * 500, [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0]])
def test_probabilities_at_their_bounds_and_unbounded_intervals_do_not_warn(lost):
    (fit,) = airpath.fit(lost)
    assert 0 < fit.gilbert.mean_loss.value < 1


@pytest.mark.filterwarnings("error")
def test_an_interval_that_the_sequence_does_not_bound_reaches_from_0_to_1():
    (fit,) = airpath.fit(np.random.default_rng(3).random(300) < 0.05)
    assert (fit.general.loss_good.low, fit.general.loss_good.high) == (0, 1)
