/* SPDX-License-Identifier: MIT */
/* The names that stay as they are in every writable place: what a shell, git, an editor, an agent
 * or this program runs or obeys the next time it is started outside. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "spec/file_rules.h"
#include "spec/glob.h"

static const struct {
	const char *name; /* components; a glob as in rules */
	bool by_content;
} names[] = {
	{ ".bashrc", false },
	{ ".bash_profile", false },
	{ ".bash_login", false },
	{ ".bash_logout", false },
	{ ".bash_aliases", false },
	{ ".profile", false },
	{ ".zshrc", false },
	{ ".zprofile", false },
	{ ".zshenv", false },
	{ ".zlogin", false },
	{ ".zlogout", false },
	{ ".kshrc", false },
	{ ".mkshrc", false },
	{ ".cshrc", false },
	{ ".tcshrc", false },
	{ ".login", false },
	{ ".logout", false },
	{ ".config/fish", false },
	{ ".inputrc", false },
	/* what a login, a desktop or a service manager starts by itself */
	{ ".pam_environment", false },
	{ ".xinitrc", false },
	{ ".xprofile", false },
	{ ".xsession", false },
	{ ".xsessionrc", false },
	{ ".config/autostart", false },
	{ ".config/environment.d", false },
	{ ".config/systemd", false },
	{ ".local/share/dbus-1", false },
	{ ".local/share/systemd", false },
	{ ".ssh/authorized_keys*", false },
	{ ".ssh/config", false },
	{ ".ssh/environment", false },
	{ ".ssh/rc", false },
	{ ".gitconfig", false },
	{ ".config/git", false },
	{ ".gitmodules", false },
	{ ".ripgreprc", false },
	{ ".mcp.json", false },
	{ ".srt-settings.json", false },
	{ ".config/wrapix", false },
	{ "wrapix.json", false },
	{ ".wrapix/profiles", false },
	{ ".local/state/wrapix", false },
	{ ".vscode", false },
	{ ".idea", false },
	{ ".claude/settings*.json", false },
	{ ".claude/commands", false },
	{ ".claude/agents", false },
	{ ".claude/skills", false },
	{ ".claude/hooks", false },
	{ ".codex/config.toml", false },
	{ ".cursor/hooks.json", false },
	{ ".cursor/mcp.json", false },
	{ ".gemini/settings.json", false },
	{ ".git/hooks", false },
	{ ".git/config", true },
	{ ".git/config.worktree", true },
	{ ".git/commondir", false },
	{ ".git/worktrees/*/config.worktree", true },
	{ ".git/modules/**/hooks", false },
	{ ".git/modules/**/config", true },
};

const char *file_rules_protected(size_t i)
{
	return i < ARRAY_LEN(names) ? names[i].name : NULL;
}

/* How it begins, as far as one byte is that byte, or its other case. */
static void note_first(struct file_rules *rules, const char *name)
{
	const char **first = rules->protect_first;
	size_t len = 0;

	while (name[len] && !strchr("*?[/", name[len]) && (unsigned char)name[len] < 0x80)
		len++;
	for (size_t i = 0; !len && i < ARRAY_LEN(rules->protect_first); i++)
		first[i] = "";
	first += tolower((unsigned char)name[0]);
	*first = *first ? "" : arena_strndup(&rules->arena, name, len);
}

static int add_name(struct file_rules *rules, const char *name, const char *key, bool by_content,
		    struct err *err)
{
	struct arena *arena = &rules->arena;
	char *text = arena_printf(arena, "/**/%s", name);
	struct glob *pattern = glob_compile(arena, text, GLOB_FOLD, err);
	struct file_rule *rule;

	if (!pattern)
		return err_wrap(err, "%s", key);
	rule = arena_grow(arena, (void *)&rules->rules, &rules->n, sizeof(*rules->rules));
	*rule = (struct file_rule){
		.kind = FILE_PROTECT,
		.text = arena_strdup(arena, name),
		.key = arena_strdup(arena, key),
		.by_content = by_content,
		.pattern = pattern,
		.before = rules->protects,
	};
	rules->protects = rules->n;
	note_first(rules, name);
	return 0;
}

/* Components without '.', '..' and empty ones: "name", "dir/name". */
static int check_name(const char *name, const char *key, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };

	for (const char *s = name;; s++) {
		size_t n = strcspn(s, "/");

		if (!n || (n <= 2 && !strncmp(s, "..", n)))
			return err_usage(err,
					 "%s: %s is not a name or a relative path without '..'",
					 key, str_quote(&shown, name));
		s += n;
		if (!*s)
			return 0;
	}
}

static int check_remove(const struct strv *remove, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };
	const char *all[ARRAY_LEN(names)], *near;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		all[i] = names[i].name;
	for (size_t i = 0; i < remove->len; i++) {
		bool known = false;

		for (size_t j = 0; j < ARRAY_LEN(names) && !known; j++)
			known = !strcmp(remove->v[i], all[j]);
		if (known)
			continue;
		err_usage(err, "protect.remove[%zu]: %s is not a protected name", i,
			  str_quote(&shown, remove->v[i]));
		near = str_nearest(remove->v[i], all, ARRAY_LEN(all));
		return near ? err_hint(err, "did you mean '%s'?", near) : -EINVAL;
	}
	return 0;
}

int file_rules_protect(struct file_rules *rules, const struct strv *add, const struct strv *remove,
		       bool allow_git_config, struct err *err)
{
	int ret = check_remove(remove, err);

	for (size_t i = 0; i < ARRAY_LEN(names) && !ret; i++)
		if (!strv_has(remove, names[i].name) && !(allow_git_config && names[i].by_content))
			ret = add_name(rules, names[i].name, "protect", names[i].by_content, err);
	for (size_t i = 0; i < add->len && !ret; i++) {
		char *key = arena_printf(&rules->arena, "protect.add[%zu]", i);

		ret = check_name(add->v[i], key, err);
		if (!ret)
			ret = add_name(rules, add->v[i], key, false, err);
	}
	return ret;
}
