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
messages() { # those of the page that no source has; with a number, how many there are
	python3 - "$@" <<'PY'
import glob, re, sys
# What the C compiler makes of neighbouring strings, with one mark for each conversion; names in capitals stand for such.
source = "\n".join(open(f, encoding="utf-8").read() for f in glob.glob("src/**/*.[ch]", recursive=True))
source = re.sub(r'"\s*(?:PRI\w+\s*)?"', "", source)
source = re.sub(r"%[-0-9.*#hlz]*[a-zA-Z]", "\1", source)
libc = {"Function not implemented", "No space left on device"}
rows = [row.split("|")[1] for row in open("docs/troubleshooting.md", encoding="utf-8") if row.startswith("| `")]
found = [text for row in rows for text in re.findall(r"`([^`]+)`", row) if text not in libc]
if len(sys.argv) > 1:
    print(len(found))
else:
    print("\n".join(t for t in found if re.sub(r"\b(PATH|NAME|HOST|CMD|WHY|N)\b", "\1", t) not in source))
PY
}
check "troubleshooting has messages" [ "$(messages count)" -gt 150 ]
check "... and each is the program's" is "$(messages)" ""
unnamed() { # pages that wrapix(1) does not lead to
	for page in man/*.[1-8]; do
		page=${page#man/}
		[ "$page" = wrapix.1 ] || sed -n '/^\.Sh SEE ALSO/,/^\.Sh/p' man/wrapix.1 | grep -q "^\.Xr ${page%.*} ${page##*.}\( ,\)\?\$" || echo "$page"
	done
}
check "wrapix(1) leads to every page of the manual" is "$(unnamed)" ""
# After a bar the macro is over: the next option needs its own.
check "no page has an option of two letters with one dash" is "$(grep -nE '^\.(Op )?Fl Fl [a-z-]+ \| *[a-z]' man/*.[1-8])" ""
commands() { # commands of wrapix in the pages that are not there
	# in backquotes, or at the start of a line of a code block
	cat README.md docs/*.md | awk '/^```/ { code = !code } { print (code ? "`" : "") $0 }' | grep -oE '`wrapix [a-z]+' | sort -u | while read -r _ word; do
		"$wrapix" help "$word" >/dev/null 2>&1 || echo "$word"
	done
}
check "commands that the pages name exist" is "$(commands)" ""
options() { # options of wrapix's commands in the pages that their help does not have
	python3 - "$wrapix" README.md SECURITY.md docs/*.md <<'PY'
import functools, re, subprocess, sys

@functools.lru_cache(None)
def help_of(*words):
    done = subprocess.run([sys.argv[1], *words, "--help"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None

for page in sys.argv[2:]:
    code = False
    for line in open(page, encoding="utf-8"):
        code ^= line.startswith("```")
        spans = [line] if code or line.startswith("    ") else re.findall(r"`([^`]+)`", line)
        for command in re.findall(r"(?:^|[;&])\s*wrapix ([a-z]+ [^;#|`$&\n]*)", "\n".join(spans), re.M):
            words = re.split(r" -- | -c ", command)[0].split()
            text = help_of(*words[:1 + (words[0] == "image")])
            for option in re.findall(r"--[a-z][a-z-]*", " ".join(words)):
                if text and not re.search(re.escape(option) + r"(?![a-z-])", text):
                    print(f"{page}: wrapix {command}: {option}")
PY
}
check "... and have the options that they name" is "$(options)" ""
defaults() { # keys of wrapix.json whose default in the schema is not the program's
	git init -q "$project"
	python3 - "$wrapix" "$top/data/schema/wrapix.schema.json" "$project" <<'PY'
import json, os, subprocess, sys
wrapix, schema, project = sys.argv[1:]
own = os.path.join(os.environ["HOME"], ".config/wrapix/config.json")
os.makedirs(os.path.dirname(own), exist_ok=True)

def plan(said):
    with open(own, "w") as file:
        json.dump(said, file)
    return subprocess.run([wrapix, "plan", project, "--", "true"], capture_output=True, text=True)

usual = plan({})
keys = {key: value["default"] for key, value in json.load(open(schema))["properties"].items() if "default" in value}
del keys["agent"]  # one that is named must be installed; without a word there is a shell in its place
print(usual.returncode, len(keys) > 10, *(key for key in keys if plan({key: keys[key]}).stdout != usual.stdout))
os.remove(own)
PY
}
check "defaults of the schema are the program's" is "$(defaults)" "0 True"
finish
