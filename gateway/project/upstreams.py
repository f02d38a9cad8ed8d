"""The comment in `gateway.toml` about an added upstream: its credentials and its settings."""

from typing import Any


def settings_text(text: str, upstream: dict[str, Any], version: str) -> str:
    """`text` with a comment about `upstream`, unless it already has one or a table for it."""
    table = f"[upstreams.{upstream['name']}]"
    if table in text:
        return text
    title = f"{upstream['title']}, added from contract-gateway {version}"
    lines = [
        "",
        f"# {title}. Without credentials, it is mocked.",
        f"# {table}",
        *(
            f'# {each["name"]}_file = "…"  # {_one_line(each["description"])}'
            for each in upstream.get("credentials", ())
        ),
        *(
            f'# {each["name"]} = "{each.get("default", "")}"  # {_one_line(each["description"])}'
            for each in upstream.get("settings", ())
        ),
    ]
    end = "\r\n" if "\r\n" in text else "\n"
    return text.rstrip("\r\n") + end * bool(text) + end.join(lines) + end


def _one_line(text: str) -> str:
    return " ".join(text.split())
