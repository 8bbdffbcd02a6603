"""Train the sentence encoder to find, among many sentences, the one that stands next to a given one.

    python recipes/english/encoder.py ENCODED OUT --minutes 2

ENCODED is what `prepare.py` wrote. The corpora that are in document order are read (with gaps, so that two sentences in
a row are not always neighbours). OUT receives `encoder.safetensors` and `words.json`, the lower-case words of its rows,
from row 1 on.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from cgmh.models.meaning.vectors import PAD, Encoder
from cgmh.text.vocabulary import Vocabulary, is_special

CORPORA = ("wikipedia-1", "wikipedia-2", "reuters", "imdb", "fiction")
MAX_WORDS = 32


def rows_of(vocabulary: Vocabulary) -> tuple[list[str], np.ndarray]:
    """The lower-case words, and the row of each id of the vocabulary: casings share one, specials have none."""
    words = sorted({word.lower() for word in vocabulary.words if not is_special(word)})
    rows = {word: at for at, word in enumerate(words, 1)}
    return words, np.array([PAD if is_special(word) else rows[word.lower()] for word in vocabulary.words], np.int32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoded", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--pairs", type=int, default=2048, help="pairs per batch")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--reach", type=int, default=3)
    parser.add_argument("--drop", type=float, default=0.1, help="share of words left out of a sentence in training")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    vocabulary = Vocabulary.load(args.encoded / "vocabulary.json")
    words, row = rows_of(vocabulary)
    streams, firsts, seconds = [], [], []
    size = 0
    for name in CORPORA:
        ids = np.load(args.encoded / f"{name}.npy")
        starts = np.concatenate([[0], np.flatnonzero(ids == vocabulary.end)[:-1] + 1]) + size
        streams.append(ids)
        firsts.append(starts[:-1])
        seconds.append(starts[1:])
        size += len(ids)
    stream = torch.from_numpy(np.concatenate(streams).astype(np.int32)).to(device)
    pair = torch.from_numpy(np.stack([np.concatenate(firsts), np.concatenate(seconds)])).to(device)  # [2, P]
    stream = torch.cat([stream, stream.new_full((MAX_WORDS,), vocabulary.end)])
    table = torch.from_numpy(row).to(device)
    encoder = Encoder(len(words) + 1, args.width, args.hidden, args.reach).to(device)
    scale = torch.nn.Parameter(torch.tensor(2.5, device=device))
    optimizer = torch.optim.AdamW([*encoder.parameters(), scale], lr=args.rate, weight_decay=0.01)

    def sentences(starts: torch.Tensor) -> torch.Tensor:
        ids = stream[starts[:, None] + torch.arange(MAX_WORDS, device=device)]  # [N, T]
        inside = (ids == vocabulary.end).cumsum(1) == 0
        kept = torch.rand(ids.shape, device=device) >= args.drop
        return (table[ids.long()] * (inside & kept)).long()

    began, step, recent = time.time(), 0, []
    while (progress := (time.time() - began) / (args.minutes * 60)) < 1:
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(1, (step + 1) / 200) * (1 - progress)
        chosen = pair[:, torch.randint(pair.shape[1], (args.pairs,), device=device)]
        left, right = encoder(sentences(chosen[0])), encoder(sentences(chosen[1]))
        scores = left @ right.T * scale.exp()  # [N, N]
        answers = torch.arange(len(scores), device=device)
        loss = (
            torch.nn.functional.cross_entropy(scores, answers) + torch.nn.functional.cross_entropy(scores.T, answers)
        ) / 2
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        optimizer.step()
        step += 1
        recent.append((loss.detach(), (scores.argmax(1) == answers).float().mean()))
        if step % 500 == 0:
            mean_loss, share = (float(torch.stack(values).mean()) for values in zip(*recent, strict=True))
            took = time.time() - began
            print(f"step {step}, {took:.0f} s: loss {mean_loss:.3f}, {share:.1%} of the neighbours found", flush=True)
            recent.clear()
    args.out.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.detach().half().cpu().contiguous() for name, tensor in encoder.state_dict().items()}
    save_file(weights, args.out / "encoder.safetensors")
    (args.out / "words.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
    print(json.dumps({"steps": step, "words": len(words), "pairs": pair.shape[1], "config": vars(args)}, default=str))


if __name__ == "__main__":
    main()
