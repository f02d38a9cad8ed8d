"""What is reported is small, and has failed by itself."""

import asyncio
import json

from gateway.testing.reducing import shrunk


def least(text, fails):
    async def judged(candidate):
        return fails(json.loads(candidate))

    return json.loads(asyncio.run(shrunk(text, judged)))


def test_only_what_matters_is_left():
    text = b'{"a": "x", "b": [1, {"bad": 40000, "c": "long"}], "d": null}'

    found = least(text, lambda value: "bad" in json.dumps(value))

    assert found == {"b": [{"bad": 1}]}


def test_what_has_nothing_smaller_is_left_as_it_is():
    assert least(b'{"a": "x"}', lambda value: value == {"a": "x"}) == {"a": "x"}


def test_each_candidate_is_judged_anew():
    seen = []
    least(b"[1, 2]", lambda value: seen.append(value) or len(value) == 1)
    assert [1] in seen
    assert [] in seen
