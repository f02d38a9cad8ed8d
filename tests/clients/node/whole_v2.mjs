// @modelcontextprotocol/client 2.x: see whole.mjs. It listens for changes of the list of tools.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { order, transportTo } from './transcript.mjs';
import { explore, notifications, say } from './whole.mjs';

const CHANGED = 'notifications/tools/list_changed';
const { mode, transport: door, watches } = await order();
const client = new Client(
  { name: 'whole-v2', version: '1.0.0' },
  { versionNegotiation: { mode: { pin: mode } } },
);
const { note, arrived } = notifications(CHANGED);
client.setNotificationHandler(CHANGED, ({ method }) => note(method));
await client.connect(transportTo(door, StreamableHTTPClientTransport, StdioClientTransport));
const outcomes = await explore(client, (params, options) => client.callTool(params, options));
const listening = await client.listen({ toolsListChanged: watches });
say({ ready: true });
say({ ...outcomes, changed: watches ? await arrived() : null });
await listening.close();
await client.close();
