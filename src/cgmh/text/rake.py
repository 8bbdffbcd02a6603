"""Keywords of a sentence by RAKE (Rose et al. 2010): phrases between stop words, scored by how their words combine."""

from collections import Counter
from collections.abc import Sequence

# Function words, and general words of the kind that one of two questions with the same meaning often lacks: over pairs
# of Quora questions (training part) the other question has "find" in 48 of 100 cases and "help" in 36, "best" in 81,
# "money" in 92. Words of a topic that come and go as often (ban, currency) are not listed.
STOP_WORDS = frozenset(
    "a an the this that these those some any each every either neither all both such same other another own "
    "i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself it "
    "its itself they them their theirs themselves one ones someone somebody something anyone anybody anything "
    "everyone everybody everything "
    "who whom whose which what when where why how whether if because while until although though unless than then "
    "and or but nor so as at by for from in into of off on onto out over to under up down with within without about "
    "against between through during before after above below across among around behind beside besides beyond "
    "despite except inside like near outside per since toward towards upon via "
    "am is are was were be been being do does did doing done have has had having can could may might must shall "
    "should will would ought get gets got getting make makes made making let "
    "not no never here there now just only also too very much many more most few less least even ever still yet "
    "really actually quite rather again once "
    "'s i'm i'd i've i'll it's you're you've you'd you'll he'd he'll she'd she'll we're we've we'd we'll they're "
    "they've they'd they'll don't doesn't didn't can't cannot couldn't won't wouldn't shouldn't isn't aren't wasn't "
    "weren't hasn't haven't hadn't etc "
    "good great bad nice real right true different various certain several possible available interesting easy easiest "
    "easily quick quickly fast simple simply currently exactly basically "
    "use uses used using need needs needed want wants wanted take takes took taken taking give gives given giving go "
    "goes going gone went come comes came coming find finds finding found help helps helping see look looking think "
    "tell say says said mean means happens happened affect affects exist exists try trying "
    "way ways thing things reason reasons person kind type types sort lot lots back".split()
)


def extract_keywords(words: Sequence[str], share: float = 0.5) -> list[int]:
    """The places of the keywords: whole phrases, best first, until they cover this share of the content words."""
    phrases: list[list[int]] = [[]]
    for at, word in enumerate(words):
        if word.lower() not in STOP_WORDS and any(c.isalnum() for c in word):
            phrases[-1].append(at)
        elif phrases[-1]:
            phrases.append([])
    phrases = [phrase for phrase in phrases if phrase]
    frequency: Counter[str] = Counter()
    degree: Counter[str] = Counter()  # with how many words it shares a phrase, itself included
    for phrase in phrases:
        for at in phrase:
            frequency[words[at].lower()] += 1
            degree[words[at].lower()] += len(phrase)

    def score(phrase: list[int]) -> float:
        return sum(degree[words[at].lower()] / frequency[words[at].lower()] for at in phrase)

    wanted = share * sum(map(len, phrases))
    kept: list[int] = []
    for phrase in sorted(phrases, key=score, reverse=True):  # stable: of equals the earlier
        if kept and len(kept) >= wanted:
            break
        kept += phrase
    return sorted(kept)
