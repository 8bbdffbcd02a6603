"""The n-gram judge, against hand-worked numbers and a slow one written from the formula."""

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cgmh.errors import BadInput, BadModel
from cgmh.evaluation.judges import SPECIALS, NgramJudge, discounts

FALLBACK = (0.0, 0.5, 1.0, 1.5)


def probabilities(judge: NgramJudge, context: str) -> list[float]:
    """p(w | context) for every word, the end and the unknown, read through `log_probs`."""
    words = [*judge.words[len(SPECIALS) :], "zzz"]
    at = len(context.split())
    log_probs = [judge.log_probs([f"{context} {word}"])[0][at] for word in words]
    return [*np.exp(log_probs), math.exp(judge.log_probs([context])[0][-1])]


def test_discounts_follow_the_counts_of_counts() -> None:
    counts = np.array([1, 1, 1, 1, 2, 2, 3, 4, 9])  # n1..n4 = 4, 2, 1, 1, so Y = 4 / (4 + 2 * 2) = 1/2
    assert discounts(counts) == pytest.approx([0, 1 - 2 * 0.5 * 2 / 4, 2 - 3 * 0.5 * 1 / 2, 3 - 4 * 0.5 * 1 / 1])


@pytest.mark.parametrize("counts", [[5, 5], [1, 1, 2], [1, 2, 3, 4, 4, 4, 4]])
def test_discounts_stay_sane_without_evidence(counts: list[int]) -> None:
    assert discounts(np.array(counts)) == pytest.approx(FALLBACK)


def test_bigrams_by_hand() -> None:
    # Sentences <s> a b </s>, twice, and <s> a c </s>. Too few counts of counts: the discounts are 1/2, 1, 3/2.
    judge = NgramJudge.train(["a b", "A b", "a c"], cutoffs=(0, 0))
    # Distinct left neighbours: a 1 (<s>), b 1 (a), c 1 (a), </s> 2 (b, c); 5 together.
    # Shares: (1 - 1/2)/5 three times and (2 - 1)/5; 1/2 is left for the five words a, b, c, </s>, <unk>.
    a = b = c = 0.1 + 0.1
    end = 0.2 + 0.1
    # After <s>: a three times, share (3 - 3/2)/3, left 1/2. After a: b twice (2 - 1)/3, c once (1 - 1/2)/3, left 1/2.
    # After b: </s> twice, (2 - 1)/2, left 1/2.
    expected = [0.5 + 0.5 * a, 1 / 3 + 0.5 * b, 0.5 + 0.5 * end]
    assert np.exp(judge.log_probs(["a b"])[0]) == pytest.approx(expected)
    # After c: </s> once, (1 - 1/2)/1, left 1/2. After <s>, b is new. Nothing follows <unk>: unigrams.
    assert np.exp(judge.log_probs(["a c"])[0]) == pytest.approx([0.6, 1 / 6 + 0.5 * c, 0.5 + 0.5 * end])
    assert np.exp(judge.log_probs(["b zzz"])[0]) == pytest.approx([0.5 * b, 0.5 * 0.1, end])
    assert judge.nll(["a b"])[0] == pytest.approx(-np.log(expected).mean())


CORPUS = [
    " ".join(random.Random(seed).choices("the dog saw a cat and it ran off , then".split(), k=4 + seed % 9))
    for seed in range(300)
]


def slow(order: int, words: Sequence[str]) -> dict[tuple[str, ...], dict[str, float]]:
    """p(w|h) for every context h of the corpus, by the formula, without a thought for speed."""
    sentences = [["<s>", *line.split(), "</s>"] for line in CORPUS]
    grams = {
        n: Counter(tuple(s[at : at + n]) for s in sentences for at in range(len(s) - n + 1))
        for n in range(1, order + 1)
    }
    adjusted = dict(grams)
    for n in range(1, order):
        left = Counter(gram[1:] for gram in grams[n + 1])
        adjusted[n] = Counter({gram: c if gram[0] == "<s>" else left[gram] for gram, c in grams[n].items()})
    del adjusted[1][("<s>",)]
    predictable = [word for word in words if word != "<s>"]
    table: dict[tuple[str, ...], dict[str, float]] = {}
    for n in range(1, order + 1):
        discount = discounts(np.array(list(adjusted[n].values())))
        following: defaultdict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
        for gram, count in adjusted[n].items():
            following[gram[:-1]][gram[-1]] = count
        for context, counts in following.items():
            total = sum(counts.values())
            gamma = sum(discount[min(c, 3)] for c in counts.values()) / total
            table[context] = {
                word: (counts.get(word, 0) - discount[min(counts.get(word, 0), 3)]) / total
                + gamma * (table[context[1:]][word] if context else 1 / len(predictable))
                for word in predictable
            }
    return table


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_judge_equals_the_formula(order: int) -> None:
    judge = NgramJudge.train(CORPUS, cutoffs=(0,) * order)
    table = slow(order, judge.words)
    for line in ["the dog saw a cat", "cat cat cat cat cat cat", "off , then the dog and it", "it", CORPUS[3]]:
        tokens = ["<s>", *line.split(), "</s>"]
        expected = []
        for at in range(1, len(tokens)):
            context = tuple(tokens[max(0, at - order + 1) : at])
            while context not in table:
                context = context[1:]
            expected.append(table[context][tokens[at]])
        assert np.exp(judge.log_probs([line])[0]) == pytest.approx(expected)


@pytest.mark.parametrize("cutoffs", [(0, 0, 0, 0, 0), (0, 0, 0, 1, 1), (0, 1, 2, 3, 4), (0, 99, 999, 999, 999)])
@pytest.mark.parametrize("context", ["", "the", "the dog", "zzz the", "cat saw a dog and it ran", CORPUS[5]])
def test_probabilities_sum_to_one(cutoffs: tuple[int, ...], context: str) -> None:
    judge = NgramJudge.train(CORPUS, num_words=9, cutoffs=cutoffs)
    assert len(judge.words) == 9 + len(SPECIALS)
    values = probabilities(judge, context)
    assert sum(values) == pytest.approx(1)
    assert min(values) > 0


def test_a_text_in_a_batch_scores_as_it_does_alone() -> None:
    judge = NgramJudge.train(CORPUS)
    texts = [*CORPUS[:5], "", "unheard of"]
    assert judge.nll(texts) == pytest.approx([judge.nll([text])[0] for text in texts])
    tokens = sum(len(log) for log in judge.log_probs(texts))
    total = sum(log.sum() for log in judge.log_probs(texts))
    assert judge.perplexity(texts) == pytest.approx(math.exp(-total / tokens))
    assert judge.nll([]).shape == (0,)


def test_the_judge_prefers_what_it_has_read() -> None:
    judge = NgramJudge.train(["The dog saw the cat."] * 3 + ["A cat ran."])
    assert judge.nll(["The dog saw the cat."])[0] < judge.nll(["Cat the saw dog the."])[0]
    assert judge.nll(["THE DOG saw the cat ."])[0] == judge.nll(["the dog saw the cat."])[0]
    assert judge.unknown_rate(["the zebra"]) == 0.5
    assert judge.unknown_rate([]) == 0


def test_a_saved_judge_gives_the_same_scores(tmp_path: Path) -> None:
    judge = NgramJudge.train(CORPUS)
    judge.save(tmp_path / "judge")
    loaded = NgramJudge.load(tmp_path / "judge")
    assert loaded.nll(CORPUS[:20]) == pytest.approx(judge.nll(CORPUS[:20]), rel=1e-6)
    assert loaded.signature == judge.signature
    assert judge.signature.startswith("judge:modified-kneser-ney|order:5|ngrams:14-")


def test_what_is_no_judge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="not a judge"):
        NgramJudge.load(tmp_path)
    NgramJudge.train(CORPUS).save(tmp_path)
    (tmp_path / "words.json").write_text(json.dumps(["a"]))
    with pytest.raises(BadModel, match="belong together"):
        NgramJudge.load(tmp_path)
    np.savez(tmp_path / "ngrams.npz", shares1=np.array([{}], object))
    with pytest.raises(BadModel, match="not a judge"):
        NgramJudge.load(tmp_path)
    (tmp_path / "ngrams.npz").write_bytes(b"PK")
    with pytest.raises(BadModel, match="not a judge"):
        NgramJudge.load(tmp_path)


@pytest.mark.parametrize("cutoffs", [(), (1, 1, 1, 1, 1), (0, 2, 1, 1, 1)])
def test_bad_cutoffs_are_refused(cutoffs: tuple[int, ...]) -> None:
    with pytest.raises(BadInput, match="cutoffs"):
        NgramJudge.train(CORPUS, cutoffs=cutoffs)


def test_nothing_to_read_is_refused() -> None:
    with pytest.raises(BadInput, match="at least one"):
        NgramJudge.train(["", " "])
    with pytest.raises(BadInput, match="at least one"):
        NgramJudge.train(CORPUS).perplexity([])
