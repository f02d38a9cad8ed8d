"""The text of a result that is kept, with the marks that its answer has beside it."""

from msgspec import Struct
from msgspec.json import Decoder

from gateway.calls.call import Result
from gateway.contract.values import jsontext


class ResultMarks(Struct, frozen=True, omit_defaults=True):
    """What the answer says beside the result."""

    mocked: tuple[str, ...] = ()
    """See `Result.mocked`."""
    left_out: tuple[str, ...] = ()
    """See `Result.left_out`."""


_NONE = ResultMarks()
_marks_of = Decoder(ResultMarks).decode


def kept_text(result: Result) -> bytes:
    """The JSON text of the result. If the result has marks, they are a second line."""
    marks = ResultMarks(result.mocked, result.left_out)
    # JSON as the gateway writes it has no line breaks.
    return result.text if marks == _NONE else b"%b\n%b" % (result.text, jsontext.encode(marks))


def read_kept(text: bytes) -> tuple[bytes, ResultMarks]:
    """The JSON text of a result, and its marks."""
    result, _, marks = text.partition(b"\n")
    return result, _marks_of(marks) if marks else _NONE
