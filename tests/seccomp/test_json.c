/* SPDX-License-Identifier: MIT */
/*
 * The lists for a container runtime: what the weak ones let through beyond the whole ones is what the
 * supervisor is asked about instead, and nothing else. And the names of filters, there and back.
 */
#include <errno.h>

#include "base/json.h"
#include "lib/tap.h"
#include "os/linux/seccomp.h"

enum { NAMES_MAX = 1024, ALLOWED = 0 };

struct names {
	size_t n;
	struct {
		const char *name;
		int code; /* ALLOWED, or the errno */
	} v[NAMES_MAX];
	int others;
	struct json_object *json;
};

static int code_of(struct json_object *entry)
{
	const char *action = json_object_get_string(json_object_object_get(entry, "action"));

	return strcmp(action, "SCMP_ACT_ALLOW") == 0
		       ? ALLOWED
		       : json_object_get_int(json_object_object_get(entry, "errnoRet"));
}

static void read_names(struct names *ret, const char *text)
{
	struct json_object *lists;
	struct err err;

	*ret = (struct names){ 0 };
	if (json_parse(text, strlen(text), "list", &ret->json, &err) < 0)
		return;
	ret->others = json_object_get_int(json_object_object_get(ret->json, "defaultErrnoRet"));
	lists = json_object_object_get(ret->json, "syscalls");
	for (size_t i = 0; i < json_object_array_length(lists); i++) {
		struct json_object *entry = json_object_array_get_idx(lists, i);
		struct json_object *names = json_object_object_get(entry, "names");

		for (size_t k = 0; k < json_object_array_length(names) && ret->n < NAMES_MAX; k++) {
			ret->v[ret->n].name = json_object_get_string(
				json_object_array_get_idx(names, k));
			ret->v[ret->n++].code = code_of(entry);
		}
	}
}

static int find(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->v[i].name, name) == 0)
			return names->v[i].code;
	return names->others;
}

static bool is_asked(unsigned flags, const char *name)
{
	for (const struct seccomp_call *c = seccomp_refused(flags)->calls; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return true;
	return false;
}

static void compare(unsigned flags, const char *label)
{
	static struct names whole, weak;
	unsigned lost = 0, left = 0, other = 0;

	read_names(&whole, seccomp_json(flags));
	read_names(&weak, seccomp_json(flags | SECCOMP_NOTIFY_REFUSED));
	ok(whole.n > 100 && weak.n == whole.n, "%s: both have the same names", label);
	is_int(weak.others, whole.others, "%s: what no list names gets the same", label);
	for (size_t i = 0; i < whole.n; i++) {
		int code = find(&weak, whole.v[i].name);

		left += code == ALLOWED && whole.v[i].code != ALLOWED;
		if (code == whole.v[i].code)
			continue;
		other += code != ALLOWED;
		if (strncmp(whole.v[i].name, "pciconfig_", 10) == 0)
			continue; /* not a call of these machines: there is nothing to ask about */
		if (!is_asked(flags, whole.v[i].name)) {
			diag("%s is let through and not asked about", whole.v[i].name);
			lost++;
		}
	}
	ok(left > 20, "%s: some are left to the supervisor (%u)", label, left);
	is_int(lost, 0, "%s: each of these is asked about", label);
	is_int(other, 0, "%s: no errno is another", label);
	is_int(find(&weak, "io_uring_setup"), ENOSYS, "%s: ENOSYS is not left to it", label);
	json_object_put(whole.json);
	json_object_put(weak.json);
}

static void names(void)
{
	static const char *const wrong[] = { "",
					     "defaul",
					     "default+",
					     "defaultx",
					     "default+notify",
					     "default+notify-nets",
					     "+notify-net",
					     "default+notify-files+notify-net",
					     "default+notify-net+notify-net" };
	unsigned flags = 77, failed = 0;

	for (unsigned i = 0; i <= (SECCOMP_NESTED | SECCOMP_NOTIFY); i++) {
		if (i & SECCOMP_ROOT)
			continue;
		if (!seccomp_find(seccomp_describe(i), &flags) || flags != i) {
			diag("0x%x is 0x%x: %s", i, flags, seccomp_describe(i));
			failed++;
		}
	}
	is_int(failed, 0, "each filter is found by its name");
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		ok(!seccomp_find(wrong[i], &flags), "no filter is called '%s'", wrong[i]);
}

int main(void)
{
	compare(0, "default");
	compare(SECCOMP_NESTED, "nested");
	names();
	return done();
}
