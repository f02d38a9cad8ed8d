"""Which regular expressions the validator can run in linear time."""

from functools import lru_cache

from gateway.contract.values.schema import Validator


@lru_cache(maxsize=10_000)
def can_run(pattern: str) -> bool:
    """Whether the validator compiles `pattern` (ECMA-262). Look-around and back references fail."""
    try:
        Validator({"pattern": pattern})
    except ValueError:
        return False
    return True
