"""From what a user names to models: a name, a path, a function or a model becomes a model, once per run."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..arguments import shown
from ..errors import BadInput, BadModel, blaming
from ..settings import CONTEXT, USES, Use
from ..threads import single_threaded
from .protocols import ContextModel, TextModel, WritingModel, whose
from .pull import store
from .pull.registry import REGISTRY
from .text.functions import FunctionModel
from .text.huggingface import load_huggingface
from .text.llama import load_llama
from .text.masked import MaskedModel, load_masked
from .text.ngram import load_ngram
from .word.checkpoint import load_model
from .word.recurrent import RecurrentModel

AnyModel = RecurrentModel | TextModel | Callable[[list[str]], Any] | str | Path
NGRAM_ENDINGS = (".arpa", ".arpa.gz", ".arpa.bz2", ".arpa.xz", ".klm", ".binary", ".bin")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


@dataclass(frozen=True)
class Models:
    """The models of a run: the word model proposes; a text model, if there is one, ranks, weights or is the target."""

    words: RecurrentModel
    text: TextModel | None = None
    use: Use | None = None  # what the text model does
    masked: MaskedModel | None = None  # proposes words beside the word model
    bare: TextModel | None = None  # the text model before it was given a context

    def after(self, lines: Sequence[str]) -> "Models":
        """The same models, the text model reading these lines before every text, if it can read such a context.

        The usual lines make a model expect plain sentences; one that was tuned on them needs none.
        """
        bare = self.bare or self.text
        if not lines or not isinstance(bare, ContextModel):
            return self
        if tuple(lines) == CONTEXT and isinstance(bare, WritingModel):
            return self
        with single_threaded(), blaming(whose(bare), BadModel):
            return replace(self, text=bare.after(lines), bare=bare)


def load_models(
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    use: Use | None = None,
    uses: Sequence[Use] = USES,
    masked: MaskedModel | str | Path | None = None,
) -> Models:
    """The models that a user asks for. A `model` of texts is the target, proposed to by the embedded word model.

    A big model does what `use` says, or the first of the `uses` that the task has for one.
    """
    if isinstance(masked, str | Path):
        masked = load_masked(masked)
    if masked is not None and not isinstance(masked, MaskedModel):
        raise BadInput(f"`masked` takes a name, a path or a masked language model, not {shown(masked)}")
    if use is not None and use not in uses:
        raise BadInput(f"`use` {use}: for this task a big model can only be the {' or the '.join(uses)}")
    words = as_model(model, "steady")
    if not isinstance(words, RecurrentModel):
        if big is not None:
            raise BadInput(f"{words.name} is a big model already; leave out `big`, or give `model` a word model")
        return Models(load_embedded(), words, use or "target", masked)
    if big is None:
        if use is not None:
            raise BadInput(
                f"`use` {use} needs a big model; run: cgmh models pull gemma3-270m, and name it as `big` gemma3-270m"
            )
        return Models(words, masked=masked)
    use = use or uses[0]
    # Ranking bears rounding; a target or a weight should be the same number in every batch.
    text = as_model(big, None if use == "rerank" else "steady")
    if isinstance(text, RecurrentModel):
        raise BadInput(
            f"{big if isinstance(big, str) else text.name} is a word model and cannot be `big`; give it as `model`"
        )
    return Models(words, text, use, masked)


def as_model(model: AnyModel | None, precision: str | None = None) -> RecurrentModel | TextModel:
    """A model as it is, a function of texts, or what a name or a path stands for; None is the embedded English one.

    What was opened by name stays open.
    """
    if model is None:
        return load_embedded()
    if isinstance(model, str | Path):
        return _opened(model, precision)
    if isinstance(model, RecurrentModel | TextModel):
        return model
    if not callable(model):
        raise BadInput(f"{shown(model)} is no model: give a name, a path, a model or a function of texts")
    return FunctionModel(model)


@lru_cache(maxsize=1)
def load_embedded() -> RecurrentModel:
    """The embedded English model."""
    return load_model()


@lru_cache(maxsize=2)
def _opened(name: str | Path, precision: str | None) -> RecurrentModel | TextModel:
    with single_threaded():  # many small conversions: threads cost more than they give
        return open_model(name, precision=precision)


def open_model(
    name: str | Path | None, device: str = "cpu", precision: str | None = None
) -> RecurrentModel | TextModel:
    """The model of a name or a path; the embedded English one for None.

    A text that is a name of `cgmh models list` is that model, whatever lies in the current directory; a directory of
    the same name is given as ./NAME, or as a `Path`. `precision` is for a pulled LLM: it says in which numbers its
    weights are multiplied.
    """
    if isinstance(name, str) and (store.is_installed(name) or name in REGISTRY):
        return _open_directory(store.path_of(name), device, precision)
    path = store.EMBEDDED if name is None else store.expanded(name)
    try:
        if path.is_dir():
            return _open_directory(path, device, precision)
        if os.path.lexists(path):
            return _open_file(path)
    except OSError as error:
        raise BadModel(f"{error.filename or path}: cannot be read ({error.strerror or error})") from error
    name = str(name)
    # A mistyped path is not looked for on the hub: it starts with a dot, a slash or ~, or ends like a file.
    if _HUB_NAME.fullmatch(name) and not name.endswith((*NGRAM_ENDINGS, ".gguf")):
        return load_huggingface(name, device)
    raise BadModel(f"{name or repr(name)}: no such model; {store.CHOICES}")


def _open_file(path: Path) -> TextModel:
    if path.name.endswith(NGRAM_ENDINGS):
        return load_ngram(path)
    if path.suffix == ".gguf":
        raise BadModel(f"{path}: has to be converted once; run: cgmh models pull NAME --from {path}, then `model` NAME")
    raise BadModel(f"{path}: not a kind of model file that can be read; {store.CHOICES}")


def _open_directory(directory: Path, device: str, precision: str | None) -> RecurrentModel | TextModel:
    record = store.read_config(directory)
    kind = str(record.get("format", ""))  # a number at its end says which version; the loader knows which it reads
    if kind.startswith("cgmh-recurrent-"):
        return load_model(directory, device)
    if kind.startswith("cgmh-llama-"):
        return load_llama(directory, device, precision)
    if "model_type" in record:
        return load_huggingface(str(directory), device)
    config = directory / store.CONFIG
    raise BadModel(f"{config}: neither a model of `cgmh train` nor one of Hugging Face; {store.CHOICES}")
