"""Chains that start at rewrites of their sources, and answers that are known to say the same."""

from cgmh.inputs import ParaphraseInput
from cgmh.models.load import Models, load_embedded
from cgmh.tasks import Paraphrase, Problem
from cgmh.tasks.paraphrase.phrasebook import SURE
from cgmh.tasks.paraphrase.report import Paraphrases
from cgmh.text.sentences import Sentences

TEXTS = ("How can I sell books in Paris?", "Stay calm.")
CHAINS = 8


def posed(**asked: str) -> Problem:
    vocabulary = load_embedded().vocabulary
    sources = [source for text in TEXTS for source in Paraphrase().read(ParaphraseInput(text, **asked), vocabulary)]  # type: ignore[arg-type]
    return Paraphrase().pose(sources, Models(load_embedded()), CHAINS, 0)


def starts(problem: Problem, number: int) -> list[str]:
    rows = problem.start.select((problem.start.inputs == number).nonzero()[:, 0]).to_lists()
    return [" ".join(problem.lexicon.words(ids)) for ids in rows]


def test_chains_start_at_the_source_and_at_its_rewrites_in_turn() -> None:
    problem = posed()
    first = starts(problem, 0)
    assert first[0] == "how can I sell books in Paris ?"
    assert {"how do I sell books in Paris ?", "what is the best way to sell books in Paris ?"} < set(first)
    assert len(first) == CHAINS
    assert starts(problem, 1) == ["stay calm ."] * CHAINS
    assert bool(problem.target.possible(problem.start).all())
    assert set(starts(posed(start="copy"), 0)) == {"how can I sell books in Paris ?"}


def test_where_chains_go_on_the_rewrites_are_known() -> None:
    problem = posed()
    vocabulary = load_embedded().vocabulary
    sources = [source for text in TEXTS for source in Paraphrase().read(ParaphraseInput(text), vocabulary)]
    standing = [problem.standing(number) for number in range(len(TEXTS))]
    again = Paraphrase().pose(sources, Models(load_embedded()), CHAINS, 0, problem.lexicon, standing)
    assert list(again.worked_out) == list(problem.worked_out)
    assert again.start.to_lists() == problem.start.to_lists()


def test_a_rewrite_is_sure_word_for_word() -> None:
    problem = posed()
    report = problem.report
    assert isinstance(report, Paraphrases)
    texts = ["how do I sell books in Paris ?", "how do I sell the books in Paris ?", "how do I sell books near Paris ?"]
    rows = [[problem.lexicon.add(word) for word in text.split()] for text in texts]
    exact, article, other = report.weighs.features(Sentences.from_lists(rows, 12))["rewritten"].tolist()
    assert (exact, article, other) == (SURE, 0, 0)
    assert tuple(rows[0]) in report.always(0)
    assert report.finds_starts(0)


def test_what_hardly_differs_comes_last() -> None:
    problem = posed()
    assert isinstance(problem.report, Paraphrases)
    texts = ["how can I sell the books in Paris ?", "how can we sell books in Paris ?"]
    rows = [[problem.lexicon.add(word) for word in text.split()] for text in texts]
    slight, other = problem.report.objection(Sentences.from_lists(rows, 12)).tolist()
    assert slight > 0 > other
