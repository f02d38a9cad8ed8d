"""Makes texts of a length, a format and patterns."""

import base64
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any, Final
from uuid import UUID

from gateway.backends.mock.samples.errors import NoSample, Steps
from gateway.backends.mock.samples.patterns import MAX_LENGTH, matching
from gateway.contract.values.schema import matcher

_WORDS: Final = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper"),
    *("kelp", "lagoon", "maple", "north", "ocean", "prairie", "quartz", "river", "slate", "tundra"),
)
_TRIES: Final = 30


def text(schema: Mapping[str, Any], random: Random, work: Steps) -> str:
    """A text of the schema. Raises `NoSample`. `pattern` and `format` are lists here.

    A pattern that the validator cannot compile is left to the validator of the whole value.
    """
    least = schema.get("minLength", 0)
    most = max(schema.get("maxLength", MAX_LENGTH), 0)
    patterns = [each for each in map(matcher, schema.get("pattern", ())) if each is not None]
    if least > min(most, MAX_LENGTH):
        raise NoSample("no text has such a length")
    for _ in range(_TRIES):
        found = _candidate(schema, random, work, least, most)
        work.spend(1 + len(found) * (1 + len(patterns)))
        if least <= len(found) <= most and all(each(found) for each in patterns):
            return found
    raise NoSample("no text was found that matches the pattern and has the length")


def _candidate(
    schema: Mapping[str, Any], random: Random, work: Steps, least: int, most: int
) -> str:
    patterns = schema.get("pattern", ())
    makers: list[Callable[[], str]] = [
        partial(_FORMATS[name], random) for name in schema.get("format", ()) if name in _FORMATS
    ]
    makers += [partial(matching, each, random, work, least) for each in patterns]
    if len(patterns) > 1:
        # Patterns without anchors may match the parts of one text.
        makers.append(lambda: "".join(matching(each, random, work) for each in patterns))
    if makers:
        return random.choice(makers)()
    found = _encoded(schema, _words(random, least))
    return found if len(found) <= most else found[:most]


def _words(random: Random, least: int) -> str:
    found = random.choice(_WORDS)
    while len(found) < least:
        found += f" {random.choice(_WORDS)}"
    return found[: max(least, len(found.partition(" ")[0]))]


def _encoded(schema: Mapping[str, Any], plain: str) -> str:
    is_base64 = schema.get("contentEncoding") in {"base64", "base64url"}
    return base64.b64encode(plain.encode()).decode() if is_base64 else plain


def _day(random: Random) -> str:
    return f"2026-{random.randint(1, 12):02}-{random.randint(1, 28):02}"


def _time(random: Random) -> str:
    return f"{random.randint(0, 23):02}:{random.randint(0, 59):02}:{random.randint(0, 59):02}Z"


def _host(random: Random) -> str:
    return f"{random.choice(_WORDS)}.example.com"


def _path(random: Random) -> str:
    return f"/{random.choice(_WORDS)}/{random.randint(1, 999)}"


def _url(random: Random) -> str:
    return f"https://{_host(random)}{_path(random)}"


def _email(random: Random) -> str:
    return f"{random.choice(_WORDS)}@example.com"


def _address(random: Random) -> str:
    return f"192.0.2.{random.randint(1, 254)}"


def _long_address(random: Random) -> str:
    return f"2001:db8::{random.randint(1, 0xFFFF):x}"


def _uuid(random: Random) -> str:
    return str(UUID(int=random.getrandbits(128), version=4))


_FORMATS: Final[Mapping[str, Callable[[Random], str]]] = {
    "date": _day,
    "time": _time,
    "date-time": lambda random: f"{_day(random)}T{_time(random)}",
    "duration": lambda random: f"PT{random.randint(1, 59)}M",
    "email": _email,
    "idn-email": _email,
    "hostname": _host,
    "idn-hostname": _host,
    "ipv4": _address,
    "ipv6": _long_address,
    "uri": _url,
    "uri-reference": _path,
    "iri": _url,
    "iri-reference": _path,
    "uri-template": lambda random: f"{_path(random)}/{{id}}",
    "uuid": _uuid,
    "json-pointer": _path,
    "relative-json-pointer": lambda random: f"{random.randint(0, 9)}{_path(random)}",
    "regex": lambda random: f"^{random.choice(_WORDS)}$",
}
KNOWN_FORMATS: Final = frozenset(_FORMATS)
"""The formats that are sampled. The validator knows no others (JSON Schema 2020-12 §7.3)."""
