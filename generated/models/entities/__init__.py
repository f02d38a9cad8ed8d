# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2cc497857559ff85cfec0fd662a131fd; generator 1

"""Models of the entities tools."""
