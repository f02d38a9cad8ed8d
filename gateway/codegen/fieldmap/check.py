"""What a binding says, held against the two contracts it joins."""

from gateway.codegen.fieldmap.nodes import BindingSource, Problem


def check_meaning(binding: BindingSource) -> tuple[Problem, ...]:
    return ()
