"""Small mistakes in the source, one at a time, each of which a named test must catch.

    python recipes/mutants.py                  all of them; exit code 1 if one survives
    python recipes/mutants.py --only channel   those with this text in their module, their words or their test
    python recipes/mutants.py --markdown       the table of docs/exactness.md, without running anything

A mutant changes one place of the source of sampling, proposals, constraints or tasks. Its test runs in a process of its
own on a copy of the source with this one change, and must fail there; on the source as it is, it must pass. A text that
does not stand exactly once in its module is an error as well, so that the list follows the source.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/cgmh")
TIMEOUT = 120  # seconds for the test of a mutant; most take six, nearly all of it for the imports
TIMEOUT_UNCHANGED = 600  # seconds for all tests together
# Pytest, and then a look at where the package came from.
RUN = """
import sys
import pytest
code = pytest.main(sys.argv[2:])
import cgmh
sys.exit(int(code) if cgmh.__file__.startswith(sys.argv[1]) else 99)
"""

KERNELS = "tests/exact/test_kernels.py::"
FREE = KERNELS + "test_exact_without_constraints"
UNDER = KERNELS + "test_exact_under_constraints"
SPACE = KERNELS + "test_the_space_is_all_that_the_constraints_allow"
EXCHANGE = "tests/exact/test_tempering.py::"
PINNED = "tests/exact/test_pinned.py::test_exact"
PHRASES = "tests/exact/test_alternatives.py::test_exact"
TASKS = "tests/exact/test_tasks.py::test_exact"
MIXTURE = "tests/unit/proposals/test_mixture.py::"
WORDS = "tests/unit/constraints/test_words.py::"
OBEYS = "tests/unit/tasks/paraphrase/test_task_rules.py::"
CORRECT = "tests/unit/tasks/correct/test_task.py::"


@dataclass(frozen=True)
class Mutant:
    """A mistake: in `module`, `text` becomes `instead`, which `test` must notice."""

    module: str  # below src/cgmh
    mistake: str
    text: str
    instead: str
    test: str

    @property
    def path(self) -> Path:
        return PACKAGE / self.module

    def __str__(self) -> str:
        return f"{self.module}: {self.mistake}"


MUTANTS = [
    # The ratio, the step, the exchange of temperatures
    Mutant(
        "sampling/acceptance.py",
        "the ratio leaves out the way there",
        "- current.total(beta) + (candidate.log_reverse - candidate.log_forward)",
        "- current.total(beta) + candidate.log_reverse",
        f"{FREE}[fill edits-None-1.0]",
    ),
    Mutant(
        "sampling/acceptance.py",
        "the first stage leaves out the way there",
        "trust * (beta * log_gain + (candidate.log_reverse - candidate.log_forward))",
        "trust * (beta * log_gain + candidate.log_reverse)",
        f"{FREE}[fill edits-0-1.0]",
    ),
    Mutant(
        "sampling/acceptance.py",
        "the second stage forgets the first",
        "return log_ratio - log_first",
        "return log_ratio",
        f"{FREE}[fill edits-0-1.0]",
    ),
    Mutant(
        "sampling/acceptance.py",
        "an exchange has the wrong sign",
        "(hotter.soft.sum(-1) - colder.soft.sum(-1))",
        "(colder.soft.sum(-1) - hotter.soft.sum(-1))",
        f"{EXCHANGE}test_the_exchange_of_two_is_exact[0.7-two, near-soft and hard]",
    ),
    Mutant(
        "sampling/acceptance.py",
        "an exchange leaves the soft constraints out",
        "(hotter.soft.sum(-1) - colder.soft.sum(-1))",
        "(hotter.soft[:, 0] - colder.soft[:, 0])",
        f"{EXCHANGE}test_the_exchange_of_two_is_exact[0.7-two, near-soft and hard]",
    ),
    Mutant(
        "sampling/kernel.py",
        "what the first stage refused may pass the second",
        "log_second(log_ratio, log_first).masked_fill(~kept, -torch.inf)",
        "log_second(log_ratio, log_first)",
        f"{FREE}[fill edits-0-1.0]",
    ),
    Mutant(
        "sampling/kernel.py",
        "hard constraints do not enter the ratio",
        "torch.zeros_like(candidate.log_forward).masked_fill(~possible, -torch.inf)",
        "torch.zeros_like(candidate.log_forward)",
        f"{UNDER}[one word-mixture-None]",
    ),
    Mutant(
        "sampling/kernel.py",
        "the model takes over refused candidates",
        "model.commit(view.encoding, pending, changed.index_select(0, rows))",
        "model.commit(view.encoding, pending, torch.ones_like(rows, dtype=torch.bool))",
        "tests/exact/test_recurrent.py::test_states_after_many_steps_are_those_of_a_fresh_encoding",
    ),
    Mutant(
        "sampling/kernel.py",
        "the state keeps the factors of refused candidates",
        "torch.where(changed[:, None], soft, current.soft)",
        "soft",
        "tests/unit/sampling/test_kernel.py::test_info_tells_what_was_proposed_and_what_came_of_it",
    ),
    Mutant(
        "sampling/tempering.py",
        "replicas step at the temperature of another",
        "own = betas.gather(1, levels).flatten()",
        "own = betas.flatten()",
        f"{EXCHANGE}test_a_whole_step_is_the_exchange_and_then_a_step_of_each_level",
    ),
    Mutant(
        "sampling/tempering.py",
        "replicas are looked up by level where it takes the inverse",
        "return first + self.levels.argsort(-1)",
        "return first + self.levels",
        f"{EXCHANGE}test_the_exchange_of_more_is_exact_at_even_and_odd_pairs[1-three-soft]",
    ),
    Mutant(
        "sampling/tempering.py",
        "pairs that overlap exchange at once",
        "% min(2, max(num_levels - 1, 1)) == 0",
        "% 1 == 0",
        f"{EXCHANGE}test_the_exchange_of_more_is_exact_at_even_and_odd_pairs[1-three-soft]",
    ),
    Mutant(
        "sampling/chain.py",
        "chains that have made their steps go on",
        "active = clock < steps if",
        "active = clock <= steps if",
        "tests/exact/test_chains.py::test_resumed_is_uninterrupted[5-('three inputs', 'mixture', 1)]",
    ),
    Mutant(
        "sampling/kernel.py",
        "steps made ahead go on after one that was read",
        "_up_to_first(first.kept & first.differs, number)",
        "torch.ones_like(active)",
        "tests/exact/test_ahead.py::test_a_chain_is_the_one_that_single_steps_make[16 ahead-hard-function]",
    ),
    Mutant(
        "sampling/kernel.py",
        "steps made ahead go on after one that changed the sentence",
        "changed = changed & _up_to_first(changed, number)",
        "pass",
        "tests/unit/sampling/test_runs_ahead.py::test_steps_made_ahead_are_those_of_step_by_step[experts-True]",
    ),
    Mutant(
        "sampling/acceptance.py",
        "reading ends where a step would pass the first stage",
        "return (log_first / trust - (candidate.log_reverse - candidate.log_forward)) / beta",
        "return (log_first / trust + (candidate.log_reverse - candidate.log_forward)) / beta",
        "tests/unit/sampling/test_acceptance.py::test_the_least_gain_is_the_one_with_which_the_first_stage_passes",
    ),
    # Word edits, swaps and leaps
    Mutant(
        "proposals/edits.py",
        "no word is inserted at the end",
        "torch.where(inserts, sentences.lengths + 1, num_editable",
        "torch.where(inserts, sentences.lengths, num_editable",
        f"{FREE}[fill edits-None-1.0]",
    ),
    Mutant(
        "proposals/edits.py",
        "the step back has the weight of the same move",
        "reverse=log_weight[[0, 2, 1]]",
        "reverse=log_weight",
        f"{FREE}[fill edits-None-1.0]",
    ),
    Mutant(
        "proposals/edits.py",
        "editable words are counted before the edit only",
        "torch.where(deletes, sentences.lengths, num_back)",
        "torch.where(deletes, sentences.lengths, num_editable + inserts.long())",
        f"{PINNED}[False-None-one word]",
    ),
    Mutant(
        "proposals/edits.py",
        "an edit that pins its own word can be undone",
        "impossible = ~undone | (~inserts & (num_editable == 0))",
        "impossible = ~inserts & (num_editable == 0)",
        f"{PINNED}[False-None-phrases that overlap]",
    ),
    Mutant(
        "proposals/edits.py",
        "only blocks of the same length change places",
        "first, second = pair // longest + 1, pair % longest + 1",
        "first, second = pair // longest + 1, pair // longest + 1",
        f"{TASKS}[keywords: phrases, no room]",
    ),
    Mutant(
        "proposals/edits.py",
        "blocks are as long as those of the first input",
        "table[sentences.inputs]  # [R]",
        "table[:1].expand(len(lengths))",
        "tests/unit/proposals/test_edits.py::test_blocks_are_as_long_as_the_input_allows",
    ),
    Mutant(
        "proposals/edits.py",
        "the way back of a leap undoes the second edit only",
        "first.log_reverse[rows] + second.log_reverse.masked_fill",
        "second.log_reverse.masked_fill",
        f"{TASKS}[keywords: a constraint of one's own]",
    ),
    Mutant(
        "proposals/edits.py",
        "a leap may pass a sentence longer than both ends",
        "(second.log_reverse > -torch.inf) & (middle.lengths <= longer)",
        "second.log_reverse > -torch.inf",
        "tests/unit/proposals/test_edits.py::test_a_leap_does_not_depend_on_the_width_of_the_array",
    ),
    # Where words come from
    Mutant(
        "proposals/fillers.py",
        "the floor is drawn from and not counted",
        "self._fill.log_prob(word).double() + self._log_rest",
        "self._fill.log_prob(word).double()",
        f"{FREE}[fill edits-None-1.0]",
    ),
    Mutant(
        "proposals/fillers.py",
        "the floor has one word less than it says",
        '1 + wanted * (self.num_words - 1), "floor word"',
        '1 + wanted * (self.num_words - 2), "floor word"',
        f"{FREE}[fill edits-None-1.0]",
    ),
    Mutant(
        "proposals/fillers.py",
        "several words of an input's own count as one",
        "log_word = log_own - counts.clamp(min=1).double().log()",
        "log_word = log_own",
        f"{TASKS}[keywords: one of two unknown words]",
    ),
    Mutant(
        "proposals/fillers.py",
        "own words take nothing from the others",
        "torch.where(is_own, log_word, log_prob + torch.log1p(-log_own.exp()))",
        "torch.where(is_own, log_word, log_prob)",
        f"{TASKS}[keywords: a known word or an unknown one]",
    ),
    Mutant(
        "proposals/fillers.py",
        "own words are those of the first input",
        'torch.where(brought, tables["own"][inputs, own],',
        'torch.where(brought, tables["own"][0, own],',
        f"{TASKS}[keywords: a batch]",
    ),
    # Phrases for one another, and mixtures
    Mutant(
        "proposals/phrases.py",
        "places of a group are counted before the edit only",
        "num_back = _stands(edited, phrases, sizes)",
        "num_back = _stands(sentences, phrases, sizes)",
        f"{PHRASES}[delete; split]",
    ),
    Mutant(
        "proposals/phrases.py",
        "the rest of the shares includes the phrase itself",
        "[sum(group.shares[:a]) + sum(group.shares[a + 1 :]) for a in range(number)]",
        "[sum(group.shares) for a in range(number)]",
        f"{PHRASES}[a word once, twice, three times; five of all lengths]",
    ),
    Mutant(
        "proposals/phrases.py",
        "words at both ends of two phrases are shared twice",
        "(columns < shorter - left[:, None])",
        "(columns < shorter)",
        "tests/unit/proposals/test_phrases.py::test_moves_by_hand[a word doubled-sentence9-after9-insert-same9]",
    ),
    Mutant(
        "proposals/mixture.py",
        "candidates are handed to the wrong chains",
        "Candidate.concatenate(parts).select(back)",
        "Candidate.concatenate(parts)",
        f"{MIXTURE}test_rows_keep_their_order",
    ),
    # Constraints
    Mutant(
        "constraints/words.py",
        "in order, the word after an occurrence is taken too",
        "free = columns >= reached[:, None]",
        "free = columns > reached[:, None]",
        f"{SPACE}[in order]",
    ),
    Mutant(
        "constraints/words.py",
        "in order, an input needs as much as the longest list",
        "reached = torch.where(absent[:, r], reached, first)",
        "reached = first",
        f"{WORDS}test_nothing_required",
    ),
    Mutant(
        "constraints/words.py",
        "requirements may share a word",
        "if not shares and (one_word or count == 1):",
        "if one_word or count == 1:",
        f"{SPACE}[entangled]",
    ),
    Mutant(
        "constraints/words.py",
        "repeated phrases may overlap",
        "if not shares and (one_word or count == 1):",
        "if not shares:",
        f"{WORDS}test_what_the_documentation_says",
    ),
    Mutant(
        "constraints/words.py",
        "a word that is required twice need be there once",
        "holds = (self._clear.counts(sentences) >= needed).all(-1)",
        "holds = (self._clear.counts(sentences) >= needed.clamp(max=1)).all(-1)",
        f"{SPACE}[repeated]",
    ),
    Mutant(
        "constraints/words.py",
        "entangled requirements of the longest list are asked of all",
        "full = 2 ** (~patterns.absent(sentences)).sum(-1) - 1",
        "full = torch.full_like(sentences.lengths, 2**num - 1)",
        f"{WORDS}test_agrees_with_trying_everything[2-False]",
    ),
    Mutant(
        "constraints/words.py",
        "words stay pinned where there are more than needed",
        "starts = (begins & tight).any(1)",
        "starts = begins.any(1)",
        f"{TASKS}[keywords: a word]",
    ),
    Mutant(
        "constraints/words.py",
        "words are forbidden to every input as to the first",
        "self._forbidden.contain(sentences.ids, sentences.inputs[:, None])",
        "self._forbidden.contain(sentences.ids, torch.zeros_like(sentences.inputs)[:, None])",
        f"{SPACE}[sentence-like, two inputs]",
    ),
    Mutant(
        "constraints/similarity.py",
        "word vectors compare with the first source",
        'tables["best"][sentences.inputs[:, None], sentences.ids]',
        'tables["best"][0, sentences.ids]',
        f"{SPACE}[close, two inputs]",
    ),
    Mutant(
        "constraints/similarity.py",
        "sentence vectors compare with the first source",
        'tables["own"][sentences.inputs]).sum(-1)',
        'tables["own"][:1]).sum(-1)',
        "tests/exact/test_paraphrase.py::test_the_soft_factors_are_what_plain_arithmetic_says[paraphrase, two inputs]",
    ),
    Mutant(
        "constraints/overlap.py",
        "the words of the sentence are looked up in the first source",
        'tables["local"][sentences.inputs[:, None], classes] * present',
        'tables["local"][0, classes] * present',
        "tests/exact/test_paraphrase.py::test_the_soft_factors_are_what_plain_arithmetic_says[close, two inputs]",
    ),
    Mutant(
        "constraints/channel.py",
        "an exchange of neighbours costs nothing",
        "cost = np.where(exchanged[i - 1], self._order, np.inf)",
        "cost = np.where(exchanged[i - 1], 0.0, np.inf)",
        "tests/unit/constraints/test_channel.py::test_factor_and_alignment_are_those_of_a_plain_search",
    ),
    Mutant(
        "constraints/channel.py",
        "a first change costs the same in every source",
        'self.first * tables["first"][inputs] * self._changed',
        "self.first * self._changed",
        "tests/unit/tasks/correct/test_source.py::test_the_channel_of_several_sources",
    ),
    Mutant(
        "constraints/channel.py",
        "a source has the words of a longer one beside it",
        "costs.append(np.where(ended[i], before, best))",
        "costs.append(best)",
        "tests/unit/constraints/test_channel.py::test_factor_and_alignment_are_those_of_a_plain_search",
    ),
    # Keywords
    Mutant(
        "tasks/keywords/__init__.py",
        "nothing is exchanged",
        "(SwapBlocks(longest), SWAPS), (Alternatives(exchanges), EXCHANGES)]",
        "(SwapBlocks(longest), SWAPS)]",
        f"{TASKS}[keywords: all casings, no room]",
    ),
    Mutant(
        "tasks/keywords/__init__.py",
        "single words change places",
        "SwapBlocks(longest)",
        "SwapBlocks(1)",
        f"{TASKS}[keywords: phrases, no room]",
    ),
    Mutant(
        "tasks/keywords/__init__.py",
        "at most three words change places",
        "SwapBlocks(longest)",
        "SwapBlocks(3)",
        f"{TASKS}[keywords: long phrases, no room]",
    ),
    Mutant(
        "tasks/keywords/__init__.py",
        "forms are exchanged, alternatives are not",
        "for phrase in normalize(required) for place in phrase",
        "for phrase in required for place in phrase",
        f"{TASKS}[keywords: one of two words]",
    ),
    Mutant(
        "tasks/keywords/__init__.py",
        "alternatives of several words are not exchanged",
        "if len(usual) > 1 and max(map(len, usual)) > 1:",
        "if len(usual) > 1 and max(map(len, usual)) > 9:",
        f"{TASKS}[keywords: phrases with unknown words]",
    ),
    Mutant(
        "tasks/keywords/__init__.py",
        "short alternatives are not filled up",
        "Group.even([*usual, *_filled_up(usual, source, lexicon)])",
        "Group.even(usual)",
        f"{TASKS}[keywords: unequal length, no room]",
    ),
    Mutant(
        "tasks/keywords/__init__.py",
        "short alternatives are filled up with a forbidden word",
        "next(word for word in words if word not in source.forbidden)",
        "next(words)",
        f"{TASKS}[keywords: a usual word is forbidden, no room]",
    ),
    Mutant(
        "tasks/keywords/__init__.py",
        "unknown words never come",
        "FillHead(model, own=own)",
        "FillHead(model)",
        f"{TASKS}[keywords: one of two unknown words]",
    ),
    Mutant(
        "tasks/keywords/__init__.py",
        "an input has the room of the longest one",
        'LengthBetween([0] * len(rooms), rooms, name="room")',
        'LengthBetween([0] * len(rooms), [max(rooms)] * len(rooms), name="room")',
        "tests/unit/test_api_batches.py::test_a_line_of_commas_gives_no_room_to_another",
    ),
    Mutant(
        "tasks/keywords/__init__.py",
        "a sentence may end anywhere",
        "[EndsWith(endings)] if endings else []",
        "[]",
        "tests/exact/test_tasks.py::test_the_space_is_what_was_asked_for",
    ),
    Mutant(
        "tasks/keywords/source.py",
        "words are forbidden in one casing only",
        "((*(vocabulary.words[id] for id in vocabulary.casings(word)), word) for (word,) in typed)",
        "((word,) for (word,) in typed)",
        "tests/unit/tasks/keywords/test_source.py::test_forbidden_words_in_every_casing",
    ),
    # What all tasks share
    Mutant(
        "tasks/problem.py",
        "a constraint of one's own brings no leaps",
        "if any(constraint.hard and constraint not in given for constraint in target.constraints):",
        "if any(constraint.hard and constraint not in given for constraint in given):",
        f"{TASKS}[keywords: a constraint of one's own]",
    ),
    Mutant(
        "tasks/problem.py",
        "leaps bring no unknown words",
        "Leap(WordEdits(FillHead(model, own=self.own)), model)",
        "Leap(WordEdits(FillHead(model)), model)",
        f"{TASKS}[keywords: a constraint of one's own, an unknown word]",
    ),
    # Paraphrases
    Mutant(
        "tasks/paraphrase/__init__.py",
        "at most three words change places",
        "SwapBlocks(longest)",
        "SwapBlocks(3)",
        f"{TASKS}[paraphrase: long names change places]",
    ),
    Mutant(
        "tasks/paraphrase/__init__.py",
        "protected words keep their casing",
        "(SwapBlocks(longest), SWAPS), (Alternatives(casings), CASINGS)]",
        "(SwapBlocks(longest), SWAPS)]",
        f"{TASKS}[paraphrase: the casing of a name]",
    ),
    Mutant(
        "tasks/paraphrase/__init__.py",
        "an unknown word never comes twice",
        "head = FillHead(model, own=own)",
        "head = FillHead(model)",
        f"{TASKS}[paraphrase: an unknown word, nothing protected]",
    ),
    Mutant(
        "tasks/paraphrase/__init__.py",
        "an unknown word never comes twice by Gibbs",
        "GibbsOver(model, Target(model, constraints), own=own)",
        "GibbsOver(model, Target(model, constraints))",
        f"{TASKS}[paraphrase: the paper's kernel, an unknown word]",
    ),
    Mutant(
        "tasks/paraphrase/__init__.py",
        "a bound on the similarity brings no leaps",
        "if matching.bounded else mixture",
        "if False else mixture",
        f"{OBEYS}test_two_words_change_at_once_where_a_similarity_is_bounded",
    ),
    Mutant(
        "tasks/paraphrase/__init__.py",
        "an answer may have the room of a longer one beside it",
        "LengthBetween([1] * len(sources), [len(source.ids) + ROOM for source in sources])",
        "LengthBetween([1] * len(sources), [max(len(source.ids) for source in sources) + ROOM] * len(sources))",
        f"{OBEYS}test_how_long_an_answer_may_be_does_not_depend_on_the_others",
    ),
    Mutant(
        "tasks/paraphrase/__init__.py",
        "a question may become a statement",
        "[Forbids(forbidden), EndsWith([{source.ids[-1]} for source in sources])]",
        "[Forbids(forbidden)]",
        f"{OBEYS}test_what_an_answer_obeys[What is it?-Which is it?-It is good.]",
    ),
    Mutant(
        "tasks/paraphrase/__init__.py",
        "negations come and go",
        'kept.append(_number("negations", sources, lists.negations))',
        "pass",
        f"{OBEYS}test_what_an_answer_obeys[Why do you like it?-Why did you like it?-Why don't you like it?]",
    ),
    Mutant(
        "tasks/paraphrase/__init__.py",
        "a number may come twice",
        "kept += [_number(kind, sources, stated[kind], fewer=True) for kind in stated if kind in protect]",
        "",
        f"{OBEYS}test_what_an_answer_obeys[What is 20 in cash?-What was 20 of cash?-What is 20 of 20?]",
    ),
    Mutant(
        "tasks/paraphrase/__init__.py",
        "marks that close a sentence may stand side by side",
        "Apart(lists.closing, [source.ids for source in sources])]",
        "]",
        f"{OBEYS}test_marks_side_by_side_are_left_to_a_source_that_has_them",
    ),
    Mutant(
        "tasks/paraphrase/places.py",
        "facts may change their order",
        "ContainsWords(of_kind, ordered=True)",
        "ContainsWords(of_kind)",
        f"{OBEYS}test_facts_of_a_kind_stay_in_order",
    ),
    Mutant(
        "tasks/paraphrase/places.py",
        "at most three words change places where kinds of facts do",
        "return max([MIN_BLOCK, *map(len, self._all(number))])",
        "return MIN_BLOCK",
        f"{TASKS}[paraphrase: a long name and a number change places]",
    ),
    Mutant(
        "tasks/paraphrase/places.py",
        "what has to stay may not stand beside a number",
        "for word in QUALIFY_BEFORE - left for id in lexicon.vocabulary.casings(word)} - fixed)",
        "for word in QUALIFY_BEFORE - left for id in lexicon.vocabulary.casings(word)})",
        f"{OBEYS}test_a_word_that_has_to_stay_may_stand_beside_a_number",
    ),
    Mutant(
        "constraints/words.py",
        "what must not stand after a phrase is looked for after its first word",
        "unwanted[:, p + 1 :] & begins[:, : -p - 1] if",
        "unwanted[:, 1:] & begins[:, :-1] if",
        "tests/unit/constraints/test_words.py::test_never_beside_agrees_with_looking_at_every_place[True]",
    ),
    Mutant(
        "tasks/paraphrase/matching.py",
        "facts need not stay",
        "return [*facts, *(",
        "return [*(",
        f"{OBEYS}test_places_are_not_protected_where_that_is_not_asked_for",
    ),
    # Corrections
    Mutant(
        "tasks/correct/__init__.py",
        "an unknown name never comes twice",
        "edits = WordEdits(FillHead(model, own=own))",
        "edits = WordEdits(FillHead(model))",
        f"{TASKS}[correct: an unknown name]",
    ),
    Mutant(
        "tasks/correct/__init__.py",
        "facts may change their order",
        "ContainsWords(requirements, ordered=True)",
        "ContainsWords(requirements)",
        f"{CORRECT}test_a_target_refuses_what_breaks_a_fact",
    ),
    Mutant(
        "tasks/correct/__init__.py",
        "a correction may have the room of a longer one beside it",
        "LengthBetween([1] * len(sources), [len(source.ids) + ROOM for source in sources])",
        "LengthBetween([1] * len(sources), [max(len(source.ids) for source in sources) + ROOM] * len(sources))",
        f"{CORRECT}test_no_source_has_more_room_beside_a_longer_one",
    ),
]


def misplaced(mutants: Sequence[Mutant]) -> Iterator[str]:
    """What is wrong with the list: texts that do not stand exactly once in their modules."""
    for mutant in mutants:
        number = (ROOT / mutant.path).read_text(encoding="utf-8").count(mutant.text)
        if number != 1:
            yield f"{mutant}: its text stands {number} times in {mutant.path}, not once: {mutant.text!r}"


def copy_source(folder: Path, mutant: Mutant | None = None) -> None:
    """The source below a folder, with the mistake in it; what is no code is linked."""

    def copy(original: str, place: str) -> None:
        if original.endswith(".py"):
            shutil.copyfile(original, place)
        else:
            Path(place).symlink_to(original)

    shutil.copytree(ROOT / PACKAGE, folder / PACKAGE, copy_function=copy, ignore=shutil.ignore_patterns("__pycache__"))
    if mutant is not None:
        module = folder / mutant.path
        module.write_text(module.read_text(encoding="utf-8").replace(mutant.text, mutant.instead), encoding="utf-8")


def run_tests(folder: Path, tests: Sequence[str], seconds: float) -> tuple[int | None, str]:
    """The exit code of pytest on a copy of the source, None if it took too long; and what it said."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
    }
    options = ["-q", "-p", "no:cacheprovider", "--tb=short", *tests]
    command = [sys.executable, "-c", RUN, str(folder), *options]
    try:
        done = subprocess.run(  # noqa: S603
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return None, f"took more than {seconds} s"
    return done.returncode, done.stdout + done.stderr


def verdict(code: int | None, said: str) -> str:
    """What became of a mutant; empty if its test failed, as it should."""
    if code == 1:
        return ""
    if code == 0:
        return "SURVIVED"
    reason = said.strip().splitlines()[-1:] or [""]
    return f"NO ANSWER ({code}): {reason[0]}"


def judge(mutant: Mutant) -> tuple[str, str]:
    """What became of a mutant, and how its test failed."""
    with tempfile.TemporaryDirectory(prefix="cgmh-mutant-") as name:
        folder = Path(name).resolve()
        copy_source(folder, mutant)
        code, said = run_tests(folder, [mutant.test], TIMEOUT)
    errors = [line[1:].strip() for line in said.splitlines() if line.startswith("E ")]
    return verdict(code, said), (errors or [""])[0]


def unchanged(mutants: Sequence[Mutant]) -> str:
    """What the tests say on the source as it is; empty if all of them pass."""
    with tempfile.TemporaryDirectory(prefix="cgmh-mutant-") as name:
        folder = Path(name).resolve()
        copy_source(folder)
        code, said = run_tests(folder, list(dict.fromkeys(mutant.test for mutant in mutants)), TIMEOUT_UNCHANGED)
    return "" if code == 0 else said


def markdown(mutants: Sequence[Mutant]) -> str:
    """The list as a table."""
    rows = [f"| `{mutant.module}` | {mutant.mistake} | `{mutant.test.removeprefix('tests/')}` |" for mutant in mutants]
    return "\n".join(["| module | what is changed | caught by |", "|---|---|---|", *rows])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Small mistakes in the source, each caught by a named test.")
    parser.add_argument("--only", default="", metavar="TEXT", help="mutants with this text in them")
    parser.add_argument("--jobs", type=int, default=2, help="tests that run at the same time (default: 2)")
    parser.add_argument("--markdown", action="store_true", help="print the table of the documentation, run nothing")
    asked = parser.parse_args(arguments)
    mutants = [mutant for mutant in MUTANTS if asked.only in f"{mutant} {mutant.test}"]
    wrong = list(misplaced(mutants))
    if wrong or not mutants:
        print("\n".join(wrong) or f"no mutant has {asked.only!r} in it", file=sys.stderr)
        return 1
    if asked.markdown:
        print(markdown(mutants))
        return 0
    with ThreadPoolExecutor(max(asked.jobs, 1)) as pool:
        said = pool.submit(unchanged, mutants)
        judged = list(tqdm(pool.map(judge, mutants), total=len(mutants), desc="mutants", file=sys.stderr))
    survived = [mutant for mutant, (problem, _) in zip(mutants, judged, strict=True) if problem]
    width = max(len(str(mutant)) for mutant in mutants)
    for mutant, (problem, error) in zip(mutants, judged, strict=True):
        print(f"{mutant!s:{width}}  {problem or 'caught'}  {mutant.test}  {error}"[:240])
    if said.result():
        print(f"\nOn the source as it is, not every test passes:\n{said.result()}")
    print(f"\n{len(mutants) - len(survived)} of {len(mutants)} mutants caught")
    return 1 if survived or said.result() else 0


if __name__ == "__main__":
    sys.exit(main())
