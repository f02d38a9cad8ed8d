# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1d8ada3e11839c59fca945b917c48cbe; generator 1

"""Bindings of the ntfy tools."""
