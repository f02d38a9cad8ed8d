"""Results of replies whose content the document leaves out, as `gateway test` judges them."""

from pathlib import Path
from typing import Any

import pytest

from gateway.authoring.codegen.imported import record_text
from gateway.catalogue.stored import StoredDocument
from gateway.testing.judging import breaks_document

THING = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
TYPED = {"content": {"application/json": {"schema": THING}}}


@pytest.mark.parametrize(
    ("reply", "is_broken"), [({}, False), (TYPED, True), ({**TYPED, "content": {}}, False)]
)
def test_a_body_that_no_content_describes_breaks_nothing(
    lowered: Any, tmp_path: Path, reply: dict[str, Any], is_broken: bool
) -> None:
    outcome = lowered({"paths": {"/a": {"get": {"responses": {"200": reply}}}}})
    path = tmp_path / "shop.json"
    path.write_text(record_text(outcome.connector), "utf-8")
    (stored,) = StoredDocument(path).operations
    assert (breaks_document(stored, {"text": "any"}) is not None) is is_broken
