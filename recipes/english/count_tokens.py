"""Held-out perplexity per token, where tokens are counted in other ways.

    python recipes/english/count_tokens.py ENCODED PERPLEXITY

ENCODED is what `prepare.py` wrote; PERPLEXITY is that per word of our tokenizer. The log probability stays the same,
only the number it is divided by changes.
"""

import math
import re
import sys
from pathlib import Path

COUNTS = {
    r"\w+|[^\w\s]": lambda word: len(re.findall(r"\w+|[^\w\s]", word)),
    "contractions split": lambda word: 1 + bool(re.search(r"(?:n't|'(?:re|ve|ll|d|m))$", word)),
}


def main(encoded: Path, perplexity: float) -> None:
    lines = [
        line[2:].split() for file in encoded.glob("*.tok") for line in file.open(encoding="utf-8") if line[0] == "H"
    ]
    words = sum(map(len, lines)) + len(lines)  # with an end mark for each line
    for name, count in COUNTS.items():
        tokens = sum(count(word) for line in lines for word in line) + len(lines)
        per_token = math.exp(math.log(perplexity) * words / tokens)
        print(f"{name:20} {tokens / words:.4f} tokens per word, perplexity {per_token:.1f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
