# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4d7594e57f7d03f35ede2d316cda4cdb; generator 1

"""Models of the supabase tools."""
