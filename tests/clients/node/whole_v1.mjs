// @modelcontextprotocol/sdk 1.x: see whole.mjs. It subscribes to a resource.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { order, transportTo } from './transcript.mjs';
import { explore, notifications, say } from './whole.mjs';

const { transport: door, watches } = await order();
const client = new Client({ name: 'whole-v1', version: '1.0.0' });
const { note, arrived } = notifications('test://watched-resource');
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => note(params.uri));
await client.connect(transportTo(door, StreamableHTTPClientTransport, StdioClientTransport));
await client.subscribeResource({ uri: 'test://watched-resource' });
const outcomes = await explore(client, (params, options) => client.callTool(params, undefined, options));
say({ ready: true });
say({ ...outcomes, changed: watches ? await arrived() : null });
await client.close();
