"""Lines from which Gemma learns to write sentences around words: a few words of a sentence, a new line, the sentence.

    python recipes/gemma/prompts.py ENCODED MODEL

ENCODED is the folder of ``prepare.py`` and receives ``NAME.prompted.npy`` for each corpus. The words come in random
order, as they stand in the sentence and with commas between, or in their base forms with slashes between: so the model
knows whether it may inflect them. Nothing but plain sentences is needed.
"""

import json
import random
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path

import lemminflect
import numpy as np

from cgmh.models.text.scored import BLANK, ScoredPairs
from cgmh.models.text.writing import line_of

# One sentence in so many gets a line; corpora that are not named get one for each.
EVERY = {
    "wikipedia-1": 3,
    "wikipedia-2": 3,
    "reuters": 3,
    "un_debates": 3,
    "imdb": 3,
    "fiction": 4,
    "talk": 2,
    "reviews": 2,
}
SHARES = (0.12, 0.38, 0.32, 0.18)  # of lines with one, two, … words
MAX_LENGTH, MAX_SENTENCE = 40, 26  # tokens
_WORD = re.compile(r"[A-Za-z][a-z]{2,}")
# Words that nobody would give as keywords.
_COMMON = frozenset(
    (
        "the and that you was for are with his her they this have from had not but what all were when there can said "
        "which him she one been their has would who will more about some into them then than its out could other your "
        "these two may did how our any only very just also where most such much many because through each those being "
        "now here like get got going don does doing done should might must shall let too even well really there's "
        "it's that's don't didn't doesn't i'm you're we're they're isn't wasn't can't won't couldn't wouldn't mrs "
        "over after before under between both few nor per via yet while until upon whom whose why off own same again "
        "himself herself itself themselves myself yourself something anything nothing everything someone anyone "
        "having were am let's i've we've you've they've he's she's what's who's"
    ).split()
)


@lru_cache(maxsize=200_000)
def base_form(word: str) -> str:
    lemmas = lemminflect.getAllLemmas(word)
    for part in ("VERB", "NOUN", "ADJ"):
        if lemmas.get(part):
            return lemmas[part][0]
    return word


def content_words(text: str) -> list[str]:
    words = []
    for at, match in enumerate(_WORD.finditer(text)):
        word = match.group()
        end = text[match.end() : match.end() + 1]
        before = text[match.start() - 1 : match.start()] if match.start() else ""
        if end in ("'", "-") or before in ("'", "-") or word.lower() in _COMMON:
            continue
        words.append(word.lower() if at == 0 and match.start() == 0 else word)
    return list(dict.fromkeys(words))


def prompted(task: tuple[str, Path, Path]) -> str:
    name, encoded, model = task
    record = json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))
    tokens, pairs = record["tokens"], ScoredPairs(record["tokens"], record["scores"])
    rows = np.load(encoded / "rows.npy")
    row_of = {token: at for at, token in enumerate(rows.tolist())}
    end = row_of[json.loads((model / "config.json").read_text(encoding="utf-8"))["end"]]
    ids = np.load(encoded / f"{name}.npy")
    ends = np.flatnonzero(ids == end) + 1
    generator = random.Random(name)  # noqa: S311 - nothing is to be kept secret
    result: list[int] = []
    number = 0
    for at, (first, last) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        if at % EVERY.get(name, 1) or not 5 <= last - first <= MAX_SENTENCE:
            continue
        sentence = ids[first:last].tolist()
        words = content_words("".join(tokens[rows[row]] for row in sentence[:-1]).replace(BLANK, " "))
        count = generator.choices((1, 2, 3, 4), SHARES)[0]
        if len(words) < count:
            continue
        chosen = generator.sample(words, count)
        inflected = generator.random() < 0.5
        text = line_of(list(map(base_form, chosen)) if inflected else chosen, inflected=inflected)
        prompt = [row_of.get(token) for token in pairs.encode(text)]
        if None in prompt or len(prompt) + len(sentence) > MAX_LENGTH:
            continue
        result += [*prompt, *sentence]
        number += 1
    np.save(encoded / f"{name}.prompted.npy", np.array(result, np.uint16))
    return f"{name}: {number:,} lines, {len(result):,} tokens"


if __name__ == "__main__":
    encoded, model = map(Path, sys.argv[1:])
    names = sorted(file.stem for file in encoded.glob("*.npy") if "." not in file.stem and file.stem != "rows")
    with ProcessPoolExecutor() as pool:
        for line in pool.map(prompted, [(name, encoded, model) for name in names]):
            print(line, flush=True)
