/* SPDX-License-Identifier: MIT */
/* The settings file from disk. What is wrong with it ends the start: a rule that was not read is a rule
 * that does not hold. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "os/fs.h"
#include "spec/srt.h"

static const char defaults[] =
	"{\"network\":{\"allowedDomains\":[],\"deniedDomains\":[]},"
	"\"filesystem\":{\"denyRead\":[],\"allowRead\":[],\"allowWrite\":[],\"denyWrite\":[]}}";

static bool is_blank(const char *text, size_t len)
{
	return strspn(text, " \t\r\n\f\v") >= len;
}

/* Both lines, as a person and a script expect them. */
static int fail(int code, const char *path, const char *what, bool missing, struct str *why)
{
	_cleanup_str_ struct str name = { 0 };

	str_add_escaped(&name, path);
	str_release(why);
	*why = (struct str){ 0 };
	str_addf(why,
		 "Error: %s %s\nRefusing to run with the built-in defaults, which would drop %s",
		 name.s ? name.s : "", what,
		 missing ? "the rules --settings asked for."
			 : "this file's rules (its denyRead, allowRead and credential entries "
			   "included).");
	return code;
}

const char *srt_plain(const char *why)
{
	static const char says[] = "Error: ";

	return str_starts(why, says) ? why + strlen(says) : why;
}

static int fail_errno(int code, const char *path, struct str *why)
{
	const char *name = err_name(-code);
	char what[64];

	snprintf(what, sizeof(what), "could not be read (%s).", name ? name : "EIO");
	return fail(code, path, what, false, why);
}

static int read_text(const char *path, bool wait, char **ret, size_t *ret_len)
{
	_cleanup_close_ int fd = os_open_settings(path, wait ? 0 : O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!wait && !S_ISREG(st.st_mode) &&
	    !S_ISDIR(st.st_mode)) /* that has an error of its own */
		return -EINVAL;
	return os_read_fd(fd, SRT_MAX_TEXT, ret, ret_len);
}

int srt_load(struct srt_config *ret, const char *path, enum srt_why asked, struct str *ret_why)
{
	_cleanup_str_ struct str why = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = read_text(path, asked == SRT_BY_NAME, &text, &len);

	if (r == -ENOENT && asked == SRT_BY_DEFAULT) {
		r = srt_parse(ret, defaults, strlen(defaults), path, ret_why);
		if (r == 0)
			ret->origin = NULL;
		return r;
	}
	if (r == -ENOENT)
		return fail(r, path, "does not exist.", true, ret_why);
	if (r < 0)
		return fail_errno(r, path, ret_why);
	known(text);
	if (is_blank(text, len))
		return fail(-EINVAL, path, "is empty. Delete it, or put a config in it.", false,
			    ret_why);
	r = srt_parse(ret, text, len, path, &why);
	return r < 0 ? fail(r, path, why.s, false, ret_why) : 0;
}
