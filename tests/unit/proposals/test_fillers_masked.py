"""What a masked model is asked, which of our words it knows, and what it may not see."""

import math
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import AddedToken
from transformers import AutoModelForMaskedLM, AutoTokenizer

from cgmh.draws import Draws
from cgmh.errors import BadInput, BadModel, MissingExtra
from cgmh.laws import check_proposal
from cgmh.models.text.masked import MaskedModel, load_masked
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.proposals import WordEdits
from cgmh.proposals.fillers import MaskedFiller
from cgmh.proposals.protocols import View
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from recurrent_toys import WORDS, tiny_model
from tiny_transformers import CONTEXT, END, bert, byte_pairs, gpt2, saved, word_pieces

torch.set_num_threads(1)

PIECES = ["the", "The", "cat", ".", "a", "A", "s", "t", "S", "C"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = word_pieces(PIECES, lower=False)
    return saved(tmp_path_factory.mktemp("models") / "bert", tokenizer, bert(tokenizer))


@pytest.fixture
def masked(directory: Path) -> MaskedModel:
    return load_masked(directory)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


def view_of(model: RecurrentModel, rows: list[list[int]]) -> View:
    sentences = Sentences.from_lists(rows, 8)
    return View(sentences, model.encode(sentences), torch.arange(len(rows)), torch.ones(len(rows)))


def test_the_text_around_the_gap(masked: MaskedModel) -> None:
    assert masked.text(["the"], ["sat", "."]) == "The [MASK] sat."
    assert masked.text([], ["cat", "sat", "."]) == "[MASK] cat sat."
    assert masked.text(['"'], ["cat", '"']) == '"[MASK] cat"'
    assert masked.text(["the", "cat"], []) == "The cat [MASK]"
    assert masked.text(["a", "[", "MASK", "]"], ["b"]) == "A  [MASK] b"  # a mask in the words is none


def test_where_a_sentence_opens(masked: MaskedModel) -> None:
    assert masked.opens([])
    assert masked.opens(['"'])
    assert not masked.opens(["the"])
    assert not masked.opens([","])


def test_which_words_are_one_token(masked: MaskedModel, directory: Path) -> None:
    number = AutoTokenizer.from_pretrained(directory).convert_tokens_to_ids
    words = ["the", "The", "cat", "sat", ".", "x", "[MASK]", "[SEP]"]
    inside = [number("the"), number("The"), number("cat"), -1, number("."), -1, -1, -1]
    opening = [number("The"), number("The"), -1, -1, number("."), -1, -1, -1]  # it knows no "Cat"
    assert masked.tokens(words, opening=False).tolist() == inside
    assert masked.tokens(words, opening=True).tolist() == opening


def test_tokens_that_hold_their_space(tmp_path: Path) -> None:
    """As RoBERTa has: a word inside is another token than one at the start; the mask takes the space before it."""
    tokenizer = byte_pairs()
    tokenizer.add_special_tokens({"mask_token": AddedToken("<mask>", lstrip=True), "pad_token": END})
    masked = load_masked(saved(tmp_path, tokenizer, bert(tokenizer)))
    words = ["dog", "the", "."]
    for opening, tokens in ((False, ["Ġdog", "Ġthe", "."]), (True, [None, "The", "."])):
        wanted = [-1 if token is None else tokenizer.convert_tokens_to_ids(token) for token in tokens]
        assert masked.tokens(words, opening=opening).tolist() == wanted
    pieces = tokenizer.convert_ids_to_tokens(masked._pretrained.tokens([masked.text(["the"], ["sees", "it"])])[0])
    assert pieces[:3] == ["The", "<mask>", "Ġsees"]


@torch.no_grad()
def test_the_logits_of_transformers(masked: MaskedModel, directory: Path) -> None:
    tokenizer, network = AutoTokenizer.from_pretrained(directory), AutoModelForMaskedLM.from_pretrained(directory)
    texts = ["The [MASK] sat.", "[MASK]", "The cat sat the cat sat [MASK]."]
    for text, found in zip(texts, masked.logits(texts), strict=True):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        wanted = network(ids).logits[0, ids[0].tolist().index(tokenizer.mask_token_id)]
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-4)
    assert masked.logits([]).shape == (0, len(tokenizer))


def test_a_fill_by_hand(masked: MaskedModel, directory: Path, words: RecurrentModel) -> None:
    """The softmax over the words that are one token, "the" and "The" of one token sharing it, and the floor."""
    lexicon = Lexicon(words.vocabulary)
    number = AutoTokenizer.from_pretrained(directory).convert_tokens_to_ids
    the, cat, sat, stop = (words.vocabulary.ids[word] for word in WORDS)
    filler = MaskedFiller(masked, lexicon, words, floor=0.2)
    for before, after, known in [
        ([the], [stop], {the: "the", cat: "cat", stop: "."}),
        ([], [cat, stop], {the: "The", stop: "."}),
    ]:
        view = view_of(words, [[*before, sat, *after]] * 4)
        left = torch.full((4,), len(before))
        found = filler.fill(view, left, left + 1).log_prob(torch.tensor([the, cat, sat, stop])).exp().tolist()
        logits = masked.logits([masked.text(lexicon.words(before), lexicon.words(after))])[0]
        weights = {word: math.exp(float(logits[number(token)])) for word, token in known.items()}
        wanted = [0.8 * weights.get(word, 0) / sum(weights.values()) + 0.2 / 4 for word in (the, cat, sat, stop)]
        assert found == pytest.approx(wanted, abs=1e-6)


def test_words_of_one_token_share_it(tmp_path: Path, words: RecurrentModel) -> None:
    """An uncased model cannot tell two casings; neither is counted twice."""
    tokenizer = word_pieces(["the", "cat", ".", "sat"], lower=True)
    masked = load_masked(saved(tmp_path, tokenizer, bert(tokenizer)))
    lexicon = Lexicon(words.vocabulary)
    ids, names = words.vocabulary.ids, list(words.vocabulary.words)
    names[ids["sat"]] = "Cat"
    lexicon.vocabulary = type(words.vocabulary)(names)
    view = view_of(words, [[ids["the"], ids["."]]] * 3)
    fill = MaskedFiller(masked, lexicon, words).fill(view, torch.ones(3).long(), torch.ones(3).long())
    found = fill.log_prob(torch.tensor([ids["the"], ids["cat"], ids["sat"]]))
    logits = masked.logits(["The [MASK]."])[0].double()
    the, cat = tokenizer.convert_tokens_to_ids(["the", "cat"])
    assert found[1] == found[2]
    ratio = (found[1].exp() - 0.01 / 4) / (found[0].exp() - 0.01 / 4)
    assert float(ratio) == pytest.approx(float((logits[cat] - logits[the]).exp()) / 2, rel=1e-5)


def test_what_stood_in_the_gap_has_no_say(masked: MaskedModel, words: RecurrentModel) -> None:
    lexicon = Lexicon(words.vocabulary)
    ids = [words.vocabulary.ids[word] for word in WORDS]
    filler = MaskedFiller(masked, lexicon, words)
    rows = [[ids[0], word, ids[3]] for word in (*ids, lexicon.add("Zürich"))]
    one = torch.ones(len(rows), dtype=torch.int64)
    every = [filler.fill(view_of(words.bound(lexicon), rows), one, one + 1).log_prob(one * word) for word in ids]
    assert all(len(set(found.tolist())) == 1 for found in every)


def test_run_local_words_and_specials_are_never_proposed(tmp_path: Path, words: RecurrentModel) -> None:
    tokenizer = word_pieces(PIECES, lower=False)
    tokenizer.add_tokens(["<lower>", "Zürich"])  # tokens of the masked model, though none of our words
    masked = load_masked(saved(tmp_path, tokenizer, bert(tokenizer)))
    assert min(masked.tokens(["<lower>", "Zürich"], opening=False)) > 0
    lexicon = Lexicon(words.vocabulary)
    out = lexicon.add("Zürich")
    filler = MaskedFiller(masked, lexicon, words.bound(lexicon))
    never = [out, out + 1, *words.special_ids.tolist()]
    view = view_of(words.bound(lexicon), [[words.vocabulary.ids["the"], out]] * len(never))
    at = torch.ones(len(never), dtype=torch.int64)
    fill = filler.fill(view, at, at + 1)
    assert fill.log_prob(torch.tensor(never)).tolist() == [-math.inf] * len(never)
    chosen = fill.choose(Draws(0, torch.arange(len(never)), torch.arange(len(never))))
    assert not set(chosen.tolist()) & set(never)


def test_a_context_is_read_once(masked: MaskedModel, words: RecurrentModel) -> None:
    seen: list[int] = []

    def before(_network: Any, _args: Any, settings: dict[str, torch.Tensor]) -> None:
        seen.append(len(settings["input_ids"]))

    filler = MaskedFiller(masked, Lexicon(words.vocabulary), words)
    masked._pretrained.network.register_forward_pre_hook(before, with_kwargs=True)
    the, cat, sat, _ = (words.vocabulary.ids[word] for word in WORDS)
    at = torch.tensor([1, 1, 1, 0])
    filler.fill(view_of(words, [[the, cat], [the, sat], [the, the], [cat, the]]), at, at + 1)
    assert seen == [2]


@pytest.mark.parametrize("seed", range(3))
def test_the_laws_of_proposals(directory: Path, words: RecurrentModel, seed: int) -> None:
    masked = load_masked(directory)
    masked._pretrained.network.double()
    lexicon = Lexicon(words.vocabulary)
    the, cat, sat, stop = (words.vocabulary.ids[word] for word in WORDS)
    out = lexicon.add("Zürich")
    rows = [[the], [the, cat], [cat, out, stop], [the, cat, sat, stop], [sat, sat, sat]]
    bound = words.bound(lexicon)
    check_proposal(WordEdits(MaskedFiller(masked, lexicon, bound)), bound, Sentences.from_lists(rows, 6), seed)


def test_loading_by_name(directory: Path, words: RecurrentModel, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    MaskedFiller(str(directory), Lexicon(words.vocabulary), words)
    assert capfd.readouterr() == ("", "")
    with pytest.raises(BadModel, match="no such directory"):
        MaskedFiller("./nowhere", Lexicon(words.vocabulary), words)


def test_models_that_cannot_be_used(tmp_path: Path, words: RecurrentModel, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = byte_pairs()
    with pytest.raises(BadModel, match=r"gpt2: not a masked language model .it is a GPT2"):
        load_masked(saved(tmp_path / "gpt2", pairs, gpt2(pairs)))
    with pytest.raises(BadModel, match="no mask token"):
        load_masked(saved(tmp_path / "unmasked", pairs, bert(pairs)))
    greek = word_pieces(["ο", "σκύλος"], lower=False)
    with pytest.raises(BadModel, match="none of the words is one token of it"):
        MaskedFiller(saved(tmp_path / "greek", greek, bert(greek)), Lexicon(words.vocabulary), words)
    network = bert(greek)
    torch.nn.init.constant_(network.cls.predictions.bias, torch.nan)
    with pytest.raises(BadModel, match="not numbers"):
        load_masked(saved(tmp_path / "nan", greek, network))
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"cgmh\[hf\]"):
        load_masked(tmp_path / "greek")


def test_settings_that_cannot_be(masked: MaskedModel, words: RecurrentModel) -> None:
    lexicon = Lexicon(words.vocabulary)
    with pytest.raises(ValueError, match="between 0 and 1"):
        MaskedFiller(masked, lexicon, words, floor=0.0)
    lexicon.vocabulary = type(words.vocabulary)([*words.vocabulary.words, "more"])
    with pytest.raises(ValueError, match="17 words and the word model 16"):
        MaskedFiller(masked, lexicon, words)


def test_a_text_that_is_too_long(masked: MaskedModel) -> None:
    with pytest.raises(BadInput, match=f"reads at most {CONTEXT}: shorten"):
        masked.logits([masked.text(["cat"] * CONTEXT, [])])
