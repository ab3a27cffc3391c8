# SPDX-License-Identifier: MIT
"""Golden plans: makes every plan of 'cases' and compares it with plans/, or writes plans/ anew.

A plan made with --host must depend on nothing but the facts, the arguments and the user's configuration, so each is
made with an empty home, in a directory that holds only the projects, and in a bare environment.
"""
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
WRAPIX = os.path.abspath(os.environ.get("WRAPIX") or os.path.join(TOP, "build/src/cli/wrapix"))
CHANGES = json.load(open(os.path.join(HERE, "changes.json"), encoding="utf-8"))
# What the program under test may know of its surroundings; the sanitizers' options are no business of the plan's.
KEEP = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")


class Case:
    def __init__(self, section, name, words):
        self.section, self.name = section, name
        self.host, self.args, self.config = words[0], words[1:], None
        if self.args and self.args[0].startswith("config="):
            self.config = self.args.pop(0)[len("config="):]
        self.options = self.args[:self.args.index("--")] if "--" in self.args else self.args
        self.path = os.path.join(HERE, "plans", section, name)


def load_cases():
    cases, section = [], None
    for number, line in enumerate(open(os.path.join(HERE, "cases"), encoding="utf-8"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[]")
            continue
        name, colon, rest = line.partition(": ")
        if not colon or not re.fullmatch("[a-z0-9-]+", name):
            sys.exit(f"cases:{number}: not 'NAME: HOST ARGUMENT...'")
        if any(c.section == section and c.name == name for c in cases):
            sys.exit(f"cases:{number}: a second '{name}'")
        cases.append(Case(section, name, shlex.split(rest)))
    return cases


def facts_of(host):
    first, *changes = host.split("+")
    facts = json.load(open(os.path.join(HERE, "hosts", first + ".json"), encoding="utf-8"))
    for change in changes:
        facts.update(CHANGES[change])
    return {key: value for key, value in facts.items() if value is not None}


def to_bytes(word):
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), word.encode())


class World:
    """An empty home, a working directory with the projects, and a file for the facts."""

    def __init__(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="wrapix-golden."))
        self.work = os.path.join(self.dir, "work")
        shutil.copytree(os.path.join(HERE, "projects"), self.work)
        shutil.copytree(os.path.join(HERE, "config"), os.path.join(self.dir, "config"))
        for name in ("home", "empty"):
            os.mkdir(os.path.join(self.dir, name))

    def close(self):
        shutil.rmtree(self.dir)

    def run(self, args, config=None, cwd=None, env=None):
        """Returns (status, stdout, stderr) in bytes, the place of this world taken out."""
        home = os.path.join(self.dir, "home")
        clean = {"PATH": os.environ["PATH"], "HOME": home, "TERM": "dumb"}
        clean.update({key: os.environ[key] for key in KEEP if key in os.environ})
        clean["XDG_CONFIG_HOME"] = os.path.join(self.dir, "config", config) if config else os.path.join(home, ".config")
        clean.update(env or {})
        done = subprocess.run([WRAPIX] + args, cwd=cwd or self.work, env=clean, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)
        place, out, above = self.dir.encode(), done.stdout, os.path.dirname(self.dir)
        while above != "/":  # a profile of Seatbelt names what lies above, which is this machine's
            out = out.replace(f'(deny file-write-unlink file-write-create (literal "{above}"))\n'.encode(), b"")
            above = os.path.dirname(above)
        return done.returncode, out.replace(place, b"TMP"), done.stderr.replace(place, b"TMP")

    def host_file(self, host):
        path = os.path.join(self.dir, "facts.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump(facts_of(host), file)  # in ASCII: \udcXX stays as it is
        return path

    def plan(self, case, more=(), **how):
        args = ["plan", *more]
        if case.host != "-":
            args += ["--host", self.host_file(case.host)]
        return self.run([word.encode() for word in args] + [to_bytes(word) for word in case.args], case.config, **how)


def text_of(result):
    """A result as the lines of a golden file. What no editor would show is a defect here: plans escape it."""
    status, out, err = result
    text = out.decode("utf-8") + err.decode("utf-8")
    return ([f"exit {status}"] if status else []) + text.split("\n")[:-1]


def changed(base, lines):
    """What lines change in base, with the line before and after each change."""
    diff = list(difflib.unified_diff(base, lines, lineterm="", n=1))[2:]
    return ["@@" if line.startswith("@@") else line for line in diff] or ["(no change)"]


def golden(case, first, results):
    """The content of the case's file."""
    lines = text_of(results[case])
    config = f" (configuration: {case.config})" if case.config else ""
    head = [" ".join([f"# {case.host}{config}: wrapix plan", *map(shlex.quote, case.args)])]
    if case is not first and case.section not in ("platforms", "errors") and results[case][0] == 0:
        head.append(f"# changes in {first.section}/{first.name}:")
        lines = changed(text_of(results[first]), lines)
    return "\n".join(head + lines) + "\n"


def goldens(cases, world):
    results = {case: world.plan(case) for case in cases}
    firsts = {}
    for case in cases:
        firsts.setdefault(case.section, case)
    return results, {case: golden(case, firsts[case.section], results) for case in cases}


def strays(cases):
    known = {case.path for case in cases}
    found = [os.path.join(dir, name) for dir, _, names in os.walk(os.path.join(HERE, "plans")) for name in names]
    return sorted(set(found) - known)


def rewrite():
    cases, world, count = load_cases(), World(), 0
    try:
        _, files = goldens(cases, world)
    finally:
        world.close()
    for path in strays(cases):
        os.unlink(path)
        print(f"removed {os.path.relpath(path, TOP)}")
    for case, text in files.items():
        os.makedirs(os.path.dirname(case.path), exist_ok=True)
        old = open(case.path, encoding="utf-8").read() if os.path.exists(case.path) else None
        if old != text:
            with open(case.path, "w", encoding="utf-8") as file:
                file.write(text)
            count += 1
            print(f"wrote {os.path.relpath(case.path, TOP)}")
    print(f"{len(files)} plans, {count} new or changed" + ("; read them: git diff tests/golden" if count else ""))


# --- the test ---

class Tap:
    def __init__(self):
        self.count, self.failed = 0, 0

    def point(self, name, problems):
        self.count += 1
        print(("not ok" if problems else "ok") + f" {self.count} - {name}")
        self.failed += bool(problems)
        for line in "\n".join(problems).split("\n") if problems else []:
            print("# " + re.sub(r"[^ -~]", "?", line))


def differs(case, text):
    if not os.path.exists(case.path):
        return ["there is no such file; 'make golden' writes it"]
    want = open(case.path, encoding="utf-8").read()
    return list(difflib.unified_diff(want.splitlines(), text.splitlines(), "expected", "made", lineterm="", n=2))


def text_facts(lines):
    """What the text says of the facts that the JSON names too."""
    titles = [line[:10].strip() for line in lines if not line.startswith("  ")]
    indented = [line.split()[0] for line in lines if line.startswith("  ")]
    access = ("read", "write", "devices")
    return {"root": [word for word in indented if word not in access],
            "rules": [word for word in indented if word in access],
            **{key: titles.count(title) for key, title in (("env", "env"), ("notes", "note"), ("weaker", "weaker"))},
            **{key: next(line[10:] for line in lines if line.startswith(key + " ")) for key in ("engine", "network")}}


def json_facts(plan):
    return {"root": [op["op"] for op in plan["root"]],
            "rules": [rule["access"] for rule in plan["landlock"]["rules"]],
            **{key: len(plan[key]) for key in ("env", "notes", "weaker")},
            **{key: plan[key] for key in ("engine", "network")}}


def json_agrees(case, result, world):
    if "--json" in case.options:
        plain = Case(case.section, case.name, [case.host] + [word for word in case.args if word != "--json"])
        text = text_of(world.plan(plain))
    else:
        text, result = text_of(result), world.plan(case, ["--json"])
    try:
        said = json_facts(json.loads(result[1]))
    except (ValueError, KeyError) as error:
        return [f"not the JSON of a plan: {error}"]
    return [f"{key}: text has {value}, JSON has {said[key]}"
            for key, value in text_facts(text).items() if said[key] != value]


def secrets(result):
    return ["a value that is a secret is shown"] if b"SECRET" in result[1] + result[2] else []


def coverage(cases, world):
    """Every option, profile, agent and mode has a case: whoever adds one adds its plan."""
    used = {word.split("=")[0] for case in cases for word in case.options if word.startswith("-")}
    pairs = {(a, b) for case in cases for a, b in zip(case.options, case.options[1:])}
    text = world.run(["run", "--help"])[1].decode()
    missing = [f"no case has {option}" for option in re.findall(r"^ +(?:-\w, |    )(--[a-z-]+)", text, re.M)
               if option not in used and option not in ("--dry-run", "--resume", "--on", "--image-ref", "--help")]
    for option, words in re.findall(r"^ +(--[a-z-]+) ((?:[a-z]+\|)+[a-z]+)$", text, re.M) + [
            ("--profile", "|".join(builtin("profiles"))), ("--agent", "|".join(builtin("agents")))]:
        missing += [f"no case has {option} {word}" for word in words.split("|") if (option, word) not in pairs]
    return missing if len(used) > 10 else missing + ["the options could not be read from --help"]


def builtin(kind):
    return sorted(name[:-5] for name in os.listdir(os.path.join(TOP, "data", kind)) if name.endswith(".json"))


def same(what, one, other):
    return [] if one == other else [what] + list(
        difflib.unified_diff(text_of(one), text_of(other), "one", "other", lineterm="", n=0))


def surroundings(case, world):
    """The same facts elsewhere: another directory, and an environment that says everything."""
    loud = {"TERM": "xterm", "LANG": "de_DE.UTF-8", "SHELL": "/bin/false", "USER": "other", "NO_COLOR": "1",
            "HTTPS_PROXY": "http://proxy.example:3128", "XDG_STATE_HOME": "/elsewhere", "ANTHROPIC_API_KEY": "SECRET",
            "GIT_AUTHOR_NAME": "Other", "PWD": "/", "XDG_RUNTIME_DIR": "/elsewhere"}
    quiet = world.plan(case)
    return (same("another directory", quiet, world.plan(case, cwd=os.path.join(world.dir, "empty"))) +
            same("another environment", quiet, world.plan(case, env=loud)))


def reads_back(case, world):
    """What --facts prints of facts that were read is the same facts."""
    first = world.plan(case, ["--facts"])
    path = os.path.join(world.dir, "again.json")
    with open(path, "wb") as file:
        file.write(first[1])
    again = world.run(["plan", "--facts", "--host", path] + [to_bytes(word) for word in case.args])
    plan = world.run(["plan", "--host", path] + [to_bytes(word) for word in case.args])
    return same("facts", first, again) + same("plan", world.plan(case), plan)


def dry_run(world):
    """On this machine: --dry-run is 'plan', and a plan from its own facts is the plan."""
    flags = ["--network", "none", "--", "true"]
    facts = world.run(["plan", "--facts", "empty"] + flags, cwd=world.dir)
    with open(os.path.join(world.dir, "mine.json"), "wb") as file:
        file.write(facts[1].replace(b"TMP", world.dir.encode()))
    plan = world.run(["plan", "empty"] + flags, cwd=world.dir)
    return ([] if plan[0] == 0 else text_of(plan)) + same(
        "run --dry-run", plan, world.run(["run", "--dry-run", "empty"] + flags, cwd=world.dir)) + same(
        "plan --host", plan, world.run(["plan", "--host", "mine.json", "empty"] + flags, cwd=world.dir))


def test():
    cases, world, tap = load_cases(), World(), Tap()
    try:
        results, files = goldens(cases, world)
        for case in cases:
            name = f"{case.section}/{case.name}"
            failed = case.section == "errors"
            tap.point(name, differs(case, files[case]) + secrets(results[case]) +
                      ([] if bool(results[case][0]) == failed else ["the exit status is not that of this section"]))
            if not failed and results[case][0] == 0 and case.section != "seatbelt":  # that is one text
                tap.point(f"{name} as JSON", json_agrees(case, results[case], world))
        for case in cases:
            if case.section == "platforms":
                tap.point(f"{case.name}: nothing else decides", surroundings(case, world))
            # Variables that were let in by name are kept out of printed facts: they may be secrets.
            if case.section in ("platforms", "names", "git", "agents", "limits") and "+token" not in case.host:
                tap.point(f"{case.section}/{case.name}: facts are read back", reads_back(case, world))
        tap.point("every option, profile, agent and mode has a case", coverage(cases, world))
        tap.point("every change of facts has a case", sorted(
            set(CHANGES) - {change for case in cases for change in case.host.split("+")[1:]}))
        tap.point("every file in plans/ has a case", strays(cases))
        tap.point("run --dry-run and plan --host, on this machine", dry_run(world))
    finally:
        world.close()
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


def main():
    if not os.access(WRAPIX, os.X_OK):
        print(f"Bail out! there is no program at {WRAPIX} (WRAPIX)")
        return 1
    return rewrite() if sys.argv[1:] == ["--rewrite"] else test()


if __name__ == "__main__":
    sys.exit(main())
