// @modelcontextprotocol/sdk 1.x: the handshake eras only.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { converse, order, transportTo } from './transcript.mjs';

const { transport: door, steps } = await order();
const client = new Client({ name: 'sdk-v1', version: '1.0.0' });
const transport = transportTo(door, StreamableHTTPClientTransport, StdioClientTransport);

// The client passes the negotiated revision to its transport and to nobody else.
let negotiated = null;
const tell = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  negotiated = version;
  tell?.(version);
};

await client.connect(transport);
await converse(client, steps, () => negotiated);
