"""The paper's target and candidates for a correction."""

import math

import torch

from cgmh.constraints import Constraint
from cgmh.draws import Draws
from cgmh.models.load import load_embedded
from cgmh.models.meaning import load_meaning
from cgmh.proposals import Alternatives, WordEdits
from cgmh.proposals.protocols import View
from cgmh.tasks.correct.paper import matches_source, paper_moves
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from typed import read_sources

torch.set_num_threads(1)

TEXTS = ("she go to schol .", "the price is high .")


def batch(lexicon: Lexicon, number: int, *texts: str) -> Sentences:
    rows = [[lexicon.add(word) for word in text.split()] for text in texts]
    return Sentences.from_lists(rows, 8, [number] * len(rows))


def test_a_sentence_matches_as_its_worst_word_does() -> None:
    """By hand: the largest cosine of the new word with a word of the source; every other word has 1."""
    sources, lexicon = read_sources(*TEXTS)
    matches: Constraint = matches_source(sources, lexicon)
    assert not matches.hard
    meaning = load_meaning()
    own = meaning.vectors[meaning.rows(["the", "price", "is", "high"])]
    cosines = {word: float((own @ meaning.vectors[meaning.rows([word])][0]).max()) for word in ("low", "prices")}
    assert 0.01 < cosines["low"] < cosines["prices"] < 1
    factors = matches.log_factor(batch(lexicon, 1, "the price is high .", "the price is low .", "the prices is high ."))
    wanted = [0.0, math.log(cosines["low"]), math.log(cosines["prices"])]
    assert torch.allclose(factors, torch.tensor(wanted, dtype=factors.dtype), atol=1e-2)


def test_each_input_matches_its_own_source() -> None:
    sources, lexicon = read_sources(*TEXTS)
    matches = matches_source(sources, lexicon)
    first, second = (float(matches.log_factor(batch(lexicon, number, TEXTS[1]))) for number in range(2))
    assert first < second - 0.1


def test_candidates_are_words_of_similar_spelling_or_the_same_root() -> None:
    sources, lexicon = read_sources(*TEXTS)
    model = load_embedded().bound(lexicon)
    mixture = paper_moves(sources, lexicon, [], model)
    edits, alternatives = mixture._components
    assert isinstance(edits, WordEdits)
    assert isinstance(alternatives, Alternatives)
    num = 400
    start = Sentences.from_lists([sources[0].ids] * num, 8)
    view = View(start, None, torch.arange(num), torch.ones(num))
    candidate = alternatives.propose(Draws(0, torch.arange(num), torch.zeros(num, dtype=torch.int64)), view)
    new = {
        (lexicon.word(old), lexicon.word(ids[at]))
        for at, ids, old in zip(
            candidate.at.tolist(), candidate.sentences.to_lists(), start.word_at(candidate.at).tolist(), strict=True
        )
    }
    assert {("go", "goes"), ("go", "went"), ("schol", "school")} <= new
    kinds = {
        (source_word, confusion.words[0]): confusion.kind
        for source_word, meant in zip(sources[0].words, sources[0].meant, strict=True)
        for confusion in meant
    }
    assert {kinds[pair] for pair in new} <= {"spelling", "real word", "agreement", "number", "tense", "inflection"}
