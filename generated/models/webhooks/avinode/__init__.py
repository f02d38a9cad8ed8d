# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f7c7c18161b2930d58db305239bf6642; generator 1

"""Payloads of avinode."""
