"""The field map of `x-binding`: read, checked, compiled to Python, and proved."""

from gateway.codegen.fieldmap.check import check
from gateway.codegen.fieldmap.compile import compile_binding
from gateway.codegen.fieldmap.nodes import BindingSource, Problem
from gateway.codegen.fieldmap.prove import Proof, prove
from gateway.codegen.fieldmap.verdict import Verdict

__all__ = ["BindingSource", "Problem", "Proof", "Verdict", "check", "compile_binding", "prove"]
