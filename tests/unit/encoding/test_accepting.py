"""Requests ask for the media types that the document declares."""

from msgspec.structs import replace

from gateway.contract.imported import ImportedReply
from gateway.encoding.replies.content import accept_of
from tests.unit.encoding.operations import encoded, operation
from tests.unit.tables import each_of

JSON = ImportedReply(status="200", kind="json", media_type="application/json")
CSV = ImportedReply(status="200", kind="text", media_type="text/csv")
PROBLEM = ImportedReply(status="400", kind="json", media_type="application/problem+json")
ANY = ImportedReply(status="2XX", kind="json", media_type="*/*")
IMAGE = ImportedReply(status="default", kind="binary", media_type="image/*")
EMPTY = ImportedReply(status="204", kind="empty")
BROKEN = ImportedReply(status="200", kind="text", media_type="text/plain\r\nX: y")


@each_of(
    ("replies", "accept"),
    [
        ((JSON, PROBLEM), "application/json"),
        ((CSV,), "text/csv"),
        ((CSV, JSON, CSV), "application/json, text/csv;q=0.9"),
        ((ANY,), "application/json, */*;q=0.9"),
        ((CSV, IMAGE), "text/csv, image/*"),
        ((EMPTY, PROBLEM), ""),
        ((BROKEN,), ""),
    ],
)
def test_successes_are_accepted_and_json_is_preferred(replies, accept) -> None:
    assert accept_of(replies) == accept


def test_a_request_names_what_it_accepts() -> None:
    own = replace(operation(), replies=(CSV,))
    assert encoded(own).headers == (("Accept", "text/csv"),)
    assert encoded(operation()).headers == ()
