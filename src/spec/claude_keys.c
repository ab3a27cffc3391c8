/* SPDX-License-Identifier: MIT */
/*
 * The keys of Claude Code's settings that mean something to a sandbox, and who may set each.
 * Whatever else stands below 'sandbox' or 'permissions' is reported as unknown.
 */
#include "spec/claude_keys.h"

#include <string.h>

static const struct claude_key keys[] = {
	{ "sandbox.enabled", CLAUDE_BOOL, KEY_LOCK_FALSE },
	{ "sandbox.failIfUnavailable", CLAUDE_BOOL, KEY_LOCK_FALSE },
	{ "sandbox.autoAllowBashIfSandboxed", CLAUDE_BOOL, KEY_TRUST_TRUE },
	{ "sandbox.allowUnsandboxedCommands", CLAUDE_BOOL, KEY_TRUST_TRUE },
	{ "sandbox.excludedCommands", CLAUDE_LIST, KEY_LOCK },
	{ "sandbox.ignoreViolations", CLAUDE_MAP, KEY_LOCK },
	{ "sandbox.network.allowedDomains", CLAUDE_LIST, KEY_LOCK | KEY_DOMAINS },
	{ "sandbox.network.deniedDomains", CLAUDE_LIST, 0 },
	{ "sandbox.network.strictAllowlist", CLAUDE_BOOL, KEY_NEVER },
	{ "sandbox.network.allowManagedDomainsOnly", CLAUDE_BOOL, KEY_MANAGED },
	{ "sandbox.network.allowUnixSockets", CLAUDE_LIST, KEY_LOCK | KEY_BY_SCOPE },
	{ "sandbox.network.allowAllUnixSockets", CLAUDE_BOOL, KEY_LOCK_TRUE },
	{ "sandbox.network.allowLocalBinding", CLAUDE_BOOL, KEY_LOCK_TRUE | KEY_NO_EFFECT },
	{ "sandbox.network.allowMachLookup", CLAUDE_LIST, KEY_LOCK | KEY_NO_EFFECT },
	{ "sandbox.network.httpProxyPort", CLAUDE_PORT, KEY_LOCK },
	{ "sandbox.network.socksProxyPort", CLAUDE_PORT, KEY_LOCK },
	{ "sandbox.network.tlsTerminate", CLAUDE_OBJECT, KEY_NEVER },
	{ "sandbox.filesystem.allowWrite", CLAUDE_LIST, KEY_LOCK | KEY_BY_SCOPE },
	{ "sandbox.filesystem.denyWrite", CLAUDE_LIST, KEY_BY_SCOPE },
	{ "sandbox.filesystem.denyRead", CLAUDE_LIST, KEY_BY_SCOPE },
	{ "sandbox.filesystem.allowRead", CLAUDE_LIST, KEY_LOCK | KEY_PATHS | KEY_BY_SCOPE },
	{ "sandbox.filesystem.allowManagedReadPathsOnly", CLAUDE_BOOL, KEY_MANAGED },
	{ "sandbox.filesystem.disabled", CLAUDE_BOOL, KEY_NEVER },
	{ "sandbox.credentials.files", CLAUDE_ENTRIES, 0 },
	{ "sandbox.credentials.envVars", CLAUDE_ENTRIES, 0 },
	{ "sandbox.credentials.allowPlaintextInject", CLAUDE_BOOL, KEY_NEVER },
	{ "sandbox.credentials.awsPairs", CLAUDE_ENTRIES, KEY_NEVER },
	{ "sandbox.credentials.sigv4", CLAUDE_OBJECT, KEY_NEVER },
	{ "sandbox.enableWeakerNestedSandbox", CLAUDE_BOOL, KEY_LOCK_TRUE },
	{ "sandbox.allowNestedUserNamespaces", CLAUDE_BOOL, KEY_NEVER_TRUE },
	{ "sandbox.enableWeakerNetworkIsolation", CLAUDE_BOOL, KEY_LOCK_TRUE | KEY_NO_EFFECT },
	{ "sandbox.allowAppleEvents", CLAUDE_BOOL, KEY_NEVER | KEY_NO_EFFECT },
	{ "sandbox.enabledPlatforms", CLAUDE_LIST, KEY_NO_EFFECT },
	{ "sandbox.ripgrep", CLAUDE_OBJECT, KEY_NEVER | KEY_NO_EFFECT },
	{ "sandbox.bwrapPath", CLAUDE_TEXT, KEY_MANAGED | KEY_NO_EFFECT },
	{ "sandbox.socatPath", CLAUDE_TEXT, KEY_MANAGED | KEY_NO_EFFECT },
	{ "permissions.allow", CLAUDE_LIST, KEY_TRUST | KEY_RULES | KEY_BY_SCOPE },
	{ "permissions.ask", CLAUDE_LIST, KEY_RULES | KEY_BY_SCOPE },
	{ "permissions.deny", CLAUDE_LIST, KEY_RULES | KEY_BY_SCOPE },
	{ "permissions.additionalDirectories", CLAUDE_LIST, KEY_LOCK | KEY_BY_SCOPE },
	{ "permissions.defaultMode", CLAUDE_TEXT, KEY_NO_EFFECT },
	{ "permissions.disableBypassPermissionsMode", CLAUDE_TEXT, KEY_NO_EFFECT },
	{ "allowManagedPermissionRulesOnly", CLAUDE_BOOL, KEY_MANAGED },
};

const struct claude_key *claude_key(size_t i)
{
	return i < ARRAY_LEN(keys) ? &keys[i] : NULL;
}

const struct claude_key *claude_key_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

const char *claude_scope_name(enum claude_scope scope)
{
	static const char *const names[] = {
		[CLAUDE_USER] = "user",       [CLAUDE_PROJECT] = "project",
		[CLAUDE_LOCAL] = "local",     [CLAUDE_FLAG] = "--settings",
		[CLAUDE_MANAGED] = "managed",
	};

	return names[scope];
}

static const struct {
	const char *name, *phrase;
} fates[CLAUDE_FATES] = {
	[CLAUDE_COUNTS] = { "counts", "counts" },
	[CLAUDE_OVERRIDDEN] = { "overridden", "a stronger file decides" },
	[CLAUDE_REPEATED] = { "repeated", "a stronger file says the same" },
	[CLAUDE_LOCKED] = { "locked", "a policy locks it" },
	[CLAUDE_UNTRUSTED] = { "untrusted", "it widens the sandbox, and Claude Code does not trust "
					    "this folder" },
	[CLAUDE_NOT_PROJECT] = { "notFromProject", "a project's file may not say so" },
	[CLAUDE_MANAGED_ONLY] = { "managedOnly", "it counts in managed settings alone" },
	[CLAUDE_INVALID] = { "invalid", "it cannot be read" },
	[CLAUDE_NO_EFFECT] = { "noEffect", "there is nothing to do for it in this sandbox" },
	[CLAUDE_NOT_POLICY] = { "notPolicy", "a setting of Claude Code's own" },
	[CLAUDE_UNKNOWN] = { "unknown", "an unknown key" },
};

const char *claude_fate_name(enum claude_fate fate)
{
	return fates[fate].name;
}

const char *claude_fate_phrase(enum claude_fate fate)
{
	return fates[fate].phrase;
}

static const char *const modes[] = { [CLAUDE_DISABLED] = "disabled",
				     [CLAUDE_REGULAR] = "regular",
				     [CLAUDE_AUTO_ALLOW] = "auto-allow",
				     NULL };

const char *claude_mode_name(enum claude_mode mode)
{
	return modes[mode];
}

const char *const *claude_mode_names(_unused_ const char *unused)
{
	return modes;
}
