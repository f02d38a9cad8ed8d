"""Checks of tools' examples: their number and their validity."""

from collections.abc import Iterator
from typing import Final

from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.lint.draft import Draft

_LEAST_ARGUMENTS: Final = 2
_LEAST_RESULTS: Final = 1


def check_examples(draft: Draft) -> Iterator[Finding]:
    """tool/too-few-examples, tool/example-refused, tool/result-refused"""
    for tool, media in draft.published():
        is_arguments = "/requestBody/" in media
        examples = draft.at(tool.document, f"{media}/examples") or {}
        least = _LEAST_ARGUMENTS if is_arguments else _LEAST_RESULTS
        if len(examples) < least:
            what = "arguments" if is_arguments else "a result"
            message = f"there are {len(examples)} examples of {what}, and at least {least} needed"
            where = f"{media}/examples"
            yield draft.finding("tool/too-few-examples", tool.document, where, message)
        rule = "tool/example-refused" if is_arguments else "tool/result-refused"
        for name, example in examples.items():
            pointer = child(child(f"{media}/examples", name), "value")
            validator = draft.validator(tool.path, f"{media}/schema")
            for violation in validator.violations(example["value"]) if validator else ():
                message = f"the schema refuses this example: {violation.detail}"
                where = pointer + violation.pointer
                yield draft.finding(rule, tool.document, where, message)
