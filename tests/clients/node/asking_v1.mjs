// @modelcontextprotocol/sdk 1.x as a client that answers what tools ask: forms, models and roots.
//
// stdin: {"transport": …, "steps": [{"name", "arguments"}]}
// stdout: {"asked": [method, …], "answers": [{"result": …} | {"error": …}]}

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { answerTo, order, transportTo } from './transcript.mjs';

const { transport: door, steps } = await order();
const capabilities = { elicitation: {}, sampling: {} };
const client = new Client({ name: 'asking-v1', version: '1.0.0' }, { capabilities });
const asked = [];

client.setRequestHandler(ElicitRequestSchema, async ({ method }) => {
  asked.push(method);
  return { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } };
});
client.setRequestHandler(CreateMessageRequestSchema, async ({ method, params }) => {
  asked.push(method);
  const said = params.messages[0].content.text;
  return { role: 'assistant', model: 'test', content: { type: 'text', text: `${said}, indeed` } };
});

await client.connect(transportTo(door, StreamableHTTPClientTransport, StdioClientTransport));
const answers = [];
for (const step of steps) {
  answers.push(await answerTo(client, step));
}
await client.close();
process.stdout.write(JSON.stringify({ asked, answers }));
