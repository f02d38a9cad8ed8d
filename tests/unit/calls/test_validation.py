"""Arguments on their way in."""

import pytest

from gateway.auth.principal import Grant, Permit
from gateway.calls.validation import decode_arguments
from gateway.errors import MalformedRequest

PERMIT = Permit(Grant(None, None))  # type: ignore[arg-type]  # what is no JSON meets no schema


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (b"[" + b'{"a":[1]},' * 10_001 + b"1]", "more than 10000 names"),
        (b'{"a":[' + b"1," * 100_000 + b"1]}", "more than 100000 values"),
    ],
)
def test_arguments_that_hold_too_much_are_refused_before_their_schema_is_asked(
    text: bytes, detail: str
) -> None:
    """Judging them all would keep every other caller waiting for the better part of a second."""
    with pytest.raises(MalformedRequest, match=detail):
        decode_arguments(PERMIT, text)
