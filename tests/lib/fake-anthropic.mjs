// SPDX-License-Identifier: MIT
// A model provider for tests that plays one scripted turn over the Messages API, and nothing more:
// asked by a client that offers the tool, it has the client create a file; shown the tool's result,
// it says the closing words and ends the turn. Requests without tools (titles, summaries, probes)
// get a short text. It serves streaming and plain clients, keeps no state between requests, so
// that any number of turns can be played, and ends by itself after a time.
//
//   node fake-anthropic.mjs [--listen HOST:PORT] [--tool Bash|bash|Write] [--file NAME]
//                           [--content TEXT] [--reply TEXT] [--log FILE] [--seconds N]
//                           [--input JSON] [--tls DIR] [--slow] [--look TEXT] [--tasks FILE]
//
// Prints "ready PORT" when it accepts connections; port 0 lets the kernel choose.
// The log gets one JSON object a line for each request, with what the tool said. --input is what
// the tool is asked instead of making the file. --tls takes DIR/key.pem and DIR/cert.pem. --slow sends
// each event of a stream only when GET /v1/next has asked for it. --look has the log say of each request
// whether TEXT was in it. --tasks has it play what the prompt itself says, as tests/lib/ralph-agent does; FILE is
// JSON, with such a text for each heading of a prompt that has none (play.mjs).

import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const MAX_BODY = 16 * 1024 * 1024;

const { values: opt } = parseArgs({
	options: {
		listen: { type: 'string', default: '127.0.0.1:0' },
		tool: { type: 'string', default: 'Bash' },
		file: { type: 'string', default: 'hello.txt' },
		content: { type: 'string', default: 'made by the agent' },
		reply: { type: 'string', default: 'The file is there.' },
		log: { type: 'string' },
		input: { type: 'string' },
		tls: { type: 'string' },
		look: { type: 'string' },
		tasks: { type: 'string' },
		slow: { type: 'boolean', default: false },
		seconds: { type: 'string', default: '900' },
	},
});

// Beside this file, and needed for --tasks alone.
const script = opt.tasks ? await import('./play.mjs') : null;

function shellQuote(text) {
	return `'${text.replaceAll("'", "'\\''")}'`;
}

// What the model asks of each tool; the Write tool wants an absolute path, which only the client's
// own words about its working directory give.
const toolInput = {
	Bash: () => ({
		command: `printf '%s\\n' ${shellQuote(opt.content)} > ${shellQuote(opt.file)}`,
		description: 'Create the file',
	}),
	bash: (request) => toolInput.Bash(request), // opencode's
	Write: (request) => ({
		file_path: join(workingDirectory(request), opt.file),
		content: `${opt.content}\n`,
	}),
};

if (!(opt.tool in toolInput)) {
	console.error(`fake-anthropic: --tool takes ${Object.keys(toolInput).join(' or ')}`);
	process.exit(2);
}

function workingDirectory(request) {
	const found = /working directory: (\/[^\\"\n]*)/i.exec(JSON.stringify(request));
	return found ? found[1].trim() : '/working-directory-not-found';
}

// The tool's results that the client sends back stand in its newest message.
function newestResults(request) {
	const content = request.messages?.at(-1)?.content;
	return Array.isArray(content) ? content.filter((part) => part.type === 'tool_result') : [];
}

// The texts of the user's messages, and how many tools have answered.
function heard(request) {
	const parts = request.messages?.flatMap(({ role, content }) =>
		role !== 'user' ? [] : Array.isArray(content) ? content : [{ type: 'text', text: content }]) ?? [];
	return {
		text: parts.filter((part) => part.type === 'text').map((part) => part.text).join('\n'),
		results: parts.filter((part) => part.type === 'tool_result').length,
	};
}

function playTask(request) {
	const { text, results } = heard(request);

	if (!request.tools?.some((tool) => tool.name === opt.tool) && !text.includes('sum:'))
		return say('Yes.');
	const next = script.play(text, results, JSON.parse(readFileSync(opt.tasks, 'utf8')));
	if (next.command)
		return { ...use({ command: next.command, description: 'Do what the task says' }), tokens: next.tokens };
	return next.text ? say(next.text) : null;
}

function use(input) {
	return {
		stop_reason: 'tool_use',
		content: [{ type: 'tool_use', id: `toolu_${process.hrtime.bigint()}`, name: opt.tool, input }],
	};
}

function chooseAnswer(request) {
	if (opt.tasks)
		return playTask(request);
	const results = newestResults(request);
	if (results.some((part) => part.is_error))
		return say(`The tool failed: ${JSON.stringify(results)}`);
	if (results.length > 0)
		return say(opt.reply);
	if (!request.tools?.some((tool) => tool.name === opt.tool))
		return say('Yes.');
	return use(opt.input ? JSON.parse(opt.input) : toolInput[opt.tool](request));
}

function say(text) {
	return { stop_reason: 'end_turn', content: [{ type: 'text', text }] };
}

// A content block as a stream brings it: an empty start, one piece with everything, the end.
const blockStream = {
	text: (block) => [
		{ type: 'text', text: '' },
		{ type: 'text_delta', text: block.text },
	],
	tool_use: (block) => [
		{ ...block, input: {} },
		{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
	],
};

function* streamEvents(message) {
	const { content, stop_reason, usage } = message;

	yield { type: 'message_start', message: { ...message, content: [], stop_reason: null } };
	for (const [index, block] of content.entries()) {
		const [content_block, delta] = blockStream[block.type](block);
		yield { type: 'content_block_start', index, content_block };
		yield { type: 'content_block_delta', index, delta };
		yield { type: 'content_block_stop', index };
	}
	yield { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage };
	yield { type: 'message_stop' };
}

function sendJson(response, status, object) {
	response.writeHead(status, { 'content-type': 'application/json' });
	response.end(JSON.stringify(object));
}

function sendMessage(request, response) {
	const { tokens, ...answer } = chooseAnswer(request) ?? {};
	if (!answer.content)
		return;
	const message = {
		id: `msg_${process.hrtime.bigint()}`,
		type: 'message',
		role: 'assistant',
		model: request.model,
		stop_sequence: null,
		usage: { input_tokens: tokens || (opt.tasks ? 1000 : 1), output_tokens: opt.tasks ? 1000 : 1 },
		...answer,
	};
	if (!request.stream)
		return sendJson(response, 200, message);
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	const events = streamEvents(message);
	const sendNext = () => {
		const { value: event, done } = events.next();
		if (done)
			return response.end();
		response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
		if (opt.slow)
			waiting.push(sendNext);
		else
			sendNext();
	};
	sendNext();
}

// Streams that stand still until somebody asks for their next event.
const waiting = [];
function sendOneMore(request, response) {
	const sendNext = waiting.shift();
	sendNext?.();
	sendJson(response, 200, { sent: sendNext ? 1 : 0 });
}

const routes = {
	'POST /v1/messages': sendMessage,
	'GET /v1/next': sendOneMore,
	'POST /v1/messages/count_tokens': (request, response) =>
		sendJson(response, 200, { input_tokens: 1 }),
};

function handle(http, response, body) {
	const route = `${http.method} ${new URL(http.url, 'http://fake').pathname}`;
	let request;

	try {
		request = JSON.parse(body || '{}');
	} catch {
		request = null;
	}
	if (opt.log) {
		const { 'user-agent': agent, 'x-api-key': key, 'x-goog-api-key': google, authorization } = http.headers;
		appendFileSync(opt.log, `${JSON.stringify({
			route, agent, key, google, authorization,
			tools: request?.tools?.length, messages: request?.messages?.length,
			results: newestResults(request ?? {}),
			found: opt.look ? body.includes(opt.look) : undefined,
		})}\n`);
	}
	if (request && routes[route])
		return routes[route](request, response);
	sendJson(response, request ? 404 : 400, {
		type: 'error',
		error: { type: request ? 'not_found_error' : 'invalid_request_error', message: route },
	});
}

function serve(http, response) {
	const pieces = [];
	let size = 0;

	http.on('data', (piece) => {
		size += piece.length;
		if (size > MAX_BODY)
			return http.destroy();
		pieces.push(piece);
	});
	http.on('end', () => handle(http, response, Buffer.concat(pieces).toString()));
}

const server = opt.tls ? createTlsServer({
	key: readFileSync(join(opt.tls, 'key.pem')),
	cert: readFileSync(join(opt.tls, 'cert.pem')),
}, serve) : createServer(serve);

const [, host, port] = /^(.*):(\d+)$/.exec(opt.listen) ?? [];
if (!host) {
	console.error('fake-anthropic: --listen takes HOST:PORT');
	process.exit(2);
}
server.on('error', (error) => {
	console.error(`fake-anthropic: ${error.message}`);
	process.exit(1);
});
server.listen(Number(port), host.replace(/^\[(.*)\]$/, '$1'), () =>
	console.log(`ready ${server.address().port}`));
setTimeout(() => process.exit(0), Number(opt.seconds) * 1000);
