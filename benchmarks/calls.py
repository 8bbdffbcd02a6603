"""What a big target is asked within its budget, and in how many calls: python benchmarks/calls.py

For a few sets of keywords at default settings, with the best installed model as the target: how many candidates passed
the word model's screen, how many of them the chain had read before and how many another one had; how many calls of the
big model the others took, and how many they take if steps are not made ahead. Writes benchmarks/results/calls.json.
"""

import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

import cgmh
from cgmh.models.load import load_models
from cgmh.models.pull.store import installed_big
from cgmh.models.word.two_stage import TwoStageModel
from cgmh.sampling import ahead, runs

SETS = (("snow", "mountain"), ("dog", "frisbee", "catch"), ("letter", "friend"), ("teacher", "book", "student"))
FINISH = TwoStageModel.finish


class Asked:
    """A big model that keeps prefixes, and counts how it is asked."""

    def __init__(self, model: Any) -> None:
        self._model, self.name, self.calls, self.texts, self.seconds = model, model.name, 0, 0, 0.0

    def after(self, context: Sequence[str]) -> "Asked":
        return self

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        return self._model.log_prob(texts)

    def begin(self, texts: Sequence[str]) -> Any:
        return self._count(texts, lambda: self._model.begin(texts))

    def extend(self, cache: Any, rows: Tensor, texts: Sequence[str]) -> Any:
        return self._count(texts, lambda: self._model.extend(cache, rows, texts))

    def keep(self, cache: Any, pending: Any, accepted: Tensor) -> None:
        self._model.keep(cache, pending, accepted)

    def _count(self, texts: Sequence[str], ask: Any) -> Any:
        self.calls, self.texts = self.calls + 1, self.texts + len(texts)
        began = time.perf_counter()
        answer = ask()
        self.seconds += time.perf_counter() - began
        return answer


def main() -> None:
    name = installed_big()
    if name is None:
        raise SystemExit("no big model is installed; run: cgmh models pull smollm2")
    big = load_models(big=name, use="target").after(cgmh.KeywordInput.defaults.context).text
    passed: Counter[tuple[int, tuple[int, ...]]] = Counter()

    def finish(self: TwoStageModel, encoding: Any, pending: Any, keep: Tensor) -> Tensor:
        kept = keep.nonzero()[:, 0]
        passed.update(
            zip(pending.rows[kept].tolist(), map(tuple, pending.sentences.select(kept).to_lists()), strict=True)
        )
        return FINISH(self, encoding, pending, keep)

    TwoStageModel.finish = finish  # type: ignore[method-assign]
    runs.num_cores = lambda: 1  # one shard: a row is a chain
    rows, signature = [], ""
    for words in SETS:
        row: dict[str, Any] = {"keywords": " ".join(words)}
        for most in (1, ahead.MOST_AHEAD):
            before, ahead.MOST_AHEAD = ahead.MOST_AHEAD, most
            asked = Asked(big)
            passed.clear()
            signature = cgmh.keywords(words, big=asked).signature
            ahead.MOST_AHEAD = before
            row |= {"passed": passed.total(), "again": passed.total() - len(passed)}
            row["of another chain"] = len(passed) - len({ids for _, ids in passed})
            row |= {f"calls, {most} ahead": asked.calls, "readings": asked.texts}
            row[f"ms a reading, {most} ahead"] = round(1000 * asked.seconds / asked.texts, 1)
        rows.append(row)
        print(" | ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    print(signature)
    out = Path(__file__).parent / "results" / "calls.json"
    out.write_text(json.dumps({"signature": signature, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
