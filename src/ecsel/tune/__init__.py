"""The paper's hyperparameter searches with Optuna (extra ``tune``): its three spaces, resumable, deterministic."""

from ecsel.tune.search import Search, search
from ecsel.tune.spaces import SPACES, Space

__all__ = ["SPACES", "Search", "Space", "search"]
