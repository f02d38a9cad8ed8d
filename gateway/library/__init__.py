"""The ready connectors: their contracts and their generated package, as a project of its own."""

from pathlib import Path


def library_folder() -> Path:
    """The folder that contains `schemas/` and `generated/` of the ready connectors.

    In the wheel, they are packed beside this module. In a checkout, it is the repository.
    """
    packed = Path(__file__).parent
    return packed if (packed / "schemas").is_dir() else packed.parents[1]
