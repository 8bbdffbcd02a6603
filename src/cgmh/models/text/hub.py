"""Hugging Face models from a directory or the hub: safetensors only, none of their code is run, errors in one line."""

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from logging import CRITICAL
from pathlib import Path
from typing import Any, Literal

import torch

from ...errors import BadModel, MissingExtra

Kind = Literal["causal", "masked"]
_CLASSES: dict[Kind, str] = {"causal": "AutoModelForCausalLM", "masked": "AutoModelForMaskedLM"}
_REACH = 10.0  # seconds that the hub has to answer
_CONVERT = "only safetensors are read, other weights can run code; save it again with `save_pretrained`"
# Logits of a batch, in numbers: 256 MB of float32 on the CPU, 1 GB elsewhere.
_NUM_LOGITS = {"cpu": 2**26}
_MORE_LOGITS = 2**28


@dataclass
class Pretrained:
    """A tokenizer and a network that belong together."""

    name: str  # with the commit, if it came from the hub
    tokenizer: Any
    network: Any
    device: torch.device
    context: int  # tokens that fit
    num_tokens: int  # of a batch

    @property
    def vocabulary_size(self) -> int:
        """T: the columns of the logits."""
        head = self.network.get_output_embeddings()
        return int(self.network.config.get_text_config().vocab_size if head is None else head.weight.shape[0])


def load_pretrained(kind: Kind, name: str | Path, device: str | torch.device = "cpu") -> Pretrained:
    """The model of a directory or of a hub name, in float32 and ready to run; `BadModel` says what is wrong with it."""
    try:
        transformers = import_module("transformers")
    except ImportError:
        raise MissingExtra("transformers", "hf") from None
    path = Path(os.path.expanduser(name))  # noqa: PTH111  the method of a path raises where there is no such user
    local = path.exists() or not _is_hub_name(str(name))
    source = str(path if local else name)
    if local:
        _check_directory(path)
    with _quiet():
        offline = local or not _is_reachable(source)
        settings = {"trust_remote_code": False, "local_files_only": offline}
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **settings)
            network, info = getattr(transformers, _CLASSES[kind]).from_pretrained(
                source, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **settings
            )
            network = network.to(device).eval()
        except Exception as error:  # transformers, tokenizers and the hub share no class of errors
            raise BadModel(_explain(source, kind, error, local=local, offline=offline)) from error
    if info["missing_keys"]:
        lost = min(info["missing_keys"])
        raise BadModel(f"{source}: no trained {kind} language model, or damaged: the weights lack {lost}")
    found = Pretrained(
        path.resolve().name if local else _with_commit(source),
        tokenizer,
        network,
        torch.device(device),
        _context(network, tokenizer),
        0,
    )
    highest = max(_ids(tokenizer))
    if highest >= found.vocabulary_size:
        raise BadModel(
            f"{source}: the tokenizer has a token {highest}, the network only {found.vocabulary_size} tokens; they do "
            "not belong together"
        )
    found.num_tokens = max(1, _NUM_LOGITS.get(found.device.type, _MORE_LOGITS) // found.vocabulary_size)
    return found


def _ids(tokenizer: Any) -> set[int]:
    """The tokens that a text can have. Some tokenizers have more, for padding or chats, that their network lacks."""
    extra = {id for id, token in tokenizer.added_tokens_decoder.items() if token.special}
    roles = {getattr(tokenizer, f"{role}_token_id") for role in ("bos", "eos", "unk", "cls", "sep", "mask")}
    return {*tokenizer.get_vocab().values()} - extra | roles - {None}


def _is_hub_name(name: str) -> bool:
    """Whether it can be one: "gpt2" or "owner/name". What begins with a dot or a slash is a path."""
    return name.count("/") <= 1 and name[:1].isalnum() and "\\" not in name and not name.endswith("/")


def _check_directory(path: Path) -> None:
    if not path.is_dir():
        raise BadModel(
            f"{path}: {'not a' if path.exists() else 'no such'} directory; give that of a Hugging Face model"
        )
    if not (path / "config.json").is_file():
        raise BadModel(f"{path}: not a Hugging Face model (it has no config.json)")
    if not any(path.glob("*.safetensors")):
        raise BadModel(f"{path}: has no weights in safetensors; {_CONVERT}")


def _context(network: Any, tokenizer: Any) -> int:
    """Tokens that fit; some networks give the last of their positions to padding, their tokenizers know."""
    positions = getattr(network.config.get_text_config(), "max_position_embeddings", None)
    return min(int(positions or 10**9), int(tokenizer.model_max_length or 10**9))


def _is_reachable(name: str) -> bool:
    """Whether the hub answers and has this model in safetensors. If it does not answer, its cache may have the model.

    One try and no repetition: loading would try for a minute.
    """
    hub = import_module("huggingface_hub")
    try:
        found = hub.model_info(name, timeout=_REACH)
    except hub.errors.RepositoryNotFoundError as error:
        raise BadModel(
            f"{name}: no such directory, and the hub has no such model (or it is private); check the name"
        ) from error
    except Exception:  # noqa: BLE001  whatever the http client of this version raises
        return False
    if not any(file.rfilename.endswith(".safetensors") for file in found.siblings or []):
        raise BadModel(f"{name}: the hub has no weights in safetensors for it; {_CONVERT}")
    return True


def _with_commit(name: str) -> str:
    """The name of a hub model and the commit that its cache holds: the directory of the snapshot is named so."""
    file = import_module("huggingface_hub").try_to_load_from_cache(name, "config.json")
    return f"{name}@{Path(file).parent.name[:8]}" if isinstance(file, str) else name


def _explain(source: str, kind: Kind, error: BaseException, *, local: bool, offline: bool) -> str:
    """What went wrong in one line, and what to do."""
    if is_out_of_memory(error):
        return f"{source}: not enough memory to load it; use a smaller model or another device"
    reason = " ".join(str(error).split())
    other = re.match(r"Unrecognized configuration class .*?(\w+)Config\b", reason)
    if other:
        return f"{source}: not a {kind} language model (it is a {other.group(1)})"
    reason = reason[:200] + ("…" if len(reason) > 200 else "")
    if local:
        return f"{source}: cannot be loaded ({reason}); if the files are damaged, get the model again"
    if any(type(cause).__name__ == "GatedRepoError" for cause in _chain(error)):
        return f"{source}: the hub asks for permission; accept its terms there and log in with `hf auth login`"
    if offline:
        return (
            f"{source}: no such directory, and the hub cannot be reached; check the name and the network, or give a "
            "local directory"
        )
    return f"{source}: cannot be loaded from the hub ({reason})"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@contextmanager
def _quiet() -> Iterator[None]:
    """Neither warnings nor progress bars of transformers and the hub; as it was afterwards."""
    transformers, hub = (import_module(name).utils for name in ("transformers", "huggingface_hub"))
    levels = [(some.logging, some.logging.get_verbosity()) for some in (transformers, hub)]
    bars, hub_bars = transformers.logging.is_progress_bar_enabled(), not hub.are_progress_bars_disabled()
    for some, _ in levels:
        some.set_verbosity(CRITICAL)
    transformers.logging.disable_progress_bar()
    hub.disable_progress_bars()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for some, level in levels:
            some.set_verbosity(level)
        if bars:
            transformers.logging.enable_progress_bar()
        if hub_bars:
            hub.enable_progress_bars()


def is_out_of_memory(error: BaseException) -> bool:
    """Whether this is what torch raises when the device or the machine has no memory left."""
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("allocate memory" in text or "not enough memory" in text)


def in_batches(model: Pretrained, lengths: Sequence[int], score: Callable[[list[int]], None]) -> None:
    """Call `score` with the numbers of some texts at a time, long ones first, of like length and few enough tokens.

    Out of memory, it goes on with half as many tokens, also in later calls.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)
    while order:
        longest = lengths[order[0]]
        some = order[: max(1, model.num_tokens // longest)]
        if _fits(score, some):
            order = order[len(some) :]
        elif len(some) == 1:
            raise BadModel(f"{model.name}: not enough memory for one text of {longest} tokens; use a smaller model")
        else:
            model.num_tokens = len(some) // 2 * longest


def _fits(score: Callable[[list[int]], None], some: list[int]) -> bool:
    try:
        score(some)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    else:
        return True
    # Out of the handler, so that nothing holds the tensors of the call that failed.
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return False
