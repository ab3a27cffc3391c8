#!/bin/sh
# SPDX-License-Identifier: MIT
# The documents agree with the tree: links lead somewhere, messages are ones that the program prints, the charts are made
# from the numbers that they show.
#
# shellcheck disable=SC1091,SC2154,SC2317,SC2016 # the library; its variables; functions called by name; backquotes
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
cd "$top" || exit 1

links() {
	python3 - README.md SECURITY.md ARCHITECTURE.md CONTRIBUTING.md docs/*.md bench/README.md <<'PY'
import os, re, sys
bad = []
for path in sys.argv[1:]:
    text = re.sub(r"```.*?```", "", open(path, encoding="utf-8").read(), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not re.match(r"[a-z]+:", target) and not os.path.exists(os.path.join(os.path.dirname(path), target)):
            bad.append(f"{path}: {target}")
print("\n".join(bad))
sys.exit(bool(bad))
PY
}
check "every link between documents leads to a file" links
chart() { bench/chart docs/performance.md | cmp - docs/performance.svg && [ "$(grep -c '<rect' docs/performance.svg)" -gt 5 ]; }
check "the chart is made from the page's tables" chart
unlinked() { for page in docs/*.md; do grep -qF "($page)" README.md || echo "$page"; done; }
check "the README leads to every page of docs/" is "$(unlinked)" ""
messages() {
	sed -n 's/^| `\([^`]*\)` .*/\1/p' docs/troubleshooting.md | while read -r message; do
		case $message in "Function not implemented" | "No space left on device") continue ;; esac # the C library's
		grep -rqF -- "$(printf '%s' "$message" | sed "s/'claude'/'%s'/")" src || echo "$message"
	done
}
check "troubleshooting has messages" [ "$(grep -c '^| `' docs/troubleshooting.md)" -gt 15 ]
check "... and each is the program's" is "$(messages)" ""
commands() { # commands of wrapix in the pages that are not there
	# in backquotes, or at the start of a line of a code block
	cat README.md docs/*.md | awk '/^```/ { code = !code } { print (code ? "`" : "") $0 }' | grep -oE '`wrapix [a-z]+' | sort -u | while read -r _ word; do
		"$wrapix" help "$word" >/dev/null 2>&1 || echo "$word"
	done
}
check "commands that the pages name exist" is "$(commands)" ""
finish
