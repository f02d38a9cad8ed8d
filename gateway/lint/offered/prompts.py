"""Checks of prompts."""

from collections.abc import Iterator

from gateway.contract.offered.template import placeholders
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
                    if name in arguments or name in tools or _is_of_import(draft, name):
                        continue
                    what = f"there is no {'tool' if '.' in name else 'argument'} {name}"
                    fix = did_you_mean(name, [*arguments, *tools])
                    yield draft.finding("prompt/placeholder", each.document, pointer, what, fix)
        for name in arguments:
            if name not in used:
                pointer, what = child("/arguments", name), f"no message has {{{name}}}"
                yield draft.finding("prompt/placeholder", each.document, pointer, what)


def _is_of_import(draft: Draft, name: str) -> bool:
    return "." in name and name.partition(".")[0] in draft.tree.imports


def check_values(draft: Draft) -> Iterator[Finding]:
    """prompt/value"""
    for each in draft.prompts:
        for name, facts in each.document.value.get("arguments", {}).items():
            default, values = facts.get("default"), facts.get("enum")
            pointer = child(child("/arguments", name), "default")
            if default is None:
                continue
            if facts.get("required"):
                message = f"{name} is required, so its default is never used"
                yield draft.finding("prompt/value", each.document, pointer, message)
            elif values is not None and default not in values:
                message = f"{default!r} is none of the values of {name}"
                yield draft.finding("prompt/value", each.document, pointer, message)
