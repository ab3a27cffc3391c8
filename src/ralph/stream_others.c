/* SPDX-License-Identifier: MIT */
/*
 * The other agents: 'codex exec --json', 'gemini --output-format stream-json', 'opencode run --format
 * json'. None of them marks one message as its last word, so that is the last one before it ends.
 */
#include <string.h>

#include "base/json.h"
#include "ralph/stream.h"

static void say(struct stream *stream, const char *text)
{
	if (!text)
		return;
	stream->final.len = 0;
	str_addn(&stream->final, text, strlen(text));
	stream_show(stream, ACT_TEXT, "", text);
}

static void end(struct stream *stream, const char *failure)
{
	stream->ended = true;
	stream->failed = failure;
	if (failure)
		stream_error(stream, failure);
	stream_show(stream, ACT_END, "", stream->final.s);
}

static const char *message_of(struct json_object *error)
{
	const char *text = json_text(error, "message");

	return text ? text : "the agent failed";
}

/* --- codex --- */

static void codex_item(struct stream *stream, struct json_object *item, bool done)
{
	const char *type = json_text(item, "type");

	if (!type)
		return;
	if (!strcmp(type, "agent_message") && done)
		say(stream, json_text(item, "text"));
	else if (!strcmp(type, "reasoning") && done)
		stream_show(stream, ACT_THINKING, "", json_text(item, "text"));
	else if (!strcmp(type, "command_execution") && !done)
		stream_show(stream, ACT_TOOL, "shell", json_text(item, "command"));
	else if (!strcmp(type, "command_execution") && stream_number(item, "exit_code") > 0)
		stream_error(stream, json_text(item, "aggregated_output")
					     ? json_text(item, "aggregated_output")
					     : "a command failed");
	else if (!strcmp(type, "error"))
		stream_error(stream, message_of(item));
	else if (!done)
		stream_show(stream, ACT_TOOL, type, json_text(item, "query"));
}

static bool codex(struct stream *stream, const char *type, struct json_object *record)
{
	struct json_object *usage = stream_get(record, "usage");

	if (!strcmp(type, "item.started") || !strcmp(type, "item.completed")) {
		codex_item(stream, stream_get(record, "item"), !strcmp(type, "item.completed"));
	} else if (!strcmp(type, "turn.completed")) {
		stream->tokens_in += stream_count(usage, "input_tokens");
		stream->tokens_out += stream_count(usage, "output_tokens");
		end(stream, NULL);
	} else if (!strcmp(type, "turn.failed")) {
		end(stream, message_of(stream_get(record, "error")));
	} else if (!strcmp(type, "error")) {
		stream_error(stream, message_of(record));
	} else {
		return !strcmp(type, "thread.started") || !strcmp(type, "turn.started") ||
		       !strcmp(type, "item.updated");
	}
	return true;
}

/* --- gemini --- */

/* A message comes whole or in pieces. */
static void gemini_message(struct stream *stream, struct json_object *record)
{
	const char *role = json_text(record, "role"), *text = json_text(record, "content");

	if (!role || strcmp(role, "assistant") != 0 || !text)
		return;
	if (!json_object_get_boolean(stream_get(record, "delta")))
		stream->final.len = 0;
	str_add(&stream->final, text);
	stream_show(stream, ACT_TEXT, "", text);
}

static void gemini_end(struct stream *stream, struct json_object *record)
{
	struct json_object *stats = stream_get(record, "stats");
	const char *status = json_text(record, "status");

	stream->tokens_in = stream_count(stats, "input_tokens");
	stream->tokens_out = stream_count(stats, "output_tokens");
	end(stream,
	    status && !strcmp(status, "success") ? NULL : message_of(stream_get(record, "error")));
}

static bool gemini(struct stream *stream, const char *type, struct json_object *record)
{
	if (!strcmp(type, "message")) {
		gemini_message(stream, record);
	} else if (!strcmp(type, "tool_use")) {
		const char *name = json_text(record, "tool_name");

		stream_show(stream, ACT_TOOL, name ? name : "a tool",
			    json_text(stream_get(record, "parameters"), "command"));
		stream->final.len = 0; /* what it said before was not its last word */
	} else if (!strcmp(type, "tool_result")) {
		const char *status = json_text(record, "status");

		if (status && strcmp(status, "success") != 0)
			stream_error(stream, json_text(record, "output")
						     ? json_text(record, "output")
						     : "a tool failed");
	} else if (!strcmp(type, "error")) {
		stream_error(stream, message_of(record));
	} else if (!strcmp(type, "result")) {
		gemini_end(stream, record);
	} else {
		return !strcmp(type, "init");
	}
	return true;
}

/* --- opencode --- */

static void opencode_tool(struct stream *stream, struct json_object *part)
{
	struct json_object *state = stream_get(part, "state");
	const char *name = json_text(part, "tool"), *status = json_text(state, "status");

	stream_show(stream, ACT_TOOL, name ? name : "a tool",
		    json_text(stream_get(state, "input"), "command"));
	if (status && !strcmp(status, "error"))
		stream_error(stream, json_text(state, "error") ? json_text(state, "error")
							       : "a tool failed");
}

static bool opencode(struct stream *stream, const char *type, struct json_object *record)
{
	struct json_object *part = stream_get(record, "part");

	if (!strcmp(type, "text")) {
		say(stream, json_text(part, "text"));
	} else if (!strcmp(type, "tool_use")) {
		opencode_tool(stream, part);
	} else if (!strcmp(type, "step_finish")) {
		struct json_object *tokens = stream_get(part, "tokens");

		stream->cost += stream_number(part, "cost");
		stream->tokens_in += stream_count(tokens, "input");
		stream->tokens_out += stream_count(tokens, "output");
	} else if (!strcmp(type, "error")) {
		struct json_object *error = stream_get(record, "error");

		stream->failed = true;
		stream_error(stream, message_of(stream_get(error, "data")));
	} else {
		return !strcmp(type, "step_start") || !strcmp(type, "reasoning");
	}
	return true;
}

const struct dialect dialect_codex = { "codex", codex, false };
const struct dialect dialect_gemini = { "gemini", gemini, false };
const struct dialect dialect_opencode = { "opencode", opencode, true };
