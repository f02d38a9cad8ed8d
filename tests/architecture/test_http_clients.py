"""No HTTP client takes a proxy or credentials of the environment without being told."""

import ast

import pytest

CLIENTS = {"httpx.Client", "httpx.AsyncClient", "httpx2.Client", "httpx2.AsyncClient"}


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
