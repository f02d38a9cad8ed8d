"""Field maps beside the Python that they compile to."""

import subprocess
from pathlib import Path

import msgspec
import pytest
import yaml
from ruff import find_ruff_bin

from gateway.authoring.mapping.fields import BindingSource, compile_binding
from gateway.authoring.mapping.fields import check

CASES = Path(__file__).parent / "fieldmap"


def formatted(text: str) -> str:
    """`text` as the generator writes it."""
    style = ["--isolated", "--line-length", "100", "--target-version", "py311"]
    command = [find_ruff_bin(), "format", *style, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("case", sorted(path.stem for path in CASES.glob("*.yaml")))
def test_a_field_map_compiles_to_the_committed_text(case: str, update_golden: bool) -> None:
    contract = yaml.safe_load((CASES / f"{case}.yaml").read_text("utf-8"))
    source = msgspec.convert(contract, BindingSource)
    expected = CASES / f"{case}.py"

    assert check(source) == []
    text = formatted(compile_binding(source))
    if update_golden:
        expected.write_text(text, "utf-8")

    assert text == expected.read_text("utf-8")
    assert max(map(len, text.splitlines())) <= 100


def test_every_committed_text_has_its_field_map() -> None:
    """A text that nobody compares would rot."""
    assert {path.stem for path in CASES.glob("*.py")} == {
        path.stem for path in CASES.glob("*.yaml")
    }
