"""Phrases that ask the same."""

import pytest

from cgmh.models.load import load_embedded
from cgmh.tasks.paraphrase.phrasings import PHRASINGS, groups, rewordings
from cgmh.text.lexicon import Lexicon


@pytest.mark.parametrize("group", PHRASINGS)
def test_no_phrase_is_part_of_another_and_the_model_knows_them(group: tuple[str, ...]) -> None:
    lexicon = Lexicon(load_embedded().vocabulary)
    for phrase in group:
        assert not any(f" {phrase} " in f" {other} " for other in group if other != phrase)
        (found, *_) = [own for own in groups(phrase.split(), lexicon) if len(own.phrases) == len(group)]
        assert len(found.phrases) == len(set(group))


def test_only_groups_that_stand_in_the_sentence() -> None:
    lexicon = Lexicon(load_embedded().vocabulary)
    assert groups("the cat sat on a mat .".split(), lexicon) == []
    assert groups("why did they remove the mat ?".split(), lexicon)
    assert groups("why did they removed the mat ?".split(), lexicon) == []  # whole words


def test_a_sentence_and_what_its_phrases_make_of_it() -> None:
    lexicon = Lexicon(load_embedded().vocabulary)
    texts = [" ".join(lexicon.words(ids)) for ids in rewordings("how can I get rid of ants ?".split(), lexicon)]
    assert texts[0] == "how can I get rid of ants ?"
    assert {"how do I get rid of ants ?", "what is the best way to get rid of ants ?"} < set(texts)
    assert "how can I remove ants ?" in texts
    assert len(texts) == len(set(texts)) == 8  # "how is it possible to" and "how am I able to" are two of them
