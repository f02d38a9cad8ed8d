// @modelcontextprotocol/client 2.x: `mode` is "legacy", "auto" or the revision to pin.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { converse, order, transportTo } from './transcript.mjs';

const { mode, transport: door, steps } = await order();
const client = new Client(
  { name: 'client-v2', version: '1.0.0' },
  { versionNegotiation: { mode: mode === 'legacy' || mode === 'auto' ? mode : { pin: mode } } },
);
await client.connect(transportTo(door, StreamableHTTPClientTransport, StdioClientTransport));
await converse(client, steps, () => client.getNegotiatedProtocolVersion() ?? null);
