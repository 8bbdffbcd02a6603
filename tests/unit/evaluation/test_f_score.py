"""F0.5, worked by hand from the definitions."""

import pytest

from cgmh.errors import BadInput
from cgmh.evaluation.f_score import Counts, best_edits, score_m2
from cgmh.text.m2 import M2Sentence, read_m2

NOOP = "-1 -1|||noop|||-NONE-"


def block(tokens: str, *edits: str, annotator: int = 0) -> str:
    rows = [f"A {edit}|||REQUIRED|||-NONE-|||{annotator}" for edit in edits]
    return "\n".join([f"S {tokens}", *rows])


def blocks(*texts: str) -> list[M2Sentence]:
    return read_m2("\n\n".join(texts))


SOURCE = "he go to the school by bus yesterday"
GOLD = block(SOURCE, "1 2|||R:VERB:TENSE|||went", "3 4|||U:DET|||", "7 7|||M:PUNCT|||,")


def test_right_wrong_and_missing_edits() -> None:
    made = block(SOURCE, "1 2|||R:VERB:TENSE|||went", "3 4|||R:DET|||a", "6 7|||R:NOUN:NUM|||buses")
    scores = score_m2(blocks(made), blocks(GOLD))
    assert scores.total == Counts(right=1, wrong=2, missing=2)
    assert scores.total.precision == pytest.approx(1 / 3)
    assert scores.total.recall == pytest.approx(1 / 3)
    assert scores.total.f_score() == pytest.approx(1 / 3)
    assert scores.types == {
        "M:PUNCT": Counts(missing=1),
        "R:DET": Counts(wrong=1),
        "R:NOUN:NUM": Counts(wrong=1),
        "R:VERB:TENSE": Counts(right=1),
        "U:DET": Counts(missing=1),
    }


def test_precision_counts_twice_as_much_as_recall() -> None:
    # P = 2/3, R = 2/6: 1.25 * 2/9 / (0.25 * 2/3 + 1/3) = (2.5/9) / 0.5 = 5/9.
    assert Counts(2, 1, 4).f_score() == pytest.approx(5 / 9)
    # F1: 2 * 2/9 / (2/3 + 1/3) = 4/9.
    assert Counts(2, 1, 4).f_score(beta=1) == pytest.approx(4 / 9)


def test_the_tokens_the_span_and_the_correction_must_be_the_same() -> None:
    for edit in ("1 2|||R:VERB:TENSE|||gone", "1 3|||R:VERB:TENSE|||went", "0 1|||R:VERB:TENSE|||went"):
        assert score_m2(blocks(block(SOURCE, edit)), blocks(GOLD)).total == Counts(0, 1, 3)
    # The type need not be: it is that of the annotator which counts.
    other = score_m2(blocks(block(SOURCE, "1 2|||R:OTHER|||went")), blocks(GOLD))
    assert other.total == Counts(1, 0, 2)
    assert other.types["R:VERB:TENSE"] == Counts(right=1)


def test_nothing_made_and_nothing_wanted() -> None:
    nothing, wanted = blocks(block(SOURCE, NOOP)), blocks(GOLD)
    assert score_m2(nothing, wanted).total == Counts(missing=3)
    assert score_m2(nothing, wanted).total.f_score() == 0
    assert score_m2(wanted, nothing).total == Counts(wrong=3)
    assert score_m2(wanted, nothing).total.f_score() == 0
    assert score_m2(nothing, nothing).total == Counts()
    assert score_m2(nothing, nothing).total.f_score() == 1
    assert score_m2(blocks(block(SOURCE)), nothing).total == Counts()  # no line A at all says the same
    assert score_m2([], []).total.f_score() == 1


def test_a_mistake_without_a_correction_is_not_scored() -> None:
    wanted = blocks(block(SOURCE, "1 2|||R:VERB:TENSE|||went", "6 7|||UNK|||bus"))
    assert score_m2(blocks(block(SOURCE, "1 2|||R:VERB:TENSE|||went")), wanted).total == Counts(right=1)


def test_the_best_annotator_of_each_sentence() -> None:
    second = block(SOURCE, "1 2|||R:VERB:SVA|||goes", annotator=1).partition("\n")[2]
    wanted = f"{GOLD}\n{second}"
    made = block(SOURCE, "1 2|||R:VERB:SVA|||goes")
    # With the first annotator nothing would be right, one wrong, three missing.
    assert score_m2(blocks(made), blocks(wanted)).total == Counts(right=1)
    # An annotator who changes nothing is the best one for an answer that changes nothing.
    lenient = f"{GOLD}\nA {NOOP}|||REQUIRED|||-NONE-|||1"
    assert score_m2(blocks(block(SOURCE, NOOP)), blocks(lenient)).total == Counts()


def test_the_annotator_is_chosen_for_the_corpus_so_far() -> None:
    # After 8 right and 2 wrong: with the first (1 right, 1 wrong, 3 missing) F = 1.25 * 9 / (0.25 * 12 + 12) = 0.75;
    # with the second (0 right, 2 wrong, 0 missing) F = 1.25 * 8 / (0.25 * 8 + 12) = 0.7143. Alone the first wins, too.
    before = [block("a b", "0 1|||R:OTHER|||x")] * 8
    wrong = [(block("a b", "1 2|||R:OTHER|||y"), block("a b", NOOP))] * 2
    made = block("a b c d e", "0 1|||R:OTHER|||x", "1 2|||R:OTHER|||x")
    first = block("a b c d e", *(f"{at} {at + 1}|||R:OTHER|||{new}" for at, new in enumerate("xyyy")))
    wanted = f"{first}\nA {NOOP}|||REQUIRED|||-NONE-|||1"
    answers = [*before, *(answer for answer, _ in wrong), made]
    gold = [*before, *(other for _, other in wrong), wanted]
    assert score_m2(blocks(*answers), blocks(*gold)).total == Counts(9, 3, 3)
    # After 2 wrong alone, nothing right: 1.25 * 1 / (0.25 * 4 + 4) = 0.25 beats 0.
    assert score_m2(blocks(*answers[8:]), blocks(*gold[8:])).total == Counts(1, 3, 3)


def test_one_of_several_corrections_will_do() -> None:
    wanted = blocks(block(SOURCE, "1 2|||R:VERB|||went||goes"))
    assert score_m2(blocks(block(SOURCE, "1 2|||R:VERB|||goes")), wanted).total == Counts(right=1)
    assert score_m2(blocks(block(SOURCE, "1 2|||R:VERB|||gone")), wanted).total == Counts(0, 1, 1)


def test_maximum_match_joins_edits_as_the_annotator_does() -> None:
    source = "this are a sentence"
    one = blocks(block(source, "0 2|||R:OTHER|||these are", "2 3|||U:DET|||"))
    other = blocks(block(source, "0 1|||R:DET|||these", "2 3|||U:DET|||"))
    assert score_m2(one, other).total == Counts(1, 1, 1)
    assert score_m2(one, other, max_match=True).total == Counts(right=2)
    assert score_m2(other, one, max_match=True).total == Counts(right=2)


def test_maximum_match_worked_by_hand() -> None:
    source, target = "the cat sat at mat .".split(), "The cat sat on the mat .".split()
    # at -> on the is one edit, or a replacement and an insertion; each is found where it is wanted.
    assert best_edits(source, target, {(3, 4, "on the")}) == [(0, 1, "The"), (3, 4, "on the")]
    assert best_edits(source, target, {(3, 4, "on"), (4, 4, "the")}) == [(0, 1, "The"), (3, 4, "on"), (4, 4, "the")]
    # Nothing is wanted: the fewest edits; two tokens that stay may lie within one.
    assert best_edits(source, target, set()) == [(0, 4, "The cat sat on the")]
    assert best_edits(source, source, set()) == []
    assert best_edits([], ["a", "b"], set()) == [(0, 0, "a b")]
    assert best_edits(["a", "b"], [], {(1, 2, "")}) == [(0, 1, ""), (1, 2, "")]
    # Three tokens that stay lie in no edit.
    assert best_edits("a b c d e".split(), "x b c d y".split(), set()) == [(0, 1, "x"), (4, 5, "y")]
    assert best_edits("a b c d e".split(), "x b c d y".split(), {(0, 5, "x b c d y")}) == [(0, 1, "x"), (4, 5, "y")]


def test_other_sentences_are_refused() -> None:
    with pytest.raises(BadInput, match="1 sentences in the answers, 2 in the gold file"):
        score_m2(blocks(GOLD), blocks(GOLD, GOLD))
    with pytest.raises(BadInput, match=r"sentence 2: .* the tokens must be the same"):
        score_m2(blocks(GOLD, GOLD), blocks(GOLD, block("he went")))
