"""The headlines of the end-to-end papers in a few runs: any change of them shows at once.

Bounds are nearer to the results than to the values of the papers; the figures evaluate those over many runs.
"""

import numpy as np

from airpath_papers.ebe_j import cubic
from airpath_papers.experiment import Experiment
from airpath_papers.gm import varying
from airpath_papers.sarbe import goodput, wireless
from airpath_papers.sarbe.paper import SARBE, WESTWOOD, WESTWOOD_PLUS
from airpath_papers.store import RunStore
from airpath_papers.work import do_runs, missing_runs, read_runs


def runs_of(tmp_path, experiments: dict[str, Experiment]):
    store = RunStore(tmp_path / "runs")
    do_runs(missing_runs(experiments.values(), store), store, 2, lambda _share: None)
    return lambda label: read_runs(experiments[label], store)


def test_cubic_ebe_catches_up_in_half_the_time_and_uses_more(tmp_path):
    of = runs_of(tmp_path, cubic.pair("ebe-cubic-o", 2))
    assert cubic.ratio(of, cubic.catch_up_s).mean < 0.5
    assert min(cubic.gain(of, cubic.second_half).values) > 0.05
    # A result against EBE: it drops more.
    assert min(cubic.gain(of, cubic.losses).values) > 0


def test_the_threshold_of_westwood_is_above_that_of_reno_however_both_are_counted(tmp_path):
    choices = varying.FIG10.experiments
    labels = varying.RENO_WITHOUT, varying.RENO_WITH, varying.WITHOUT, varying.WITH

    def ratios(choice):
        of = runs_of(tmp_path, {label: choices[choice][label].repeated(1) for label in labels})
        return [
            varying._ratio(of, *pair).mean
            for pair in (
                (varying.WITHOUT, varying.RENO_WITHOUT),
                (varying.WITH, varying.RENO_WITH),
            )
        ]

    rounded, exact = ratios(varying.SMALL_BUFFER), ratios(varying.NOT_ROUNDED)
    for without, with_reverse in (rounded, exact):
        assert varying.LARGER < without < 1.06
        assert with_reverse > 1.05


def test_sarbe_is_not_below_westwood_and_above_westwood_plus(tmp_path):
    few = wireless.at_losses(
        "sarbe-wireless", (WESTWOOD, WESTWOOD_PLUS, SARBE), 4, {"duration": "60s"}, (wireless.ONE_PERCENT,)
    )
    of = runs_of(tmp_path, few)
    assert np.mean(goodput._gains(of, WESTWOOD)) >= -1
    assert 4 < np.mean(goodput._gains(of, WESTWOOD_PLUS)) < 14
