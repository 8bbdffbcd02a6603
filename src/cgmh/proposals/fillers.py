"""Which word may fill a gap: the model's own guess, the paper's Gibbs over the best words, or a masked language model.

All mix in a floor: every word of the vocabulary keeps some probability, and so do the words that an input brings along,
so that no part of the space is cut off; and that probability is part of q.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from ..draws import Draws
from ..errors import BadModel
from ..models.protocols import Fill, WordModel
from ..models.text.masked import MaskedModel, load_masked
from ..target import Target
from ..text.lexicon import Lexicon
from ..text.sentences import MAX_READ, OnDevice, Sentences, indices, pad, rows_within
from .protocols import View

OWN_SHARE = 0.1  # of the floor, for the words that the vocabulary lacks, where an input brings any

MAX_KNOWN = 4096  # gaps whose words in proportion to the target are known, before all are forgotten

OwnWords = Sequence[Sequence[int]]  # the run-local ids of each input, in an order of its own


class Floor:
    """A share of the probability that is spread evenly over the words that may be proposed.

    Where an input has words of its `own`, which the vocabulary lacks, these get a tenth of that share.
    """

    def __init__(self, model: WordModel, share: float, own: OwnWords = ()) -> None:
        if not 0 < share < 1:
            raise ValueError(f"the floor must lie between 0 and 1, not {share}")
        self.log_share, self.log_rest = math.log(share), math.log1p(-share)
        allowed = torch.ones(model.num_words, dtype=torch.bool)
        allowed[model.special_ids.cpu()] = False
        words = allowed.nonzero()[:, 0]  # [P]
        self.num_words = len(words)
        log_prob = torch.full((model.num_words + 1,), -torch.inf, dtype=torch.float64)
        log_prob[words] = -math.log(self.num_words)  # [V+1]; the last entry stands for every run-local id
        self._has_own = any(own)
        counts = torch.tensor([len(words) for words in own], dtype=torch.int64)  # [I]
        log_own = torch.full(counts.shape, -torch.inf, dtype=torch.float64).masked_fill(counts > 0, math.log(OWN_SHARE))
        self._tables = OnDevice(words=words, log_prob=log_prob, own=pad(own), counts=counts, log_own=log_own)

    def under(self, fill: Fill, alone: Tensor, inputs: Tensor) -> "Floored":
        """(1 - share) fill + share floor; the floor alone for the rows where `alone` [R] is true."""
        log_share = torch.zeros(alone.shape, dtype=torch.float64, device=alone.device)
        log_rest = torch.full_like(log_share, -torch.inf)
        log_share, log_rest = log_share.masked_fill(~alone, self.log_share), log_rest.masked_fill(~alone, self.log_rest)
        return Floored(fill, self, inputs, log_share, log_rest)

    def choose(self, draws: Draws, wanted: Tensor, inputs: Tensor) -> Tensor:
        """[R]: a word where `wanted`; elsewhere any, without a decision."""
        tables = self._tables.at(wanted.device)
        if not self._has_own:
            return tables["words"].index_select(0, draws.integer(1 + wanted * (self.num_words - 1), "floor word"))
        brought = draws.accept(tables["log_own"][inputs].masked_fill(~wanted, -torch.inf), "own")  # [R]
        common = draws.integer(1 + (wanted & ~brought) * (self.num_words - 1), "floor word")
        own = draws.integer(torch.where(brought, tables["counts"][inputs], 1), "own word")
        return torch.where(brought, tables["own"][inputs, own], tables["words"].index_select(0, common))

    def log_prob(self, word: Tensor, inputs: Tensor) -> Tensor:
        """[R]: the log probability in the floor; -inf for specials and for the run-local ids of other inputs."""
        tables = self._tables.at(word.device)
        log_prob = tables["log_prob"].index_select(0, word.clamp(max=tables["log_prob"].shape[0] - 1))
        if not self._has_own:
            return log_prob
        log_own, counts = tables["log_own"][inputs], tables["counts"][inputs]
        is_own = (tables["own"][inputs] == word[:, None]).any(-1)  # [R]
        log_word = log_own - counts.clamp(min=1).double().log()
        return torch.where(is_own, log_word, log_prob + torch.log1p(-log_own.exp()))


class Floored:
    """A fill with a floor, which has its share of each row."""

    def __init__(self, fill: Fill, floor: Floor, inputs: Tensor, log_share: Tensor, log_rest: Tensor) -> None:
        self._fill, self._floor, self._inputs = fill, floor, inputs
        self._log_share, self._log_rest = log_share, log_rest  # [R]

    def choose(self, draws: Draws) -> Tensor:
        floored = draws.accept(self._log_share, "floor")  # [R]
        return torch.where(floored, self._floor.choose(draws, floored, self._inputs), self._fill.choose(draws))

    def log_prob(self, word: Tensor) -> Tensor:
        log_fill = self._fill.log_prob(word).double() + self._log_rest
        return torch.logaddexp(log_fill, self._floor.log_prob(word, self._inputs) + self._log_share)


class FillHead:
    """The model's own fill, with a floor; `own` are the words that each input brings along."""

    def __init__(self, model: WordModel, floor: float = 0.01, own: OwnWords = ()) -> None:
        self._model = model
        self._floor = Floor(model, floor, own)

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        fill = self._model.fill(view.encoding, view.rows, left, right)
        return self._floor.under(fill, torch.zeros_like(left, dtype=torch.bool), view.sentences.inputs)


Gap = tuple[int, float, tuple[int, ...], tuple[int, ...]]  # input, beta, and the words before and after


def _gaps(view: View, left: Tensor, right: Tensor) -> list[Gap]:
    """All that a filler may know about the gap of each row."""
    sentences = view.sentences
    columns = (each.tolist() for each in (sentences.inputs, view.beta, left, right))
    rows = zip(sentences.to_lists(), *columns, strict=True)
    return [(input, beta, tuple(ids[:start]), tuple(ids[end:])) for ids, input, beta, start, end in rows]


class GibbsOver:
    """The paper's kernel (Section 3.2), made exact: the K best words in proportion to the target, with a floor.

    Best are those of the largest min(forward, backward) probability. q = (1 - floor) softmax of beta log pi over the K
    words + the floor; where none of the K is possible under the hard constraints, q is the floor. It depends on
    nothing but the sentence without the word. Insertions and deletions pay for it in the ratio; a replacement among the
    K is always accepted, but for the floor.

    To score K sentences takes long, and chains come back to a gap: to replace a word and to delete it asks for the same
    one, and a refused step leaves all of them as they were. So what is known about a gap is kept.
    """

    def __init__(
        self, model: WordModel, target: Target, num_candidates: int = 100, floor: float = 0.01, own: OwnWords = ()
    ) -> None:
        self._model, self._target = model, target
        self._floor = Floor(model, floor, own)
        self._num = min(num_candidates, self._floor.num_words)
        self._known: dict[Gap, tuple[Tensor, Tensor, Tensor]] = {}  # [K], [K], []: as `_shares` has them

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        gaps = _gaps(view, left, right)
        known = self._known  # another thread may forget it meanwhile, or know more
        new = {gap: row for row, gap in enumerate(gaps) if gap not in known}
        if new or not gaps:
            rows = torch.tensor(list(new.values()), dtype=torch.int64, device=left.device)
            words, log_word, none = self._shares(view.select(rows), left[rows], right[rows])
            known = known if len(known) + len(new) <= MAX_KNOWN else {gap: known[gap] for gap in gaps if gap in known}
            known = {**known, **dict(zip(new, zip(words, log_word, none, strict=True), strict=True))}
            self._known = known
        if gaps:
            words, log_word, none = (torch.stack([known[gap][at] for gap in gaps]) for at in range(3))
        return self._floor.under(Among(words, log_word, "gibbs"), none, view.sentences.inputs)

    def _shares(self, view: View, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """[R,K], [R,K], [R]: the best words, the logs of their shares, and whether none of them is possible."""
        model, sentences, num = self._model, view.sentences, self._num
        log_best = model.candidates(view.encoding, view.rows, left, right)  # [R,V]
        log_best = log_best.index_fill(1, model.special_ids.to(log_best.device), -torch.inf)
        words = log_best.topk(num, dim=-1).indices  # [R,K]
        each = torch.arange(len(left), device=left.device).repeat_interleave(num)  # [R*K]
        filled = sentences.select(each).edit(left[each], words.flatten(), 1 - (right - left)[each])
        log_target = torch.full((len(each),), -torch.inf, dtype=torch.float64, device=left.device)
        possible = self._target.possible(filled)  # [R*K]
        asked = possible.nonzero()[:, 0]
        if asked.numel():
            together = rows_within(MAX_READ, sentences.capacity, left.device)
            parts = [self._soft(view, filled, each, left, right, part) for part in torch.split(asked, together)]
            log_target = log_target.index_copy(0, asked, view.beta[each[asked]].double() * torch.cat(parts))
        log_target = log_target.view(-1, num)  # [R,K]
        none = ~possible.view(-1, num).any(-1)  # [R]
        return words, log_target.masked_fill(none[:, None], 0.0).log_softmax(-1), none

    def _soft(self, view: View, filled: Sentences, each: Tensor, left: Tensor, right: Tensor, asked: Tensor) -> Tensor:
        """[A]: the soft factors of the filled sentences that are `asked` [A] about, beside those of the current ones.

        log p(x) is the same for all K words and leaves the softmax.
        """
        chosen, rows = filled.select(asked), each[asked]
        same_right = (view.sentences.lengths - right)[rows]
        pending = self._model.score(view.encoding, view.rows[rows], chosen, left[rows], same_right, None)
        return self._target.soft_factors(pending.log_gain, chosen).sum(-1)


class Among:
    """A distribution over K listed words for each row."""

    def __init__(self, words: Tensor, log_word: Tensor, site: str) -> None:
        self._words, self._log_word, self._site = words, log_word, site  # [R,K]

    def choose(self, draws: Draws) -> Tensor:
        return self._words.gather(1, draws.choose(self._log_word, self._site)[:, None])[:, 0]

    def log_prob(self, word: Tensor) -> Tensor:
        listed = self._words == word[:, None]  # [R,K]
        return self._log_word.masked_fill(~listed, -torch.inf).amax(-1)


class MaskedFiller:
    """q = (1 - floor) softmax of the masked model over our words + floor uniform.

    The masked model reads the natural text of the words around the gap, with its mask in it; the word that stood there
    has no say. It knows those of our words that are one token of its own, with a capital where the gap opens the
    sentence; words that share a token share its probability evenly. All other words but the run-local ones come by the
    floor. Contexts that repeat within a call are read once.
    """

    def __init__(
        self, model: MaskedModel | str | Path, lexicon: Lexicon, word_model: WordModel, floor: float = 0.01
    ) -> None:
        self._floor = Floor(word_model, floor)
        words = lexicon.vocabulary.words
        if len(words) != word_model.num_words:
            raise ValueError(f"the lexicon has {len(words)} words and the word model {word_model.num_words}")
        self._model = model if isinstance(model, MaskedModel) else load_masked(model)
        self._lexicon = lexicon
        tokens = torch.stack([self._model.tokens(words, opening=opening) for opening in (False, True)])  # [2,V]
        tokens[:, word_model.special_ids.cpu()] = -1
        known = tokens >= 0
        if not bool(known.any(1).all()):
            raise BadModel(f"{self._model.name}: none of the words is one token of it; it is for another language")
        shares = torch.ones_like(tokens, dtype=torch.float64)  # [2,V]: how many words have the same token
        for row in range(2):
            shares[row, known[row]] = torch.bincount(tokens[row, known[row]])[tokens[row, known[row]]].double()
        self._tables = OnDevice(tokens=tokens.clamp(min=0), log_share=(-shares.log()).masked_fill(~known, -torch.inf))

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        contexts: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        places = zip(view.sentences.to_lists(), left.tolist(), right.tolist(), strict=True)
        which = [contexts.setdefault((tuple(ids[:a]), tuple(ids[b:])), len(contexts)) for ids, a, b in places]
        log_word = self._log_words(list(contexts)).to(left.device)[which]  # [R,V]
        words = indices(log_word.shape[1], left.device).expand_as(log_word)
        nowhere = torch.zeros_like(left, dtype=torch.bool)
        return self._floor.under(Among(words, log_word, "word"), nowhere, view.sentences.inputs)

    def _log_words(self, contexts: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> Tensor:
        """[U,V] float64: log q of every word in each gap, without the floor."""
        pairs = [(self._lexicon.words(before), self._lexicon.words(after)) for before, after in contexts]
        logits = self._model.logits([self._model.text(before, after) for before, after in pairs])  # [U,T]
        tables = self._tables.at(logits.device)
        opens = torch.tensor([int(self._model.opens(before)) for before, _ in pairs], device=logits.device)  # [U]
        log_words = logits.double().gather(1, tables["tokens"][opens]) + tables["log_share"][opens]
        return log_words.log_softmax(-1)
