"""What the sampler asks of a word-level language model.

Rows: an encoding holds B chains; a call about R of them names its rows. A *gap* of row b is what lies between words
[0, left) and words [right, n) of the encoded sentence: to replace or delete the word at m, left = m and right = m + 1;
to insert in slot s, left = right = s. Whatever is read from a gap must not depend on a word inside it, so that a step
and the step back read the same distribution.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from torch import Tensor

from ..arguments import shown
from ..draws import Draws
from ..errors import BadModel, blaming
from ..text.sentences import Sentences


class Fill(Protocol):
    """q(word | sentence without the word) for R gaps."""

    def choose(self, draws: Draws) -> Tensor:
        """[R]: a word for each gap; draws from the sites "class" and "word"."""

    def log_prob(self, word: Tensor) -> Tensor:
        """[R]: log q(word); -inf for ids that are never proposed (specials, run-local ids)."""


class Pending(Protocol):
    """R candidates that were scored and neither accepted nor refused yet."""

    @property
    def log_gain(self) -> Tensor:
        """[R]: log p(y) - log p(x) over the changed words and `window` words after them (None: all, exact)."""


class WordModel(Protocol):
    """A language model over V words that proposes and scores with what it kept of the current sentences."""

    @property
    def num_words(self) -> int:
        """V; ids from V on are run-local."""

    @property
    def special_ids(self) -> Tensor:
        """Ids that nothing ever proposes."""

    def encode(self, sentences: Sentences) -> Any:
        """What the model keeps about B sentences; its `select(rows)` is a copy of these rows, in their order."""

    def log_prob(self, encoding: Any) -> Tensor:
        """[B]: log p(sentence), end mark included."""

    def fill(self, encoding: Any, rows: Tensor, left: Tensor, right: Tensor) -> Fill:
        """The word distribution of R gaps."""

    def candidates(self, encoding: Any, rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
        """[R,V]: log min(forward probability, backward probability) of each word in the gap (paper, Section 3.2)."""

    def score(
        self,
        encoding: Any,
        rows: Tensor,
        sentences: Sentences,
        same_left: Tensor,
        same_right: Tensor,
        window: int | None,
    ) -> Pending:
        """Score R candidates that share their first `same_left` and last `same_right` words with the encoded rows."""

    def finish(self, encoding: Any, pending: Any, keep: Tensor) -> Tensor:
        """[R]: log p(y), exact, where `keep`; elsewhere anything finite."""

    def commit(self, encoding: Any, pending: Any, accepted: Tensor) -> None:
        """The accepted rows of the encoding become those of their candidates, in place; `accepted` lies in `keep`."""


class Begun(NamedTuple):
    """R candidates before anything is read for them; the gain of one whose gain is not remembered is nan."""

    pending: Any
    most_gain: Tensor  # [R]: what the gain is at most
    log_prob: Tensor  # [R] float64: exact; nan where it is not remembered


@runtime_checkable
class RememberingModel(WordModel, Protocol):
    """A word model that knows before it reads what it has read already, and what a candidate cannot gain."""

    @property
    def weight(self) -> float:
        """What a gain of the first stage counts in the exact one, as a guess."""

    def begin(
        self,
        encoding: Any,
        rows: Tensor,
        sentences: Sentences,
        same_left: Tensor,
        same_right: Tensor,
        window: int | None,
    ) -> Begun:
        """As `score`, with nothing read."""

    def complete(self, encoding: Any, pending: Any, wanted: Tensor, least: Tensor | None = None) -> None:
        """Find the gains that are `wanted` [R] bool and not remembered; one that is below `least` [R] may stay nan."""


@runtime_checkable
class TextModel(Protocol):
    """A language model over whole texts: any tokenizer, any library, any endpoint."""

    @property
    def name(self) -> str:
        """Short; it goes into the signature of a run."""

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        """[N] float64 on the CPU: log p(text), its end included."""


def whose(model: TextModel) -> str:
    """Whose a model is: its name and its class."""
    return f"{model.name} of class {type(model).__name__}"


def ask(model: TextModel, texts: Sequence[str]) -> Tensor:
    """[N] float64 on the CPU: what a text model says of texts, checked, because it may be anybody's."""
    with blaming(whose(model), BadModel, f"{len(texts)} texts, {texts[0]!r} first" if texts else "no texts"):
        log_prob: Any = model.log_prob(texts)
    if not isinstance(log_prob, Tensor) or log_prob.shape != (len(texts),):
        given = f"a tensor {list(log_prob.shape)}" if isinstance(log_prob, Tensor) else shown(log_prob)
        raise BadModel(
            f"{whose(model)}: gave {given} for {len(texts)} texts; `log_prob` gives a tensor [{len(texts)}], or give "
            "a plain function of texts as the model"
        )
    if bool(log_prob.isnan().any()):
        mend = "it must be a number, or -inf for the impossible"
        raise BadModel(f"{whose(model)}: gave nan for {texts[int(log_prob.isnan().nonzero()[0])]!r}; {mend}")
    return log_prob.cpu().double()


@runtime_checkable
class PrefixModel(TextModel, Protocol):
    """A text model that keeps what it read of the current texts of B chains, and reads only what an edit changed."""

    def begin(self, texts: Sequence[str]) -> Any:
        """A cache of B texts; it has `log_prob` [B] and `select(rows)`."""

    def extend(self, cache: Any, rows: Tensor, texts: Sequence[str]) -> Any:
        """Any R texts that may take the place of those of `rows` [R]; the answer has `log_prob` [R]."""

    def keep(self, cache: Any, pending: Any, accepted: Tensor) -> None:
        """The accepted ones [R] become the current texts, in place."""


@runtime_checkable
class ContextModel(TextModel, Protocol):
    """A text model that can read a text as the next line of something."""

    def after(self, context: Sequence[str]) -> TextModel:
        """The same model with these lines before every text."""


@runtime_checkable
class WritingModel(TextModel, Protocol):
    """A text model that can write sentences around words."""

    def write(self, words: Sequence[str], number: int, seed: int, *, inflected: bool) -> list[str]:
        """Up to `number` sentences, which need not contain the words; `inflected`: in any form."""


@runtime_checkable
class CorrectingModel(TextModel, Protocol):
    """A text model that knows what people mean when they make mistakes."""

    def log_prob_of_meant(self, typed: Sequence[str], texts: Sequence[str]) -> Tensor:
        """[N] float64 on the CPU: log p(text), if it is what was meant by the `typed` one, its end included."""


class TextEncoder(Protocol):
    """A model of what texts mean."""

    def encode(self, texts: Sequence[str]) -> Tensor:
        """[N,H] float64 on the CPU: vectors of length 1; a text has the same one whatever stands beside it."""
