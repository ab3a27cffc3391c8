/* SPDX-License-Identifier: MIT */
/*
 * What is written down of sessions, damaged: one text as the record of a running session, of a copy-on-write session, of a
 * private git directory and what is held of it, as the lists of private places and of links to them, and as the notes about files. Each is read
 * or refused with words.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "api/gated_priv.h"
#include "api/later_priv.h"
#include "api/protection.h"
#include "base/json.h"
#include "cow/cow.h"
#include "git/git.h"
#include "guard/gate.h"
#include "os/fs.h"
#include "session/record.h"
#include "session/session.h"
#include "fuzz.h"

static int open_top(void)
{
	static const char *const dirs[] = { "cow",           "cow/s",
					    "cow/s/project", "cow/s/project/upper",
					    "wrapix",        "wrapix/git",
					    "wrapix/git/s" };
	static int dir = -1;

	if (dir >= 0)
		return dir;
	dir = fuzz_open_top(dirs, ARRAY_LEN(dirs));
	return dir;
}

static void read_session(const char *text, size_t size)
{
	struct arena arena = { 0 };
	struct session_info info = { 0 };

	if (session_info_parse(&arena, text, size, &info) == 0)
		check(info.id && info.name && info.dir && info.engine && info.network &&
		      info.command);
	arena_release(&arena);
}

static void read_cow(void)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct cow cow;

	if (cow_open(&cow, arena_printf(&arena, "%s/cow", fuzz_top), "s", &err) == 0) {
		check(cow.project && cow.name);
		cow_close(&cow);
	} else {
		check(err.msg[0]);
	}
	arena_release(&arena);
}

static void read_git(void)
{
	struct arena arena = { 0 };
	struct git_store store;
	struct git_held *held;
	struct err err = { 0 };
	size_t n = 0;

	if (git_open(&store, fuzz_top, "s", "git", &err) == 0) {
		check(store.project[0] == '/' && store.real[0] == '/' && store.common[0] == '/');
		if (git_held_read(&store, &arena, &held, &n, &err) < 0)
			check(err.msg[0]);
		for (size_t i = 0; i < n; i++)
			check(held[i].where && held[i].kind && held[i].name && held[i].why);
		git_close(&store);
	} else {
		check(err.msg[0]);
	}
	arena_release(&arena);
}

static void read_places(int dir)
{
	struct arena arena = { 0 };
	struct gate_place *places;
	struct err err = { 0 };
	size_t n = 0;

	if (gate_read(dir, &arena, &places, &n, &err) < 0)
		check(err.msg[0]);
	for (size_t i = 0; i < n; i++)
		check(places[i].kind <= GATE_HELD);
	arena_release(&arena);
}

static void read_links(int dir)
{
	struct arena arena = { 0 };
	struct aliases links = { .v = NULL };

	gated_read_aliases(dir, &arena, &links);
	for (size_t i = 0; i < links.n; i++)
		check(links.v[i].path && links.v[i].len == strlen(links.v[i].path));
	arena_release(&arena);
}

static void read_notes(int dir)
{
	struct later later = { .n = 0 };

	later_read(&later, dir, "notes");
	for (size_t i = 0; i < later.n; i++)
		check(later.v[i].path && memchr(later.v[i].hash, '\0', sizeof(later.v[i].hash)));
	later_release(&later);
}

static void read_protection(const char *text, size_t size)
{
	_cleanup_json_ struct json_object *list = NULL;
	struct protection protection = { 0 };
	struct arena arena = { 0 };
	struct err err;

	if (json_parse(text, size, "meta", &list, &err) == 0)
		protection_read(&protection, list, &arena);
	for (size_t i = 0; i < protection.n_paths; i++)
		check(protection.paths[i].path &&
		      protection.paths[i].len == strlen(protection.paths[i].path));
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int dir = open_top();

	if (size > 65536)
		return 0;
	read_session((const char *)data, size);
	read_protection((const char *)data, size);
	fuzz_write(dir, "cow/s/meta", data, size);
	fuzz_write(dir, "wrapix/git/s/meta", data, size);
	fuzz_write(dir, "wrapix/git/s/held", data, size);
	fuzz_write(dir, "places", data, size);
	fuzz_write(dir, "notes", data, size);
	fuzz_write(dir, "aliases", data, size);
	read_cow();
	read_git();
	read_places(dir);
	read_links(dir);
	read_notes(dir);
	return 0;
}
