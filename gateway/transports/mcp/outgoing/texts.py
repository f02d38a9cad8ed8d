"""Results that are served as plain text, besides their JSON object."""

from gateway.calls.call import Result


class TextResult(Result, frozen=True, kw_only=True):
    """A result whose text block is not its JSON."""

    plain: str | None = None
    """The only member of the result. None: the block is its JSON after all."""


def as_text(result: Result, member: str | None) -> Result:
    """`result` as a `TextResult`, if it has the `Operation.text_member`."""
    text = None if member is None else result.values.get(member)
    if text is None:
        return result
    return result.as_kind(TextResult, plain=text)


def shown_text(result: Result) -> str:
    """What the first text block has: the plain text, or the JSON text of REST."""
    plain = result.plain if isinstance(result, TextResult) else None
    return result.text.decode() if plain is None else plain
