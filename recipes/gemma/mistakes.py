"""Make mistakes in clean sentences, as learners of English do, to tune Gemma 3 270M on what was meant.

    python recipes/gemma/mistakes.py DATA OUT.jsonl [--number 1200000] [--seed 0]

DATA holds ``lm/`` and ``everyday/``. Each line of OUT is a list of two texts: a sentence with mistakes and the same
sentence as it was meant; of every eight pairs about one has no mistake. Which kinds of mistakes are frequent was set by
hand after word diffs of the development sets of JFLEG and FCE; spelling and casing come out more frequent than there,
and whole phrases are never rewritten. Where it can, a mistake goes where its neighbours show that it is one.
"""

import argparse
import json
import lzma
import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path

import lemminflect

from cgmh.models.pull.store import EMBEDDED, VERBS
from cgmh.tasks.correct.confusions import SMALL, load_confusions
from cgmh.text.tokenizer import TERMINALS, first_word, join, truecase
from cgmh.text.verbs import Verbs
from cgmh.text.vocabulary import Vocabulary

sys.path.insert(0, str(Path(__file__).parents[1] / "english"))
from cleaning import NEED_VERB, clean
from prepare import HOLD_EVERY, STRETCH, UNWANTED, source_of

# The share of each corpus among the pairs (a little more than one in all, since some may have too few sentences), and
# how many of its stretches are read: one in so many.
SHARES = {
    "talk": (0.24, 3), "imdb": (0.15, 3), "mnli": (0.14, 1), "reviews": (0.12, 1), "dialog": (0.1, 1),
    "un_debates": (0.07, 2), "wikipedia-1": (0.05, 6), "wikipedia-2": (0.05, 6), "stories": (0.05, 5),
    "reasons": (0.03, 1), "simplewiki": (0.02, 1),
}  # fmt: skip
UNCHANGED = 0.12
PER_WORD, MOST = 0.15, 5  # mistakes wanted: for each word (at least one), and how many at most; about 0.13 are made
AGAIN = 0.2  # how often a writer makes the same kind of mistake again
MIN_WORDS, MAX_WORDS = 5, 30
KEPT_SMALL = "^"  # stands before a word that `join` is not to capitalise

Edit = tuple[int, int, tuple[str, ...]]  # the words from one place to another, and what stands there instead


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _groups(text: str) -> dict[str, list[str]]:
    """Of each word: the others of its groups, which commas part."""
    others: dict[str, list[str]] = {}
    for group in text.split(","):
        for word in group.split():
            others.setdefault(word, []).extend(other for other in group.split() if other != word)
    return others


def _options(text: str) -> dict[str, list[str]]:
    """What is written in place of a word: ``of for from, to for``."""
    options: dict[str, list[str]] = {}
    for first, *rest in (group.split() for group in text.split(",")):
        options.setdefault(first, []).extend(rest)
    return options


BE, HAVE, DO = _set("is are was were be been being am"), _set("has have had having"), _set("do does did")
MODALS = _set("can could will would should must may might cannot can't won't couldn't wouldn't shouldn't shall")
NEGATED = _set("don't doesn't didn't")
AUXILIARIES = BE | HAVE | DO | MODALS | NEGATED
THIRD = _set("he she it this that everyone everybody someone nobody somebody which who one")
PLAIN = _set("i you we they people these those who children men women students")
SUBJECTS = _set("i you he she it we they")
ARTICLES = _set("a an the")
POSSESSIVES = _set("my your his her its our their")
SINGULAR = _set("a an this that one each every another much")
PLURAL = _set("many some these those several few two three four five ten other all most different various both lots of")
PREPOSITIONS = _set("in on at of for to from with by about into during through between without over as")
QUESTION_WORDS = _set("what where how why who which when whether")
PAST_CUES = _set("yesterday ago last was were did didn't had when then once after before wasn't weren't")
LINKING = _set("because that if and but so think when although as since though while whether or")
GERUND = _set("enjoy avoid finish keep mind practice suggest consider stop start like love hate prefer")
UNCOUNTABLE = _set(
    "information advice equipment furniture homework knowledge research software traffic luggage money people news "
    "work music evidence progress stuff health behavior pollution help damage education experience training fun "
    "weather food"
)
IRREGULAR_NOUNS = _options(
    "children childs childrens,men mans,women womans,people peoples,feet foots,teeth tooths,lives lifes,wives wifes,"
    "mice mouses,fish fishes,sheep sheeps,leaves leafs,countries countrys,cities citys,families familys,"
    "themselves themselfs"
)
CONFUSED = _groups(
    "there their they're,than then,to too,lose loose,affect effect,quite quiet,where were,of off,advice advise,"
    "live life,accept except,thing think,though thought through,weather whether,brake break,buy by,hear here,"
    "know now no,piece peace,personal personnel,principal principle,price prize,raise rise,son sun,week weak,"
    "woman women,who how,your you're,feel fell felt,leave live,choose chose,desert dessert,past passed,hole whole,"
    "save safe,sent send,spend spent,belief believe,breath breathe,cloth clothes,extend extent,from form,led lead,"
    "meat meet,sometime sometimes,threw through,use used,well will while,which witch,any many,add ad,fill feel,"
    "other another others,almost most,find fine,less lest,new knew,right write,their the,they the,them then,so such,"
    "too very,so too,on one,or our,and an,see sea,wait weight,want won't,wear where,worse worst worth,young yong,"
    "chance change,cost coast,fun funny,hard heart,bored boring,interested interesting,tired tiring,excited exciting,"
    "surprised surprising,confused confusing,dead death died,economic economical,especially specially,every very,"
    "expect except,hope hop,say said,suit suite,steal still,tell till,tough though,walk work,world word,year ear,"
    "during while,until by,both booth,like as,because become,nowadays nowaday,beside besides,let's lets,"
    "however wherever,human humane"
)
PARTED = _set(
    "can-not every-day may-be in-to with-out an-other him-self my-self them-selves to-day your-self it-self our-selves "
    "now-a-days no-body week-end how-ever when-ever al-though world-wide some-times class-room home-work there-fore "
    "through-out up-stairs teen-agers life-style some-thing some-one some-body some-where every-thing every-one "
    "every-body every-where any-thing any-one any-body any-where"
)
COMPOUNDS = {parts.replace("-", ""): parts.split("-") for parts in PARTED}
JOINED = _set(
    "a-lot in-fact each-other as-well at-least of-course in-order even-though high-school no-one every-day any-more "
    "all-right in-case in-spite may-be can-be every-time some-times ice-cream so-that no-matter in-front living-room "
    "per-cent air-port on-line long-term real-life well-known a-part a-round free-time eating-habits in-many "
    "for-example"
)
SWAPPED_DETERMINERS = _options(
    "a an the,an a a the,the a a this,this these these the,these this this,those that this,that those,another other,"
    "other another others,many much,much many,every all each,each every,all every,few little,little few,some any,"
    "any some,less fewer few,fewer less,both two"
)
SWAPPED_PREPOSITIONS = _options(
    "in on on at at of to for into,on in in at at of to about,at in in on to for,of for from in to about on with,"
    "for to to of in about,to for for in at on of,with by to of from,by with from for of,from of of for by in,"
    "about of for on with,into to in,during in on while,than that from as,as like for,between among in,over on above,"
    "through by,since from for,like as,until to,against with,around in,among between"
)
NEEDLESS = _options(
    "discuss about,enter to into,marry with,contact with to,reach to,visit to,phone to,call to,answer to,ask to,"
    "tell to,attend to at,approach to,mention about,consider about as,emphasize on,despite of,lack of,most of,need to,"
    "face with,help to,join to,study about,affect to on,follow to,watch to,request for,improve on,obey to,access to,"
    "understand about,leave from,meet with,teach to,give to,let to,make to,home to,abroad to,want for,almost of,such a,"
    "so much"
)
WRONG_AUXILIARIES = _options(
    "is are are has be,are is is is have,was were were is had,were was was are,has have have is had,"
    "have has has had are,do does is,does do is do,don't doesn't didn't not,doesn't don't don't,isn't aren't,"
    "aren't isn't,wasn't weren't,weren't wasn't,haven't hasn't,hasn't haven't,am is was,did do does,had have has was,"
    "can could,could can,will would,would will,didn't don't"
)
PRONOUNS = _options(
    "they them it them,them they it their him,he him his they,his he their him her,her she his hers,she her,"
    "their his they there our them its,me I my,my me mine,our we us their,us we our,we us our,who which which whose,"
    "which who what that wich,it they them its he this,its it his their it's,your you yours,you your,"
    "himself him hisself,themselves them theirselves himself,whose who which,that what which,what that which how,"
    "him he his,whom who which,myself me,those them that,everyone everyones every,something some anything,"
    "anything something nothing"
)
NEAR_WORDS = _groups(
    "big great large high,job work,strong heavy,tall high,trip travel journey,very much so,fun funny,way manner mean,"
    "possibility opportunity chance,country state nation,house home,also too,such so,wrong bad,problem trouble,"
    "nice kind,money cost price,time period moment,good well,people person human,person people,important necessary"
)
NEAR_VERBS = _groups(
    "make do have,say tell speak talk,learn study know,see watch look,hear listen,bring take,get take have,find meet,"
    "win earn gain,lend borrow,rise raise grow increase,come go,let make allow,use spend,think mean,remember remind,"
    "solve decide,become get,happen become,give offer,buy pay,open start,finish end,keep stay,show tell,want need,"
    "lead make,cause make,wear dress,live stay,travel go,lose miss,reach arrive"
)
FAMILIES = _groups(
    "success succeed successful,differ different difference,choice choose,belief believe,life live,death die dead,"
    "lose loss,sell sale,know knowledge,think thought,advise advice,able ability,possible possibility,true truth,"
    "young youth,long length,strong strength,high height,safe safety,free freedom,bored boring,easy easily ease,"
    "responsible responsibility,science scientist scientific,beauty beautiful,economy economic economical,speak speech,"
    "pollute pollution polluted,competition compete,decide decision,succeed success,analyze analysis,arrive arrival,"
    "proof prove,grow growth,healthy health,hungry hunger,angry anger,respond response,enjoy enjoyment,poor poverty,"
    "wise wisdom,complain complaint,effective effect,tradition traditional,comfort comfortable,worth worthy,"
    "depend dependent,benefit beneficial,good well,convenient convenience,easier easily,quickly faster,well good"
)
# Endings that are taken for one another, and what lemminflect must call the word and the other one.
ENDINGS = [
    tuple(rule.split("/"))
    for rule in "ly//ADV/ADJ /ly/ADJ/ADV ly//ADV/ADJ ily/y/ADV/ADJ y/ily/ADJ/ADV ally/al/ADV/ADJ "
    "ness//NOUN/ADJ ent/ence/ADJ/NOUN ence/ent/NOUN/ADJ ant/ance/ADJ/NOUN ance/ant/NOUN/ADJ ment//NOUN/VERB "
    "/ment/VERB/NOUN ation/e/NOUN/VERB ion//NOUN/VERB ion/e/NOUN/VERB e/ion/VERB/NOUN /ion/VERB/NOUN "
    "ity/e/NOUN/ADJ e/ity/ADJ/NOUN ity//NOUN/ADJ al//ADJ/NOUN /al/NOUN/ADJ y//ADJ/NOUN /y/NOUN/ADJ "
    "ous//ADJ/NOUN ful//ADJ/NOUN /ful/NOUN/ADJ ive/ion/ADJ/NOUN ion/ive/NOUN/ADJ ic/y/ADJ/NOUN y/ic/NOUN/ADJ "
    "able//ADJ/VERB er//NOUN/VERB".split()
]
MISSPELT = _options(
    "because becouse becuase beacuse becaus,believe belive beleive,receive recieve recive,their thier,"
    "which wich whitch,friend freind,different diffrent diferent,beautiful beautifull beatiful,really realy relly,"
    "until untill,knowledge knowlege knowladge,environment enviroment,government goverment,advertisement advertisment,"
    "their ther,successful succesful successfull sucessful,interesting intresting,experience experiance expirience,"
    "people poeple peaple,necessary neccessary necesary,restaurant restaurent,tomorrow tommorow,definitely definately,"
    "opinion openion opinoin,especially especialy specialy,always allways,example exemple exampel,"
    "society sosiety socity,prefer preffer,business bussiness buisness,address adress,accommodation accomodation,"
    "beginning begining,choice choise,comfortable confortable,develop develope,developed developped,"
    "disappointed dissapointed,dangerous dangeros,excellent exellent,important importent inportant,"
    "language langage languege,money mony,writing writting,other oher,without whithout,before befor,with whit,"
    "technology tecnology,science sience,modern moderen,through throught trough,should shoud,would woud,could coud,"
    "people pepole,their there,about abaut,young yong,understand understend anderstand,problem problme probleme,"
    "sentence sentance,separate seperate,surprise suprise,usually usualy,whether wether,think thinck"
)
SOUNDS = [
    (old, new)
    for old, _, new in (
        rule.partition(">")
        for rule in "ie>ei ei>ie able>ible ible>able tion>sion sion>tion tion>cion ance>ence ence>ance ant>ent "
        "ent>ant ph>f ck>k ce>se se>ce ci>si si>ci ight>igth ough>ogh wh>w kn>n ea>ee ea>e ee>ea ee>i ou>o "
        "ou>u ai>ei ai>a ar>er er>ar or>er er>or le>el y>i a>e e>a e>i i>e o>a a>o u>o o>u i>a u>a th>t ch>sh "
        "sc>s sh>ch full>ful ful>full lly>ly ly>lly ss>s s>ss ll>l l>ll mm>m m>mm nn>n n>nn pp>p p>pp tt>t "
        "t>tt cc>c c>cc rr>r r>rr ff>f f>ff ment>mant ually>uly ous>us ious>ous ew>ow au>o oo>u qu>q xc>x "
        "ex>ecs gh> ui>i ue>u ure>er".split()
    )
]
KEYS = {
    key: row[max(at - 1, 0) : at] + row[at + 1 : at + 2]
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for at, key in enumerate(row)
}
ADVERBS = _set("always also often never still only already usually really just probably sometimes even now ever")
TAGS = "VB VBP VBZ VBD VBN VBG".split()
CLOSED = _set(
    "not no more most many few much lot never ever now again forward long back yet both such own same everything "
    "something anything nothing one two"
).union(SMALL, QUESTION_WORDS, ADVERBS)

vocabulary = Vocabulary.load(EMBEDDED / "vocabulary.json.gz")
is_word = lru_cache(200_000)(load_confusions(vocabulary).is_word)


class Place:
    """A word of a sentence in which a mistake may be made, and its neighbours in lower case."""

    __slots__ = ("after", "at", "before", "chance", "is_open", "low", "word", "words")

    def __init__(self, words: list[str], low: list[str], at: int, chance: random.Random) -> None:
        self.words, self.low, self.at, self.chance, self.word = words, low, at, chance, words[at]
        self.before, self.after = self.near(-1), self.near(1)
        self.is_open = is_open(self.word)

    def near(self, steps: int) -> str:
        at = self.at + steps
        return self.low[at] if 0 <= at < len(self.low) else ""

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def put(self, *words: str) -> Edit:
        return self.at, self.at + 1, words

    def add(self, word: str) -> Edit:
        return self.at, self.at, (word,)

    def among(self, table: dict[str, list[str]]) -> Edit | None:
        return self.put(self.chance.choice(table[self.word])) if self.word in table else None


@lru_cache(100_000)
def is_open(word: str) -> bool:
    """Whether a word is of an open class, and no name."""
    return word.isalpha() and word.islower() and word not in CLOSED


@lru_cache(100_000)
def classes(word: str) -> dict[str, tuple[str, ...]]:
    """The lemmas of a word by part of speech."""
    return lemminflect.getAllLemmas(word)  # type: ignore[no-any-return]


@lru_cache(100_000)
def forms_of(lemma: str) -> dict[str, tuple[str, ...]]:
    """The forms of a verb by tag; nothing for one that lacks some (can)."""
    every = lemminflect.getAllInflections(lemma, "VERB")
    return {"VBN": every["VBD"], **every} if {"VBD", "VBG", "VBZ"} <= every.keys() else {}


@lru_cache(100_000)
def verb(word: str) -> tuple[dict[str, str], frozenset[str]]:
    """The first of the forms of a verb by tag, and the tags that this one has; nothing for an auxiliary."""
    lemmas = classes(word).get("VERB", ())
    every = forms_of(lemmas[0]) if lemmas and word not in AUXILIARIES else {}
    return {tag: forms[0] for tag, forms in every.items()}, frozenset(tag for tag in every if word in every[tag])


@lru_cache(100_000)
def noun(word: str) -> tuple[str, str]:
    """One and several of a noun; nothing where the word is none, or has one form for both."""
    lemmas = classes(word).get("NOUN", ())
    every = lemminflect.getAllInflections(lemmas[0], "NOUN") if lemmas else {}
    one, several = (every.get(tag, ("",))[0] for tag in ("NN", "NNS"))
    return (one, several) if one != several and word in (one, several) else ("", "")


def is_plural(word: str) -> bool:
    return bool(word) and noun(word)[1] == word


@lru_cache(100_000)
def relatives(word: str) -> list[str]:
    """Words of the same root and another class."""
    found = list(FAMILIES.get(word, ())) * 3
    for old, new, part, other in ENDINGS:
        stem = word.removesuffix(old)
        if word.endswith(old) and len(stem) > 3 + (not old) and part in classes(word):
            found += [stem + new] * (vocabulary.is_ordinary(stem + new) and other in classes(stem + new))
    return found


@lru_cache(100_000)
def sounds_like(word: str) -> list[str]:
    """The word with one sound written in another way."""
    return [
        word[:at] + new + word[at + len(old) :]
        for old, new in SOUNDS
        for at in (word.find(old, 1), word.rfind(old, 1))
        if at > 0 and not (old + old == new and (word[at - 1] not in "aeiou" or at == len(word) - 1))
    ]


def misspell(word: str, chance: random.Random) -> str:
    """The word with wrong letters."""
    if word in MISSPELT and chance.random() < 0.7:
        return chance.choice(MISSPELT[word])
    for _ in range(chance.choices((1, 2, 3), (76, 20, 4))[0] if len(word) > 4 else 1):
        alike = sounds_like(word)
        at, how = chance.randrange(1, len(word)), chance.random()
        if alike and how < 0.6:
            word = chance.choice(alike)
        elif how < 0.78:
            word = word[:at] + word[at + 1 :]
        elif how < 0.88:
            word = word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
        elif how < 0.93 and word[at] not in "aeiou" and word[at - 1] in "aeiou":
            word = word[:at] + word[at] + word[at:]
        else:
            word = word[:at] + chance.choice(KEYS.get(word[at], "e")) + word[at + 1 :]
    return word


def spelling(p: Place) -> Edit | None:
    if not p.word.isalpha() or not p.word.islower() or not p.maybe((len(p.word) - 3) / 7):
        return None
    typed = misspell(p.word, p.chance)
    return None if is_word(typed) else p.put(typed)


def confused(p: Place) -> Edit | None:
    if p.word in ("the", "of", "and", "on", "or", "as", "to") and not p.maybe(0.1):
        return None
    if p.word == "it" and p.after == "'s":
        return p.at, p.at + 2, ("its",)
    return p.put("it", "'s") if p.word == "its" else p.among(CONFUSED)


def compound(p: Place) -> Edit | None:
    if p.word in COMPOUNDS:
        return p.put(*COMPOUNDS[p.word])
    if "-" in p.word and p.word.islower():
        return p.put(*(p.word.split("-") if p.maybe(0.7) else [p.word.replace("-", "")]))
    return (p.at, p.at + 2, (p.word + p.after,)) if f"{p.word}-{p.after}" in JOINED else None


def article_dropped(p: Place) -> Edit | None:
    if p.word not in ARTICLES or not p.after.isalpha() or p.after in ("few", "little", "lot"):
        return None
    is_free = p.word == "the" and (is_plural(p.after) or p.words[p.at + 1][0].isupper())
    return None if is_free and p.maybe(0.7) else p.put()


def article_added(p: Place) -> Edit | None:
    word, before = p.word, p.before
    if not p.is_open or before.endswith("ing") or (before == "to" and verb(word)[0]):
        return None
    if before not in PREPOSITIONS | AUXILIARIES and not verb(before)[0]:
        return None
    if is_plural(word) or word in UNCOUNTABLE or (before in BE and "ADJ" in classes(word)):
        return p.add("a" if before in BE or p.maybe(0.25) else "the")
    return p.add("the") if "NOUN" in classes(word) and p.maybe(0.3) else None


def determiner(p: Place) -> Edit | None:
    if p.word == "the" and not is_plural(p.after) and p.maybe(0.7):
        return None  # "a" would be as good
    if p.word == "a" and p.after == "few":
        return p.put()
    if p.word in ("that", "those", "all", "other", "any", "some") and not noun(p.after)[0]:
        return None
    return p.among(SWAPPED_DETERMINERS) if p.after.isalpha() else None


def preposition(p: Place) -> Edit | None:
    if p.word == "to" and "VB" in verb(p.after)[1]:
        return p.put("for") if p.maybe(0.1) else None
    return p.among(SWAPPED_PREPOSITIONS)


def preposition_dropped(p: Place) -> Edit | None:
    if p.word not in PREPOSITIONS or not p.after.isalpha() or not p.at:
        return None
    is_usual = verb(p.before)[0] or p.before in ("because", "instead", "kind", "lot", "one", "out")
    return p.put() if is_usual or p.maybe(0.3) else None


def preposition_added(p: Place) -> Edit | None:
    lemma = verb(p.word)[0].get("VB", p.word)
    if lemma in NEEDLESS and p.after.isalpha() and p.after not in PREPOSITIONS:
        added = p.chance.choice(NEEDLESS[lemma])
        return p.add(added) if p.word in ("home", "abroad") else p.put(p.word, added)
    is_object = p.word in ARTICLES | POSSESSIVES and verb(p.before)[0]
    return p.add(p.chance.choice("to to of on in for with about at".split())) if is_object and p.maybe(0.15) else None


def number(p: Place) -> Edit | None:
    if p.word in IRREGULAR_NOUNS and p.maybe(0.4):
        return p.among(IRREGULAR_NOUNS)
    one, several = noun(p.word)
    if not one or not p.is_open or p.before == "to" or p.before in SUBJECTS or p.before in MODALS:
        return None
    if "ADJ" in classes(p.word) and is_open(p.after):
        return None
    cues = {p.before} if p.before in PREPOSITIONS else {p.before, p.near(-2)}
    if "VERB" in classes(p.word) and not cues & (ARTICLES | POSSESSIVES | SINGULAR | PLURAL):
        return None
    if p.word == several:
        is_sure = cues & PLURAL or p.after in ("are", "were", "have") or "ADJ" in classes(p.before)
        return p.put(one) if is_sure or p.maybe(0.25) else None
    is_sure = p.word in UNCOUNTABLE or cues & SINGULAR or p.after in ("is", "was", "has")
    return p.put(several) if p.maybe(0.6 if is_sure else 0.05) else None


def agreement(p: Place) -> Edit | None:
    if p.word in WRONG_AUXILIARIES:
        return p.put(WRONG_AUXILIARIES[p.word][0]) if p.maybe(0.1 if p.word in MODALS else 0.5) else None
    forms, tags = verb(p.word)
    is_noun = "NOUN" in classes(p.word)
    is_one = "NOUN" in classes(p.before) and not is_plural(p.before) and not is_noun
    if "VBZ" in tags and (p.before in THIRD or is_one):
        return p.put(forms["VB"])
    is_several = is_plural(p.before) and "VERB" not in classes(p.before) and not is_noun
    if "VB" in tags and (p.before in PLAIN or is_several) and p.near(-2) not in AUXILIARIES | {"to"}:
        return p.put(forms["VBZ"])
    return None


def verb_form(p: Place) -> Edit | None:
    forms, tags = verb(p.word)
    if not forms or not p.word.islower():
        return None
    base, before = forms["VB"], p.near(-2) if p.before == "not" or p.before in ADVERBS else p.before
    if "VB" in tags and before in MODALS | NEGATED:
        return p.put(*p.chance.choice([(forms["VBZ"],), (forms["VBD"],), (forms["VBG"],), ("to", base)]))
    if "VB" in tags and p.before == "to":
        if p.maybe(0.25):
            return p.at - 1, p.at + 1, (base,)
        return p.put(forms[p.chance.choice(("VBG", "VBG", "VBD", "VBZ"))])
    if "VBG" in tags and before in BE:
        return p.put(base)
    if "VBG" in tags and (p.before in PREPOSITIONS or p.before in ("before", "after")):
        return p.put("to", base) if p.maybe(0.3) else p.put(base)
    if "VBG" in tags and verb(before)[0].get("VB") in GERUND:
        return p.put("to", base) if p.maybe(0.5) else p.put(base)
    if "VBN" in tags and "VB" not in tags and before in BE | HAVE:
        return p.put(p.chance.choice([base, base, forms["VBG"], *[forms["VBD"]] * 2 * (forms["VBD"] != p.word)]))
    return p.put(base) if "VBG" in tags and p.maybe(0.1) else None


def tense(p: Place) -> Edit | None:
    forms, tags = verb(p.word)
    if "VBD" not in tags or "VB" in tags or "ADJ" in classes(p.word) or p.before in BE | HAVE or not p.word.islower():
        return None
    base = forms["VB"]
    if not p.word.endswith("ed") and p.maybe(0.2):
        return p.put(base + ("d" if base[-1] == "e" else "ed"))
    if p.before in THIRD or ("NOUN" in classes(p.before) and not is_plural(p.before)):
        return p.put(base if p.maybe(0.7) else forms["VBZ"])
    return p.put(base) if p.before in SUBJECTS and not PAST_CUES.isdisjoint(p.low) else None


def auxiliary(p: Place) -> Edit | None:
    if p.word in AUXILIARIES - NEGATED and p.after.isalpha() and p.at:
        if p.word in WRONG_AUXILIARIES and p.maybe(0.25):
            return p.put(WRONG_AUXILIARIES[p.word][-1])
        is_needed = p.word in BE or p.after == "not" or {"VBN", "VBG"} & verb(p.after)[1]
        return p.put() if is_needed or p.maybe(0.1) else None
    if p.before in SUBJECTS and {"VB", "VBZ", "VBD"} & verb(p.word)[1] and "?" not in p.words and p.maybe(0.3):
        return p.add("am" if p.before == "i" else "is" if p.before in THIRD else "are")
    return None


def derivation(p: Place) -> Edit | None:
    others = relatives(p.word) if p.is_open else []
    return p.put(p.chance.choice(others)) if others else None


def comparison(p: Place) -> Edit | None:
    plain, *_ = classes(p.word).get("ADJ", (p.word,))
    if plain != p.word and p.word not in ("more", "most", "less", "least"):
        more = "most" if p.word.endswith("st") else "more"
        return p.put(*p.chance.choice([(more, p.word), (more, p.word), (more, plain), (plain,)]))
    is_needed = p.word in ("more", "most") and is_open(p.after) and "ADJ" in classes(p.after) and "than" in p.low
    return p.put() if is_needed else None


def pronoun(p: Place) -> Edit | None:
    if p.after == "'s":
        return None
    if p.word == "it" and (p.after in BE | MODALS or p.before in LINKING) and p.maybe(0.5):
        return p.put()
    return None if p.word in ("that", "what", "those") and p.maybe(0.7) else p.among(PRONOUNS)


def order(p: Place) -> Edit | None:
    if not p.after.isalpha() or not p.word.isalpha():
        return None
    is_asked = "?" in p.words and p.word in AUXILIARIES and p.after in SUBJECTS
    is_told = p.before in QUESTION_WORDS and p.low[p.at] in SUBJECTS and p.after in BE | MODALS and "?" not in p.words
    is_adverb = is_open(p.after) and (p.word in ADVERBS or (p.word.endswith("ly") and "ADV" in classes(p.word)))
    is_noun = is_open(p.after) and "ADJ" in classes(p.word) and "NOUN" in classes(p.after) and p.maybe(0.1)
    is_moved = is_asked or is_told or is_adverb or is_noun or p.maybe(0.004)
    return (p.at, p.at + 2, (p.words[p.at + 1], p.word)) if is_moved else None


def comma_dropped(p: Place) -> Edit | None:
    return p.put() if p.word == "," else None


def comma_added(p: Place) -> Edit | None:
    is_usual = p.word in LINKING | PREPOSITIONS or p.word in ("is", "are", "which", "who")
    return p.add(",") if is_usual and p.at > 1 and p.before.isalpha() and p.before not in SMALL else None


def mark(p: Place) -> Edit | None:
    if p.word in TERMINALS and p.at == len(p.words) - 1:
        return p.put(".") if p.word == "?" and p.maybe(0.5) else p.put()
    if p.word == "," and p.after in ("and", "but", "so"):
        return p.at, p.at + 2, (",",)
    return p.put(",") if p.word in (";", ":") else None


def apostrophe(p: Place) -> Edit | None:
    if "'" in p.word and len(p.word) > 2 and p.word.replace("'", "").isalpha():
        return p.put(p.word.replace("'", ""))
    if p.after == "'s" and p.word.isalpha():
        return p.at, p.at + 2, (f"{p.word}s",)
    is_several = p.is_open and is_plural(p.word) and noun(p.word)[0] + "s" == p.word
    return p.put(p.word[:-1], "'s") if is_several and p.maybe(0.05) else None


def casing(p: Place) -> Edit | None:
    if p.at == first_word(p.words) and p.word != "I":
        return p.put(KEPT_SMALL + p.word.lower())
    if p.word == "I" or (p.word[:1].isupper() and p.word[1:].islower()):
        return p.put(p.word.lower())
    return p.put(p.word.capitalize()) if p.is_open and "NOUN" in classes(p.word) and p.maybe(0.005) else None


def wordy(p: Place) -> Edit | None:
    how, low = p.chance.random(), p.low[p.at]
    if p.before == "," and p.low[0] in ("although", "though", "even", "because", "if", "since"):
        return p.add("but" if p.low[0] in ("although", "though", "even") else "so")
    if how < 0.015 and p.word in SMALL and p.word.isalpha():
        return p.add(p.word)
    if how < 0.2 and p.before in LINKING - {"that"} and low in SUBJECTS | POSSESSIVES:
        return p.add("that")
    if how < 0.15 and low in BE | MODALS and "NOUN" in classes(p.before) and is_open(p.before):
        return p.add("they" if is_plural(p.before) or p.before == "people" else "it")
    if how < 0.15 and "ADJ" in classes(p.word) and p.is_open and p.before in BE:
        return p.add(p.chance.choice(("very much", "more", "so", "being")))
    return p.add(p.chance.choice("also just so then".split())) if how > 0.99 and p.at and verb(p.word)[0] else None


def missing(p: Place) -> Edit | None:
    is_clause = p.word in ("who", "which", "that") and (p.after in AUXILIARIES or "VBZ" in verb(p.after)[1])
    is_owned = p.word == "'s" and p.before not in SMALL and is_open(p.before)
    is_link = p.word in ("and", "as", "than", "if", "because") and p.after.isalpha() and p.maybe(0.4)
    is_fact = p.word == "that" and p.before in ("fact", "so")
    is_small = p.word in ("to", "be") and p.after.isalpha() and p.maybe(0.3)
    is_any = p.is_open and p.at > 1 and p.after.isalpha() and p.maybe(0.006)
    is_there = p.word == "there" and p.after in BE
    return p.put() if p.at and (is_clause or is_owned or is_link or is_fact or is_small or is_any or is_there) else None


def near_word(p: Place) -> Edit | None:
    forms, tags = verb(p.word)
    if p.is_open and forms.get("VB", "") in NEAR_VERBS:
        other = forms_of(p.chance.choice(NEAR_VERBS[forms["VB"]]))
        return p.put(other[min(tags, key=TAGS.index)][0])
    return p.among(NEAR_WORDS)


WEIGHTS: dict[Callable[[Place], Edit | None], float] = {
    spelling: 12, confused: 3.5, compound: 2.5, article_dropped: 6.5, article_added: 4.5, determiner: 3.5,
    preposition: 5, preposition_dropped: 2.5, preposition_added: 4, number: 8, agreement: 4, verb_form: 7, tense: 4.5,
    auxiliary: 3.5, derivation: 3.5, comparison: 1.5, pronoun: 2.5, order: 3, comma_dropped: 18, comma_added: 1.5,
    mark: 1.2, apostrophe: 2, casing: 3.5, wordy: 5, missing: 4, near_word: 5.5,
}  # fmt: skip
KINDS, CHANCES = [*WEIGHTS], [*WEIGHTS.values()]


def spoil(words: list[str], chance: random.Random) -> str:
    """The text of a sentence with mistakes."""
    spoilt = truecase(words, vocabulary.is_ordinary)
    low = [word.lower() for word in spoilt]
    places = [Place(spoilt, low, at, chance) for at in range(len(words))]
    more = max(PER_WORD * len(words) - 1, 0.25)
    wanted = 1
    while wanted < MOST and chance.random() < more / (1 + more):
        wanted += 1
    edits: list[Edit] = []
    touched: set[int] = set()
    kind = None
    for _ in range(8 + 4 * wanted):
        if kind is None or chance.random() > AGAIN:
            kind = chance.choices(KINDS, CHANCES)[0]
        for place in chance.sample(places, len(places)):
            edit = kind(place) if place.at not in touched else None
            taken = range(edit[0], max(edit[1], edit[0] + 1)) if edit else ()
            if edit and touched.isdisjoint(taken):
                edits.append(edit)
                touched.update(taken)
                break
        if len(edits) == wanted:
            break
    for start, end, instead in sorted(edits, reverse=True):
        spoilt[start:end] = instead
    return join(spoilt).replace(KEPT_SMALL, "")


def pairs_of(task: tuple[str, Path, int, int]) -> list[str]:
    """The pairs of a corpus, as lines of JSON."""
    name, data, most, seed = task
    chance = random.Random(f"{name} {seed}")  # noqa: S311 - nothing is to be kept secret
    lines: list[str] = []
    for words in sentences_of(name, data):
        meant = join(words)
        is_left = chance.random() < UNCHANGED
        mistaken = meant if is_left else spoil(words, chance)
        if is_left or mistaken != meant:
            lines.append(json.dumps([mistaken, meant], ensure_ascii=False))
        if len(lines) >= most:
            break
    return lines


def sentences_of(name: str, data: Path) -> Iterator[list[str]]:
    """Clean sentences of a corpus, none held out, in which every word is known and nobody is quoted."""
    verbs = Verbs.load(EMBEDDED / VERBS)
    with lzma.open(source_of(data, name), "rt", encoding="utf-8") as lines:
        for at, line in enumerate(lines):
            stretch = at // STRETCH
            if stretch % HOLD_EVERY == 7 or stretch % SHARES[name][1]:
                continue
            words = clean(line, at, name, verbs)
            if not words or not MIN_WORDS <= len(words) <= MAX_WORDS or '"' in words or not all(map(is_usual, words)):
                continue
            if name in NEED_VERB or verbs.finite_in(words):
                yield words


@lru_cache(200_000)
def is_usual(word: str) -> bool:
    return not word.islower() or not word.isalpha() or (is_word(word) and word != "i" and word not in UNWANTED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--number", type=int, default=1_200_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    tasks = [(name, args.data, round(share * args.number), args.seed) for name, (share, _) in SHARES.items()]
    lines: list[str] = []
    with ProcessPoolExecutor(2) as pool:
        for (name, *_), some in zip(tasks, pool.map(pairs_of, tasks), strict=True):
            print(f"{name}: {len(some):,} pairs", flush=True)
            lines += some
    random.Random(args.seed).shuffle(lines)  # noqa: S311
    args.out.write_text("".join(f"{line}\n" for line in lines[: args.number]), encoding="utf-8")


if __name__ == "__main__":
    main()
