# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 576ba7c2e4abb7184ca409154dbbbd53; generator 1

"""Models of the gmail tools."""
