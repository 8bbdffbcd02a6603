"""Chains: the ratio, the step, the temperature, the iterator, and what they leave behind."""

from .chain import sample
from .diagnostics import ess, split_rhat
from .kernel import Info, Kernel, State
from .schedule import Annealing, Constant, Schedule
from .trace import Tally, Trace

__all__ = [
    "Annealing",
    "Constant",
    "Info",
    "Kernel",
    "Schedule",
    "State",
    "Tally",
    "Trace",
    "ess",
    "sample",
    "split_rhat",
]
