/* SPDX-License-Identifier: MIT */
/* What a session that is gone left of branches that it rewrote, in the repository where the user is. */
#include <errno.h>

#include "api/repository.h"
#include "base/path.h"
#include "os/fs.h"
#include "spec/project.h"

int repository_drop_kept(const char *state_home, const char *here, const char *id, size_t *ret_n,
			 struct err *err)
{
	struct host host = { .uid = geteuid() };
	const struct project_facts *project = &host.project;
	struct arena *a = &host.arena;
	const struct strv none = { 0 };
	struct git_about about = { .state_home = state_home, .id = id, .borrowed = &none };
	const char *home = getenv("HOME");
	int r = 0;

	*ret_n = 0;
	host.home = home ? os_realpath(a, home) : NULL;
	host.project.dir = arena_strdup(a, here);
	project_probe_git(&host);
	if (project->git != GIT_NONE) {
		bool plain = project->git == GIT_PLAIN;

		about.project = about.top = project->top;
		about.real = plain ? path_join(a, project->top, ".git") : project->gitdir;
		about.common = plain ? about.real : project->commondir;
		about.program = repository_program(a, project->top);
		repository_take_modules(project, a, &about);
		r = about.program ? git_drop_kept_of(&about, ret_n, err)
				  : err_set(err, ENOENT, "git is not installed");
	}
	arena_release(a);
	return r;
}
