"""Checks of prompts."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.contract.offered import LONGEST_ARGUMENT, placeholders
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.offered import templates_of
from gateway.lint.draft import Draft


def check_placeholders(draft: Draft) -> Iterator[Finding]:
    """prompt/placeholder"""
    tools = {tool.id for tool in draft.tree.tools}
    for each in draft.prompts:
        arguments = each.document.value.get("arguments", {})
        used: set[str] = set()
        for index, message in enumerate(each.document.value["messages"]):
            for pointer, text in templates_of(message, child("/messages", index)):
                names = placeholders(text)
                used.update(names)
                for name in names:
                    if name in arguments or name in tools or _may_be_tool(draft, name):
                        continue
                    what = f"there is no {'tool' if '.' in name else 'argument'} {name}"
                    fix = did_you_mean(name, [*arguments, *tools])
                    yield draft.finding("prompt/placeholder", each.document, pointer, what, fix)
        for name in arguments:
            if name not in used:
                pointer, what = child("/arguments", name), f"no message has {{{name}}}"
                yield draft.finding("prompt/placeholder", each.document, pointer, what)


def _may_be_tool(draft: Draft, name: str) -> bool:
    """Whether it may be a tool that contract files do not show: of an import, or one unread."""
    is_of_import = "." in name and name.partition(".")[0] in draft.tree.imports
    return is_of_import or draft.tree.is_unread_tool(name)


def check_values(draft: Draft) -> Iterator[Finding]:
    """prompt/value"""
    for each in draft.prompts:
        for name, facts in each.document.value.get("arguments", {}).items():
            for pointer, message in _misfits(name, facts):
                where = child("/arguments", name) + pointer
                yield draft.finding("prompt/value", each.document, where, message)


def _misfits(name: str, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with the texts of an argument: each pointer within it, and the message."""
    default, values = facts.get("default"), facts.get("enum", [])
    longest = facts.get("maxLength", LONGEST_ARGUMENT)
    texts = [(child("/enum", index), value) for index, value in enumerate(values)]
    if default is not None and facts.get("required"):
        yield "/default", f"{name} is required, so its default is never used"
    elif default is not None and values and default not in values:
        yield "/default", f"{default!r} is none of the values of {name}"
    elif default is not None:
        texts.append(("/default", default))
    for pointer, text in texts:
        if len(text) > longest:
            yield pointer, f"{text!r} has more than the {longest} characters of {name}"
