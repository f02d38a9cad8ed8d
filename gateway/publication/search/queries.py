"""The terms of a query: its words, words that mean the same, and the effect that it asks for."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from gateway.publication.search.related import RELATED
from gateway.publication.search.synonyms import SAME
from gateway.publication.search.words import STOP, spelled, stem

MAX_WORDS: Final = 40
"""The words of one query that are searched."""
SAME_WEIGHT: Final = 0.8
"""The weight of another word for the same thing, beside the caller's own word with weight 1."""
RELATED_WEIGHT: Final = 0.5
"""The weight of a word that is only related."""
MANY_WEIGHT: Final = 0.3
"""The weight of a list for a query that names things in the plural."""
WISH: Final = 2.0
"""The weight of the effect that the query asks for."""
_PHRASES: Final[Mapping[str, str]] = {
    "pr": "pull request",
    "prs": "pull requests",
    "ci": "status check",
    "dm": "direct message",
    "2fa": "two factor authentication",
}
"""Short forms, which stand for several words."""
_UNDOABLE: Final = (
    "archive assign ban block deploy enroll flag follow freeze hide install link list lock mark"
    " mute pin protect publish register share star subscribe suspend tag watch"
)
_UNDONE: Final = frozenset(_UNDOABLE.split())
"""Verbs that `un` undoes."""
_READ: Final = "effect:read"
_READS: Final = (
    "which what who whom whose where when how is are was were has have had do does did may can will"
    " show list get read look see find search fetch view display check any all my our the"
    " details information status recent latest"
)
_DESTROYS: Final = "delete remove drop erase destroy clear discard rid throw take unassign revoke"
_WRITES: Final = (
    "create add make new define register insert post start set update change edit modify patch put"
    " rename replace adjust move send write disable deactivate turn switch stop suspend enable"
    " activate cancel allow permit grant deny forbid block restrict approve accept confirm reject"
    " decline dismiss assign attach copy fork book reserve upload store save restore bring rerun"
    " run retry invite let mark pay refund publish share close open give"
)
_WISHES: Final[Mapping[str, str]] = {
    word: f"effect:{effect}"
    for effect, verbs in (("read", _READS), ("destroy", _DESTROYS), ("write", _WRITES))
    for word in verbs.split()
}
"""First words of queries with the effect that they ask for. Another word says nothing."""
_VALUE: Final = re.compile(r"\S*[@#]\S*|\S*(?:[A-Z]_|_[A-Z])\S*|\b\d+\b")
"""Addresses, numbers and names such as `DEPLOY_TOKEN`: values of arguments, not words of a tool."""
_PLURAL: Final = re.compile(r"[a-z]{2,}[^siu\W]s")


def query_terms(query: str) -> list[dict[str, float]]:
    """For each word of `query`, the terms that mean it, with their weights."""
    words = list(dict.fromkeys(spelled(_VALUE.sub(" ", query))))[:MAX_WORDS]
    found = [] if not words or words[0] not in _WISHES else [{_WISHES[words[0]]: WISH}]
    for word in words:
        own = stem(word)
        meanings = dict(_OTHERS.get(own, {}))
        if word not in STOP:
            meanings[own] = 1.0
        found.append(meanings)
        found += [{stem(part): 1.0} for part in _PHRASES.get(word, _undone(word)).split()]
    if _asks_for_many(words):
        found.append({stem("list"): MANY_WEIGHT})
    return _without_repetitions(found)


def _asks_for_many(words: Sequence[str]) -> bool:
    """Whether a query reads, and what it names first is in the plural."""
    if not words or _WISHES.get(words[0], _READ) != _READ:
        return False
    named = next((word for word in words if word not in STOP and word not in _WISHES), "")
    return _PLURAL.fullmatch(named) is not None


def _undone(word: str) -> str:
    """`unprotect` in other words: to remove what protects. Empty if `word` undoes nothing."""
    rest = word.removeprefix("un")
    return f"remove {rest}" if rest != word and rest in _UNDONE else ""


def _without_repetitions(found: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """`found` with each term only where it has its greatest weight, the first time."""
    greatest: dict[str, float] = {}
    for meanings in found:
        for term, weight in meanings.items():
            greatest[term] = max(greatest.get(term, 0.0), weight)
    kept = []
    for meanings in found:
        own = {term: weight for term, weight in meanings.items() if greatest.get(term) == weight}
        for term in own:
            del greatest[term]
        kept.append(own)
    return [meanings for meanings in kept if meanings]


def _others() -> dict[str, dict[str, float]]:
    """The synonyms of each stem with their weights."""
    found: dict[str, dict[str, float]] = {}
    for rows, weight in ((RELATED, RELATED_WEIGHT), (SAME, SAME_WEIGHT)):
        for row in rows:
            _add(found, [stem(word) for word in row.split()], weight, is_mutual=rows is SAME)
    return found


def _add(
    found: dict[str, dict[str, float]], stems: Sequence[str], weight: float, *, is_mutual: bool
) -> None:
    for own in stems if is_mutual else stems[:1]:
        found.setdefault(own, {}).update({each: weight for each in stems if each != own})


_OTHERS: Final = _others()
