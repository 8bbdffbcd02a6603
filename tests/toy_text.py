"""Small grammars that write training text: English with names, and Greek."""

import random
from pathlib import Path

from cgmh.models.word.network import NetworkConfig
from cgmh.training.corpus import TrainingText, read_corpus
from cgmh.training.loop import TrainingPlan

GRAMMARS = {
    "english": (
        ("the", "a", "every", "Anna 's"),
        ("dog", "cat", "horse", "teacher", "doctor", "train"),
        ("sees", "follows", "likes", "finds", "forgets"),
        ("the river", "a garden", "old Berlin", "Anna", "every door", "some bread"),
        ("today", "in May", "again", "at night"),
    ),
    "greek": (
        ("ο", "ένας", "κάθε"),
        ("σκύλος", "γάτος", "δάσκαλος", "γιατρός"),
        ("βλέπει", "θέλει", "ξεχνά", "βρίσκει"),
        ("το σπίτι", "την Αθήνα", "κάθε δέντρο", "το ψωμί"),
        ("σήμερα", "τον Μάιο", "όπως ο άλλος", "όπως ένας φίλος"),
    ),
}


def sentences(language: str, number: int, seed: int = 0) -> list[str]:
    """Sentences as people would write them."""
    chance = random.Random(seed)
    written = []
    for _ in range(number):
        words = [chance.choice(choices) for choices in GRAMMARS[language]]
        text = " ".join(words[: chance.choice((4, 5))]).replace(" 's", "'s")
        written.append(text[0].upper() + text[1:] + chance.choice((".", ".", "!")))
    return written


def write_corpus(path: Path, language: str = "english", number: int = 600) -> Path:
    path.write_text("\n".join(sentences(language, number)) + "\n", encoding="utf-8")
    return path


def toy_text(directory: Path, language: str = "english", number: int = 600) -> TrainingText:
    return read_corpus(write_corpus(directory / f"{language}.txt", language, number))


def toy_config(text: TrainingText) -> NetworkConfig:
    return NetworkConfig(
        text.num_classes, text.class_size, width=16, forward_hidden=24, backward_hidden=16, fill_hidden=16, layers=1
    )


def toy_plan(**changes: object) -> TrainingPlan:
    values = {"epochs": 3, "words": 300, "warm_up": 5, "rate": 0.02, "check_steps": 1000, "save_seconds": 1e9}
    return TrainingPlan(**{**values, **changes})  # type: ignore[arg-type]
