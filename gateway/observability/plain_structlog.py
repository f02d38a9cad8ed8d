"""structlog, imported without rich.

structlog loads rich and Pygments wherever they are installed, to print tracebacks with the values
of local variables. The logs never contain those.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _absent(package: str) -> Iterator[None]:
    """Imports in the block do not find `package`, unless it is loaded already."""
    if package in sys.modules:
        yield
        return
    # Python's documented way to say that there is no such module.
    sys.modules[package] = None  # type: ignore[assignment]  # typeshed knows modules only
    try:
        yield
    finally:
        del sys.modules[package]


with _absent("rich"):
    import structlog
    from structlog.typing import EventDict, ExcInfo, Processor, WrappedLogger

__all__ = ["EventDict", "ExcInfo", "Processor", "WrappedLogger", "structlog"]
