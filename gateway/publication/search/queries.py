"""The terms of a query: the caller's words, other words for them, and what it wants to do."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gateway.publication.search.words import spelled, stem

MAX_TERMS: Final = 80
"""The most terms of one query, with the synonyms."""
SAME: Final = 0.4
"""The weight of another word for the same thing, beside the caller's own word with weight 1."""
NEAR: Final = 0.2
"""The weight of a word that is only related."""
WISH: Final = 2.5
"""The weight of the effect that the query asks for."""
_SAME: Final = (
    "get show read retrieve fetch view look see display detail check",
    "list which what all every enumerate show see",
    "delete remove drop erase destroy clear discard rid throw",
    "create add make new define register insert post start set",
    "update change edit modify set patch put rename replace adjust move",
    "find search query lookup filter",
    "send post write message",
    "disable deactivate off stop suspend",
    "enable activate on turn",
    "cancel abort stop revoke",
    "allow permit can access permission grant",
    "deny forbid block restrict",
    "approve accept confirm",
    "reject decline dismiss refuse",
    "assign give attach",
    "unassign take detach remove revoke",
    "copy fork duplicate clone",
    "book reserve reservation booking",
    "upload put store save",
    "restore bring recover undelete unarchive",
    "again rerun re retry repeat",
    "finish complete end",
    "repo repository",
    "org organization organisation company",
    "dir directory folder",
    "config configuration setting preference",
    "env environment",
    "id identifier",
    "info information detail",
    "doc document",
    "mail email",
    "picture photo image",
    "log history event activity",
    "client customer",
    "colleague member user person people who whom somebody someone",
    "developer collaborator contributor member user",
    "app application",
    "file content",
    "db database",
    "price cost rate",
    "flight plane aircraft jet",
    "task run job",
    "bill billing invoice",
    "money payment currency",
    "website site page",
    "rain forecast weather temperature warm",
    "conversation thread exchange",
    "state status",
)
_NEAR: Final = (
    "my authenticated current me",
    "me authenticated current",
    "i authenticated current",
)
_PHRASES: Final[Mapping[str, str]] = {
    "pr": "pull request",
    "prs": "pull requests",
    "ci": "status check",
    "dm": "direct message",
    "2fa": "two factor authentication",
}
"""Short forms, which stand for several words."""
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


def query_terms(query: str) -> dict[str, float]:
    """The terms to search, with their weights. At most `MAX_TERMS`, the heaviest first."""
    words = list(spelled(query))
    found = dict(_wish(words))
    for word in words:
        own = stem(word)
        for term, weight in _meant(word, own):
            found[term] = max(found.get(term, 0.0), weight)
    heaviest = sorted(found.items(), key=lambda each: -each[1])
    return dict(heaviest[:MAX_TERMS])


def _meant(word: str, own: str) -> Iterator[tuple[str, float]]:
    yield own, 1.0
    for part in _PHRASES.get(word, "").split():
        yield stem(part), 1.0
    yield from _OTHERS.get(own, {}).items()


def _wish(words: Sequence[str]) -> Iterator[tuple[str, float]]:
    """The effect that a query asks for, by the word that it begins with."""
    effect = _WISHES.get(words[0]) if words else None
    if effect is not None:
        yield effect, WISH


def _others() -> dict[str, dict[str, float]]:
    """The synonyms of each stem with their weights."""
    found: dict[str, dict[str, float]] = {}
    for rows, weight in ((_NEAR, NEAR), (_SAME, SAME)):
        for row in rows:
            _add(found, [stem(word) for word in row.split()], weight, is_mutual=rows is _SAME)
    return found


def _add(
    found: dict[str, dict[str, float]], stems: Sequence[str], weight: float, *, is_mutual: bool
) -> None:
    for own in stems if is_mutual else stems[:1]:
        found.setdefault(own, {}).update({each: weight for each in stems if each != own})


_OTHERS: Final = _others()
