// What a client does beside calling tools, the same for both TypeScript SDKs.
//
// stdin: {"mode", "transport", "watches": whether the server can reload}
// stdout: a line {"ready": true} when the client waits for a change, then a line with the outcomes

import { once } from 'node:events';

const SLOW = 'conformance_slow_compute';
const AT_ONCE = 50;

export async function explore(client, call) {
  const { resources } = await client.listResources();
  const { prompts } = await client.listPrompts();
  const read = await client.readResource({ uri: 'test://static-text' });
  const words = { arg1: 'one', arg2: 'two' };
  const got = await client.getPrompt({ name: 'conformance_test_prompt_with_arguments', arguments: words });
  return {
    resources: resources.map(({ uri }) => uri),
    prompts: prompts.map(({ name }) => name),
    text: read.contents[0].text,
    prompt: got.messages[0].content.text,
    progress: await progressOf(client, call),
    ...(await together(call)),
    ...(await cancelled(call)),
  };
}

// What arrives, not what `onprogress` is called with: both SDKs forget a call's progress when they
// read its result, and call `onprogress` only after all messages of one read.
async function progressOf({ transport }, call) {
  const arrived = [];
  const pass = transport.onmessage;
  transport.onmessage = (message, extra) => {
    arrived.push(message);
    pass(message, extra);
  };
  const onprogress = () => {};
  await call({ name: 'conformance_test_tool_with_progress', arguments: {} }, { onprogress });
  transport.onmessage = pass;
  return arrived
    .filter(({ method }) => method === 'notifications/progress')
    .map(({ params }) => [params.progress, params.total]);
}

async function together(call) {
  const labels = Array.from({ length: AT_ONCE }, (_, number) => `call ${number}`);
  const results = await Promise.all(
    labels.map((label) => call({ name: SLOW, arguments: { seconds: 0.2, label } }, {})),
  );
  const right = results.filter(({ content }, number) => content[0].text.includes(labels[number]));
  return { together: right.length };
}

async function cancelled(call) {
  const leaving = new AbortController();
  const options = { signal: leaving.signal, onprogress: () => leaving.abort() };
  const slow = call({ name: SLOW, arguments: { seconds: 60 } }, options);
  const left = await slow.then(() => false, () => true);
  const after = await call({ name: SLOW, arguments: { seconds: 0, label: 'after' } }, {});
  return { left, after: after.content[0].text };
}

// The notifications that come until one is `wanted`.
export function notifications(wanted) {
  const bell = new EventTarget();
  const seen = [];
  const note = (method) => {
    seen.push(method);
    if (method === wanted) bell.dispatchEvent(new Event('wanted'));
  };
  const arrived = async () => {
    if (!seen.includes(wanted)) await once(bell, 'wanted');
    return seen.includes(wanted);
  };
  return { note, arrived };
}

export function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
