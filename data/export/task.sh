# SPDX-License-Identifier: MIT
# Takes the workspace from a git bundle, runs the command in it, and leaves what the command did as another bundle.
set -u
in=/wrapix/in out=/wrapix/out
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=/workspace
# A name and an address, for commits of a user that the repository does not know.
export GIT_AUTHOR_NAME="${GIT_AUTHOR_NAME-wrapix}" GIT_AUTHOR_EMAIL="${GIT_AUTHOR_EMAIL-wrapix@localhost}"
export GIT_COMMITTER_NAME="${GIT_COMMITTER_NAME-wrapix}" GIT_COMMITTER_EMAIL="${GIT_COMMITTER_EMAIL-wrapix@localhost}"
cd /workspace || exit 125
if [ -e "$in/workspace.bundle" ] && [ ! -e .git ]; then
	branch=$(git bundle list-heads "$in/workspace.bundle" | sed -n 's|^[0-9a-f]* refs/heads/||p' | head -n 1)
	git init -q -b "${branch:-main}" . &&
		git fetch -q "$in/workspace.bundle" "${branch:+refs/heads/}${branch:-HEAD}" &&
		git reset -q --hard FETCH_HEAD || exit 125
fi
base=$(git rev-parse -q --verify HEAD)
"$@"
status=$?
[ -d "$out" ] || exit $status
if [ -e .git ]; then
	git add -A && { git diff --cached --quiet || git commit -q -m 'Left uncommitted by the command'; }
	git update-ref refs/wrapix/result HEAD &&
		if [ "$(git rev-parse HEAD)" != "$base" ]; then
			git bundle create -q "$out/result.bundle.new" refs/wrapix/result ${base:+"^$base"} &&
				mv "$out/result.bundle.new" "$out/result.bundle"
		fi || echo 'wrapix: the result could not be kept' >&2
fi
echo $status >"$out/status"
exit $status
