# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c0b0109d9439de57fe3cf03abeccbc52; generator 1

"""Payloads of github."""
