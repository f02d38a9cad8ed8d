"""The terms of texts and queries: stems, words that mean the same, and the effect asked for."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

# Splits texts into the terms that are compared: lower-case stems without accents.

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[^\W_]+")
_VOWEL: Final = re.compile(r"[aeiouy]")
_MAX_WORD: Final = 40
"""Longer words are identifiers and encoded values. Nobody searches them."""
_SHORT: Final = 3
_STOP: Final = (
    "a about am an and any are as at be been but by did do does for from had has have he her"
    " his how i if in into is it its just let like many may me much my need no not now of on"
    " one or our out please recent recently lately she so some than that the their them there"
    " these they this those to up us want was we were will with would you your"
)
STOP: Final = frozenset(_STOP.split())
"""Words without a meaning of their own. They are not searched."""


def spelled(text: str) -> list[str]:
    """The words of `text` in lower case, without accents. `_` and signs separate words.

    `camelCase` gives its parts and the whole, because people write names such as GitHub in any way.
    """
    folded = unicodedata.normalize("NFKD", text)
    plain = "".join(each for each in folded if not unicodedata.combining(each))
    return [
        word for found in _WORD.findall(plain) if len(found) <= _MAX_WORD for word in _parts(found)
    ]


def _parts(word: str) -> list[str]:
    whole = word.casefold()
    parts = [part.casefold() for part in _HUMP.split(word)]
    return parts if len(parts) == 1 else [*parts, whole]


def terms(text: str) -> list[str]:
    """The stems of the words of `text`, in their order, without stop words."""
    return [stem(word) for word in spelled(text) if word not in STOP]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A common beginning of the forms of an English word: `creat` of create, created, creation.

    Only equal results matter, so a stem need not be a word. Other words stay as they are.
    """
    if len(word) <= _SHORT or not word.isascii() or not word.isalpha():
        return word
    return _ending(_derived(_inflected(_singular(word))))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > len("dies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _inflected(word: str) -> str:
    for suffix in ("ing", "ed"):
        rest = word.removesuffix(suffix)
        if rest != word and len(rest) >= _SHORT and _VOWEL.search(rest):
            is_doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if is_doubled else rest
    return word


def _derived(word: str) -> str:
    if word.endswith("ly") and len(word) > _SHORT + 3:
        return word[:-2]
    if word.endswith("ment") and len(word) > _SHORT + 5:
        return word[:-4]
    if word.endswith(("tion", "sion")) and len(word) > _SHORT + 3:
        return word[:-3]
    return word


def _ending(word: str) -> str:
    word = word.removesuffix("e")
    if word.endswith("at") and len(word) > _SHORT + 3:
        word = word[:-2]
    return word[:-1] + "i" if word.endswith("y") and len(word) > _SHORT else word


# The terms of a query: its words, words that mean the same, and the effect that it asks for.
#
# Words that mean the same in descriptions of APIs in general.
#
# Some connect a vendor's word with the usual one (`guild` and server). None is about one operation.

RELATED: Final = (
    "shrink compact compress reduce shorten",
    "append add insert create",
    "bring invite add restore",
    "share post upload send publish",
    "give grant assign add",
    "correct fix edit update change",
    "raise increase update change create",
    "lower reduce decrease update",
    "pause disable suspend stop",
    "resume continue enable restart",
    "happen event activity occur",
    "overwrite replace update",
    "generate create produce build",
    "own owner",
    "belong member",
    "assign assignee",
    "convert transform",
    "connect link attach associate join",
    "disconnect unlink detach remove",
    "close delete end archive finish resolve",
    "open create start",
    "rename name title",
    "redeem use apply",
    "expire expiration expiry due deadline",
    "undo revert restore",
    "ship release deploy deployment",
    "rollback revert",
    "import upload migrate",
    "migrate migration move transfer import",
    "transfer move migrate",
    "sync synchronize refresh",
    "refresh renew reload",
    "extend renew",
    "preview simulate dry",
    "estimate quote price",
    "inform notify",
    "warn alert notify",
    "wait pending queue",
    "evaluate evaluation eval grade",
    "calculate compute",
    "pay payment charge purchase",
    "schedule event plan",
    "invite invitation add join",
    "kick remove ban",
    "fire remove",
    "hire add",
    "promote role owner",
    "call phone",
    "track monitor watch",
    "monitor watch status",
    "measure metric",
    "sign signature",
    "notify notification alert push",
    "decide approve",
    "expel remove ban",
    "wipe delete",
    "purge delete",
    "trash delete",
    "cut remove",
    "lose revoke",
    "choose select set",
    "select choose set",
    "pick select choose",
    "configure config set update",
    "customize custom config template",
    "build run workflow job",
    "deploy deployment release",
    "log audit event",
    "save store create update",
    "store save",
    "load get import",
    "read get",
    "tweak update",
    "fill update set",
    "submit create send",
    "file create",
    "trigger run start dispatch",
    "execute run",
    "fork copy",
    "crawl index",
    "mention search",
    "card payment source method",
    "fund balance money",
    "debt invoice",
    "receipt invoice charge",
    "subscriber subscription member",
    "vendor supplier merchant seller",
    "employee staff worker user member teammate coworker colleague",
    "teammate coworker member user",
    "guest visitor",
    "admin administrator owner maintainer",
    "role permission right access",
    "scope permission",
    "bot app integration application",
    "space workspace team storage size usage",
    "workspace team",
    "group team",
    "company organization enterprise business",
    "room channel",
    "newcomer member",
    "greeting welcome",
    "thumb reaction",
    "like star favorite reaction vote",
    "vote poll",
    "reply thread response answer",
    "note comment description",
    "post message",
    "attachment file",
    "avatar icon picture photo image",
    "video clip recording",
    "recording record audio",
    "calendar event schedule",
    "meeting event call appointment",
    "reminder alarm notification",
    "alert warning alarm finding",
    "finding alert vulnerability result",
    "problem issue bug error incident failure",
    "bug issue",
    "ticket issue",
    "todo task item issue",
    "error failure exception",
    "outage incident",
    "health status",
    "progress status",
    "outcome result status conclusion",
    "pipeline workflow build run",
    "snapshot backup",
    "backup export snapshot",
    "spam junk",
    "size storage",
    "disk volume storage",
    "replica scale",
    "address location",
    "dns domain record",
    "url link address",
    "route path endpoint",
    "endpoint webhook url",
    "login sign session authentication",
    "identity user profile account",
    "profile account user",
    "account user profile",
    "bio profile description",
    "flag feature toggle",
    "rule policy ruleset",
    "limit quota cap restriction threshold",
    "allowlist allow list",
    "blocklist block list",
    "category tag label type group",
    "collection folder group set",
    "item product entry",
    "goods product",
    "stock inventory",
    "shipment shipping delivery order",
    "basket cart",
    "checkout payment cart session",
    "menu dish food item",
    "region location zone",
    "report analytics statistic insight metric",
    "stats statistic metric analytics usage",
    "rating review score",
    "score grade rating evaluate",
    "prompt instruction input",
    "answer response reply",
    "embed embedding",
    "mandate agreement contract",
    "fingerprint hash digest checksum",
    "license licence",
    "dependency package library",
    "project repository",
    "board project",
    "field property attribute column",
    "metadata attribute property",
    "parameter variable argument",
    "sheet spreadsheet",
    "page document",
    "style theme design",
    "colour color",
    "component widget element",
    "contact person customer",
    "child sub nested",
    "parent owner",
    "everyone all public everybody",
    "everybody all public everyone",
    "private hidden restricted",
    "visible visibility public",
    "active open current enabled running",
    "latest last recent newest",
    "version revision tag",
    "history version revision",
    "price cost amount fee",
    "timeout deadline",
    "secret credential",
    "cert certificate tls",
    "member membership",
    "owner ownership",
    "people member user",
    "spend cost billing usage",
    "licence seat",
    "seat license subscription",
    "instruction prompt",
    "password credential",
    "phone number",
    "number count total",
    "picture photo",
    "device machine",
    "reader terminal device",
    "promo promotion",
    "coupon promotion discount",
    "my authenticated current me",
    "me authenticated current",
    "i authenticated current",
)
"""The first word of a row may be asked for, where the others are in contracts, not the reverse."""


SAME: Final = (
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
"""Rows of words that mean the same. Each word of a row stands for all others."""


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
