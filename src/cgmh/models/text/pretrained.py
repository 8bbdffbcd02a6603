"""Networks and tokenizers of Hugging Face, from a directory or the hub: loading, and running what fits into memory.

Weights are safetensors only, code that comes with a model is never run, and errors are one line.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from logging import CRITICAL
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from ...errors import BadInput, BadModel, MissingExtra
from ..pull.store import expanded

Kind = Literal["causal", "masked"]
_CLASSES: dict[Kind, str] = {"causal": "AutoModelForCausalLM", "masked": "AutoModelForMaskedLM"}
_MAX_SECONDS = 10.0  # that the hub has to answer
_CONVERT = "only safetensors are read, other weights can run code; save it again with `save_pretrained`"
_MAX_LOGITS = {"cpu": 2**26, "cuda": 2**28}  # of a batch: 256 MB or 1 GB of float32


@dataclass
class Pretrained:
    """A tokenizer and a network that belong together."""

    name: str  # with the commit, if it came from the hub
    tokenizer: Any
    network: Any
    device: torch.device

    def __post_init__(self) -> None:
        max_logits = _MAX_LOGITS.get(self.device.type, _MAX_LOGITS["cuda"])
        self.num_tokens = max(1, max_logits // self.vocabulary_size)  # of a batch

    @property
    def vocabulary_size(self) -> int:
        """T: the columns of the logits."""
        head = self.network.get_output_embeddings()
        return int(self.network.config.get_text_config().vocab_size if head is None else head.weight.shape[0])

    @property
    def context(self) -> int:
        """Tokens that fit; some networks give the last of their positions to padding, their tokenizers know."""
        positions = getattr(self.network.config.get_text_config(), "max_position_embeddings", None)
        return min(int(positions or 10**9), int(self.tokenizer.model_max_length or 10**9))

    def tokens(self, texts: Sequence[str], room: int | None = None, **options: bool) -> list[list[int]]:
        """The tokens of each text; a text of more than `room` tokens is refused."""
        options |= {"return_attention_mask": False, "return_token_type_ids": False, "verbose": False}
        rows: list[list[int]] = self.tokenizer(list(texts), **options)["input_ids"]
        for text, row in zip(texts, rows, strict=True):
            if room is not None and len(row) > room:
                start = text if len(text) <= 60 else text[:60] + "…"
                raise BadInput(f"{start!r}: {len(row)} tokens; {self.name} reads at most {room}: shorten the text")
        return rows

    def padded(self, rows: Sequence[Sequence[int]], padding: int) -> tuple[Tensor, Tensor]:
        """Rows of tokens on the device, with padding at the right, and which of them are no padding: [N,L] each."""
        longest = max(map(len, rows))
        ids = torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows], device=self.device)
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        return ids, torch.arange(longest, device=self.device) < lengths[:, None]

    def logits(self, ids: Tensor, present: Tensor, **options: bool) -> Tensor:
        """[N,L,T], in float32 at least."""
        logits: Tensor = self.network(input_ids=ids, attention_mask=present.long(), **options).logits
        return logits if logits.dtype is torch.float64 else logits.float()

    def in_batches(self, lengths: Sequence[int], score: Callable[[list[int]], Tensor]) -> Tensor:
        """[N,...]: what `score` gives for N texts, called with the numbers of a few texts at a time.

        Long texts go first; those of a batch are of like length and have few enough tokens. Where memory does not
        suffice, it goes on with half as many tokens, also in later calls.
        """
        results: list[Tensor] = [torch.empty(0)] * len(lengths)
        order = sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)
        while order:
            longest = lengths[order[0]]
            batch = order[: max(1, self.num_tokens // longest)]
            scores = _within_memory(score, batch)
            if scores is not None:
                for number, result in zip(batch, scores, strict=True):
                    results[number] = result
                order = order[len(batch) :]
            elif len(batch) == 1:
                raise BadModel(f"{self.name}: not enough memory for one text of {longest} tokens; use a smaller model")
            else:
                self.num_tokens = len(batch) // 2 * longest
        return torch.stack(results)


def _within_memory(score: Callable[[list[int]], Tensor], batch: list[int]) -> Tensor | None:
    """The scores of a batch; None where memory does not suffice."""
    try:
        with torch.inference_mode():
            return score(batch)
    except (RuntimeError, MemoryError) as error:
        if not _is_out_of_memory(error):
            raise
    # Out of the handler, so that nothing holds the tensors of the call that failed.
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether this is what torch raises when the device or the machine has no memory left."""
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("allocate memory" in text or "not enough memory" in text)


def load_pretrained(kind: Kind, name: str | Path, device: str | torch.device = "cpu") -> Pretrained:
    """The model of a directory or of a hub name, in float32 and ready to run; `BadModel` says what is wrong with it."""
    try:
        transformers = import_module("transformers")
    except ImportError:
        raise MissingExtra("transformers", "hf") from None
    path = expanded(name)
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
        missing = min(info["missing_keys"])
        raise BadModel(f"{source}: no trained {kind} language model, or damaged: the weights lack {missing}")
    full_name = path.resolve().name if local else _with_commit(source)
    pretrained = Pretrained(full_name, tokenizer, network, torch.device(device))
    highest, size = max(_ids(tokenizer)), pretrained.vocabulary_size
    if highest >= size:
        sizes = f"the tokenizer has a token {highest}, the network only {size} tokens"
        raise BadModel(f"{source}: {sizes}; they do not belong together")
    return pretrained


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


def _is_reachable(name: str) -> bool:
    """Whether the hub answers and has this model in safetensors. If it does not answer, its cache may have the model.

    One try and no repetition: loading would try for a minute.
    """
    hub = import_module("huggingface_hub")
    try:
        files = hub.model_info(name, timeout=_MAX_SECONDS).siblings or []
    except hub.errors.RepositoryNotFoundError as error:
        raise BadModel(
            f"{name}: no such directory, and the hub has no such model (or it is private); check the name"
        ) from error
    except Exception:  # noqa: BLE001  whatever the http client of this version raises
        return False
    if not any(file.rfilename.endswith(".safetensors") for file in files):
        raise BadModel(f"{name}: the hub has no weights in safetensors for it; {_CONVERT}")
    return True


def _with_commit(name: str) -> str:
    """The name of a hub model and the commit that its cache holds: the directory of the snapshot is named so."""
    file = import_module("huggingface_hub").try_to_load_from_cache(name, "config.json")
    return f"{name}@{Path(file).parent.name[:8]}" if isinstance(file, str) else name


def _explain(source: str, kind: Kind, error: BaseException, *, local: bool, offline: bool) -> str:
    """What went wrong in one line, and what to do."""
    if _is_out_of_memory(error):
        return f"{source}: not enough memory to load it; use a smaller model or another device"
    reason = " ".join(str(error).split())
    other = re.match(r"Unrecognized configuration class .*?(\w+)Config\b", reason)
    if other:
        return f"{source}: not a {kind} language model (it is a {other.group(1)})"
    reason = reason[:200] + ("…" if len(reason) > 200 else "")
    if local:
        return f"{source}: cannot be loaded ({reason}); if the files are damaged, get the model again"
    cause: BaseException | None = error
    while cause is not None:
        if type(cause).__name__ == "GatedRepoError":
            return f"{source}: the hub asks for permission; accept its terms there and log in with `hf auth login`"
        cause = cause.__cause__ or cause.__context__
    if offline:
        remedy = "check the name and the network, or give a local directory"
        return f"{source}: no such directory, and the hub cannot be reached; {remedy}"
    return f"{source}: cannot be loaded from the hub ({reason})"


@contextmanager
def _quiet() -> Iterator[None]:
    """Neither warnings nor progress bars of transformers and the hub; as it was afterwards."""
    transformers, hub = (import_module(name).utils for name in ("transformers", "huggingface_hub"))
    with ExitStack() as restore, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logging in (transformers.logging, hub.logging):
            restore.callback(logging.set_verbosity, logging.get_verbosity())
            logging.set_verbosity(CRITICAL)
        if transformers.logging.is_progress_bar_enabled():
            restore.callback(transformers.logging.enable_progress_bar)
            transformers.logging.disable_progress_bar()
        if not hub.are_progress_bars_disabled():
            restore.callback(hub.enable_progress_bars)
            hub.disable_progress_bars()
        yield
