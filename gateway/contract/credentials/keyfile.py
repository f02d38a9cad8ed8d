"""The key file of a Google service account: the members that a JWT assertion needs."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

_Text = Annotated[str, Meta(min_length=1)]


class NotAKeyFile(ValueError):
    """The text is not a service account's key file. The message never repeats any of the text."""


class KeyFile(Struct, frozen=True, kw_only=True):
    """A service account and its private key."""

    client_email: _Text
    private_key: _Text
    """PEM."""
    token_uri: _Text
    private_key_id: str = ""

    def __repr__(self) -> str:
        return "KeyFile(***)"


def read_key_file(text: str) -> KeyFile:
    """The key file in `text`. Raises `NotAKeyFile`."""
    try:
        return msgspec.json.decode(text, type=KeyFile)
    except msgspec.ValidationError:
        members = ", ".join(KeyFile.__struct_fields__[:3])
        raise NotAKeyFile(f"is not a service account's key file: it needs {members}") from None
    except (msgspec.DecodeError, UnicodeError):
        raise NotAKeyFile("is not JSON: give the complete key file") from None
