/* SPDX-License-Identifier: MIT */
/* Claude Code with --output-format stream-json. */
#include <string.h>

#include "base/json.h"
#include "ralph/stream.h"

/* The one part of a tool's input that says most. */
static void show_tool(struct stream *stream, struct json_object *block)
{
	static const char *const telling[] = { "command", "file_path", "path",  "pattern",    "url",
					       "query",   "prompt",    "skill", "description" };
	const char *name = json_text(block, "name"), *text = NULL;
	struct json_object *input = stream_get(block, "input");

	for (size_t i = 0; !text && i < ARRAY_LEN(telling); i++)
		text = json_text(input, telling[i]);
	stream_show(stream, ACT_TOOL, name ? name : "a tool", text);
}

/* A result is a string, or a list of blocks with texts. */
static const char *result_text(struct json_object *block)
{
	struct json_object *content = stream_get(block, "content");

	if (json_object_is_type(content, json_type_string))
		return json_object_get_string(content);
	if (json_object_is_type(content, json_type_array) && json_object_array_length(content))
		return json_text(json_object_array_get_idx(content, 0), "text");
	return NULL;
}

static void show_result(struct stream *stream, struct json_object *block)
{
	const char *text = result_text(block);

	if (json_object_get_boolean(stream_get(block, "is_error")))
		stream_error(stream, text ? text : "a tool failed");
	else
		stream_show(stream, ACT_RESULT, "", text ? text : "");
}

static void show_block(struct stream *stream, struct json_object *block, bool own)
{
	const char *type = json_text(block, "type"), *text = json_text(block, "text");

	if (!type)
		return;
	if (!strcmp(type, "text") && text && own)
		stream_show(stream, ACT_TEXT, "", text);
	else if (!strcmp(type, "thinking"))
		stream_show(stream, ACT_THINKING, "", json_text(block, "thinking"));
	else if (!strcmp(type, "tool_use"))
		show_tool(stream, block);
	else if (!strcmp(type, "tool_result"))
		show_result(stream, block);
}

/* own: it is the agent's, and not what it was told. */
static void show_message(struct stream *stream, struct json_object *record, bool own)
{
	struct json_object *content = stream_get(stream_get(record, "message"), "content");

	if (!json_object_is_type(content, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(content); i++)
		show_block(stream, json_object_array_get_idx(content, i), own);
}

/* There may be several; each counts all that was used until then. The last that says something is what
 * the agent said at its end. */
static void take_result(struct stream *stream, struct json_object *record)
{
	const char *text = json_text(record, "result"), *kind = json_text(record, "subtype");
	struct json_object *usage = stream_get(record, "usage");
	uint64_t in = stream_count(usage, "input_tokens") +
		      stream_count(usage, "cache_creation_input_tokens") +
		      stream_count(usage, "cache_read_input_tokens");

	stream->ended = true;
	stream->failed = json_object_get_boolean(stream_get(record, "is_error")) ||
			 (kind && strcmp(kind, "success") != 0);
	stream->over_budget = kind && !strcmp(kind, "error_max_budget_usd");
	stream->cost = MAX(stream->cost, stream_number(record, "total_cost_usd"));
	stream->tokens_in = MAX(stream->tokens_in, in);
	stream->tokens_out = MAX(stream->tokens_out, stream_count(usage, "output_tokens"));
	if (text && *text) {
		stream->final.len = 0;
		str_addn(&stream->final, text, strlen(text));
	}
	if (stream->failed)
		stream_error(stream, text && *text ? text : kind ? kind : "the agent failed");
	stream_show(stream, ACT_END, "", text);
}

static bool take(struct stream *stream, const char *type, struct json_object *record)
{
	const char *kind = json_text(record, "subtype");

	if (!strcmp(type, "assistant") || !strcmp(type, "user"))
		show_message(stream, record, !strcmp(type, "assistant"));
	else if (!strcmp(type, "system") && kind && !strcmp(kind, "compact_boundary"))
		stream_show(stream, ACT_TEXT, "", "(its memory was compacted)");
	else if (!strcmp(type, "result"))
		take_result(stream, record);
	else
		return !strcmp(type, "system") || !strcmp(type, "stream_event") ||
		       !strcmp(type, "rate_limit_event") || !strcmp(type, "control_response");
	return true;
}

const struct dialect dialect_claude = { "claude", take, false };
