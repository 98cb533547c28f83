"""Environments for learned congestion control, after Gymnasium's interface, simulated packet by packet.

>>> import gymnasium
>>> import airpath.learning
>>> env = gymnasium.make("airpath/Bottleneck-v0", link="lte.down")
>>> envs = gymnasium.make_vec("airpath/Bottleneck-v0", num_envs=64, link="lte.down")

It needs Gymnasium: `pip install airpath[rl]`.
"""

from importlib.util import find_spec

if find_spec("gymnasium") is None:
    raise ModuleNotFoundError(
        "airpath.learning needs gymnasium, which is not installed; install it with: pip install airpath[rl]",
        name="gymnasium",
    )

import gymnasium

from airpath.learning.actions import ACTIONS, ActionKind
from airpath.learning.environment import BottleneckEnv
from airpath.learning.evaluation import evaluate
from airpath.learning.observations import FEATURES, PRIVILEGED_FEATURES, Feature
from airpath.learning.quantities import PRIVILEGED, QUANTITIES, SENDER
from airpath.learning.rewards import Reward, RewardFunction
from airpath.learning.vector import BottleneckVectorEnv

__all__ = [
    "ACTIONS",
    "ENVIRONMENT",
    "FEATURES",
    "PRIVILEGED",
    "PRIVILEGED_FEATURES",
    "QUANTITIES",
    "SENDER",
    "ActionKind",
    "BottleneckEnv",
    "BottleneckVectorEnv",
    "Feature",
    "Reward",
    "RewardFunction",
    "evaluate",
]

ENVIRONMENT = "airpath/Bottleneck-v0"
"""The name under which Gymnasium makes it; importing this package registers it."""

if ENVIRONMENT not in gymnasium.registry:
    gymnasium.register(
        id=ENVIRONMENT,
        entry_point="airpath.learning.environment:BottleneckEnv",
        vector_entry_point="airpath.learning.vector:BottleneckVectorEnv",
    )
