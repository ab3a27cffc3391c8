/* SPDX-License-Identifier: MIT */
/* Names of machines. */
#include "image/platform.h"

#include <string.h>
#include <sys/utsname.h>

static const struct {
	const char *machine, *name;
} names[] = {
	{ "x86_64", "amd64" },    { "aarch64", "arm64" },   { "armv7l", "arm" },  { "i686", "386" },
	{ "riscv64", "riscv64" }, { "ppc64le", "ppc64le" }, { "s390x", "s390x" },
};

const char *platform_here(void)
{
	struct utsname uts;

	if (uname(&uts) == 0)
		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if (!strcmp(names[i].machine, uts.machine))
				return names[i].name;
	return "unknown";
}

int platform_parse(const char *text, char buffer[64], const char **ret_arch,
		   const char **ret_variant, struct err *err)
{
	char *slash;

	if (!strncmp(text, "linux/", 6))
		text += 6;
	snprintf(buffer, 64, "%s", text);
	slash = strchr(buffer, '/');
	if (slash)
		*slash++ = '\0';
	*ret_arch = buffer;
	*ret_variant = slash && *slash ? slash : NULL;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i].name, buffer))
			return 0;
	err_usage(err, "--platform: '%s' is no machine that Linux images are made for", text);
	return err_hint(err, "as in linux/amd64 or linux/arm64");
}
