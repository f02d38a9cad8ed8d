"""The HTTP clients are few, and none takes a proxy or credentials of the environment unasked."""

import ast

import pytest

CLIENTS = {"httpx.Client", "httpx.AsyncClient", "httpx2.Client", "httpx2.AsyncClient"}

OTHERS = {"aiohttp", "httplib2", "niquests", "urllib3"}
"""Libraries that the gateway does without: beside its own client it has httpx and httpx2."""


def other(sources):
    """Each import of a further client."""
    return [
        f"{source.path}:{node.lineno}"
        for source in sources
        if source.path.startswith("gateway/")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and OTHERS & {name.partition(".")[0] for name in named(node)}
    ]


def named(node):
    """The modules that an import names."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [each.name for each in node.names]


def trusting(sources):
    """Each client that reads the environment by itself and has a way to another machine."""
    return [
        f"{source.path}:{node.lineno}"
        for source in sources
        if source.path.startswith("gateway/")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in CLIENTS
        and not any(map(is_deaf, node.keywords))
    ]


def is_deaf(keyword):
    """Whether the option keeps a client from the environment."""
    text = ast.unparse(keyword.value)
    if keyword.arg is None:
        return text.startswith("client_options(")
    is_in_memory = keyword.arg == "transport" and text.startswith(("transport", "httpx.ASGI"))
    return is_in_memory or (keyword.arg == "trust_env" and text == "False")


def test_no_client_trusts_the_environment(written):
    assert trusting(written) == []


@pytest.mark.parametrize("text", ["httpx.Client()", "httpx2.AsyncClient(trust_env=True, **more)"])
def test_one_that_does_is_found(planted, text):
    assert trusting(planted(f"{text}\n")) == ["gateway/planted.py:1"]


def test_there_is_no_further_client(written):
    assert other(written) == []


@pytest.mark.parametrize("text", ["import aiohttp.web", "from aiohttp import web"])
def test_a_further_client_is_found(planted, text):
    assert other(planted(f"{text}\n")) == ["gateway/planted.py:1"]
