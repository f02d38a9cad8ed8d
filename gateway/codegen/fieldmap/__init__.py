"""The field map of `x-binding`: read, checked, compiled to Python, and proved."""

from gateway.codegen.fieldmap.check import check
from gateway.codegen.fieldmap.compile import compile_binding
from gateway.codegen.fieldmap.nodes import BindingSource, MappingError
from gateway.codegen.fieldmap.prove import Proof, prove
from gateway.codegen.fieldmap.verdict import Coverage

__all__ = [
    "BindingSource",
    "Coverage",
    "MappingError",
    "Proof",
    "check",
    "compile_binding",
    "prove",
]
