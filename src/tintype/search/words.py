"""What people type, brought into the one form that the index holds, and the keys a word is filed under.

The index is cut by the head of a word, so that a search reads one shard and not all of them. A typing error in the
head must not lead to another shard; so a word is filed under each pair of its first three letters that is left when
one of them is dropped. One letter too many, too few, wrong or swapped among the first three leaves at least one of
these pairs the same on both sides; an error further on changes none.
"""

import math
import re
import unicodedata

from tintype.posts import tag_key as fold_tag

LONGEST_WORD = 30
MOST_WORDS = 8
HEAD = 3
SHORTEST_TYPO = 3
LONG_WORD = 8

_WORD = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    """Without case, accents, ligatures and widths, and without what cannot be stored."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in parts if unicodedata.category(each) not in {"Mn", "Cs", "Cc"})


def tag_key(text: str) -> str:
    """A hashtag in the one form it is counted under, with or without its sign."""
    return fold_tag(text).strip().lstrip("#")


def words_of(text: str) -> list[str]:
    """The different words of a text, in their order."""
    found = dict.fromkeys(each[:LONGEST_WORD] for each in _WORD.findall(fold(text)))
    return list(found)[:MOST_WORDS]


def squash(text: str) -> str:
    """A name as one word: `ana.lo_pez` is found by `analop`."""
    return "".join(_WORD.findall(fold(text)))[:LONGEST_WORD]


def typed_words(text: str) -> list[str]:
    """What somebody typed: words between spaces, each without its punctuation, the longest first."""
    found = dict.fromkeys(word for part in text.split() if (word := squash(part)))
    return sorted(list(found)[:MOST_WORDS], key=len, reverse=True)


def heads(word: str) -> set[str]:
    """Everything a word is filed under."""
    return {word[:1], word[: HEAD - 1], *typo_heads(word)}


def prefix_head(word: str) -> str:
    """Where words lie that begin like this one."""
    return word[: HEAD - 1]


def typo_heads(word: str) -> set[str]:
    """Where words lie that this one may have been meant for."""
    head = word[:HEAD]
    return {head[:i] + head[i + 1 :] for i in range(HEAD)} if len(head) == HEAD else set()


def weigh(count: int) -> int:
    """Popularity in steps of about a fifth, so that it changes seldom."""
    return 1 + int(4 * math.log2(count)) if count > 0 else 0


def typos_allowed(word: str) -> int:
    """How many errors are forgiven in a word of this length."""
    return 0 if len(word) < SHORTEST_TYPO else 1 if len(word) < LONG_WORD else 2


def typos_to(word: str, term: str) -> int:
    """How many errors lie between what was typed and the beginning of a term; swapped letters count as one."""
    return min(_distance(word, term[: len(word) + more]) for more in (-1, 0, 1))


def _distance(one: str, other: str) -> int:
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        previous, row = row, [i]
        for j, b in enumerate(other, start=1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before = previous
    return row[-1]
