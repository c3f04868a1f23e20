"""Allot from Python: the engine, and adapters for trainers beside it.

>>> engine = allot.Engine("stdlib/dynamic_sampling.allot", slots=2, group_size=4)
>>> orders = engine.begin_iteration(0, ["p0", "p1", "p2", "p3"])
"""

from ._allot import (Client, Decider, Engine, Error, GroupResult, IterationReport, Orders, PoolPrompt, RolloutRef, Server,
                     Shaped, Start, SwapReport, TokenLoss, __version__, connect, largest_group, policy_text)

__all__ = ["Client", "Decider", "Engine", "Error", "GroupResult", "IterationReport", "Orders", "PoolPrompt", "RolloutRef",
           "Server", "Shaped", "Start", "SwapReport", "TokenLoss", "__version__", "connect", "largest_group", "policy_text"]
