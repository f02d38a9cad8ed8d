"""The Data API of Supabase: PostgREST by docs.postgrest.org, behind Supabase's gateway."""

import re
from typing import Any

from tests.fakes.wire import Answer, Asked, Fake

_OPERATORS = {"eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "in", "is", "not"}
_RESERVED = {"select", "order", "limit", "offset", "columns"}


def error(status: int, code: str, message: str, hint: str | None = None) -> Answer:
    return Answer(status, {"code": code, "message": message, "details": None, "hint": hint})


class PostgrestFake(Fake):
    """Tables whose rows are what is asked for."""

    def __init__(self, row: dict[str, Any]) -> None:
        super().__init__()
        self.row = row

    def answer(self, asked: Asked) -> Answer:
        key = asked.headers.get("apikey", "")
        if not key:
            body = {"message": "No API key found in request", "hint": "No `apikey` header"}
            return Answer(401, body)
        is_jwt = key.count(".") == 2
        bearer = asked.headers.get("authorization")
        self.require(bearer == f"Bearer {key}" if is_jwt else bearer is None, "Authorization")
        path = asked.path.removeprefix("/rest/v1")
        if path == asked.path:
            return Answer(404, {"message": "no Route matched with those values"})
        if path.startswith("/rpc/"):
            return self._called(asked)
        self._conditions(asked)
        if asked.method in {"PATCH", "DELETE"}:
            self.require(set(asked.parameters) - _RESERVED, "a change without a filter")
        columns = asked.parameters.get("select", "*").split(",")
        self.require(all(re.fullmatch("[a-z_]+", each) for each in columns), "select")
        prefer = asked.headers.get("prefer", "")
        if asked.method != "GET":
            self.require("return=representation" in prefer, f"Prefer: {prefer}")
        return self._rows(asked, columns)

    def _rows(self, asked: Asked, columns: list[str]) -> Answer:
        given: list[dict[str, Any]] = [{}]
        if asked.method == "POST":
            given = asked.json
            named = set(asked.parameters.get("columns", "").split(","))
            self.require(all(set(each) <= named for each in given), "columns")
        if asked.method == "PATCH":
            given = [asked.json]
        rows = [{name: {**self.row, **each}.get(name) for name in columns} for each in given]
        return Answer(201 if asked.method == "POST" else 200, rows)

    def _conditions(self, asked: Asked) -> None:
        for name, value in asked.query:
            if name not in _RESERVED:
                operator = value.split(".")[0]
                self.require(operator in _OPERATORS, f"{name}={value}")
                self.require(value not in {"eq.null", "neq.null"}, "null is compared with is")

    def _called(self, asked: Asked) -> Answer:
        self.require(asked.method == "POST" and isinstance(asked.json, dict), "named arguments")
        scores = [
            {
                "quote_id": each["quote_id"],
                "price_score": 50,
                "safety_score": 50,
                "speed_score": 50,
                "comfort_score": 50,
                "total_score": 50,
                "rank": rank,
                "missing": [],
            }
            for rank, each in enumerate(asked.json["quotes"], 1)
        ]
        weights = {"price": 0.3, "safety": 0.35, "speed": 0.15, "comfort": 0.2}
        return Answer(200, {"scores": scores, "weights": weights})
