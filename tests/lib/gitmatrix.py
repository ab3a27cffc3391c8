#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a sandbox can plant in a project so that the host's git runs it, or loses or hides something.

gitmatrix.py control|sandbox|cow|exec plain|worktree|submodule|below|root|made|trees|both DIR: each group of cases is planted in a fresh project, by a
plain shell (control: what a plain mount would be), in 'wrapix run --git private', in a copy-on-write session (of which all is applied then)
or by 'wrapix exec', and then the host's git does what users, prompts and editors do: while the session still runs, and after it. Prints a line for each
case that worked, 'N of M' at the end; in a sandbox also what broke for the user.

below, root, made: a repository that a command comes to, below its working directory, in another directory that it may write, or that it
clones itself. In the last, what it does to its own objects and references is no harm to anybody: there only what runs counts, or
leads out of it.

trees, both: a linked work tree, where the command may write the repository's own files as well: it starts above both, or in the work tree. The
host's git is used in both.
"""
import json
import os
import pty
import shutil
import subprocess
import sys

MODE, LAYOUT, TOP = sys.argv[1:4]
WRAPIX = os.environ["WRAPIX"]
COMMAND = {"sandbox": [WRAPIX, "run", "--git", "private", "--network", "none"], "exec": [WRAPIX, "exec"],
           "cow": [WRAPIX, "run", "--git", "private", "--network", "none", "--workspace", "cow"]}.get(MODE)
MARKS = TOP + "/marks"
ENV = {"PATH": "/usr/bin:/bin", "HOME": TOP + "/home", "LC_ALL": "C", "TERM": "xterm", "GIT_TERMINAL_PROMPT": "0", "PAGER": "cat"}

# A program that leaves a mark: where it stands in a shell script, a hook, a configuration.
def mark(case):
    return f"touch {MARKS}/{case}"


def hook(case, name=None):
    name = name or case
    return f"""mkdir -p $C/hooks; printf '#!/bin/sh\\n{mark(case)}\\n' >$C/hooks/{name}; chmod +x $C/hooks/{name}
"""


def key(case, name, value=None):
    value = value or mark(case) + " #"
    return f"""git config {name} '{value}'
"""


HOOKS = ["post-index-change", "pre-commit", "reference-transaction", "post-checkout", "post-commit"]
ATTRS = """printf '*.c filter=clean\\n*.p filter=proc\\n*.s filter=smudge\\n*.t diff=conv\\n*.d diff=comm\\n*.m merge=evil\\n' >.gitattributes
"""
EXT = "git config protocol.ext.allow always\n"
FSMONITOR = "[core]\\n\\tfsmonitor = \"{}\"\\n"


def config_text(case):
    return FSMONITOR.format(mark(case) + " #")


def bare(case, path, files=False):
    objects = "touch {0}/objects {0}/refs; chmod +x {0}/objects {0}/refs" if files else "mkdir -p {0}/objects {0}/refs"
    return f"""mkdir -p {path}; {objects.format(path)}; echo 'ref: refs/heads/x' >{path}/HEAD
printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = ..\\n{config_text(case)[8:]}' >{path}/config
"""


def nested(case, path):
    return f"""git init -q {path}; (cd {path}; echo 1 >f; git add f; git commit -q -m n)
printf '{config_text(case)}' >>{path}/.git/config
"""


# Groups: the cases, and what plants them; C is the repository's git directory, G the work tree's own.
GROUPS = {
    "hooks": (HOOKS, "".join(hook(h) for h in HOOKS)),
    "hooksPath": (["core.hooksPath"], f"mkdir -p h; printf '#!/bin/sh\\n{mark('core.hooksPath')}\\n' >h/pre-commit; chmod +x h/pre-commit; git config core.hooksPath $H/h\n"),
    "fsmonitor": (["core.fsmonitor"], key("core.fsmonitor", "core.fsmonitor")),
    "keys": (["core.sshCommand", "core.sshCommand-push", "core.pager", "core.editor", "sequence.editor", "alias",
              "filter.clean", "filter.smudge", "diff.textconv", "diff.command", "merge.driver", "gpg.program",
              "credential.helper", "core.gitProxy", "trailer.command"],
             ATTRS +
             f"git config core.sshCommand 'case $* in *receive*) {mark('core.sshCommand-push')};; *) {mark('core.sshCommand')};; esac; false #'\n" +
             key("core.pager", "core.pager") + key("core.editor", "core.editor") + key("sequence.editor", "sequence.editor") +
             key("alias", "alias.st", "!" + mark("alias")) +
             key("filter.clean", "filter.clean.clean", mark("filter.clean") + "; cat") +
             key("filter.smudge", "filter.smudge.smudge", mark("filter.smudge") + "; cat") +
             key("diff.textconv", "diff.conv.textconv", mark("diff.textconv") + "; cat") + key("diff.command", "diff.comm.command") +
             key("merge.driver", "merge.evil.driver") + key("gpg.program", "gpg.program", "$MARKER") +
             key("credential.helper", "credential.helper", "!" + mark("credential.helper")) +
             key("core.gitProxy", "core.gitProxy", "$PROXY") + key("trailer.command", "trailer.x.command") + "git config trailer.x.key X\n"),
    "process": (["filter.process"], ATTRS + key("filter.process", "filter.proc.process")),
    "external": (["diff.external"], key("diff.external", "diff.external")),
    "gpg.ssh": (["gpg.ssh.program"], "git config gpg.format ssh; git config user.signingkey key::x\n" + key("gpg.ssh.program", "gpg.ssh.program", "$MARKER")),
    "include": (["include.path"], f"printf '{config_text('include.path')}' >inc; git config include.path $H/inc\n"),
    "includeIf": (["includeIf"], f"printf '{config_text('includeIf')}' >inc; git config 'includeIf.gitdir:/**.path' $H/inc\n"),
    "config.worktree": (["config.worktree"], f"git config extensions.worktreeConfig true; printf '{config_text('config.worktree')}' >$G/config.worktree\n"),
    "insteadOf": (["url.insteadOf"], EXT + f"git config 'url.ext::sh -c {mark('url.insteadOf').replace(' ', '% ')}% #.insteadOf' $(git config remote.origin.url)\n"),
    "uploadpack": (["remote.uploadpack"], key("remote.uploadpack", "remote.origin.uploadpack", mark("remote.uploadpack") + ";#")),
    "vcs": (["remote.vcs"], EXT + f"git config remote.origin.url 'sh -c {mark('remote.vcs').replace(' ', '% ')}'; git config remote.origin.vcs ext\n"),
    "remotes": ([".git/remotes"], EXT + f"mkdir -p $C/remotes; echo 'URL: ext::sh -c {mark('.git_remotes').replace(' ', '% ')}' >$C/remotes/evil\n"),
    "submodule.update": (["submodule.update"], key("submodule.update", "submodule.mod.update", "!" + mark("submodule.update")) +
                         "git -C mod checkout -q HEAD~1\n"),
    "modules": (["modules-config", "modules-hooks"], f"printf '{config_text('modules-config')}' >>$M/config\n"
                f"mkdir -p $M/hooks; printf '#!/bin/sh\\n{mark('modules-hooks')}\\n' >$M/hooks/post-index-change; chmod +x $M/hooks/*\n"),
    "away": (["mv-git-away"], f"mv .git old; cp -r old new 2>/dev/null; mv new .git; printf '{config_text('mv-git-away')}' >>.git/config\n"),
    "to-file": (["git-to-file"], f"cp -r $C elsewhere; printf '{config_text('git-to-file')}' >>elsewhere/config; rm -rf .git; echo gitdir: elsewhere >.git\n"),
    "to-link": (["git-to-link"], f"cp -r $C elsewhere; printf '{config_text('git-to-link')}' >>elsewhere/config; rm -rf .git; ln -s elsewhere .git\n"),
    "config-link": (["config-link"], f"cp $C/config cfg; printf '{config_text('config-link')}' >>cfg; rm $C/config; ln -s $H/cfg $C/config\n"),
    "hooks-link": (["hooks-link"], f"mkdir hk; printf '#!/bin/sh\\n{mark('hooks-link')}\\n' >hk/pre-commit; chmod +x hk/*; rm -rf $C/hooks; ln -s $H/hk $C/hooks\n"),
    "worktrees": (["worktrees-config"], f"git config extensions.worktreeConfig true; printf '{config_text('worktrees-config')}' >$C/worktrees/wt/config.worktree\n"),
    "alternate": (["alternateRefsCommand"], "mkdir -p $C/objects/info; echo $OTHER/objects >>$C/objects/info/alternates\n" + key("alternateRefsCommand", "core.alternateRefsCommand")),
    "nested": (["sub-redirect", "nested-gitlink", "nested-untracked", "bare", "bare-files", "gitfile-commondir"],
               f"mkdir -p r1 r1d; cp -r $C/. r1d; printf '{config_text('sub-redirect')}' >>r1d/config; echo gitdir: ../r1d >r1/.git\n" +
               nested("nested-gitlink", "n1") + "git add n1 2>/dev/null; git commit -q -m link 2>/dev/null\n" + nested("nested-untracked", "n2") +
               bare("bare", "b1") + bare("bare-files", "b2", True) +
               "mkdir -p g1 g2; echo 'ref: refs/heads/x' >g2/HEAD; mkdir -p cd/objects cd/refs; echo ../cd >g2/commondir; echo gitdir: ../g2 >g1/.git\n"
               f"printf '[core]\\n\\trepositoryformatversion = 0\\n{config_text('gitfile-commondir')[8:]}' >cd/config\n"),
    "commondir": (["commondir"], f"cp -r $C cdir; printf '{config_text('commondir')}' >>cdir/config; echo $H/cdir >$G/commondir\n"),
    "rebase": (["rebase-todo"], f"GIT_SEQUENCE_EDITOR='sed -i 1ib' git rebase -q -i HEAD~1 >/dev/null 2>&1; for d in $G/rebase-merge; do echo 'exec {mark('rebase-todo')}' >>$d/git-rebase-todo; done\n"),
    "reflog": (["logs-HEAD-link"], f"git config user.name '$({mark('logs-HEAD-link')})'; rm -f $G/logs/HEAD; ln -s {TOP}/home/.bashrc $G/logs/HEAD\n"),
    "msg-link": (["COMMIT_EDITMSG-link"], f"rm -f $G/COMMIT_EDITMSG; ln -s {TOP}/home/victim $G/COMMIT_EDITMSG\n"),
    "index-link": (["index-link"], f"rm -f $G/index; ln -s {TOP}/home/made $G/index\n"),
    "fetch-link": (["FETCH_HEAD-link"], f"rm -f $G/FETCH_HEAD; ln -s {TOP}/home/victim $G/FETCH_HEAD\n"),
    "exclude": (["info-exclude"], "mkdir -p $C/info; echo 'hidden*' >>$C/info/exclude; echo x >hidden.sh\n"),
    "trojan": (["object-trojan"], "o=$(git rev-parse HEAD:a.c); n=$(echo trojan | git hash-object -w --stdin); p() { echo $C/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }\n"
               "mkdir -p $(dirname $(p $o)); cp -f $(p $n) $(p $o); rm -rf $C/objects/pack\n"),
    "replace": (["refs-replace"], "git replace -f HEAD:a.c $(echo trojan | git hash-object -w --stdin)\n"),
    "alternates": (["alternates"], "rm -rf $C/objects/pack/*; mkdir -p $C/objects/info; echo /nowhere >$C/objects/info/alternates; rm -rf $C/objects/??\n"),
    "rm-objects": (["rm-objects"], "rm -rf $C/objects/pack $C/objects/??\n"),
    "rm-refs": (["rm-refs"], "rm -rf $C/refs/heads/* $C/packed-refs\n"),
    "unchanged": (["assume-unchanged"], "git update-index --assume-unchanged a.c; echo evil >>a.c\n"),
    "modules-cr": (["gitmodules-CR"], "printf '[submodule \"x\\r\"]\\n\\tpath = x\\r\\n\\turl = ./x\\n' >>.gitmodules; git add .gitmodules; git commit -q -m cr\n"),
}


def sh(text, cwd, tty=False, **env):
    """A shell of the host's user; what it prints goes nowhere."""
    argv = ["timeout", "60", "sh", "-c", text]
    if not tty:
        return subprocess.run(argv, cwd=cwd, env={**ENV, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(argv[0], argv, {**ENV, **env})
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass
    os.close(fd)
    return os.waitpid(pid, 0)[1]


def template():
    os.makedirs(TOP + "/home")
    os.makedirs(MARKS)
    for name in ("marker", "proxy"):
        path = f"{TOP}/{name}"
        with open(path, "w", encoding="utf8") as f:
            f.write(f"#!/bin/sh\ntouch \"{MARKS}/$(cat {path}.case)\"\nfalse\n")
        os.chmod(path, 0o755)
    sh("""git config --global user.name U; git config --global user.email u@example.org; git config --global init.defaultBranch main
git config --global protocol.file.allow always; git config --global advice.detachedHead false; git config --global core.editor true
git init -q --bare origin; git init -q other; (cd other; git commit -q --allow-empty -m o)
git init -q modsrc; (cd modsrc; echo 1 >m; git add .; git commit -q -m 1; echo 2 >m; git commit -qam 2)
git init -q t; cd t; for x in c p s t d m; do echo 1 >a.$x; done; git add .; git commit -q -m 1
git submodule --quiet add ../modsrc mod; git commit -q -m mod; git checkout -q -b side; echo side >a.m; git commit -qam side
git checkout -q main; echo main >a.m; git commit -qam main; git remote add origin $PWD/../origin; git push -q origin main
git worktree add -q --detach ../t-wt; git branch wtb; echo b >b.c; git add b.c; git commit -q -m 2""", TOP)
    shutil.rmtree(TOP + "/t-wt")
    sh("git worktree prune; mkdir -p .git/worktrees/wt && echo ../.. >.git/worktrees/wt/commondir && cp .git/HEAD .git/worktrees/wt/ && "
       f"echo {TOP}/nowhere/.git >.git/worktrees/wt/gitdir; touch .git/worktrees/wt/locked", TOP + "/t")


def project(name):
    """A fresh one of the layout; what is around it goes along."""
    base = f"{TOP}/p-{name}"
    os.makedirs(base)
    shutil.copytree(TOP + "/t", base + "/repo", symlinks=True)
    if LAYOUT in ("plain", "below", "root"):
        return base, base + "/repo"
    if LAYOUT == "made":
        shutil.rmtree(base + "/repo")
        return base, base + "/repo"
    if LAYOUT in ("trees", "both"):
        sh("git worktree add -q -b work ../tree", base + "/repo")
        return base, base + "/tree"
    if LAYOUT == "worktree":
        sh("git worktree add -q -b work ../tree && cd ../tree && git submodule --quiet update --init", base + "/repo")
        return base, base + "/tree"
    sh("git init -q super && cd super && git -c protocol.file.allow=always submodule --quiet add ../repo sub && git commit -q -m s && "
       "cd sub && git checkout -q -B main && git fetch -q ../../repo side:side && git config submodule.mod.url ../../../modsrc && "
       "git submodule --quiet update --init", base)
    return base, base + "/super/sub"


# What users, prompts and editors do.
USER = """git submodule update; git status; git -c color.ui=always diff; echo 2 >>a.c; echo 2 >>a.p; echo 2 >>a.s; echo 2 >>a.t; echo 2 >>a.d; git diff >/dev/null; git log -p -2 >/dev/null
git add -A; git commit -q -m host; git st; git log -1; git checkout -q -b hb$$; git checkout -q -; rm -f a.s; git checkout -q -- a.s a.c; git merge -q side; git merge --abort
git fetch -q; git fetch -q evil; git fetch -q $OTHER; git ls-remote ssh://127.0.0.1:1/x; git push -q ssh://127.0.0.1/x HEAD; git ls-remote git://127.0.0.1:1/x
git commit -qam wip; git commit -q --amend; git rebase -q -i HEAD~1; git rebase --continue; git rebase --abort; git commit -q -S --allow-empty -m s
printf 'protocol=https\\nhost=x\\n\\n' | git credential fill; echo | git interpret-trailers; git submodule update; git -C mod status; git -C mod diff; git gc -q --auto
for d in r1 n1 n2 b1 b2 g1 g2 cd; do git -C $d status; done; git stash list; git tag -l; git branch -a
"""


def host_does(where):
    sh("git -p log -1; git -p diff HEAD~1", where, tty=True, OTHER=TOP + "/other")
    sh(USER, where, OTHER=TOP + "/other")
    if LAYOUT in ("trees", "both"):
        sh(USER, os.path.dirname(where) + "/repo", OTHER=TOP + "/other")
    sh("[ ! -f ~/.bashrc ] || . ~/.bashrc", where)


ITS_OWN = ("info-exclude", "assume-unchanged", "refs-replace", "object-trojan", "alternates", "rm-objects", "rm-refs")


# The file .git of a work tree that it comes to is a command's to write, as all its files are.
ITS_FILE = (("trees", "to-file"), ("trees", "to-link"))


def damage(case, where, before):
    """What needs no program to be bad."""
    if LAYOUT == "made" and case in ITS_OWN:
        return False
    if case == "info-exclude":
        return os.path.exists(where + "/hidden.sh") and not out("git status --porcelain -uall | grep hidden; git ls-files hidden.sh", where)
    if case == "assume-unchanged":
        return ("evil" in open(where + "/a.c", encoding="utf8").read() and
                not out("git status --porcelain | grep 'a[.]c'; git show HEAD:a.c | grep evil", where))
    if case == "refs-replace":
        return "trojan" in out("git show HEAD~1:a.c HEAD:a.c", where)
    if case == "object-trojan":
        return "trojan" in out(f"git cat-file blob {before['blob']}", where)
    if case in ("alternates", "rm-objects"):
        return sh(f"git cat-file -e {before['head']}^{{tree}} && git log {before['head']} >/dev/null", where) != 0
    if case == "rm-refs":
        return before["side"] and not out("git rev-parse -q --verify refs/heads/side", where)
    if case in ("COMMIT_EDITMSG-link", "FETCH_HEAD-link"):
        return open(TOP + "/home/victim", encoding="utf8").read() != "precious\n"
    if case == "index-link":
        return os.path.exists(TOP + "/home/made")
    return False


def out(text, cwd):
    return subprocess.run(["sh", "-c", text], cwd=cwd, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, errors="replace").stdout


# How a command gets to the repository, and where it starts.
GO = {"below": "cd {0}\n", "root": "cd {0}\n", "trees": "cd {0}\n", "both": "",
      "made": "git clone -q {1}/t {0} && cd {0} && git branch -q side origin/side; git remote set-url origin {1}/origin; git submodule --quiet update --init\n"}


def start(base, where):
    if LAYOUT not in GO:
        return where, []
    os.makedirs(base + "/start", exist_ok=True)
    if LAYOUT in ("below", "trees"):
        return base, []
    with open(base + "/settings.json", "w", encoding="utf8") as f:
        json.dump({"network": {"allowedDomains": [], "deniedDomains": []},
                   "filesystem": {"denyRead": [], "allowWrite": [".", where, *([base + "/repo"] if LAYOUT == "both" else [])], "denyWrite": []},
                   "protect": {"remove": [".gitmodules"]}}, f)
    return where if LAYOUT == "both" else base + ("/start" if LAYOUT == "root" else ""), ["-s", base + "/settings.json"]


def plant_env(where):
    return (GO.get(LAYOUT, "").format(where, TOP) + f"H={where}; G=$(git rev-parse --absolute-git-dir); C=$(cd $(git rev-parse --git-common-dir) && pwd); "
            f"M=$(cd mod && git rev-parse --absolute-git-dir); ORIGIN={TOP}/origin; OTHER={TOP}/other; MARKER={TOP}/marker; PROXY={TOP}/proxy\n")


def harm(cases, where, before):
    return {case for case in cases if damage(case, where, before)}


def run_group(name, cases, plant):
    base, where = project(name)
    open(TOP + "/home/victim", "w", encoding="utf8").write("precious\n")
    for path in (TOP + "/home/.bashrc", TOP + "/home/made"):
        if os.path.exists(path):
            os.unlink(path)
    open(TOP + "/marker.case", "w", encoding="utf8").write("gpg.ssh.program" if name == "gpg.ssh" else "gpg.program")
    open(TOP + "/proxy.case", "w", encoding="utf8").write("core.gitProxy")
    model = TOP + "/t" if LAYOUT == "made" else where
    before = {"head": out("git rev-parse HEAD", model).strip(), "blob": out("git rev-parse HEAD:a.c", model).strip(),
              "side": out("git rev-parse -q --verify refs/heads/side", model)}
    script = plant_env(where) + plant.replace("$MARKER", TOP + "/marker").replace("$PROXY", TOP + "/proxy")
    begin, options = start(base, where)
    if MODE == "control":
        sh(script, begin)
        found = harm(cases, where, before)
        host_does(where)
        return where, found | harm(cases, where, before)
    sync = begin
    if MODE == "cow":  # whose FIFOs are not the project's
        sync = base + "/sync"
        os.makedirs(sync)
        options = ["--mount", f"{sync}:{sync}:rw"]
    ready, go = sync + "/.wx-ready", sync + "/.wx-go"
    os.mkfifo(ready)
    os.mkfifo(go)
    with subprocess.Popen([*COMMAND, *options, *([where] if MODE != "exec" else []), "--", "sh", "-c",
                           script + f"cd {sync}; echo >.wx-ready; read -r x <.wx-go; exit 0"], env=ENV, cwd=begin, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=open(f"{TOP}/said-{name}", "w", encoding="utf8")) as session:
        sh(f"read -r x <{ready}", begin)
        found = harm(cases, where, before)
        host_does(where)
        sh(f"echo >{go}", begin)
        session.wait(60)
    os.unlink(ready)
    os.unlink(go)
    if MODE == "cow":
        subprocess.run([WRAPIX, "apply", "--yes", "--theirs"], cwd=where, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60, check=False)
    found |= harm(cases, where, before)
    host_does(where)
    return where, found | harm(cases, where, before)


# What can be planted together: one session, where each would take its own.
TOGETHER = ["hooks", "hooksPath", "fsmonitor", "keys", "process", "external", "gpg.ssh", "include", "includeIf", "config.worktree", "insteadOf",
            "uploadpack", "vcs", "remotes", "submodule.update", "modules", "worktrees", "alternate", "nested"]


def groups():
    names = sys.argv[4:] or list(GROUPS)
    if MODE == "control":
        return {name: GROUPS[name] for name in names}
    some = [name for name in names if name in TOGETHER]
    together = ([case for name in some for case in GROUPS[name][0]], "".join(GROUPS[name][1] for name in some))
    return {**({"together": together} if some else {}), **{name: GROUPS[name] for name in names if name not in TOGETHER}}


def main():
    template()
    total = worked = 0
    for name, (cases, plant) in groups().items():
        for f in os.listdir(MARKS):
            os.unlink(f"{MARKS}/{f}")
        where, found = run_group(name, cases, plant)
        for case in cases:
            total += 1
            hit = os.path.exists(f"{MARKS}/{case.replace('/', '_')}") or case in found
            worked += hit
            if hit == (MODE != "control"):
                print("worked" if hit else "did not work", case)
        if MODE != "control" and LAYOUT != "made" and (LAYOUT, name) not in ITS_FILE and sh("git fsck --connectivity-only --no-dangling && git status", where) != 0:
            print("broken for the user:", name)
        shutil.rmtree(f"{TOP}/p-{name}", ignore_errors=True)
    print(f"{worked} of {total}")


main()
