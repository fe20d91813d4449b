"""Under which prefixes a word is indexed, and how many typing errors are forgiven.

The index is sharded by the prefix of a word, so that a search reads one shard and not all of them. A typing error in
the prefix must not lead to another shard; so a word is indexed under each pair of its first three letters that is left
when one of them is dropped. One letter too many, too few, wrong or swapped among the first three leaves at least one of
these pairs the same on both sides; an error further on changes none.
"""

PREFIX_LENGTH = 3
SHORTEST_WITH_TYPO = 3
SHORTEST_WITH_TWO_TYPOS = 8


def index_prefixes(word: str) -> set[str]:
    """Every prefix that a word is indexed under."""
    return {word[:1], word[: PREFIX_LENGTH - 1], *typo_prefixes(word)}


def lookup_prefix(word: str) -> str:
    """The prefix under which words are found that begin with what was typed."""
    return word[: PREFIX_LENGTH - 1]


def typo_prefixes(word: str) -> set[str]:
    """The prefixes under which words are found that a misspelled word may have been meant for."""
    prefix = word[:PREFIX_LENGTH]
    if len(prefix) < PREFIX_LENGTH:
        return set()
    return {prefix[:i] + prefix[i + 1 :] for i in range(PREFIX_LENGTH)}


def typos_allowed(word: str) -> int:
    """How many errors are forgiven in a word of this length."""
    return 0 if len(word) < SHORTEST_WITH_TYPO else 1 if len(word) < SHORTEST_WITH_TWO_TYPOS else 2


def typos_to(word: str, term: str) -> int:
    """The edit distance between what was typed and the beginning of a term; swapped letters count as one."""
    return min(_distance(word, term[: len(word) + more]) for more in (-1, 0, 1))


def _distance(one: str, other: str) -> int:
    """The edit distance with adjacent transpositions (optimal string alignment)."""
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
