"""The only source of chance: numbers keyed by (seed, chain, step, site), the same in any batch, order or machine."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import torch
from torch import Tensor


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


Seed = int | Tensor  # one for all, or one for each: of the chains [B], or of the sources of a problem

_GOLDEN = _signed(0x9E3779B97F4A7C15)
_FIRST = _signed(0xBF58476D1CE4E5B9)
_SECOND = _signed(0x94D049BB133111EB)

# Every site the package draws from; one step computes them together. A site that is not listed costs a call of its own.
SITES = (
    "component", "move", "at", "floor", "floor word", "class", "word", "gibbs", "swap blocks", "swap at",
    "group", "group at", "alternative", "screen", "accept",
)  # fmt: skip
ROWS_OF_WEIGHTS = 256  # whose columns are chosen together on a CPU: the sums of more do not stay in its cache
ROUND = "round"  # a site at which all chains of a seed draw the same number in the same step
_PLACES = {site: place for place, site in enumerate((*SITES, ROUND))}


def _mix(z: Tensor) -> Tensor:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014); the masks make the shifts logical."""
    z = (z ^ ((z >> 30) & ((1 << 34) - 1))) * _FIRST
    z = (z ^ ((z >> 27) & ((1 << 37) - 1))) * _SECOND
    return z ^ ((z >> 31) & ((1 << 33) - 1))


def _unit(z: Tensor) -> Tensor:
    """The upper 51 bits as a number strictly between 0 and 1; times any total it stays below it in floating point."""
    return (((z >> 13) & ((1 << 51) - 1)).to(torch.float64) + 0.5) * 2.0**-51


@lru_cache(maxsize=4096)
def _site_key(site: str) -> int:
    return int.from_bytes(blake2b(site.encode(), digest_size=8).digest(), "big", signed=True)


@lru_cache(maxsize=16)
def _site_keys(device: torch.device) -> Tensor:
    return torch.tensor([_site_key(site) for site in SITES], dtype=torch.int64, device=device)[:, None]  # [S,1]


def _by_site(keys: Tensor) -> Tensor:
    """[...,S,B]: a key for each listed site, of keys [...,2,B]."""
    own = keys[..., :1, :] + _site_keys(keys.device)
    return torch.cat([own, keys[..., 1:, :] + _site_key(ROUND)], -2)


def seed_of_each(seeds: Sequence[int]) -> Seed:
    """The seed of all sources, or one for each where they differ."""
    return seeds[0] if len(set(seeds)) == 1 else torch.tensor(seeds, dtype=torch.int64)


def seeds_of(seed: Seed, rows: Tensor) -> Seed:
    """The seed of some rows."""
    return seed if isinstance(seed, int) else seed.to(rows.device)[rows]


def seeds_of_chains(seed: Seed, chains: int) -> Seed:
    """The seed of each chain, of sources that have so many chains each, side by side."""
    return seed if isinstance(seed, int) else seed.repeat_interleave(chains)


class Draws:
    """The random decisions of B chains, each at a step of its own.

    A chain's numbers depend on its own seed, chain and step only, never on the rows beside it. `site` names are
    unique within a step.
    """

    def __init__(self, seed: Seed, chains: Tensor, steps: Tensor) -> None:
        """`seed` is one for all chains, or one for each [B]."""
        doubled = seed * 2 + 1 if isinstance(seed, Tensor) else torch.full_like(chains, _signed(seed * 2 + 1))
        # [2,B]: of the chain, and of what all chains share, which draws as a chain that nobody is, number -1
        self.chain_keys = _mix(_mix(doubled) + torch.stack([chains, torch.full_like(chains, -1)]) * _GOLDEN)
        self.keys = _mix(self.chain_keys + steps * _GOLDEN)  # [2,B]
        self.block: Tensor | None = None  # [S,B]: every listed site

    def _with(self, chain_keys: Tensor, keys: Tensor, block: Tensor | None) -> "Draws":
        draws = Draws.__new__(Draws)
        draws.chain_keys, draws.keys, draws.block = chain_keys, keys, block
        return draws

    def ahead(self, steps: Tensor, number: int) -> list["Draws"]:
        """The draws of the same chains at `steps` [B] and the steps after them, computed together."""
        offset = torch.arange(number, device=steps.device)[:, None, None]
        keys = _mix(self.chain_keys + (steps + offset) * _GOLDEN)  # [T,2,B]
        blocks = _unit(_mix(_by_site(keys)))  # [T,S,B]
        return [self._with(self.chain_keys, keys[t], blocks[t]) for t in range(number)]

    def select(self, rows: Tensor) -> "Draws":
        """The draws of some rows."""
        block = self.block if self.block is None else self.block.index_select(1, rows)
        return self._with(self.chain_keys.index_select(1, rows), self.keys.index_select(1, rows), block)

    def again(self, number: int) -> "Draws":
        """Draws of their own for a part of a step that draws from the same sites again; `number` tells the parts."""
        return self._with(self.chain_keys, _mix(self.keys + _site_key(f"again {number}")), None)

    def uniform(self, site: str) -> Tensor:
        """[B] float64, uniform strictly between 0 and 1."""
        if site not in _PLACES:
            return _unit(_mix(self.keys[0] + _site_key(site)))
        if self.block is None:
            self.block = _unit(_mix(_by_site(self.keys)))
        return self.block[_PLACES[site]]

    def choose(self, log_weights: Tensor, site: str) -> Tensor:
        """[B]: a column of log_weights [B,K] with probability proportional to its exponential; never one of -inf.

        Of fewer rows [B/T,K], each is that of T draws side by side.
        """
        uniform = self.uniform(site).view(len(log_weights), -1 if len(log_weights) else 1)  # [B/T,T]
        if log_weights.is_cuda or len(log_weights) <= ROWS_OF_WEIGHTS:
            return _chosen(log_weights, uniform)
        parts = zip(torch.split(log_weights, ROWS_OF_WEIGHTS), torch.split(uniform, ROWS_OF_WEIGHTS), strict=True)
        return torch.cat([_chosen(*part) for part in parts])

    def integer(self, high: Tensor, site: str) -> Tensor:
        """[B]: uniform on 0 .. high-1."""
        return (self.uniform(site) * high).to(torch.int64)

    def accept(self, log_ratio: Tensor, site: str) -> Tensor:
        """[B] bool: true with probability min(1, exp(log_ratio)); never for -inf or nan."""
        return self.uniform(site).log() < log_ratio


def _chosen(log_weights: Tensor, uniform: Tensor) -> Tensor:
    """[N·T]: the columns of log_weights [N,K] that numbers [N,T] between 0 and 1 come to; 0 where all are -inf."""
    sums = (log_weights - log_weights.amax(-1, keepdim=True)).to(torch.float64).exp_().cumsum(-1)  # [N,K]
    whole = sums[:, -1:]  # [N,1]
    return torch.searchsorted(sums, uniform * whole, right=True).masked_fill_(whole.isnan(), 0).flatten()
