"""Passwords that guessing programs try first, made by the rules that people make them by.

No list is shipped: the lists in circulation were stolen. Their contents, though, follow a few habits: a word or a
name with digits behind it, a walk over the keyboard, a year, something repeated, a letter swapped for the digit that
looks like it. The recipe makes some ten thousand stems; a password is compared after its swaps, capitals and tails
are undone, so that each stem stands for hundreds of spellings.
"""

import itertools
import re
from functools import lru_cache

WORDS = """
    password passwort motdepasse contrasena senha wachtwoord parola haslo salasana losenord letmein welcome login
    admin administrator master root user guest test testing tester default changeme secret access private hello
    helloworld iloveyou loveyou ilovemyself mylove lovely love forever trustno one nothing whatever something computer
    internet samsung google facebook instagram twitter youtube amazon microsoft windows apple iphone android linux
    football baseball basketball soccer hockey tennis cricket rugby superman batman spiderman starwars pokemon
    minecraft fortnite nintendo playstation gamer gaming dragon monkey shadow sunshine princess prince angel devil
    butterfly tiger lion eagle falcon wolf bear horse dolphin kitten kitty puppy doggy banana orange cherry chocolate
    cookie coffee cheese ginger sugar summer winter spring autumn january february march april june july august
    september october november december monday tuesday wednesday thursday friday saturday sunday purple yellow green
    silver golden diamond crystal phoenix thunder lightning hunter killer ninja pirate wizard magic matrix freedom
    liberty jesus christ blessed heaven america england france germany canada australia london paris berlin madrid
    newyork chicago boston dallas texas mustang ferrari porsche mercedes corvette harley yamaha honda toyota chelsea
    arsenal liverpool barcelona juventus manchester yankees cowboys lakers photo photos camera picture tintype family
    friends mother father sister brother babygirl babyboy sweetheart beautiful handsome qwerty asdfgh zxcvbn
"""
NAMES = """
    james john robert michael mike david william richard joseph thomas tom charles chris christopher daniel dan matthew
    anthony mark donald steven paul andrew joshua kevin brian george edward ronald tim jason jeff ryan jacob gary nick
    eric jonathan stephen larry justin scott brandon ben samuel sam frank greg alex alexander patrick jack dennis jerry
    mary patricia jennifer linda elizabeth barbara susan jessica sarah karen nancy lisa betty margaret sandra ashley
    kimberly emily donna michelle carol amanda melissa deborah stephanie rebecca laura sharon cynthia kathleen amy anna
    angela nicole samantha katherine emma olivia sophia isabella mia charlotte hannah julia natalie victoria rachel
    carlos jose juan luis miguel pedro diego pablo ana lucia carmen elena sofia paula andrea claudia marta
    hans peter klaus stefan andreas martin lukas felix jonas max leon pierre jean michel nicolas antoine camille chloe
    marie sophie ivan dmitri sergey olga natasha ali mohamed ahmed fatima omar hassan yuki kenji wei chen min raj priya
"""
ROWS = (
    "1234567890",
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "azertyuiop",
    "qwertzuiop",
    "abcdefghijklmnopqrstuvwxyz",
    "1qaz2wsx3edc4rfv",
    "qazwsxedcrfv",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "a1b2c3d4e5f6g7h8",
)
TAILS = ("123", "1234", "12345", "123456", "007", "69", "99", "666", "777", "321", "xyz", "abc", "you", "me")
SWAPS = str.maketrans("@43$5017+!", "aaessolttl")
TAIL = re.compile(r"[\W\d_]+$")
HEAD = re.compile(r"^[\W\d_]+")
SHORTEST_WALK = 4
LONGEST_STEM = 24


@lru_cache(maxsize=1)
def stems() -> frozenset[str]:
    """Everything the recipe makes, with swaps undone."""
    words, names = WORDS.split(), NAMES.split()
    made: set[str] = {*words, *names}
    made.update(one + two for one, two in itertools.product(names, ("love", "baby", "girl", "boy", "rocks")))
    made.update(
        one + two for one in ("ilove", "love", "my", "the", "super", "mr", "hey") for two in words + names
    )
    made.update(word + tail for word, tail in itertools.product(words + names, TAILS))
    made.update(one + two for one, two in itertools.product(words[:60], words[:60]))
    made.update(_walks())
    made.update(str(year) * 2 for year in range(1940, 2036))
    return frozenset(_undo_swaps(each) for each in made)


def is_common(password: str) -> bool:
    """Whether guessing programs would try this among their first."""
    plain = password.lower()
    if len(set(plain)) < SHORTEST_WALK or _is_repeated(plain) or _is_sequence(plain):
        return True
    bare = HEAD.sub("", TAIL.sub("", plain))
    shapes = {plain, re.sub(r"[\W_]+", "", plain), TAIL.sub("", plain), bare}
    return any(not shape or _undo_swaps(shape) in stems() for shape in shapes)


def is_close_to(password: str, own: str) -> bool:
    """Whether so much of a password is one's own name or address that little is left to guess."""
    plain, name = _undo_swaps(re.sub(r"[\W_]+", "", password.lower())), re.sub(r"[\W_]+", "", own.lower())
    name = _undo_swaps(name)
    if len(name) < SHORTEST_WALK:
        return plain == name
    rest = plain.replace(name, "").replace(name[::-1], "")
    return len(rest) < SHORTEST_WALK + 1 and rest != plain


def _walks() -> set[str]:
    walks: set[str] = set()
    for row in ROWS:
        for line in (row, row[::-1]):
            for start in range(len(line)):
                walks.update(line[start:end] for end in range(start + SHORTEST_WALK, len(line) + 1))
    pairs = [row[:length] for row in ROWS for length in (3, 4, 5, 6)]
    walks.update(one + two for one, two in itertools.product(pairs, pairs))
    return {each for each in walks if len(each) <= LONGEST_STEM}


def _is_repeated(text: str) -> bool:
    """abcabcabc: one piece over and over."""
    return text in (text + text)[1:-1] and len(text) <= LONGEST_STEM


def _is_sequence(text: str) -> bool:
    """Every character one step after the one before, or before it."""
    steps = {ord(after) - ord(before) for before, after in itertools.pairwise(text)}
    return steps in ({1}, {-1})


def _undo_swaps(text: str) -> str:
    return text.translate(SWAPS)
