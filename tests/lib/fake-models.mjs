// SPDX-License-Identifier: MIT
// Two more model providers for tests, over TLS: OpenAI's Responses API as codex uses it, and Gemini's as gemini does. What
// the model does stands in the prompt (play.mjs); requests without a shell among their tools get a short text.
//
//   node fake-models.mjs --tls DIR [--log FILE] [--seconds N]
//
// DIR has key.pem and cert.pem. Prints "ready PORT" when it accepts connections. The log gets a line of JSON a request.

import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { play } from './play.mjs';

const { values: opt } = parseArgs({
	options: { tls: { type: 'string' }, log: { type: 'string' }, seconds: { type: 'string', default: '900' } },
});

function sendEvents(response, events) {
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	for (const event of events)
		response.write(`${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
	response.end();
}

// The shells that codex has had, and what each is asked.
const shells = {
	exec_command: (command) => ({ cmd: command }),
	shell_command: (command) => ({ command }),
	shell: (command) => ({ command: ['sh', '-c', command] }),
};

function openai(request, response) {
	const shell = Object.keys(shells).find((name) => request.tools?.some((tool) => tool.name === name));
	const input = Array.isArray(request.input) ? request.input : [];
	const text = input.filter((item) => item.role === 'user')
		.flatMap((item) => item.content).map((part) => part.text ?? '').join('\n');
	const results = input.filter((item) => item.type === 'function_call_output').length;
	const next = shell ? play(text, results, {}) : { text: 'Yes.' };
	const id = `${process.hrtime.bigint()}`;
	const item = next.command
		? { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name: shell,
			arguments: JSON.stringify(shells[shell](next.command)) }
		: { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed',
			content: [{ type: 'output_text', text: next.text, annotations: [] }] };

	sendEvents(response, [
		{ type: 'response.created', response: { id: `resp_${id}` } },
		{ type: 'response.output_item.added', output_index: 0, item },
		{ type: 'response.output_item.done', output_index: 0, item },
		{ type: 'response.completed', response: {
			id: `resp_${id}`, output: [item],
			usage: { input_tokens: 1000, input_tokens_details: null, output_tokens: 100, output_tokens_details: null,
				total_tokens: 1100 },
		} },
	]);
}

function gemini(request, response, path) {
	const parts = request.contents?.filter((content) => content.role === 'user').flatMap((content) => content.parts) ?? [];
	const text = parts.map((part) => part.text ?? '').join('\n');
	const results = parts.filter((part) => part.functionResponse).length;
	const tools = request.tools?.flatMap((tool) => tool.functionDeclarations ?? []) ?? [];
	const next = tools.some((tool) => tool.name === 'run_shell_command') ? play(text, results, {}) : { text: '{}' };
	const part = next.command
		? { functionCall: { name: 'run_shell_command', args: { command: next.command, description: 'Do it' } } }
		: { text: next.text };
	const answer = {
		candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
		usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 },
	};

	if (path.includes('stream'))
		return sendEvents(response, [answer]);
	response.writeHead(200, { 'content-type': 'application/json' });
	response.end(JSON.stringify(path.includes('countTokens') ? { totalTokens: 1 } : answer));
}

function handle(http, response, body) {
	const path = new URL(http.url, 'http://fake').pathname;
	const provider = path === '/v1/responses' ? openai : path.startsWith('/v1beta/models/') ? gemini : null;
	let request;

	try {
		request = JSON.parse(body);
	} catch {
		request = null;
	}
	if (opt.log)
		appendFileSync(opt.log, `${JSON.stringify({ path, known: Boolean(provider && request), model: request?.model,
			tools: request?.tools?.map((tool) => tool.name ?? tool.type) })}\n`);
	if (provider && request && http.method === 'POST')
		return provider(request, response, path);
	response.writeHead(404, { 'content-type': 'application/json' });
	response.end('{"error": {"message": "there is nothing here", "code": 404}}');
}

const server = createServer({
	key: readFileSync(join(opt.tls, 'key.pem')),
	cert: readFileSync(join(opt.tls, 'cert.pem')),
}, (http, response) => {
	const pieces = [];

	http.on('data', (piece) => pieces.push(piece));
	http.on('end', () => handle(http, response, Buffer.concat(pieces).toString()));
});
server.listen(0, '127.0.0.1', () => console.log(`ready ${server.address().port}`));
setTimeout(() => process.exit(0), Number(opt.seconds) * 1000);
