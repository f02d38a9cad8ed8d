"""Messages in the Avinode mock: those sent to operators, and their later responses."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from gateway.connectors.avinode.mock.booking import book, bookable
from gateway.connectors.avinode.mock.envelope import meta, refused, stored
from gateway.connectors.avinode.mock.market import seller_company
from gateway.connectors.avinode.mock.rfqs import THREADS, refusal_to_talk
from gateway.connectors.avinode.mock.webhooks import operator_facts, point, send_webhook
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.mock import MockReply, MockRequest, MockState

_MESSAGES: Final = "messages"
_MAX_ANSWER_MINUTES: Final = 30
_ASSENTS: Final = (
    "Thank you for your message. We confirm this.",
    "That is possible on this aircraft at no charge.",
)
_ANSWERS: Final = (
    *_ASSENTS,
    "We have asked the crew and come back to you today.",
    "We are sorry, that is not possible on this aircraft.",
)


def send_chat(request: MockRequest, state: MockState) -> MockReply:
    thread_id = request.path["requestId"]
    thread = state.find(THREADS, thread_id)
    if thread is None:
        return refused(404, "There is no such thread.", "requestId")
    closed = refusal_to_talk(request, state, thread_id)
    if closed is not None:
        return closed
    message_id = state.new_id("amsg")
    row = {
        "created": request.now,
        "requestId": thread_id,
        "message": request.body["message"],
        "sender": {"side": "BUYER"},
    }
    state.add(_MESSAGES, message_id, row)
    for lift_id in _answering(thread_id, thread):
        found = bookable(request, state, lift_id) if lift_id == thread_id else None
        # Nobody books what its operator has just refused.
        answers = _ANSWERS if found is None else _ASSENTS
        answered = _answer(request, state, lift_id, message_id, answers)
        if found is not None:
            book(request, state, *found, answered)
    data = {"id": message_id, "type": "tripmsgs", "createdOn": rfc3339(request.now)}
    return stored(data)


def read_message(request: MockRequest, state: MockState) -> MockReply:
    message_id = request.path["id"]
    row = state.find(_MESSAGES, message_id)
    if row is None or row["created"] > request.now:
        return refused(404, "There is no such message.", "id")
    data = {"id": message_id, "type": "tripmsgs", **row, "createdOn": rfc3339(row["created"])}
    del data["created"]
    return MockReply(body={"meta": meta(), "data": data})


def _answering(thread_id: str, thread: Mapping[str, Any]) -> list[str]:
    """The lifts whose operators receive the message: one, or all of a request."""
    return [lift["id"] for lift in thread["lifts"]] if "lifts" in thread else [thread_id]


def _answer(
    request: MockRequest, state: MockState, lift_id: str, question_id: str, answers: Sequence[str]
) -> datetime:
    """Schedule the response of a lift's operator. Returns its time, some minutes from now."""
    chance = request.random("chat", lift_id, question_id)
    moment = request.after(chance.randint(1, _MAX_ANSWER_MINUTES))
    say(request, state, lift_id, moment, chance.choice(answers))
    return moment


def say(request: MockRequest, state: MockState, lift_id: str, moment: datetime, text: str) -> None:
    """Schedule a message of a lift's operator for `moment`."""
    lift = state.find(THREADS, lift_id)
    if lift is None:
        return  # The table was full, and the lift was removed.
    company, message_id = seller_company(lift["company"]), state.new_id("asellermsg")
    row = {
        "created": moment,
        "requestId": lift_id,
        "rfqId": lift["rfq"],
        "message": text,
        "sender": {"side": "SELLER", "company": company, "displayName": company["displayName"]},
    }
    state.add(_MESSAGES, message_id, row)
    point(state, moment, f"{request.base_url}/tripmsgs/{message_id}")
    facts = _facts(message_id, row, operator_facts(lift["company"]))
    send_webhook(state, moment, "message_received", facts)


def _facts(message_id: str, row: Mapping[str, Any], operator: Mapping[str, Any]) -> dict[str, Any]:
    """A message as a signed message contains it."""
    return {
        "message_id": message_id,
        "thread_id": row["requestId"],
        "message": row["message"],
        "sender": {"type": "operator", "name": operator["name"]},
        "operator": operator,
        "rfp_id": row["rfqId"],
    }
