"""Each contract of this catalogue is told from at least 95 % of its mutants by its vectors."""

from gateway.testing.suite.vectors import (
    test_vectors_of_other_schemas_are_judged_by_their_gates,
    test_vectors_tell_the_schema_from_near_mistakes,
)

__all__ = [
    "test_vectors_of_other_schemas_are_judged_by_their_gates",
    "test_vectors_tell_the_schema_from_near_mistakes",
]
