"""Where chains start. That is free: it changes how soon a chain is good, not what it converges to."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ..draws import Draws, Seed, seeds_of
from ..errors import InfeasibleStart
from ..models.protocols import TextModel, WordModel
from ..ranking import Ranked
from ..sampling.runs import Record, num_workers
from ..sampling.shards import Tick, is_own, share_out
from ..selection import LENGTH_OFFSET, Visit, choose, visited, visits_of
from ..target import Target
from ..text.sentences import MAX_READ, Sentences, rows_within
from .problem import Standing

MAX_IN_COMMON = 0.5  # the share of common words beyond which two starts count as the same
PATIENCE = 120  # rounds of growing after which the constraints are taken to be too tight


def repeated(sentences: Sequence[Sequence[int]], chains: int, capacity: int, device: torch.device) -> Sentences:
    """Starts of `chains` chains at the sentence of each input, side by side."""
    owners = torch.arange(len(sentences)).repeat_interleave(chains)
    return Sentences.from_lists([ids for ids in sentences for _ in range(chains)], capacity, owners, device=device)


def standing_start(standing: Sequence[Standing], capacity: int, device: torch.device) -> Sentences:
    """The chains of each input where they stand, side by side."""
    rows = [(number, ids) for number, input in enumerate(standing) for ids in input.sentences]
    return Sentences.from_lists([ids for _, ids in rows], capacity, [number for number, _ in rows], device=device)


def grow(allowed: Target, target: Target, sentences: Sentences, rounds: int, seed: Seed, chains: Tensor) -> Sentences:
    """Insert words from the fill head at random slots: `rounds` of them, then on until the target is possible.

    Every sentence on the way satisfies `allowed`, which is the target without its lower bound on length.
    """

    def grow_shard(rows: Tensor, _: Tick) -> Sentences:
        names = chains.to(rows.device)[rows]
        return _grown(allowed, target, sentences.select(rows), rounds, seeds_of(seed, rows), names)

    workers = num_workers(len(sentences), sentences.device)
    shares = torch.arange(len(sentences), device=sentences.device).chunk(workers)
    forks = workers > 1 and is_own((allowed, target))
    grown = Sentences.concatenate(share_out(grow_shard, shares, workers, forks=forks))
    failed = grown.inputs[~target.possible(grown)].tolist()
    if failed:
        raise InfeasibleStart("no sentence was found that satisfies all constraints; loosen them", failed)
    return grown


def _grown(allowed: Target, target: Target, sentences: Sentences, rounds: int, seed: Seed, chains: Tensor) -> Sentences:
    """The sentences when the target is possible for all of them, or patience has run out."""
    rows = torch.arange(len(sentences), device=sentences.device)
    parts = torch.split(rows, rows_within(MAX_READ, sentences.capacity, sentences.device))
    for number in range(rounds + PATIENCE):
        wanted = ~target.possible(sentences) | (number < rounds)
        if not bool(wanted.any()):
            break
        draws = Draws(seed, chains, torch.full_like(chains, -2 - number))
        slot = draws.integer(sentences.lengths, "at")  # never after the last word
        filled = (_filled(allowed.model, sentences.select(part), slot[part], draws.select(part)) for part in parts)
        longer = sentences.insert(slot, torch.cat(list(filled)))
        sentences = longer.where(wanted & allowed.possible(longer), sentences)
    return sentences


def _filled(model: WordModel, sentences: Sentences, slot: Tensor, draws: Draws) -> Tensor:
    """[B]: a word of the fill head for a slot of each sentence."""
    rows = torch.arange(len(sentences), device=sentences.device)
    return model.fill(model.encode(sentences), rows, slot, slot).choose(draws)


def obeying_start(start: Sentences, own: Target, record: Record, chains: int) -> Sentences:
    """The start, with the rows that `own` rules out replaced by sentences that some chain of the input came to.

    `record` is of chains that walked under all other hard constraints; `own` is a target of those that the start
    breaks. There are `chains` rows for each input.
    """
    rows, bad, failed = start.to_lists(), ~own.possible(start), []
    for input in sorted(set(start.inputs[bad].tolist())):
        part = record.of(input)
        columns = zip(*(part.steps[name].tolist() for name in ("changed", "step", "chain")), strict=True)
        walked = sorted((step, chain, at) for at, (changed, step, chain) in enumerate(columns) if changed)
        order = torch.tensor([at for _, _, at in walked], dtype=torch.int64)
        visited = part.proposed.select(order).to(start.device)
        obeying = visited.select(own.possible(visited).nonzero()[:, 0]).to_lists() if len(visited) else []
        if not obeying:  # some starts may
            obeying = [rows[row] for row in (~bad & (start.inputs == input)).nonzero()[:, 0].tolist()]
        if not obeying:
            failed.append(input)
            continue
        for row in (bad & (start.inputs == input)).nonzero()[:, 0].tolist():
            rows[row] = obeying[row % chains % len(obeying)]
    if failed:
        broken = " and ".join(own.broken(start))
        raise InfeasibleStart(f"no sentence was found that satisfies {broken}; loosen it, or make it soft", failed)
    return Sentences.from_lists(rows, start.capacity, start.inputs, start.device)


def promising_starts(start: Sentences, settled: Record, report: Ranked, number: int) -> Sentences:
    """For each input, `number` sentences that its settled chains came to: those that read best and differ clearly.

    They are chosen as answers are, by the word model alone. Where the chains came to fewer sentences than that, some
    are taken again.
    """
    rows, inputs = list[tuple[int, ...]](), sorted(set(start.inputs.tolist()))
    with torch.inference_mode():
        for input in inputs:
            own, part = start.select((start.inputs == input).nonzero()[:, 0]), settled.of(input)
            visits, final = visited(part)
            visits += visits_of(own, part.starts, part.starts["clock"])
            visits.sort(key=lambda visit: (visit.chain, visit.clock))  # whatever the shards were

            def fitness(pool: Sequence[Visit], input: int = input) -> list[float]:
                ids = [visit.ids for visit in pool]
                return report.rated(Sentences.from_lists(ids, max(map(len, ids)) + 1, [input] * len(ids)))

            found = choose("best", visits, final, fitness, number, MAX_IN_COMMON, report.given(input))
            rows += [found[at % len(found)].ids for at in range(number)]
    owners = torch.tensor(inputs).repeat_interleave(number)
    return Sentences.from_lists(rows, start.capacity, owners, device=start.device)


def with_written(
    start: Sentences, written: Sequence[Sequence[Sequence[int]]], asked: Target, report: Ranked, reader: TextModel
) -> Sentences:
    """The starts; up to half of those of an input, or one, give way to the best of what was `written` and is possible.

    They are ranked as answers are that a big model only reads; it will be the target. What comes last gives way.
    """
    rows, owners = start.to_lists(), start.inputs.tolist()
    with torch.inference_mode():
        for input, sentences in enumerate(written):
            if not sentences:
                continue
            batch = Sentences.from_lists(sentences, start.capacity, [input] * len(sentences), device=start.device)
            batch = batch.select(asked.possible(batch).nonzero()[:, 0]).to(torch.device("cpu"))
            if not len(batch):
                continue
            rated = dict(zip(map(tuple, batch.to_lists()), report.rated(batch, reader), strict=True))
            visits = [Visit(ids, value * (len(ids) + LENGTH_OFFSET), 0.0, 0) for ids, value in rated.items()]
            places = [at for at, owner in enumerate(owners) if owner == input]

            def fitness(pool: Sequence[Visit], rated: dict[tuple[int, ...], float] = rated) -> list[float]:
                return [rated[visit.ids] for visit in pool]

            most = max(1, len(places) // 2)
            best = choose("best", visits, [], fitness, most, MAX_IN_COMMON, report.given(input))
            for at, visit in zip(reversed(places), best, strict=False):
                rows[at] = list(visit.ids)
    return Sentences.from_lists(rows, start.capacity, start.inputs, start.device)
