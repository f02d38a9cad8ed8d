"""The longest text that a schema allows."""

from gateway.contract.schemas.shapes import LongestTexts, longest_text

DEFINITIONS = {
    "short": {"type": "string", "maxLength": 7},
    "link": {"properties": {"to": {"$ref": "#/$defs/long"}, "back": {"$ref": "#/$defs/link"}}},
    "long": {"anyOf": [{"maxLength": 3}, {"items": {"maxLength": 9_000_000}}]},
}


def test_it_is_found_anywhere_in_the_schema() -> None:
    assert longest_text(DEFINITIONS["long"]) == 9_000_000
    assert longest_text({"properties": {"maxLength": {"maxLength": 4}}}) == 4
    assert longest_text(True) == longest_text({}) == 0


def test_definitions_count_if_they_are_needed() -> None:
    texts = LongestTexts(DEFINITIONS)
    assert texts.of({"$ref": "#/$defs/link"}) == 9_000_000
    assert texts.of({"$ref": "#/$defs/short"}) == 7
    assert texts.of({"maxLength": 8, "items": {"$ref": "#/$defs/short"}}) == 8
    assert texts.of({"type": "object"}) == 0
