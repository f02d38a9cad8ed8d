# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e5e72beb4e3c6926d3dc9e3e2ef7833b; generator 1

"""Models of the weather tools."""
