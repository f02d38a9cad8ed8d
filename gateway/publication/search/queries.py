"""The terms of a query: its words, words that mean the same, and the effect that it asks for."""

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.publication.search.words import STOP, spelled, stem

MAX_WORDS: Final = 40
"""The words of one query that are searched."""
SAME: Final = 0.8
"""The weight of another word for the same thing, beside the caller's own word with weight 1."""
NEAR: Final = 0.4
"""The weight of a word that is only related."""
WISH: Final = 2.0
"""The weight of the effect that the query asks for."""
_SAME: Final = (
    "get show read retrieve fetch view look see display detail check inspect",
    "list which what all every enumerate show see",
    "delete remove drop erase destroy clear discard rid throw",
    "remove unassign take detach revoke unlink",
    "create add make new define register insert post start set generate",
    "update change edit modify set patch put rename replace adjust move alter",
    "find search query lookup look filter",
    "send post write message",
    "reply answer respond comment",
    "disable deactivate off stop suspend",
    "enable activate on turn",
    "start begin launch run trigger",
    "stop end terminate halt shut",
    "cancel abort stop revoke",
    "allow permit can access permission grant right",
    "deny forbid block restrict ban",
    "approve accept confirm",
    "reject decline dismiss refuse",
    "assign give attach add",
    "copy fork duplicate clone",
    "compare difference diff",
    "merge combine",
    "invite invitation",
    "watch subscribe subscription follow",
    "test ping try",
    "react reaction emoji",
    "book reserve reservation booking appointment",
    "upload put store save",
    "download export",
    "restore bring recover undelete unarchive",
    "again rerun re retry repeat",
    "finish complete end",
    "verify verification validate check",
    "repo repository",
    "org organization organisation company",
    "dir directory folder",
    "config configuration setting preference option",
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
    "owner administrator admin",
    "app application",
    "file content document",
    "label tag",
    "db database",
    "table row record",
    "price cost rate",
    "usage use consumption",
    "discount coupon promotion",
    "flight plane aircraft jet",
    "task run job",
    "bill billing invoice spend",
    "money payment currency",
    "website site page",
    "machine computer server host",
    "credential token key password",
    "vulnerability alert advisory",
    "rain forecast weather temperature warm",
    "conversation thread exchange",
    "state status",
    "free available",
    "place location city",
    "server guild",
    "ban kick block",
    "mute silence",
    "chat conversation channel talk",
    "pin pinned bookmark",
    "star favorite favourite",
    "topic subject",
    "nickname nick name",
    "voice speech audio sound",
    "speak speech say",
    "transcribe transcription transcript",
    "harmful moderation unsafe",
    "train tune training",
    "vector embedding",
    "gist snippet",
    "branch ref",
    "release version",
    "commit change revision",
    "hook webhook callback",
    "pipeline workflow",
    "visitor view traffic",
    "quota limit",
    "buy bought purchase order entitlement",
    "customer buyer",
    "charge payment transaction",
    "dispute chargeback",
    "refund reimburse",
    "voucher coupon promotion",
    "plan subscription",
    "payout transfer",
    "tax vat",
    "pod container",
    "lock freeze protect",
    "secret password",
    "reminder remind",
    "archive close",
    "leave quit",
    "join enter",
    "draw generation image",
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
_UNDOABLE: Final = (
    "archive assign ban block deploy enroll flag follow freeze hide install link list lock mark"
    " mute pin protect publish register share star subscribe suspend tag watch"
)
_UNDONE: Final = frozenset(_UNDOABLE.split())
"""Verbs that `un` undoes."""
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


def query_terms(query: str) -> list[dict[str, float]]:
    """For each word of `query`, the terms that mean it, with their weights."""
    words = list(dict.fromkeys(spelled(query)))[:MAX_WORDS]
    found = [] if not words or words[0] not in _WISHES else [{_WISHES[words[0]]: WISH}]
    for word in words:
        own = stem(word)
        meanings = dict(_OTHERS.get(own, {}))
        if word not in STOP:
            meanings[own] = 1.0
        found.append(meanings)
        found += [{stem(part): 1.0} for part in _PHRASES.get(word, _undone(word)).split()]
    return _without_repetitions(found)


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
