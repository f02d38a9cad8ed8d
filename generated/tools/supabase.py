# Generated from schemas/tools/supabase/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e85354af707bf1d29e5b9c94b0485d90; generator 1

"""The MCP tools of supabase."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="supabase.delete",
        name="supabase_delete",
        bare_name="delete",
        read_only=False,
        destructive=True,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="supabase.insert",
        name="supabase_insert",
        bare_name="insert",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
    Tool(
        operation="supabase.query",
        name="supabase_query",
        bare_name="query",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="supabase.rpc",
        name="supabase_rpc",
        bare_name="rpc",
        read_only=False,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="supabase.update",
        name="supabase_update",
        bare_name="update",
        read_only=False,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
)
