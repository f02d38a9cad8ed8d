"""Headers with which the mock of an imported document answers."""

import re
from typing import Any, Final

from gateway.backends.mock.imported.schemas import Schemas
from gateway.backends.mock.samples.errors import NoSample
from gateway.contract.imported import ImportedHeader, ImportedReply
from gateway.contract.values import jsontext

_TEXT: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def sampled_headers(reply: ImportedReply, schemas: Schemas, *salt: str) -> dict[str, str]:
    """The headers that results have, by lower-case name.

    An optional one without a sample is left out. Raises `NoSample` for a required one.
    """
    found: dict[str, str] = {}
    for each in reply.headers:
        try:
            found[each.name.lower()] = _sampled(each, schemas, *salt)
        except NoSample:
            if each.is_required:
                raise
    return found


def _sampled(header: ImportedHeader, schemas: Schemas, *salt: str) -> str:
    value = schemas.samples(header.schema).sample(*salt, header.name)
    text = jsontext.encode(value).decode() if header.is_json else _text(value, header)
    if not _TEXT.fullmatch(text):
        raise NoSample(f"no sample of the header {header.name} can be sent")
    return text


def _text(value: Any, header: ImportedHeader) -> str:
    if isinstance(value, list):
        return ",".join(_piece(each) for each in value)
    if isinstance(value, dict):
        between = "=" if header.explode else ","
        return ",".join(f"{_piece(name)}{between}{_piece(each)}" for name, each in value.items())
    return _plain(value)


def _piece(value: Any) -> str:
    text = _plain(value)
    if "," in text or "=" in text or text != text.strip():
        raise NoSample("a part of a header contains a separator")
    return text


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else jsontext.encode(value).decode()
