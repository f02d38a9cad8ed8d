"""What is sent of a result that is too large: a part, an error of a read, or all of a write."""

from typing import Any

import pytest
from msgspec.structs import replace

from gateway.calls.call import Result, ResultAge
from gateway.catalogue import Entry, ToolListing
from gateway.contract.operation import Effect, Escalation
from gateway.contract.selection import ResultMembers, with_fields
from gateway.contract.values import jsontext
from gateway.contract.values.files import FileContent
from gateway.contract.values.jsontext import encode
from gateway.contract.values.schema import Validator
from gateway.errors import StateConflict
from gateway.publication.continuation import Continuation
from gateway.testing.transports import HANDSHAKE, MODERN
from gateway.transports.errors import ResultTooLarge
from gateway.transports.mcp.delivery import (
    MAX_FILE_BYTES,
    PartialResult,
    ResultDelivery,
    blocks_result,
    continuation_of,
    delivered,
    shown_text,
)
from gateway.transports.mcp.protocol import revision_of
from gateway.transports.mcp.results import ResultBytes, success
from tests.unit.calls.shop import operation
from tests.unit.tables import each_of

ROWS = {"rows": [{"id": index, "text": "x" * 100} for index in range(200)]}
BLOCK = {"id": 7, "text": "x" * 9_000, "other": "y" * 200}
MAX = 8_000
INPUT: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def delivery(
    effect: Effect = Effect.READ,
    output: Any = None,
    arguments: bytes = b"{}",
    start: Continuation | None = None,
    **members: Any,
) -> ResultDelivery:
    schema = output or {"type": "object"}
    listing = ToolListing(
        name="shop_buy",
        title="",
        description="",
        input_schema=with_fields(INPUT),
        output_schema=schema,
        annotations={},
    )
    entry = Entry(
        operation(effect, **members),
        None,  # type: ignore[arg-type]  # its name is not looked at
        listing,
        Validator(True),
        Validator(schema),
        ResultMembers(lambda: schema) if effect is Effect.READ else None,
    )
    return ResultDelivery(
        entry=entry, arguments=arguments, bearer="key", max_bytes=MAX, request_id="r1", start=start
    )


def result(values: dict[str, Any]) -> Result:
    return Result(values, encode(values), "mock")


def test_a_result_of_a_read_that_asks_has_no_continuation() -> None:
    """The call is made again for each part, so it would ask again."""
    asking = delivery()
    binding = replace(asking.entry.operation.binding, asks=("elicitation",))
    entry = replace(asking.entry, operation=replace(asking.entry.operation, binding=binding))
    found = delivered(result(ROWS), replace(asking, entry=entry))

    assert isinstance(found, PartialResult)
    assert found.facts["to"] < found.facts["of"]
    assert "continuation" not in found.facts
    assert "would ask again" in found.note


def test_a_result_that_fits_is_sent_as_it_is() -> None:
    fits = result({"rows": [1, 2]})

    assert delivered(fits, delivery()) is fits


def test_a_read_is_cut_and_continued() -> None:
    first = delivered(result(ROWS), delivery(arguments=b'{"a":1}'))

    assert isinstance(first, PartialResult)
    start = continuation_of(first.facts["continuation"], "key", "shop")
    assert (start.operation, start.arguments, start.start) == (
        "shop.buy",
        '{"a":1}',
        len(first.values["rows"]),
    )
    second = delivered(result(ROWS), delivery(arguments=b'{"a":1}', start=start))
    assert second.values["rows"][0] == ROWS["rows"][start.start]


@pytest.mark.parametrize("values", [{"rows": ROWS["rows"][1:]}, {"rows": []}, BLOCK])
def test_a_part_of_another_result_is_a_conflict(values: dict[str, Any]) -> None:
    first = delivered(result(ROWS), delivery())
    assert isinstance(first, PartialResult)
    start = continuation_of(first.facts["continuation"], "key", None)

    with pytest.raises(StateConflict):
        delivered(result(values), delivery(start=start))


def test_a_read_that_cannot_be_cut_names_its_size_the_limit_and_its_largest_members() -> None:
    whole_text = {"type": "object", "properties": {"text": {"minLength": 9_000}}}

    with pytest.raises(ResultTooLarge) as refused:
        delivered(result(BLOCK), delivery(output=whole_text))

    detail = refused.value.detail
    assert "9,229 bytes, about 2,308 tokens" in detail
    assert "At most 2,000 tokens" in detail
    assert "text (9,002 bytes), other (202 bytes)" in detail
    assert "argument fields" in detail


def test_a_text_is_continued_by_its_lines() -> None:
    csv = {"text": "".join(f"{index},some cells\n" for index in range(2_000))}
    first = delivered(result(csv), delivery(text_member="text"))
    assert isinstance(first, PartialResult)
    assert "lines 1 to " in first.note
    found = [first]
    while "continuation" in found[-1].facts:
        start = continuation_of(found[-1].facts["continuation"], "key", None)
        part = delivered(result(csv), delivery(text_member="text", start=start))
        assert isinstance(part, PartialResult)
        found.append(part)

    assert len(found) > 5
    assert "".join(part.values["text"] for part in found) == csv["text"]
    assert all(part.values["text"].endswith("\n") for part in found)
    assert [shown_text(part) for part in found] == [part.values["text"] for part in found]


def test_a_part_that_would_break_the_published_schema_is_not_sent() -> None:
    all_rows = {"type": "object", "properties": {"rows": {"type": "array", "minItems": 200}}}

    with pytest.raises(ResultTooLarge):
        delivered(result(ROWS), delivery(output=all_rows))


def test_a_part_of_a_selection_is_valid_without_what_was_not_selected() -> None:
    output = {"type": "object", "required": ["count", "rows"], "properties": {"rows": {}}}

    assert isinstance(delivered(result(ROWS), delivery(output=output)), PartialResult)


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.DESTROY])
def test_a_write_is_cut_without_a_continuation(effect: Effect) -> None:
    part = delivered(result(ROWS), delivery(effect))

    assert isinstance(part, PartialResult)
    assert "continuation" not in part.facts
    assert "do not repeat it" in part.note


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.DESTROY])
def test_a_write_that_cannot_be_cut_is_sent_whole(effect: Effect) -> None:
    whole = result(BLOCK)

    assert delivered(whole, delivery(effect)) is whole


@pytest.mark.parametrize(
    ("arguments", "is_continued"), [(b'{"buy":true}', False), (b'{"buy":false}', True)]
)
def test_a_read_that_an_argument_makes_a_write_is_a_write(
    arguments: bytes, is_continued: bool
) -> None:
    escalation = Escalation(when="buy", grant="shop.order")

    part = delivered(result(ROWS), delivery(arguments=arguments, escalation=escalation))

    assert isinstance(part, PartialResult)
    assert ("continuation" in part.facts) is is_continued


def test_arguments_that_are_too_long_for_a_continuation_are_said() -> None:
    noise = encode({"q": "".join(map(chr, range(0x4E00, 0x4E00 + 3_000)))})

    part = delivered(result(ROWS), delivery(arguments=noise))

    assert isinstance(part, PartialResult)
    assert "continuation" not in part.facts
    assert "too long for a continuation" in part.note


def file_of(media_type: str, size: int = 3) -> Result:
    file = FileContent(media_type=media_type, data=b"x" * size)
    return Result(file.facts(), encode(file.facts()), "mock", file=file)


def resource(media_type: str) -> dict[str, Any]:
    named = {"uri": "gateway://results/r1", "mimeType": media_type, "blob": "eHh4"}
    return {"type": "resource", "resource": named}


@pytest.mark.parametrize(
    ("media_type", "version", "block"),
    [
        ("image/png", MODERN, {"type": "image", "data": "eHh4", "mimeType": "image/png"}),
        ("audio/wav", HANDSHAKE, {"type": "audio", "data": "eHh4", "mimeType": "audio/wav"}),
        ("audio/wav", "2024-11-05", resource("audio/wav")),
        ("application/pdf", MODERN, resource("application/pdf")),
        ("video/mp4", HANDSHAKE, resource("video/mp4")),
    ],
)
def test_a_file_is_a_content_block_on_both_paths(
    media_type: str, version: str, block: dict[str, Any]
) -> None:
    sent = delivered(file_of(media_type), delivery())

    revision = revision_of(version)
    slow = success(sent, revision).model_dump(mode="json", by_alias=True, exclude_none=True)
    fast = jsontext.decode(ResultBytes({}).success(sent, revision))
    facts = {"content_type": media_type, "size": 3}
    assert slow["content"] == fast["content"]
    assert jsontext.decode(fast["content"][0]["text"].encode()) == facts
    assert fast["content"][1:] == [block]
    structure = facts if revision.has_structure else None
    assert slow.get("structuredContent") == fast.get("structuredContent") == structure


def test_a_file_that_is_too_large_is_an_error_of_a_read_and_never_cut() -> None:
    with pytest.raises(ResultTooLarge, match="4,194,305 bytes of image/png"):
        delivered(file_of("image/png", MAX_FILE_BYTES + 1), delivery())


def test_a_write_with_a_file_that_is_too_large_says_that_it_was_made() -> None:
    sent = delivered(file_of("image/png", MAX_FILE_BYTES + 1), delivery(Effect.WRITE))

    assert isinstance(sent, PartialResult)
    assert sent.file is None
    assert "has been made: do not repeat it" in sent.note


def test_it_says_too_that_it_is_repeated_and_how_old_it_is() -> None:
    age = ResultAge(seconds=1, fresh_seconds=2, is_public=False, may_be_kept=False)
    large = file_of("image/png", MAX_FILE_BYTES + 1)
    repeated = replace(large, is_repeated=True, age=age)

    sent = delivered(repeated, delivery(Effect.WRITE))

    assert (sent.is_repeated, sent.age) == (True, age)


@each_of("version", [MODERN, HANDSHAKE])
@each_of("note", ["left out", None])
@each_of("kept", [[], [{"type": "text", "text": "a"}]])
def test_blocks_may_all_be_left_out_on_both_paths(
    kept: list[dict[str, Any]], note: str | None, version: str
) -> None:
    long = result({"content": [{"type": "text", "text": "x" * 9_000}]})
    sent, revision = blocks_result(long, "gateway://results/r1", kept, note), revision_of(version)

    slow = success(sent, revision).model_dump(mode="json", by_alias=True, exclude_none=True)
    fast = jsontext.decode(ResultBytes({}).success(sent, revision))

    notes = [] if note is None else [{"type": "text", "text": note}]
    assert fast["content"] == slow["content"] == [*kept, *notes]
