"""The MCP transport: Streamable HTTP in the revision 2026-07-28 and the handshake revisions."""
