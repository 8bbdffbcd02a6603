"""The inflected forms of English words, and what tells two forms of a word apart."""

from collections.abc import Callable, Iterator

_OPEN_CLASSES = ("NOUN", "VERB")  # the parts of speech that new words join
_MIN_LETTERS = 3  # of a word whose forms are guessed: "la" and "las" are not one word
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

_Paradigm = dict[str, tuple[str, ...]]  # the forms that have a tag (VBZ, NNS), by tag
_PRESENT = frozenset(("VBP", "VBZ"))
_PAST = frozenset(("VBD",))
_NUMBERS = frozenset(("NN", "NNS"))
_IRREGULAR = frozenset(("be", "have", "do"))  # their forms are used as verbs, whatever else a dictionary lists


def inflections(word: str, is_word: Callable[[str], bool] | None = None) -> set[str]:
    """All forms of a word and of its lemmas, itself included, in lower case.

    ``inflections("ran")`` gives run, runs, ran, running; a word of several lemmas ("saw") gets the forms of all. The
    dictionary lacks newer words ("website"); regular rules guess their forms, and of those only what `is_word` knows is
    kept, so that no word is invented. Without `is_word`, a word outside the dictionary has one form.
    """
    return {word.lower(), *inflection_kinds(word, is_word)}


def inflection_kinds(
    word: str, is_word: Callable[[str], bool] | None = None, *, is_verb: bool = False
) -> dict[str, str]:
    """The other forms of a word, as `inflections` finds them, and what tells each from the word.

    agreement: the same tense of a verb (has, have); number: one and several of a noun, or of a word that may be a verb
    too (price, prices), unless it `is_verb` here; tense: present and past (has, had); inflection: all the rest.
    """
    word = word.lower()
    if word in _FIXED:
        return {}
    paradigms = list(_listed_paradigms(word))
    others = {form.lower() for paradigm in paradigms for form in _flat(paradigm)} - {word}
    if not others and is_word is not None and word.isalpha() and len(word) >= _MIN_LETTERS:
        paradigms = list(_guessed_paradigms(word))
        others = {form.lower() for paradigm in paradigms for form in _flat(paradigm) if is_word(form)} - {word}
    return {form: _kind(word, form, paradigms, is_verb=is_verb) for form in sorted(others)}


def verb_forms(verb: str, tag: str) -> tuple[str, ...]:
    """The forms of a verb, given in its base form, that have a tag (VBZ, VBD); none if it is no verb in that form."""
    import lemminflect

    if verb not in lemminflect.getAllLemmas(verb, "VERB").get("VERB", ()):
        return ()
    return tuple(form.lower() for form in lemminflect.getAllInflections(verb, "VERB").get(tag, ()))


def _listed_paradigms(word: str) -> Iterator[_Paradigm]:
    """The tables of forms in which the dictionary has the word."""
    import lemminflect

    for part, lemmas in lemminflect.getAllLemmas(word).items():
        for lemma in lemmas:
            yield {"lemma": (lemma,), **lemminflect.getAllInflections(lemma, part)}


def _guessed_paradigms(word: str) -> Iterator[_Paradigm]:
    """The tables of forms into which regular rules would put the word."""
    import lemminflect

    for part in _OPEN_CLASSES:
        for lemma in sorted({word, *_flat(lemminflect.getAllLemmasOOV(word, part))}):
            known = lemminflect.getAllInflections(lemma, part)  # "runned" is of run, which has ran
            yield {"lemma": (lemma,), **known}
            yield {"lemma": (lemma,), **lemminflect.getAllInflectionsOOV(lemma, part)}


def _kind(word: str, form: str, paradigms: list[_Paradigm], *, is_verb: bool) -> str:
    # The tags of the word and of the form in each paradigm that has both, and the lemma of the paradigm.
    tags = [(_tags(word, paradigm), _tags(form, paradigm), paradigm["lemma"][0]) for paradigm in paradigms]
    shared = [(a, b, lemma) for a, b, lemma in tags if a and b]
    agreeing = [lemma for a, b, lemma in shared if (a & _PRESENT and b & _PRESENT) or (lemma == "be" and a & b & _PAST)]
    is_number = any(a | b >= _NUMBERS for a, b, _ in shared)
    if agreeing and (is_verb or not is_number or any(lemma in _IRREGULAR for lemma in agreeing)):
        return "agreement"
    if is_number:
        return "number"
    changed = any((a & _PAST and b & _PRESENT) or (a & _PRESENT and b & _PAST) for a, b, _ in shared)
    return "tense" if changed else "inflection"


def _tags(form: str, paradigm: _Paradigm) -> set[str]:
    return {tag for tag, forms in paradigm.items() if tag != "lemma" and form in map(str.lower, forms)}


def _flat(paradigm: _Paradigm) -> set[str]:
    return {form for forms in paradigm.values() for form in forms}
