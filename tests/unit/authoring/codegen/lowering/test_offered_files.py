"""The files of resources and prompts in what is generated of them."""

import base64
from pathlib import Path

from gateway.authoring.codegen.lowering import lower_offered
from gateway.authoring.contracts.sources.tree import read_tree
from gateway.contract.offered import PromptImage, PromptResource

SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
PROMPT = """title: Look
description: Shows something.
messages:
  - role: user
    image: {file: a.svg, mimeType: image/svg+xml}
  - role: user
    resource: {uri: "x://a", file: a.svg, mimeType: image/svg+xml}
"""


def test_an_image_is_bytes_also_if_its_format_is_a_text(tmp_path: Path) -> None:
    folder = tmp_path / "prompts/hello"
    (folder / "files").mkdir(parents=True)
    (folder / "look.yaml").write_text(PROMPT)
    (folder / "files/a.svg").write_bytes(SVG.replace("\n", "\r\n").encode())

    (prompt,) = lower_offered(read_tree(tmp_path)).prompts
    image, resource = (each.content for each in prompt.messages)

    assert isinstance(image, PromptImage)
    assert base64.b64decode(image.blob).decode() == SVG
    assert isinstance(resource, PromptResource)
    assert (resource.data, resource.blob) == (SVG, None)
