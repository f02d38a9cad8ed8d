"""The field map of `x-binding`: read, checked, compiled to Python, and proved."""

from gateway.codegen.fieldmap.compile import compile_binding
from gateway.codegen.fieldmap.nodes import BindingSource, Problem

__all__ = ["BindingSource", "Problem", "compile_binding"]
