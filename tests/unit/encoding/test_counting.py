"""Events that are counted while their reply arrives."""

from gateway.encoding.replies.decoder import EventCounter
from tests.unit.tables import each_of

STREAM = b": hello\n\nevent: a\ndata: 1\n\ndata\ndata: 2\r\n\r\nid: 7\n\ndata: cut"
LINES = b'{"n":1}\n\n  \n{"n":2}\r\n{"n":3}'


@each_of("size", [1, 2, 7, 1000])
@each_of(
    ("media_type", "body"),
    [("text/event-stream; charset=utf-8", STREAM), ("application/jsonl", LINES)],
)
def test_events_are_counted_in_pieces_of_any_size(media_type, body, size):
    reported = []
    counter = EventCounter(lambda done, message: reported.append((done, message)))
    for start in range(0, len(body), size):
        counter({"content-type": media_type}, body[start : start + size])
    assert reported[-1] == (2, "2 events received")
    assert [done for done, _ in reported] == sorted({done for done, _ in reported})
