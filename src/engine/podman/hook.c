/* SPDX-License-Identifier: MIT */
/*
 * wrapix-init as a hook: podman shows it what the runtime is to make (oci-hooks(5), "precreate"), and gives the runtime
 * what it answers.
 *
 * The runtime follows the image's links to where it mounts something, and makes what is missing there. With 'ro' a
 * mount becomes read-only when all of them are made; with 'rro' it is before the next one is, and then nobody makes
 * anything in it. So whatever is not made for the container alone gets that, and the supervisor takes it back
 * from what the sandbox may write to (writable.c), which fails where it was not read-only.
 */
#include "engine/podman/hook.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_span.h"
#include "os/fs.h"

enum { CONFIG_MAX = 16 << 20 };

/* A directory that is no new file system: a tree of the host's, or podman's view of one. In a file nothing is made (and
 * crun before 1.16 cannot do this to every one). */
static bool is_of_host(const struct json_doc *doc, const struct json_span *mount)
{
	const struct json_span *type = json_span_get(doc, mount, "type"),
			       *source = json_span_get(doc, mount, "source");
	struct stat st;

	if (!type || !type->string || !source || !source->string)
		return false;
	return !strcmp(type->string, "overlay") ||
	       (!strcmp(type->string, "bind") && stat(source->string, &st) == 0 &&
		S_ISDIR(st.st_mode));
}

static int make_readonly(const struct json_doc *doc, struct str *out, struct err *err)
{
	const struct json_span *mounts = json_span_get(doc, json_doc_top(doc), "mounts");
	size_t at = 0;

	for (const struct json_span *m = json_span_first(doc, mounts); m;
	     m = json_span_next(doc, m)) {
		const struct json_span *options = json_span_get(doc, m, "options");

		if (!is_of_host(doc, m))
			continue;
		if (!options || options->kind != JSON_SPAN_ARRAY)
			return err_set(err, EINVAL, "a mount of podman's has no options");
		str_addn(out, doc->text + at, options->end - 1 - at);
		str_add(out, options->count ? ",\"rro\"" : "\"rro\"");
		at = options->end - 1;
	}
	str_addn(out, doc->text + at, doc->len - at);
	return 0;
}

int hook_answer(struct err *err)
{
	_cleanup_json_doc_ struct json_doc doc = { 0 };
	_cleanup_str_ struct str out = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = os_read_fd(0, CONFIG_MAX, &text, &len);

	if (r < 0)
		return err_errno(err, -r, "reading what podman wants made");
	r = json_doc_parse(&doc, text, len, CONFIG_MAX, "podman", err);
	if (r == 0)
		r = make_readonly(&doc, &out, err);
	if (r < 0)
		return r;
	r = os_write_all(1, out.s, out.len);
	return r < 0 ? err_errno(err, -r, "answering podman") : 0;
}
