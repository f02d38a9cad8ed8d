"""Gmail API v1 and Google Sheets API v4, by Google's discovery documents and guides."""

import base64
import re
from email import message_from_bytes, policy
from typing import Any

from tests.fakes.wire import Answer, Asked, Fake

Where = tuple[str, int, int, int | None, int]
"""Sheet, first row, first column, last row (None: all), last column."""
NO_PAGE = Answer(404, b"<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>")
_CELL = re.compile(r"([A-Z]+)([0-9]*)")


def error(status: int, word: str, message: str, reason: str = "", *details: Any) -> Answer:
    """Google's error body. Newer replies have no `errors`, and details."""
    facts: dict[str, Any] = {"code": status, "message": message, "status": word}
    if reason:
        facts["errors"] = [{"message": message, "domain": "global", "reason": reason}]
    if details:
        facts["details"] = list(details)
    return Answer(status, {"error": facts})


class GoogleFake(Fake):
    """The OAuth endpoint and the credentials, which both APIs share."""

    def answer(self, asked: Asked) -> Answer:
        if asked.path == "/token":
            form = asked.form
            self.require("form" in asked.headers["content-type"], "tokens are asked by a form")
            self.require(form["grant_type"] == "refresh_token", "grant_type")
            self.require({"client_id", "client_secret", "refresh_token"} <= form.keys(), "the form")
            return Answer(200, {"access_token": "ya29.fake", "token_type": "Bearer", "scope": None})
        self.require(asked.headers.get("authorization") == "Bearer ya29.fake", "the access token")
        self.require(not (asked.method == "GET" and asked.body), "GET has no body")
        return self.api(asked)

    def api(self, asked: Asked) -> Answer:
        raise NotImplementedError


class GmailFake(GoogleFake):
    """One mailbox."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Any] = []

    def api(self, asked: Asked) -> Answer:
        root = "/gmail/v1/users/me"
        self.require(asked.path.startswith(root), f"{asked.path} is no path of users.me")
        match asked.method, asked.path.removeprefix(root).split("/")[1:]:
            case "POST", ["messages", "send"]:
                self._mail(asked.json)
                return Answer(200, {"id": "18c1", "threadId": "18c1", "labelIds": ["SENT"]})
            case "POST", ["drafts"]:
                self._mail(asked.json["message"])
                return Answer(200, {"id": "r-1", "message": {"id": "18c2", "threadId": "18c2"}})
            case "GET", ["messages", found]:
                self._format(asked)
                return Answer(200, message(found))
            case "GET", ["threads", found]:
                self._format(asked)
                return Answer(200, {"id": found, "historyId": "1", "messages": [message(found)]})
        return NO_PAGE

    def _format(self, asked: Asked) -> None:
        chosen = asked.parameters.get("format", "full")
        self.require(chosen in {"full", "metadata", "minimal", "raw"}, f"format={chosen}")
        known = {"format", "alt", "metadataHeaders", "prettyPrint", "fields"}
        self.require({name for name, _ in asked.query} <= known, "a parameter that Gmail lacks")

    def _mail(self, given: dict[str, Any]) -> None:
        self.require(set(given) <= {"raw", "threadId"}, "members of a Message")
        raw = given["raw"]
        self.require(not set(raw) & set("+/"), "raw is base64url")
        text = base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4))
        mail = message_from_bytes(text, policy=policy.default)
        self.require(
            b"\r\n" in text and b"\n" not in text.replace(b"\r\n", b""), "lines end in CRLF"
        )
        self.require(max(map(len, text.split(b"\r\n"))) <= 998, "a line is too long (RFC 5322)")
        self.require(not mail.defects and mail["To"] and mail["Subject"], "headers of the mail")
        self.sent.append(mail)


def message(found: str) -> dict[str, Any]:
    """A Message as `users.messages.get` gives it, with nulls where Google leaves things out."""
    text = base64.urlsafe_b64encode("Grüße aus Köln".encode()).decode().rstrip("=")
    headers = [
        {"name": "From", "value": "Ada <ada@example.com>"},
        {"name": "To", "value": "me@example.com"},
        {"name": "Subject", "value": "=?utf-8?q?Gr=C3=BC=C3=9Fe?="},
        {"name": "Message-Id", "value": "<a@mail.gmail.com>"},
    ]
    return {
        "id": found,
        "threadId": found,
        "labelIds": ["INBOX"],
        "snippet": "Gr&uuml;&szlig;e",
        "historyId": "9",
        "internalDate": "1792576800000",
        "sizeEstimate": 300,
        "raw": None,
        "classificationLabelValues": [],
        "payload": {
            "partId": "",
            "mimeType": "text/plain",
            "filename": "",
            "headers": headers,
            "body": {"size": 16, "data": text, "attachmentId": None},
        },
    }


class SheetsFake(GoogleFake):
    """One spreadsheet, with values as the API gives them: without trailing empty cells and rows."""

    def __init__(self, sheets: dict[str, list[list[Any]]]) -> None:
        super().__init__()
        self.sheets = sheets

    def api(self, asked: Asked) -> Answer:
        found = re.fullmatch(r"/v4/spreadsheets/([^/]+)/values/([^/]+?)(:append)?", asked.path)
        if found is None:
            return NO_PAGE
        where = _place(found[2])
        if found[1] != "book-1":
            return error(404, "NOT_FOUND", "Requested entity was not found.", "notFound")
        if where is None or where[0] not in self.sheets:
            text = f"Unable to parse range: {found[2]}"
            return error(400, "INVALID_ARGUMENT", text, "badRequest")
        answers = {"GET": self._read, "PUT": self._updated, "POST": self._appended}
        is_known = asked.method in answers and (asked.method == "POST") == bool(found[3])
        return answers[asked.method](asked, found[2], where) if is_known else NO_PAGE

    def _read(self, asked: Asked, shown: str, where: Where) -> Answer:
        form = asked.parameters.get("valueRenderOption", "FORMATTED_VALUE")
        self.require(form in {"FORMATTED_VALUE", "UNFORMATTED_VALUE", "FORMULA"}, form)
        cells = _trimmed(_cut(self.sheets[where[0]], where))
        reply: dict[str, Any] = {"range": shown, "majorDimension": "ROWS"}
        return Answer(200, reply | ({"values": cells} if cells else {}))

    def _updated(self, asked: Asked, shown: str, where: Where) -> Answer:
        self._input(asked)
        rows = self.sheets[where[0]]
        for offset, row in enumerate(asked.json["values"]):
            _write(rows, where[1] - 1 + offset, where[2], row)
        reply: dict[str, Any] = {"spreadsheetId": "book-1", "updatedRange": shown}
        if asked.parameters.get("includeValuesInResponse") == "true":
            reply["updatedData"] = {"range": shown, "values": _trimmed(_cut(rows, where))}
        return Answer(200, reply)

    def _appended(self, asked: Asked, _: str, where: Where) -> Answer:
        self._input(asked)
        option = asked.parameters.get("insertDataOption", "OVERWRITE")
        self.require(option in {"OVERWRITE", "INSERT_ROWS"}, option)
        rows = self.sheets[where[0]]
        rows.extend(asked.json["values"])
        place = f"'{where[0]}'!A{len(rows)}:F{len(rows)}"
        return Answer(200, {"spreadsheetId": "book-1", "updates": {"updatedRange": place}})

    def _input(self, asked: Asked) -> None:
        option = asked.parameters.get("valueInputOption")
        self.require(option in {"RAW", "USER_ENTERED"}, f"valueInputOption={option} is required")
        self.require(option == "RAW", "texts of agents must not become formulas")


def _place(a1: str) -> Where | None:
    name, mark, cells = a1.rpartition("!")
    first, _, last = cells.partition(":")
    begin, end = _CELL.fullmatch(first), _CELL.fullmatch(last or first)
    if not mark or begin is None or end is None:
        return None
    rows = int(begin[2] or 1), int(end[2]) if end[2] else None
    return name.strip("'").replace("''", "'"), rows[0], _column(begin[1]), rows[1], _column(end[1])


def _column(letters: str) -> int:
    number = 0
    for each in letters:
        number = number * 26 + ord(each) - 64
    return number - 1


def _cut(rows: list[list[Any]], where: Where) -> list[list[Any]]:
    _, first, left, last, right = where
    return [row[left : right + 1] for row in rows[first - 1 : last]]


def _trimmed(cells: list[list[Any]]) -> list[list[Any]]:
    """Without the trailing empty cells and rows, which the API leaves out."""
    kept = []
    for row in cells:
        filled = [index for index, each in enumerate(row) if each not in {"", None}]
        end = filled[-1] + 1 if filled else 0
        kept.append(["" if each is None else each for each in row[:end]])
    while kept and not kept[-1]:
        kept.pop()
    return kept


def _write(rows: list[list[Any]], index: int, left: int, values: list[Any]) -> None:
    while len(rows) <= index:
        rows.append([])
    row = rows[index]
    row.extend([""] * (left + len(values) - len(row)))
    for offset, value in enumerate(values):
        if value is not None:  # null leaves the cell as it is
            row[left + offset] = value
