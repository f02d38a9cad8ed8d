"""What `gateway call` and `gateway jobs result` say beside the result that they print."""

import httpx2
import pytest

from gateway.cli.remote import answer_of, print_answer


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({}, ""),
        (
            {"gateway-mocked": "amadeus, frankfurter"},
            "note: made up: a mock answered for amadeus, frankfurter\n",
        ),
        ({"gateway-left-out": "2"}, "note: the result lacks 2 rows of the upstream's reply\n"),
        ({"gateway-left-out": "many", "gateway-mocked": "\x1b[2J"}, None),
    ],
)
def test_marks_of_the_answer_are_notes(headers, said, capsys) -> None:
    reply = httpx2.Response(200, headers=headers, content=b'{"total": 1}')

    assert print_answer(answer_of("http://127.0.0.1:8700", reply)) == 0
    out, err = capsys.readouterr()
    assert out == '{\n  "total": 1\n}\n'
    assert "\x1b" not in err
    if said is not None:
        assert err == said
