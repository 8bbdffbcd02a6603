"""The inflected forms of English words, for keywords that may appear in any of them."""

from collections.abc import Callable

_OPEN_CLASSES = ("NOUN", "VERB")  # the parts of speech that new words join
_SHORTEST = 3  # "la" and "las" are not one word
# Words of the closed classes, for which regular rules would invent nonsense ("the" to "thing", "her" to "herring").
_FIXED = frozenset(
    (
        "the and but for nor yet not she her hers his him its our ours your yours their theirs they them who whom "
        "whose what which that this these those with from into onto upon than then when where why how all any both "
        "each few more most some such only own same too very just also about after again against before below above "
        "between during through under over out off down here there while because until although though since unless "
        "whether if else ever never mine myself himself herself itself themselves ourselves yourself anyone someone "
        "everyone nobody nothing something everything anything per via plus without within along across behind beyond "
        "among around near toward towards us you "
    ).split()
)


def inflections(word: str, is_word: Callable[[str], bool] | None = None) -> set[str]:
    """All forms of a word and of its lemmas, itself included, in lower case.

    ``inflections("ran")`` gives run, runs, ran, running; a word of several lemmas ("saw") gets the forms of all. The
    dictionary lacks newer words ("website"); regular rules guess their forms, and of those only what `is_word` knows is
    kept, so that no word is invented. Without `is_word`, a word outside the dictionary has one form.
    """
    import lemminflect

    word = word.lower()
    forms = {word}
    if word in _FIXED:
        return forms
    for part, lemmas in lemminflect.getAllLemmas(word).items():
        for lemma in lemmas:
            forms |= {lemma, *_flat(lemminflect.getAllInflections(lemma, part))}
    if len(forms) == 1 and is_word is not None and word.isalpha() and len(word) >= _SHORTEST:
        guesses: set[str] = set()
        for part in _OPEN_CLASSES:
            for lemma in {word, *_flat(lemminflect.getAllLemmasOOV(word, part))}:
                guesses |= {lemma, *_flat(lemminflect.getAllInflectionsOOV(lemma, part))}
                guesses |= _flat(lemminflect.getAllInflections(lemma, part))  # "runned" is of run, which has ran
        forms |= {form for form in guesses if is_word(form)}
    return {form.lower() for form in forms}


def _flat(forms: dict[str, tuple[str, ...]]) -> set[str]:
    return {form for some in forms.values() for form in some}
