"""Mocks over restarts: what was made stays, no id comes twice, and no time lies ahead."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import BOOTSTRAP_KEY, ended_gateway, started_gateway, until

TODAY = datetime.now(UTC)
LEAVES = (TODAY + timedelta(days=30)).strftime("%Y-%m-%dT15:00:00Z")
FLIGHT = {"departure_airport": "KTEB", "arrival_airport": "KVNY", "passengers": 6}
RFP = {
    "flight_details": {**FLIGHT, "departure_date": LEAVES},
    "operator_ids": ["OP-001", "OP-002", "OP-003", "OP-005"],
}
DAY = (TODAY + timedelta(days=20)).strftime("%Y-%m-%d")
TEE_TIME = f"tt-course-001-{DAY.replace('-', '')}-0830"
BOOKING = {"tee_time_id": TEE_TIME, "date": DAY, "time": "08:30", "players": 2}
MAIL = {"to": "client@example.com", "subject": "Hello", "body": "Hello."}
WALL = {"GATEWAY_MOCK_TIME": "", "GATEWAY_MOCK_SPEED": "60000"}


class Served(Struct, frozen=True):
    """A gateway that is running."""

    http: httpx.Client

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        reply = self.http.post(f"/v1/{tool.replace('.', '/')}", json=arguments)
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()
        return found


@contextmanager
def serving(data: Path, **environment: str) -> Iterator[Served]:
    """A gateway that is ended by SIGKILL, as a power switch would."""
    arguments = ("serve", "--port", "0", "--data", str(data))
    with started_gateway(data, *arguments, environment=environment) as started:
        headers = {"authorization": f"Bearer {BOOTSTRAP_KEY}"}
        url = started.ready_url()
        with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE_SECONDS) as http:
            yield Served(http)


def quotes_of(gateway: Served, rfp_id: str) -> list[dict[str, Any]]:
    """The quotes, once every operator has answered."""

    def answered() -> bool:
        found = gateway.call("avinode.get_quote_status", rfp_id=rfp_id)
        return int(found["responded"]) == int(found["total_operators"])

    until(answered)
    quotes: list[dict[str, Any]] = gateway.call("avinode.get_quotes", rfp_id=rfp_id)["quotes"]
    return quotes


def test_what_was_made_before_a_kill_is_there_after_it_and_no_id_comes_twice(
    tmp_path: Path,
) -> None:
    with serving(tmp_path / "data", **WALL) as gateway:
        rfp = gateway.call("avinode.create_rfp", **RFP)["rfp_id"]
        quotes = quotes_of(gateway, rfp)
        sent = gateway.call("avinode.send_message", thread_id=rfp, message="Hello")["message_id"]
        mail = gateway.call("gmail.send_email", **MAIL)["message_id"]
        booked = gateway.call("golf.book_tee_time", **BOOKING)["reservation"]["reservation_id"]
        gateway.call("sheets.update_client", client_id="CL-001", updates={"company": "New Corp"})
        push = gateway.call("ntfy.send_push_notification", title="Hello", message="Hello.")
    with serving(tmp_path / "data", **WALL) as gateway:
        assert gateway.call("avinode.get_quotes", rfp_id=rfp)["quotes"] == quotes
        read = gateway.call("gmail.get_email", message_id=mail)
        assert read["subject"] == "Hello"
        mine = gateway.call("golf.get_reservations", user_id="user-001")["reservations"]
        assert [each["reservation_id"] for each in mine] == [booked]
        client = gateway.call("sheets.get_client_details", client_id="CL-001")
        assert "New Corp" in json.dumps(client)
        again = gateway.call("avinode.create_rfp", **RFP)["rfp_id"]
        assert again != rfp
        assert {each["quote_id"] for each in quotes_of(gateway, again)}.isdisjoint(
            each["quote_id"] for each in quotes
        )
        assert (
            gateway.call("avinode.send_message", thread_id=rfp, message="Hi")["message_id"] != sent
        )
        assert gateway.call("gmail.send_email", **MAIL)["message_id"] != mail
        second = gateway.call("ntfy.send_push_notification", title="Hello", message="Hello.")
        assert second != push


def test_no_time_of_a_mock_lies_ahead_of_the_gateways(tmp_path: Path) -> None:
    """However much faster the people of a mock answer."""
    with serving(tmp_path / "data", **WALL) as gateway:
        rfp = gateway.call("avinode.create_rfp", **RFP)
        quotes_of(gateway, rfp["rfp_id"])
        sent = gateway.call("avinode.send_message", thread_id=rfp["rfp_id"], message="Hello")
        push = gateway.call("ntfy.send_push_notification", title="Hello", message="Hello.")
        booked = gateway.call("golf.book_tee_time", **BOOKING)["reservation"]
        mail = gateway.call("gmail.send_email", **MAIL)
        read = gateway.call("gmail.get_email", message_id=mail["message_id"])
        now = datetime.now(UTC)
        times = [
            rfp["created_at"],
            sent["sent_at"],
            push["sent_at"],
            booked["created_at"],
            mail["sent_at"],
            read["date"],
        ]
    for text in times:
        moment = datetime.fromisoformat(text)
        assert now - timedelta(minutes=5) < moment <= now + timedelta(seconds=1), times


def test_the_same_seed_and_an_empty_folder_give_the_same_answers(tmp_path: Path) -> None:
    answers = []
    for name in ("one", "two"):
        with serving(tmp_path / name, GATEWAY_MOCK_SPEED="0") as gateway:
            made = gateway.call(
                "avinode.create_rfp",
                **{**RFP, "flight_details": {**FLIGHT, "departure_date": "2026-12-01T15:00:00Z"}},
            )
            text = base64.b64encode(b"hello").decode()
            files = [{"filename": "a.txt", "content": text}]
            mail = gateway.call("gmail.create_draft", **MAIL, attachments=files)
            answers.append([made, {**mail, "created_at": None}])
    assert answers[0] == answers[1]


def test_a_file_that_cannot_be_used_is_refused_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "mocks" / "avinode.db"
    file.parent.mkdir()
    file.write_bytes(b"this is no database" * 100)
    code, _, errors = ended_gateway(tmp_path, "serve", "--port", "0", "--data", str(tmp_path))
    assert code != 0
    assert str(file) in errors
    assert "move the file away" in errors
    assert "Traceback" not in errors
