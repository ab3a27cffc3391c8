/* SPDX-License-Identifier: MIT */
/* The notification line: what is sent, what is taken, what hostile text becomes; hooks' JSON. */
#include <errno.h>

#include "lib/tap.h"
#include "notify/message.h"
#include "notify/scan.h"

static int parse(const char *line, struct message *ret)
{
	return message_parse(line, strlen(line), ret);
}

static void test_parse(void)
{
	struct message m;

	is_int(parse("{\"title\":\"T\",\"message\":\"M\",\"sound\":\"S\",\"session_id\":\"0:1.0\"}",
		     &m),
	       0, "the four keys");
	is_str(m.title, "T", "title");
	is_str(m.text, "M", "message");
	is_str(m.sound, "S", "sound");
	is_str(m.session, "0:1.0", "session");
	is_int(m.urgency, URGENCY_NORMAL, "urgency is normal");
	is_int(parse(" { } \r", &m), 0, "an empty object");
	is_str(m.title, MESSAGE_TITLE, "gets the usual title");
	is_int(parse("{\"title\":null,\"message\":5,\"later\":[{\"x\":[1,-2.5e+3,true,false,null]}]"
		     "}",
		     &m),
	       0, "other types and unknown keys are passed over");
	is_str(m.title, MESSAGE_TITLE, "null is no title");
	is_str(m.text, "", "a number is no message");
	is_int(parse("{\"title\":\"\",\"urgency\":\"critical\",\"replace\":\"b\",\"wait\":true,"
		     "\"actions\":[{\"key\":\"y\",\"label\":\"Yes\"},{\"key\":\"\"},"
		     "{\"label\":\"No\",\"key\":\"n\",\"more\":1}]}",
		     &m),
	       0, "all the rest");
	is_str(m.title, "", "an empty title stays");
	is_int(m.urgency, URGENCY_CRITICAL, "critical");
	is_str(m.replace, "b", "replace");
	ok(m.wait, "wait");
	is_int((long long)m.n_actions, 2, "actions without a key are left out");
	is_str(m.actions[1].label, "No", "the second action");
}

static void test_malformed(void)
{
	static const char *const bad[] = {
		"",
		"x",
		"[]",
		"\"title\"",
		"{",
		"{\"title\"}",
		"{\"title\":}",
		"{\"title\":\"a\"",
		"{\"title\":\"a}",
		"{\"title\":\"a\",}",
		"{\"title\":\"a\"} x",
		"{\"title\":\"a\"}{\"title\":\"b\"}",
		"{'title':'a'}",
		"{\"title\":\"\\x\"}",
		"{\"title\":\"\\u12\"}",
		"{\"title\":\"a\tb\"}",
		"{\"x\":01}",
		"{\"x\":tru}",
		"{\"x\":-}",
		"{\"x\":1.}",
		"{\"x\":1e}",
		"{\"actions\":[1]}",
		("{\"actions\":[{\"key\":\"\x8c\x8c\x8c\x8c\x8c\x8c\x8c\x8c\",\"key\":\"seventeen "
		 "letters"),
		"{title:1}",
	};
	char deep[256] = "{\"x\":";
	struct message m;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		is_int(parse(bad[i], &m), -EINVAL, "refused: %s", bad[i]);
	memset(deep + 5, '[', 100);
	memset(deep + 105, ']', 100);
	snprintf(deep + 205, sizeof(deep) - 205, "}");
	is_int(parse(deep, &m), -EINVAL, "refused: too deep");
}

static void test_text(void)
{
	struct message m;
	char line[3000] = "{\"title\":\"";

	parse("{\"title\":\"a\\nb\\tc\",\"message\":\"a\\nb\\tc\"}", &m);
	is_str(m.title, "a b c", "a title is one line");
	is_str(m.text, "a\nb c", "a message keeps its lines");
	parse("{\"title\":\"\\u001b[31mred\\u0007\\u009b\\u202e\"}", &m);
	is_str(m.title, "[31mred", "escape codes and overrides are taken out");
	parse("{\"title\":\"\xff"
	      "a\xc3\"}",
	      &m);
	is_str(m.title,
	       "\xef\xbf\xbd"
	       "a\xef\xbf\xbd",
	       "invalid UTF-8 is replaced");
	parse("{\"title\":\"\\ud83d\\ude00 \\ud83d \\ude00 \\u0000\"}", &m);
	is_str(m.title, "\xf0\x9f\x98\x80 \xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd",
	       "surrogate pairs count, halves and NUL are replaced");
	memset(line + 10, 'x', 1000);
	memcpy(line + 1010, "\"}", 3);
	parse(line, &m);
	is_int((long long)strlen(m.title), sizeof(m.title) - 1, "a long title fills its place");
	is_str(m.title + strlen(m.title) - 4, "x\xe2\x80\xa6", "and ends in an ellipsis");
	for (int i = 0; i < 500; i++)
		memcpy(line + 10 + 2 * i, "\xc3\xa4", 2);
	parse(line, &m);
	is_str(m.title + strlen(m.title) - 5, "\xc3\xa4\xe2\x80\xa6", "no character is cut in two");
	message_set(m.title, sizeof(m.title), line, false);
	is_str(m.title + strlen(m.title) - 3, "\xe2\x80\xa6", "the sender cuts in the same way");
}

static void test_round_trip(void)
{
	_cleanup_str_ struct str line = { 0 }, again = { 0 };
	struct message m = { .urgency = URGENCY_LOW, .wait = true, .n_actions = 2 }, back;

	message_set(m.title, sizeof(m.title), "-t \"<b>&\\ \xff\x1b]0;x\x07", false);
	message_set(m.text, sizeof(m.text), "one\ntwo\x01", true);
	snprintf(m.actions[0].key, sizeof(m.actions[0].key), "yes");
	snprintf(m.actions[0].label, sizeof(m.actions[0].label), "\"Yes\"");
	snprintf(m.actions[1].key, sizeof(m.actions[1].key), "no");
	snprintf(m.replace, sizeof(m.replace), "build");
	message_print(&m, &line);
	is_int(line.s[line.len - 1], '\n', "ends in a newline");
	ok(strchr(line.s, '\n') == line.s + line.len - 1, "which is the only one");
	is_int(message_parse(line.s, line.len, &back), 0, "what is printed is read");
	is_str(back.title, "-t \"<b>&\\ \xef\xbf\xbd]0;x", "as the same title");
	message_print(&back, &again);
	is_str(again.s, line.s, "and printed as the same line");
}

static int hook(const char *json, struct message *ret)
{
	return message_from_hook(json, strlen(json), ret);
}

static void test_hooks(void)
{
	struct message m;

	is_int(hook("{\"session_id\":\"x\",\"hook_event_name\":\"Notification\","
		    "\"message\":\"Claude needs your permission to use Bash\"}",
		    &m),
	       0, "a Notification hook");
	is_str(m.text, "Claude needs your permission to use Bash", "carries the real reason");
	is_str(m.title, MESSAGE_TITLE, "under the usual title");
	hook("{\"hook_event_name\":\"Stop\",\"stop_hook_active\":false}", &m);
	is_str(m.text, "Finished, waiting for you", "a Stop hook without words");
	hook("{\"hook_event_name\":\"Stop\",\"last_assistant_message\":\"The file is there.\"}",
	     &m);
	is_str(m.text, "The file is there.", "a Stop hook with the last message");
	hook("{\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_input\":"
	     "{\"command\":\"make\",\"description\":\"Build it\"},\"tool_response\":{\"a\":[1]}}",
	     &m);
	is_str(m.text, "Bash: Build it", "a PostToolUse hook");
	is_int(m.urgency, URGENCY_LOW, "of low urgency");
	is_int(hook("{\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Edit\",\"tool_input\":"
		    "{\"file_path\":\"/workspace/a.c\"},\"tool_response\":\"cut he",
		    &m),
	       0, "as much as was read will do");
	is_str(m.text, "Edit: /workspace/a.c", "with the file's name");
	hook("{\"hook_event_name\":\"PreCompact\"}", &m);
	is_str(m.text, "PreCompact", "an event that is not known is told by name");
	is_int(hook("{\"message\":\"x\"}", &m), -EINVAL, "no event is no hook");
	is_int(hook("Finished", &m), -EINVAL, "text is no hook");
}

int main(void)
{
	test_parse();
	test_malformed();
	test_text();
	test_round_trip();
	test_hooks();
	return done();
}
