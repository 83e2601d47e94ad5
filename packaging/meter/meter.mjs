// The prefill meter: speaks enough of Ollama's API to serve Pinch, on 127.0.0.1, and tells what an engine with few
// prompt-cache slots would have had to evaluate.
//
//   node meter.mjs [--port 0] [--slots 1] [--window 4096] [--script FILE] [--notes FILE] [--model qwen3:1.7b]
//
// It prints its address, and ends when its standard input ends. Besides Ollama's paths it has GET /meter/log (all
// requests), /meter/sum (totals), /meter/last (the last request and its reply), and POST /meter/reset, which forgets
// everything; a body {slots, window, script, notes} replaces what the command line said. Rules: engine.mjs.
import fs from 'node:fs';
import http from 'node:http';
import { parseArgs } from 'node:util';
import { Engine } from './engine.mjs';

const text = (value) => ({ type: 'string', default: value });
const { values: flags } = parseArgs({
  options: { port: text('0'), slots: text('1'), window: text('4096'), script: text(''), notes: text(''), model: text('qwen3:1.7b') },
});
const rules = (file) => (file ? JSON.parse(fs.readFileSync(file, 'utf8')) : []);
const first = { slots: +flags.slots, window: +flags.window, script: rules(flags.script), notes: rules(flags.notes) };
let engine = new Engine(first);

const nanosPrefill = 1e6, nanosDecode = 1e7; // of a token: a board of middling speed
const stamp = '2026-08-01T10:00:00Z';
const details = { format: 'gguf', family: 'qwen3', families: ['qwen3'], parameter_size: '1.7B', quantization_level: 'Q4_K_M' };
const model = { name: flags.model, model: flags.model, digest: '8f68893c685c', size: 1e9, details };

const routes = {
  'GET /': () => 'Ollama is running',
  'HEAD /': () => '',
  'GET /api/version': () => ({ version: '0.33.2' }),
  'GET /api/tags': () => ({ models: [{ ...model, modified_at: stamp }] }),
  'GET /api/ps': () => ({ models: [{ ...model, size_vram: 0, expires_at: stamp, context_length: engine.window }] }),
  'POST /api/show': () => ({ details, parameters: '', capabilities: ['completion', 'tools'], modified_at: stamp,
    model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 40960 } }),
  'GET /meter/log': () => engine.log,
  'GET /meter/sum': () => engine.sum(),
  'GET /meter/last': () => engine.last,
  'POST /meter/reset': (body) => {
    engine = new Engine({ ...first, ...body });
    return {};
  },
};

function chat(body, res) {
  const about = { model: body.model, created_at: stamp };
  if (!body.messages?.length) return json(res, 200, { ...about, message: { role: 'assistant', content: '' }, done: true, done_reason: 'load' });
  const { status, record, text, call, cut } = engine.play(body);
  if (status) return json(res, status, { error: 'the script refuses this request' });
  const done = { message: { role: 'assistant', content: '' }, done: true, done_reason: cut ? 'length' : 'stop', load_duration: 1e7,
    prompt_eval_count: record.prompt, prompt_eval_cached_count: record.cached, prompt_eval_duration: record.evaluated * nanosPrefill,
    eval_count: record.generated, eval_duration: record.generated * nanosDecode,
    total_duration: 1e7 + record.evaluated * nanosPrefill + record.generated * nanosDecode };
  const said = call ? { tool_calls: [{ function: { name: call.name, arguments: call.arguments ?? {} } }] } : {};
  if (body.stream === false) return json(res, 200, { ...about, ...done, message: { role: 'assistant', content: call ? '' : text, ...said } });
  res.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const pieces = call ? [{ content: '', ...said }] : text.split(/(?<=\s)(?=\S)/).map((content) => ({ content }));
  for (const piece of pieces) res.write(JSON.stringify({ ...about, message: { role: 'assistant', ...piece }, done: false }) + '\n');
  res.end(JSON.stringify({ ...about, ...done }) + '\n');
}

function json(res, status, value) {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(value));
}

const server = http.createServer(async (req, res) => {
  const chunks = [];
  let body = {};
  try {
    for await (const chunk of req) chunks.push(chunk);
    if (chunks.length) body = JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return json(res, 400, { error: 'invalid JSON' }); // or the client has gone, and nobody reads this
  }
  const name = `${req.method} ${req.url}`;
  if (name === 'POST /api/chat') return chat(body, res);
  if (!routes[name]) return json(res, 404, { error: `there is no ${name}` });
  const value = routes[name](body);
  if (typeof value === 'string') res.end(value);
  else json(res, 200, value);
});
server.listen(+flags.port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.on('end', () => process.exit(0)).resume();
