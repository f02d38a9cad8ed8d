"""Brings patterns into a form that ECMAScript with the flag `u` and the gateway's validator share.

JSON Schema asks for ECMA-262. Validators of clients compile every pattern of a list with the flag
`u`, so one pattern that they refuse costs them all tools. Most writers know other engines.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

_ESCAPE: Final = r"""
    \\ (?: [xu]\{[0-9A-Fa-f]{1,6}\} | u[0-9A-Fa-f]{4} | x[0-9A-Fa-f]{2}
         | [pP](?:\{[^}]*\}|[A-Z]) | c[A-Za-z] | 0(?![0-9]) | [^xupPc0-9] )
"""
_TOKEN: Final = re.compile(
    rf"(?:{_ESCAPE})"
    r"""
    | (?P<set>        \[ \^? (?: \] (?=[^\]]*\]) )? )
    | (?P<comment>    \( \?\# [^)]* \) )
    | (?P<open>       \( (?: \?: | \?[=!] | \?<[=!] | \?P?<[A-Za-z_][\w.]*> | (?!\?) ) )
    | (?P<quantifier> (?: [*+?] | \{ [ ]* [0-9]+ [ ]* (?: , [ ]* [0-9]* [ ]* )? \} ) \?? )
    | (?P<vague>      \{ ,[0-9]+ \} | \\ | \( )
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
"""One token outside a set. A vague one has no meaning that engines share."""
_IN_SET: Final = re.compile(
    rf"\[:(?P<posix>\^?[a-z]+):\] | (?P<escape>{_ESCAPE}) | .",
    re.VERBOSE | re.DOTALL,
)
_SYNTAX: Final = frozenset(r"^$\.*+?()[]{}|/")
_SETS: Final = frozenset("dDwWsS")
_CLASSES: Final = frozenset(f"\\{each}" for each in (*_SETS, "p", "P"))
_KEPT: Final = frozenset("tnvfr") | _SYNTAX
_CONTROLS: Final[Mapping[str, str]] = {"0": r"\x00", "b": r"\x08"}
_IN_SETS: Final[Mapping[str, str]] = {"-": r"\-", "&": r"\x26", "~": r"\x7e"}
_ASSERTIONS: Final[Mapping[str, str]] = {
    "b": r"\b",
    "B": r"\B",
    "A": "^",
    "z": "$",
    "Z": "$",
}
_POSIX: Final[Mapping[str, str]] = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-\/:-@\[-`{-\x7e",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}
_CATEGORIES: Final = re.compile(
    r"L[CulmtoC]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfson]?"
    r"|(?:gc|General_Category|sc|Script|scx|Script_Extensions)=[A-Za-z_]+"
    r"|Letter|Mark|Number|Punctuation|Symbol|Separator|Other|Any|ASCII|Alphabetic|Lowercase"
    r"|Uppercase|White_Space|Emoji|ID_Start|ID_Continue"
)
_SCRIPTS: Final = frozenset(
    {
        *("Arabic", "Armenian", "Bengali", "Cyrillic", "Devanagari", "Georgian", "Greek", "Han"),
        *("Hangul", "Hebrew", "Hiragana", "Katakana", "Latin", "Thai"),
    }
)


class _NoForm(ValueError):
    """A part of the pattern has no form that the engines share."""


@lru_cache(maxsize=10_000)
def shared_form(pattern: str) -> str | None:
    """A pattern that is equal to `pattern` and that engines share. None if there is none.

    A pattern that they share already is returned as it is. Look-around and back references, which
    the validator refuses, are kept.
    """
    try:
        return _Rewriting(pattern).rewritten()
    except _NoForm:
        return None


class _Rewriting:
    """One pattern, token by token. `_last` is where the last thing that can be repeated begins."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._pieces: list[str] = []
        self._groups: list[int] = []
        self._last: int | None = None
        self._needs_group = False

    def rewritten(self) -> str:
        """The shared form. Raises `_NoForm`."""
        while (token := _TOKEN.match(self._pattern, self._at)) is not None:
            self._at = token.end()
            self._token(token[0], token.lastgroup)
        if self._groups:
            raise _NoForm
        return "".join(self._pieces)

    def _token(self, text: str, kind: str | None) -> None:
        match kind:
            case "vague":
                raise _NoForm
            case "set":
                self._place(self._set(text))
            case "open":
                self._groups.append(len(self._pieces))
                is_named = text.startswith("(?P") or "." in text
                self._pieces.append("(?:" if is_named else text)
                self._last = None
            case "quantifier":
                self._repeat(text.replace(" ", ""))
            case None:
                self._plain(text)

    def _plain(self, text: str) -> None:
        if text == ")":
            if not self._groups:
                raise _NoForm
            self._pieces.append(text)
            self._last, self._needs_group = self._groups.pop(), False
        elif text == "|":
            self._pieces.append(text)
            self._last = None
        elif text[0] == "\\" and text[1] in _ASSERTIONS:
            self._place(_ASSERTIONS[text[1]], needs_group=True)
        elif text in "^$":
            self._place(text, needs_group=True)
        elif text in "{}]":
            self._place(f"\\{text}")
        else:
            self._place(_escaped(text, in_set=False) if text[0] == "\\" else text)

    def _place(self, text: str, *, needs_group: bool = False) -> None:
        self._last, self._needs_group = len(self._pieces), needs_group
        self._pieces.append(text)

    def _repeat(self, quantifier: str) -> None:
        if self._last is None:
            raise _NoForm
        if self._needs_group:
            self._pieces[self._last :] = ["(?:", *self._pieces[self._last :], ")"]
        self._pieces.append(quantifier)
        self._needs_group = True

    def _set(self, opening: str) -> str:
        """The set that `opening` begins, up to its end."""
        if opening == "[^" and self._pattern.find("]", self._at) == self._at:
            self._at += 1
            return r"[\s\S]"
        members = [r"\]"] if opening.endswith("]") else []
        while (token := _IN_SET.match(self._pattern, self._at)) is not None:
            self._at = token.end()
            if token[0] == "]":
                if not members:
                    raise _NoForm
                return f"{opening.removesuffix(']')}{_joined(members)}]"
            members.append(_member(token))
        raise _NoForm


def _member(token: re.Match[str]) -> str:
    if token["posix"] is not None:
        if token["posix"] not in _POSIX:
            raise _NoForm
        return _POSIX[token["posix"]]
    if token["escape"] is not None:
        return _escaped(token[0], in_set=True)
    if token[0] == "\\":
        raise _NoForm
    return r"\[" if token[0] == "[" else token[0]


def _joined(members: list[str]) -> str:
    """The text of a set. A hyphen beside a class, such as `\\w-.`, means itself."""
    found: list[str] = []
    at = 0
    while at < len(members):
        has_range = members[at + 1 : at + 2] == ["-"] and at + 2 < len(members)
        first, last = members[at], members[at + 2] if has_range else ""
        if has_range and not _is_class(first) and not _is_class(last):
            found.append("-".join(r"\-" if each == "-" else each for each in (first, last)))
            at += 3
        elif has_range:
            found += [first, r"\-"]
            at += 2
        else:
            # Doubled, these are operators of sets in some engines.
            is_doubled = first in "&~-" and members[at - 1 : at] == [first]
            found.append(f"\\x{ord(first):02x}" if is_doubled else first)
            at += 1
    return "".join(found)


def _is_class(member: str) -> bool:
    return member in _POSIX.values() or member[:2] in _CLASSES


def _escaped(text: str, *, in_set: bool) -> str:
    """The shared form of an escape."""
    kind, rest = text[1], text[2:]
    if kind in _SETS or kind in _KEPT:
        return text
    if kind in _CONTROLS and not rest:
        return _CONTROLS[kind]
    if rest:
        return _numbered(kind, rest.strip("{}"), text)
    if kind.isascii() and kind.isalnum():
        raise _NoForm
    return _IN_SETS.get(kind, kind) if in_set else kind


def _numbered(kind: str, rest: str, text: str) -> str:
    if kind in "pP":
        return _property(kind, rest)
    return f"\\x{ord(rest) % 32:02x}" if kind == "c" else _by_number(int(rest, 16), text)


def _by_number(code: int, text: str) -> str:
    if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        raise _NoForm
    if not text.startswith(r"\x{"):
        return text
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\u{{{code:x}}}"


def _property(kind: str, name: str) -> str:
    if name in _SCRIPTS:
        name = f"Script={name}"
    elif not _CATEGORIES.fullmatch(name):
        raise _NoForm
    return f"\\{kind}{{{name}}}"
