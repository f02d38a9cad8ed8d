"""Which regular expressions are checked and published, and in which form."""

from functools import lru_cache

from gateway.contract.values.schema import Validator
from gateway.contracts.patterns import shared_form


@lru_cache(maxsize=10_000)
def runnable(pattern: str) -> str | None:
    """`pattern` in the form that validators of clients compile and ours runs in linear time.

    None if there is no such form: of look-around and back references, for example.
    """
    form = shared_form(pattern)
    if form is None:
        return None
    try:
        Validator({"pattern": form})
    except ValueError:
        return None
    return form
