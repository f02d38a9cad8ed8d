"""Converts the contracts of resources and prompts to the records of the run time."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.offered import (
    LONGEST_ARGUMENT,
    DeclaredPrompt,
    DeclaredResource,
    FileContents,
    HandlerContents,
    Offered,
    PromptArgument,
    PromptImage,
    PromptMessage,
    PromptResource,
    PromptText,
    Supplied,
    ToolContents,
    Variable,
    placeholders,
)
from gateway.contract.values.files import is_text
from gateway.contracts.sources.expanding import dereference
from gateway.contracts.sources.offered import OfferedSource, templates_of
from gateway.contracts.sources.tree import SourceTree

_INPUT: Final = "/post/requestBody/content/application~1json/schema"


def lower_offered(tree: SourceTree) -> Offered:
    """The resources and prompts of a tree without lint errors."""
    return Offered(
        resources=tuple(_resource(tree, each) for each in tree.resources),
        prompts=tuple(_prompt(tree, each) for each in tree.prompts),
    )


def _resource(tree: SourceTree, source: OfferedSource) -> DeclaredResource:
    facts = source.document.value
    annotations = facts.get("annotations", {})
    return DeclaredResource(
        connector=source.connector,
        name=source.path.stem,
        uri=facts.get("uri") or facts["uriTemplate"],
        is_template="uriTemplate" in facts,
        title=facts["title"],
        description=facts["description"].strip(),
        mime_type=facts["mimeType"],
        audience=tuple(annotations.get("audience", ())),
        priority=annotations.get("priority"),
        variables=tuple(
            Variable(name=name, description=each["description"], values=tuple(each.get("enum", ())))
            for name, each in facts.get("variables", {}).items()
        ),
        contents=_contents(tree, source, facts["contents"]),
    )


def _contents(
    tree: SourceTree, source: OfferedSource, facts: Mapping[str, Any]
) -> FileContents | ToolContents | HandlerContents:
    if "file" in facts:
        text, blob = _content(tree, source, facts["file"], source.document.value["mimeType"])
        return FileContents(text=text, blob=blob, size=_size(text, blob))
    if "python" in facts:
        module, _, function = facts["python"].partition(":")
        return HandlerContents(module=module, function=function)
    tool = next(each for each in tree.tools if each.id == facts["tool"])
    properties = dereference(tree, tool.path, _INPUT)["properties"]
    return ToolContents(
        operation=facts["tool"],
        arguments={
            name: Supplied(variable=each["variable"], kind=_kind(properties[name]["type"]))
            if "variable" in each
            else Supplied(constant=each["const"])
            for name, each in facts.get("arguments", {}).items()
        },
    )


def _kind(name: str) -> Any:
    # msgspec leaves out a default only if it is the same object, which no text of a file is.
    return None if name == "string" else name


def _size(text: str | None, blob: str | None) -> int:
    return len(base64.b64decode(blob)) if blob is not None else len((text or "").encode())


def _content(
    tree: SourceTree, source: OfferedSource, name: str, mime_type: str
) -> tuple[str | None, str | None]:
    """The text or, in base64, the bytes of a file."""
    content = _bytes(tree, source, name, mime_type)
    return (content.decode(), None) if is_text(mime_type) else (None, _encoded(content))


def _bytes(tree: SourceTree, source: OfferedSource, name: str, mime_type: str) -> bytes:
    content = tree.files[source.file(name)]
    # So that each checkout of a repository gives the same file.
    return content.replace(b"\r\n", b"\n") if is_text(mime_type) else content


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _prompt(tree: SourceTree, source: OfferedSource) -> DeclaredPrompt:
    facts = source.document.value
    return DeclaredPrompt(
        connector=source.connector,
        name=source.path.stem,
        title=facts["title"],
        description=facts["description"].strip(),
        arguments=tuple(
            PromptArgument(
                name=name,
                description=each["description"],
                is_required=each.get("required", False),
                values=tuple(each.get("enum", ())),
                max_length=each.get("maxLength", LONGEST_ARGUMENT),
                default=each.get("default", ""),
            )
            for name, each in facts.get("arguments", {}).items()
        ),
        messages=tuple(_message(tree, source, each) for each in facts["messages"]),
    )


def _message(tree: SourceTree, source: OfferedSource, facts: Mapping[str, Any]) -> PromptMessage:
    named = (name for _, text in templates_of(facts, "") for name in placeholders(text))
    return PromptMessage(
        role=facts["role"],
        content=_block(tree, source, facts),
        tools=tuple(sorted({name for name in named if "." in name})),
    )


def _block(
    tree: SourceTree, source: OfferedSource, facts: Mapping[str, Any]
) -> PromptText | PromptImage | PromptResource:
    if "text" in facts:
        return PromptText(text=facts["text"])
    if "image" in facts:
        image = facts["image"]
        content = _bytes(tree, source, image["file"], image["mimeType"])
        return PromptImage(mime_type=image["mimeType"], blob=_encoded(content))
    resource = facts["resource"]
    data, blob = (
        _content(tree, source, resource["file"], resource["mimeType"])
        if "file" in resource
        else (None, None)
    )
    return PromptResource(
        uri=resource["uri"],
        mime_type=resource["mimeType"],
        text=resource.get("text"),
        data=data,
        blob=blob,
    )
