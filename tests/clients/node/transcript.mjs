// One conversation with an MCP server, written down.
//
// stdin: {"mode": …, "transport": {"url", "headers"} | {"command", "args", "env"}, "steps": [{"name", "arguments"}]}
// stdout: {"protocol": …, "tools": […], "answers": [{"result": …} | {"error": {"code", "message"}}]}

import { text } from 'node:stream/consumers';

// Both SDKs give a request up after a minute. A loaded machine may take longer to start a server.
const IMPATIENT = 60_000;
const PATIENT = 300_000;
const usual = globalThis.setTimeout;
globalThis.setTimeout = (work, delay, ...rest) =>
  usual(work, delay === IMPATIENT ? PATIENT : delay, ...rest);

export async function order() {
  return JSON.parse(await text(process.stdin));
}

export function transportTo(door, HttpTransport, StdioTransport) {
  return door.url
    ? new HttpTransport(new URL(door.url), { requestInit: { headers: door.headers } })
    : new StdioTransport({ ...door, env: { ...process.env, ...door.env } });
}

export async function converse(client, steps, protocol) {
  const { tools } = await client.listTools();
  const answers = [];
  for (const step of steps) {
    answers.push(await answerTo(client, step));
  }
  const transcript = { protocol: protocol(), tools, answers };
  await client.close();
  process.stdout.write(JSON.stringify(transcript));
}

export async function answerTo(client, step) {
  try {
    return { result: await client.callTool(step) };
  } catch (error) {
    return { error: { code: error.code ?? null, message: String(error.message) } };
  }
}
