"""Chains: the ratio, the step, the temperature, the iterators, and what they leave behind."""

from .chain import sample
from .diagnostics import ess, split_rhat
from .kernel import Info, Kernel, State
from .schedule import Annealing, Constant, Schedule
from .tempering import Exchanges, Ladder, Replicas, TemperedInfo, TemperedKernel, tempered
from .trace import Tally, Trace

__all__ = [
    "Annealing",
    "Constant",
    "Exchanges",
    "Info",
    "Kernel",
    "Ladder",
    "Replicas",
    "Schedule",
    "State",
    "Tally",
    "TemperedInfo",
    "TemperedKernel",
    "Trace",
    "ess",
    "sample",
    "split_rhat",
    "tempered",
]
