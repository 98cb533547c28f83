"""The example of a training makes progress."""

import numpy as np
import train_policy

from airpath.learning import FEATURES, BottleneckVectorEnv


def policy(**weights):
    """Return a policy of these weights, with all others zero."""
    names = [*(feature.name for feature in FEATURES), "b"]
    return np.array([weights.get(name, 0.0) for name in names])


def test_a_window_near_the_bandwidth_delay_product_is_worth_more_than_full_buffers():
    sensible, greedy, idle = policy(window_over_bdp=-3.0, b=0.3), policy(b=0.5), policy(b=-0.5)
    envs = BottleneckVectorEnv(6, autoreset_mode="Disabled", **train_policy.TRAINING)
    worth = train_policy.returns(envs, np.stack([sensible, greedy, idle]), [1, 2])
    assert worth[0] > worth[1]
    assert worth[0] > worth[2]


def test_actions_are_those_of_each_row():
    observations = np.eye(3, len(FEATURES), dtype=np.float32)
    weights = np.stack([policy(delivery_rate=0.5), policy(sending_rate=-1.0), policy(b=2.0)])
    assert np.allclose(train_policy.actions(weights, observations), np.tanh([0.5, -1.0, 2.0]))
    assert np.allclose(train_policy.actions(weights[2], observations), np.tanh([2.0, 2.0, 2.0]))
