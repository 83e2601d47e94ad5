// An imagined engine with a few prompt-cache slots, and a model that answers by script.
import { decode, encode, layOut, written } from './template.mjs';

const inBand = '[Pinch]'; // begins an instruction that Pinch itself puts at the end of a conversation

// Engine plays requests and keeps a record of each. options: {slots, window, script, notes}. script and notes are
// lists of rules {when, role, once, say, call: {name, arguments}, fail}; the first whose `when` (a regular expression)
// matches the last user or tool text answers, or refuses with the HTTP status `fail`. notes answer the in-band
// instructions, script everything else. Without a rule the model says "OK.".
export class Engine {
  constructor({ slots = 1, window = 4096, script = [], notes = [] } = {}) {
    this.window = window;
    this.slots = Array.from({ length: slots }, () => ({ ids: [], used: 0 }));
    this.script = script.map(compile);
    this.notes = notes.map(compile);
    this.log = [];
    this.last = null;
    this.before = []; // the last prompt of a conversation, without an instruction
  }

  // play runs one chat request: {record, text, call, cut} or {status}.
  play(body) {
    const window = body.options?.num_ctx ?? this.window;
    const limit = body.options?.num_predict ?? -1;
    const said = lastOf(body.messages, 'user', 'tool');
    const kind = limit >= 0 && limit <= 1 ? 'warm' : said?.role === 'user' && said.content.startsWith(inBand) ? 'inband' : 'chat';
    const reply = limit === 0 ? { say: '' } : this.choose(kind === 'inband' ? this.notes : this.script, said, kind !== 'warm');
    if (reply.fail) {
      this.log.push({ kind, status: reply.fail });
      return { status: reply.fail };
    }
    const { ids, head, asked, dropped, messages } = fit(body, window);
    const slot = this.slotFor(ids);
    const cached = Math.min(common(slot.ids, ids), ids.length - 1); // an engine evaluates at least the last token
    let text = reply.say ?? '', call = reply.call, cut = false;
    let out = encode(call ? written(call) : text);
    if (limit >= 0 && out.length > limit) {
      out = out.slice(0, limit);
      [text, call, cut] = [decode(out), undefined, true];
    }
    slot.ids = ids.concat(out).slice(0, window);
    slot.used = this.log.length + 1;
    const record = { kind, status: 200, prompt: ids.length, asked, head, cached, evaluated: ids.length - cached, generated: out.length,
      kept: common(this.before, ids), window, dropped, limit, messages, tools: body.tools?.length ?? 0, orphans: orphans(body.messages) };
    if (kind !== 'inband' && record.tools) this.before = ids;
    this.log.push(record);
    this.last = { request: body, reply: call ? { role: 'assistant', content: '', tool_calls: [{ function: call }] } : { role: 'assistant', content: text } };
    return { record, text, call, cut };
  }

  choose(rules, said, spend) {
    for (const rule of rules) {
      if (rule.done || (rule.role && rule.role !== said?.role) || !rule.pattern.test(said?.content ?? '')) continue;
      if (rule.once && spend) rule.done = true;
      return rule;
    }
    return { say: 'OK.' };
  }

  // slotFor is the slot that holds most of a prompt, among equals the one not used for longest.
  slotFor(ids) {
    return this.slots.map((slot) => ({ slot, held: common(slot.ids, ids) }))
      .reduce((a, b) => (b.held > a.held || (b.held === a.held && b.slot.used < a.slot.used) ? b : a)).slot;
  }

  sum() {
    const total = { requests: this.log.length, refused: 0, prompt: 0, evaluated: 0, cached: 0, generated: 0, dropped: 0, orphans: 0, largest: 0 };
    for (const r of this.log) {
      if (r.status !== 200) {
        total.refused++;
        continue;
      }
      for (const part of ['prompt', 'evaluated', 'cached', 'generated', 'dropped', 'orphans']) total[part] += r[part];
      total.largest = Math.max(total.largest, r.asked);
    }
    return total;
  }
}

const compile = (rule) => ({ ...rule, pattern: new RegExp(rule.when ?? '', 's') });
const lastOf = (messages, ...roles) => messages.findLast((m) => roles.includes(m.role));

function common(a, b) {
  const n = Math.min(a.length, b.length);
  let i = 0;
  while (i < n && a[i] === b[i]) i++;
  return i;
}

// fit leaves out the oldest messages of a prompt that is over the window, in silence, as a server may.
function fit({ messages, tools }, window) {
  let laid = layOut(messages, tools), dropped = 0;
  const asked = laid.ids.length;
  while (laid.ids.length > window && messages.filter((m) => m.role !== 'system').length > 1) {
    messages = messages.toSpliced(messages.findIndex((m) => m.role !== 'system'), 1);
    dropped++;
    laid = layOut(messages, tools);
  }
  return { ids: laid.ids.slice(0, window), head: laid.head, asked, dropped, messages: messages.length };
}

// orphans counts calls without a result right behind them, and results without their call.
function orphans(messages) {
  let open = [], lost = 0;
  for (const m of messages) {
    if (m.role === 'tool') {
      const i = open.indexOf(m.tool_call_id);
      if (i < 0) lost++;
      else open.splice(i, 1);
      continue;
    }
    lost += open.length;
    open = (m.tool_calls ?? []).map((c) => c.id);
  }
  return lost + open.length;
}
