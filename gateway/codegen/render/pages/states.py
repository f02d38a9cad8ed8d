"""The reference of state machines: which state may follow which, and which messages report them."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.codegen.ir import Contracts
from gateway.codegen.render.artifact import Artifact, joint_source
from gateway.codegen.render.pages.markdown import code, inline, joined, page_header, table
from gateway.contract.rows.entity import Entity, States

STATES_PAGE: Final = "states"
_ABOUT: Final = (
    "Messages are replayed in the order in which things happened, by their own word, whatever the"
    " order was in which they arrived. What happened cannot have happened after its arrival: a"
    " later moment counts as the moment of arrival."
)
_TABLE: Final = (
    ("A repeated message", "Changes nothing."),
    ("A late message", "Takes its place among those that happened before and after it."),
    (
        "A message about an unknown row",
        "Makes the row, in any state that is marked as initial, with all that the message says.",
    ),
    (
        "A message whose state may not follow",
        (
            "Is not applied: the row keeps its state, and the log holds the message with"
            " `applied: false`. Its other columns are written, and its event is published. A"
            " message that arrives later may still make it applicable."
        ),
    ),
    ("A lost message", "Leaves the state that the others lead to."),
)


def states_page(contracts: Contracts) -> Artifact:
    """`states.md`: every state machine, as one table each."""
    source = joint_source("entities/*.json", (each.source for each in contracts.entities))
    parts = [
        page_header(source),
        "# State machines",
        _ABOUT,
        table(("What arrives", "What becomes of it"), _TABLE),
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
    yield f"Of two that happened at the same moment, the earlier is the first of {order}."
    if states.carries:
        yield f"Written only by a message whose state is applied: {_listed(states.carries)}."
    for state, column in states.same.items():
        yield (
            f"{code(state)} is applied only by a message with the `{column}` that the row holds, "
            "also where the row is in that state already. Where one of the two is empty, they "
            "agree."
        )


def _reports(contracts: Contracts, entity: Entity, states: States) -> Iterator[tuple[str, str]]:
    """Messages, each with the state that it reports."""
    for webhook in contracts.webhooks:
        for name, rules in webhook.x_webhook["events"].items():
            for effect in rules.get("effects", ()):
                reported: Any = effect["set"].get(states.column)
                if effect["entity"] == entity.kind and isinstance(reported, dict):
                    yield f"{webhook.provider}.{name}", str(reported.get("const", ""))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))
