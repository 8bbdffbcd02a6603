"""Chains: the ratio, the step, the temperature, the iterators, and what they leave behind."""

from ..target import Target
from .chain import Annealing, Constant, Schedule, sample
from .kernel import Info, Kernel, State
from .tempering import Exchanges, Ladder, Replicas, TemperedInfo, TemperedKernel, tempered
from .trace import Trace, ess, split_rhat

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
    "Target",
    "TemperedInfo",
    "TemperedKernel",
    "Trace",
    "ess",
    "sample",
    "split_rhat",
    "tempered",
]
