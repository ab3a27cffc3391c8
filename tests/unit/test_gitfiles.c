/* SPDX-License-Identifier: MIT */
/* Index, references and stash as files: the same as git prints, and nothing that is odd is taken. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/priv.h"
#include "lib/tap.h"
#include "os/fs.h"

static char dir[64];

static int sh(const char *script)
{
	char *line = NULL;
	int r;

	if (asprintf(&line,
		     "cd '%s' && export HOME='%s' GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a "
		     "GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b && "
		     "{ %s; } >/dev/null 2>&1",
		     dir, dir, script) < 0)
		return -1;
	r = system(line);
	free(line);
	return r;
}

/* The index as we read it, as 'ls-files -s -z' prints it. */
static bool same_index(bool sha256)
{
	_cleanup_free_ char *data = NULL, *want = NULL;
	_cleanup_str_ struct str got = { 0 };
	struct arena a = { 0 };
	struct git_items items;
	char path[128];
	size_t len, want_len;
	int r = sh("git ls-files -s -z >want");

	snprintf(path, sizeof(path), "%s/.git/index", dir);
	if (r == 0)
		r = os_read_file_at(AT_FDCWD, path, 1 << 24, &data, &len);
	if (r == 0)
		r = git_index_read(&a, data, len, sha256, &items);
	for (size_t i = 0; r == 0 && i < items.n; i++)
		git_index_lines(&got, &items.v[i]);
	snprintf(path, sizeof(path), "%s/want", dir);
	if (r == 0)
		r = os_read_file_at(AT_FDCWD, path, 1 << 24, &want, &want_len);
	arena_release(&a);
	return r == 0 && got.len == want_len && !memcmp(got.s, want, want_len);
}

/* One entry 'a', whose flags say that its path has this many bytes. */
static int read_length(unsigned char length)
{
	unsigned char data[12 + 64] = "DIRC\0\0\0\2\0\0\0\1", *entry = data + 12;
	struct arena a = { 0 };
	struct git_items items;
	int r;

	entry[26] = 0x81;
	entry[27] = 0xa4;
	entry[61] = length;
	entry[62] = 'a';
	r = git_index_read(&a, data, sizeof(data), false, &items);
	arena_release(&a);
	return r;
}

static void test_length(void)
{
	is_int(read_length(1), 0, "a path of the length that its entry says");
	is_int(read_length(0), -EINVAL, "git would look for the next entry elsewhere");
	is_int(read_length(2), -EINVAL, "and here as well");
}

static bool same_refs(void)
{
	_cleanup_free_ char *want = NULL;
	_cleanup_str_ struct str got = { 0 };
	_cleanup_close_ int fd = -1;
	struct arena a = { 0 };
	struct git_items items;
	char path[128];
	int r = sh("git for-each-ref --format='%(objectname) %(refname)' >want");

	snprintf(path, sizeof(path), "%s/.git", dir);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	if (r == 0)
		r = git_refs_read(&a, fd, &items, NULL);
	for (size_t i = 0; r == 0 && i < items.n; i++)
		str_addf(&got, "%s %s\n", items.v[i].value, items.v[i].name);
	snprintf(path, sizeof(path), "%s/want", dir);
	if (r == 0)
		r = os_read_file_at(AT_FDCWD, path, 1 << 24, &want, NULL);
	arena_release(&a);
	return r == 0 && !strcmp(got.s, want);
}

static int read_refs(const char *script)
{
	_cleanup_close_ int fd = -1;
	struct arena a = { 0 };
	struct git_items items;
	char path[128];
	int r = sh(script);

	snprintf(path, sizeof(path), "%s/.git", dir);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	if (r == 0)
		r = git_refs_read(&a, fd, &items, NULL);
	arena_release(&a);
	return r;
}

int main(void)
{
	snprintf(dir, sizeof(dir), "/tmp/wrapix-gitfiles.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	sh("git init -q . && mkdir -p d/deep 'with space' && echo a >a && echo b >d/b && "
	   "echo c >d/deep/c && ln -s a link && echo x >'with space/x' && chmod +x d/b && "
	   "for i in $(seq 300); do echo $i >d/deep/file$i; done && git add . && "
	   "git commit -q -m 1 && git checkout -q -b side && echo side >a && git commit -q -am "
	   "side "
	   "&& git checkout -q - && echo main >a && git commit -q -am main");
	test_length();
	ok(same_index(false), "version 2");
	sh("git update-index --index-version 4");
	ok(same_index(false), "version 4");
	sh("git merge side");
	ok(same_index(false), "... with the stages of a conflict");
	sh("git update-index --index-version 2; git reset --hard; echo n >n; git add -N n");
	ok(same_index(false), "version 3: an entry that is only intended");
	sh("git update-index --split-index");
	ok(!same_index(false), "a split index is left to git");
	sh("rm n; git update-index --no-split-index; git tag -a -m t t; git branch one/two; "
	   "git pack-refs --all; git branch three; git commit -q --allow-empty -m more");
	ok(same_refs(), "references, packed and loose");
	sh("git branch -D one/two; git tag -d t");
	ok(same_refs(), "... after some were removed");
	ok(read_refs("true") == 0, "a healthy one is read");
	ok(read_refs(": >.git/refs/heads/empty") < 0, "an empty reference is an error, not none");
	ok(read_refs("rm .git/refs/heads/empty; ln -s ../../HEAD .git/refs/heads/link") < 0,
	   "a link is not followed");
	ok(read_refs("rm .git/refs/heads/link; mkfifo .git/refs/heads/fifo") < 0,
	   "a FIFO does not hang");
	ok(read_refs("rm .git/refs/heads/fifo; mv .git/refs .git/r; ln -s r .git/refs") < 0,
	   "nor is a linked directory");
	ok(read_refs("rm .git/refs; mv .git/r .git/refs; echo junk >.git/packed-refs") < 0,
	   "packed references that are none are an error");
	ok(read_refs("rm .git/packed-refs; mkdir .git/reftable") == -ENOTSUP,
	   "another kind of store is left to git");
	sh("rm -rf .git; git init -q --object-format=sha256 . && git add .");
	ok(same_index(true), "sha256");
	os_remove_tree(AT_FDCWD, dir);
	return done();
}
