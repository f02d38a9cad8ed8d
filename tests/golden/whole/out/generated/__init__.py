# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e3b0c44298fc1c149afbf4c8996fb924; generator 1

"""The contracts as Python. This code has no branches."""
