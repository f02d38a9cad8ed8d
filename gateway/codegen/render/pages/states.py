"""The reference page of state machines: states, their order, and the messages that report them."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.codegen.ir import Contracts
from gateway.codegen.render.artifact import Artifact, joint_source
from gateway.codegen.render.pages.markdown import code, inline, joined, page_header, table
from gateway.contract.rows.entity import Entity, States

STATES_PAGE: Final = "states"
_ABOUT: Final = (
    "Messages are replayed in the order of the events that they report, not of their arrival. The"
    " message itself says when its event happened. A time after the arrival counts as the time of"
    " arrival."
)
_TABLE: Final = (
    ("A repeated message", "Changes nothing."),
    ("A late message", "Is inserted into the log by the time of its event."),
    (
        "A message about an unknown row",
        "Creates the row with all columns of the message. An initial state is applied.",
    ),
    (
        "A message whose state may not follow",
        (
            "Is not applied: the row keeps its state, and the log contains the message with"
            " `applied: false`. Its other columns are written, and its event is published. It may"
            " be applied later, if a message arrives that makes its state follow."
        ),
    ),
    ("A lost message", "The row has the state that the other messages give."),
)


def states_page(contracts: Contracts) -> Artifact:
    """`states.md`: every state machine as a table."""
    source = joint_source("entities/*.json", (each.source for each in contracts.entities))
    parts = [
        page_header(source),
        "# State machines",
        _ABOUT,
        table(("What arrives", "What happens"), _TABLE),
    ]
    for contract in contracts.entities:
        states = contract.entity.rules.states
        if states is not None:
            reports = [*_reports(contracts, contract.entity, states)]
            parts += _machine(contract.entity, states, reports)
    return Artifact("docs", PurePosixPath(f"{STATES_PAGE}.md"), joined(parts))


def _machine(entity: Entity, states: States, reports: list[tuple[str, str]]) -> Iterator[str]:
    yield f"## {entity.kind}"
    about = inline(entity.schema["properties"][states.column]["description"])
    yield f"`{states.column}`: {about} The log is `{states.log}`."
    rows = (
        (
            code(state) + (" *(initial)*" if state in states.initial else ""),
            _listed(following) or "nothing: it is final",
            _listed(message for message, reported in reports if reported == state),
        )
        for state, following in states.next.items()
    )
    yield table(("State", "May be followed by", "Reported by"), rows)
    order = ", ".join(map(code, states.next))
    yield f"Of two states with the same time, the one that is listed first is the earlier: {order}."
    if states.carries:
        yield f"Only a message whose state is applied writes {_listed(states.carries)}."
    for state, column in states.same.items():
        yield (
            f"A message with {code(state)} is applied only if it has the same `{column}` as the "
            "row, or one of them has none. This holds also if the row is in that state already."
        )


def _reports(contracts: Contracts, entity: Entity, states: States) -> Iterator[tuple[str, str]]:
    """The messages about `entity`, each with the state that it reports."""
    for webhook in contracts.webhooks:
        for name, rules in webhook.x_webhook["events"].items():
            for effect in rules.get("effects", ()):
                reported: Any = effect["set"].get(states.column)
                if effect["entity"] == entity.kind and isinstance(reported, dict):
                    yield f"{webhook.provider}.{name}", str(reported.get("const", ""))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))
