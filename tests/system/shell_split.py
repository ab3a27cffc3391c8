#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shell commands taken apart, against a real bash: whatever bash runs must be among the parts.

Commands are put together from pieces at random (the seed is fixed, or argv[2]). Each is run by bash in an empty
directory with no program to find, so that every command ends in command_not_found_handle, which notes its name.
A command that our splitter refuses counts for nothing, but few may be refused. argv[1]: build/tests/unit/test_shell.
Prints TAP."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

SPLIT = sys.argv[1]
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 20261115
COUNT = 600
BASH = shutil.which("bash")

rng = random.Random(SEED)
counter = 0


def name():
    global counter
    counter += 1
    return f"c{counter}"


def word(depth):
    pick = rng.randrange(22)
    if depth <= 0 or pick < 5:
        return rng.choice(["a", "-x", "'q r'", '"s t"', "u\\ v", "$y", "${z}", "{e,f}", "*", "w#", "'\"'", '"\'"', "\\'", '\\"',
                           "$'a\\'b'", "'`'", '"\\`"', "'$('", '"\\$("', "$((1+(2)))", "#", "a=b", "$", "~", "!", "[", "'#'"])
    inner = command(depth - 1)
    return rng.choice([
        f"$({inner})", f'"$({inner})"', f"${{x:-$({inner})}}", f'"${{x:-$({inner})}}"', f"$(( 1 + $({inner}) ))",
        f"<({inner})", f"a$({inner})b", f"$( {inner}\n)", f'"a \'$({inner})\' b"', f"${{x:-\"$({inner})\"}}", f"`{name()}`",
        f'"`{name()}`"', f"`{name()} \\`{name()}\\``", f"$( ({inner}) )", f"${{x:-'}}'}}$({inner})", f"$(\n# it's\n{inner})",
    ])


def simple(depth):
    words = [name()] + [word(depth - 1) for _ in range(rng.randrange(3))]
    if rng.randrange(6) == 0:
        words.insert(0, rng.choice(["X=1", f"X=$({name()})", "Y='a b'", "A[0]=1", f"X=\"`{name()}`\""]))
    if rng.randrange(6) == 0:
        words.append(rng.choice([">/dev/null", "2>&1", "</dev/null", "&>/dev/null", f"<<<$({name()})", f">/dev/null$({name()})",
                                 "2>/dev/null", ">| /dev/null"]))
    return " ".join(words)


def heredoc(depth):
    tag = rng.choice(["E", "'E'", '"E"', "\\E", "E", "E"])
    dash = rng.choice(["", "-"])
    lines = []
    for _ in range(rng.randrange(4)):
        lines.append(rng.choice(["text", f"$({name()})", f"`{name()}`", "'", '"', "EE", " E", "\\$(no)", "E\\", "x\\", "$", "#", ")",
                                 f"${{x:-$({name()})}}", "\\\\", "\tE" if not dash else "\tF"]))
    body = "".join(line + "\n" for line in lines)
    end = ("\t" if dash and rng.randrange(2) else "") + "E\n"
    return f"{name()} <<{dash}{tag} {rng.choice(['', '| ' + name(), '; ' + name(), '&& ' + simple(depth - 1)])}\n{body}{end}{name()}\n"


def command(depth):
    if depth <= 0:
        return simple(depth)
    a, b, c = (command(depth - 1) for _ in range(3))
    if rng.randrange(7) == 0:
        return heredoc(depth)
    return rng.choice([
        simple(depth), simple(depth), simple(depth), simple(depth),
        f"{a}; {b}", f"{a} && {b} || {c}", f"{a} | {b}", f"{a} |& {b}", f"{a}\n{b}", f"{a} &\n{b}", f"! {a}", f"({a}; {b})",
        f"{{ {a}; {b}; }}", f"if {a}; then {b}; else {c}; fi", f"if {a}\nthen\n{b}\nelif {c}; then {name()}; fi",
        f"for i in 1 {word(depth - 1)}; do {a}; done", f"while {a}; do {b}; done", f"until true; do {a}; done; {b}",
        f"case $({a}) in x) {b};; *) {c};; esac", f"case a in (a|b) {a} ;& c) {b};; esac", f"[[ -n $({a}) && b < c ]] || {b}",
        f"((1 > $({a}) + 0)) && {b}", f"f() {{ {a}; }}; f; {b}", f"function g {{ {a}\n}}; g", f"{a} # it's a comment\n{b}",
        f"{a} \\\n  && {b}", f"x=({word(depth - 1)} b); {a}", f"time {a}", f"{{ {a}\n}} >/dev/null", f"( {a} ) 2>&1 | {b}",
        f"for ((i = 0; i < 1; i++)); do {a}; done", f"[[ x =~ ^(a|x)$ ]] && {a}", f"{a};\n\n{b}", f"select i in; do {a}; done; {b}",
    ])


# What bash runs goes to descriptor 9, whatever the command does with its output.
PRELUDE = 'command_not_found_handle() { printf "%s\\n" "$1" >&9; return $((RANDOM % 2)); }\nunset x y z\n'


def ran(text, place):
    with tempfile.TemporaryFile() as log:
        try:
            subprocess.run([BASH, "-c", f"ulimit -t 2; ulimit -u 2000; exec 9<&{log.fileno()}\n{PRELUDE}eval \"$TEXT\""],
                           env={"PATH": "/nowhere", "TEXT": text}, cwd=place, pass_fds=[log.fileno()], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=10, check=False)
        except subprocess.TimeoutExpired:
            pass
        log.seek(0)
        return {line.decode() for line in log.read().split(b"\n") if line.startswith(b"c")}


def main():
    texts = []
    while len(texts) < COUNT:
        text = command(rng.randrange(4))
        # Loops of commands that fail at random may go on; that is what the time limit is for.
        if len(text) < 1500 and "while" not in text:
            texts.append(text)
    out = subprocess.run([SPLIT, "-"], input=b"".join(t.encode() + b"\0" for t in texts), stdout=subprocess.PIPE, check=True)
    lines = out.stdout.decode(errors="surrogateescape").split("\n")
    missed, refused, commands = [], [], 0
    with tempfile.TemporaryDirectory() as place:
        for text, line in zip(texts, lines):
            if line.startswith("!"):
                refused.append((line, text))
                continue
            parts = {part.split(" ")[0] for part in line.split("\x01")}
            names = ran(text, place)
            commands += len(names)
            if names - parts:
                missed.append((names - parts, text))
    print(f"{'not ' if missed else ''}ok 1 - every command that bash runs is found ({commands} in {COUNT} texts, seed {SEED})")
    for names, text in missed[:5]:
        print(f"# missed {names} of {text!r}")
    print(f"{'not ' if commands < COUNT else ''}ok 2 - bash ran commands at all")
    print(f"{'not ' if len(refused) > COUNT // 5 else ''}ok 3 - few are refused ({len(refused)})")
    for line, text in refused[:8 if len(refused) > COUNT // 5 else 3]:
        print(f"# {line}: {text!r}")
    print("1..3")
    return bool(missed)


os.umask(0o077)
sys.exit(main())
