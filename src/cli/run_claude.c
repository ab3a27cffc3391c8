/* SPDX-License-Identifier: MIT */
/* wrapix run --settings-from claude: where the settings are looked for. */
#include <errno.h>

#include "api/api.h"
#include "cli/settings.h"
#include "os/fs.h"

int cli_run_claude(struct wrapix_spec *spec, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct claude_where where;
	int r = cli_claude_where(&arena, NULL, NULL, &where, err);

	if (r < 0)
		return r;
	where.dir = os_realpath(&arena, spec->spec.dir);
	if (!where.dir)
		return err_errno(err, errno, "opening '%s'", spec->spec.dir);
	spec->claude = run_claude_new(&where);
	return spec->claude ? 0 : err_errno(err, ENOMEM, "reading Claude Code's settings");
}
