#!/bin/sh
# SPDX-License-Identifier: MIT
# What a command finds inside by default: identity, the project, private places, nothing else of the host,
# environment. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

uid=$(id -u) gid=$(id -g) name=$(id -un)

# --- identity ---
says "the uid is the user's own" "$uid" 'id -u'
says "the gid is the user's own" "$gid" 'id -g'
says "whoami" "$name" whoami
says "id -gn knows the group" "$name" 'id -gn'
says "getpwuid" "$name /home/wrapix $uid $gid" \
	'python3 -c "import os,pwd; p=pwd.getpwuid(os.getuid()); print(p.pw_name,p.pw_dir,p.pw_uid,p.pw_gid)"'
says "getent passwd" "/home/wrapix" "getent passwd $name | cut -d: -f6"
says "HOME, ~ and ~user agree" "/home/wrapix /home/wrapix /home/wrapix" "echo \$HOME ~ ~$name"
says "USER and LOGNAME" "$name $name" 'echo $USER $LOGNAME'
says "the shell of passwd is SHELL, and is there" "yes" \
	"[ \"\$(getent passwd $name | cut -d: -f7)\" = \"\$SHELL\" ] && [ -x \"\$SHELL\" ] && echo yes"
says "the host's name stays outside" "wrapix" 'cat /etc/hostname | grep "^$(uname -n)$"'
says "... and resolves" "127.0.0.1" 'getent hosts wrapix | cut -d" " -f1'

# --- the project ---
inside 'echo made >f; mkdir d; echo x >d/g; ln -s f l'
check "files can be made in /workspace" ended 0
check "... and are in DIR" is "$(cat "$project/f" "$project/d/g")" "$(printf 'made\nx')"
owned() { is "$(stat -c %u:%g "$1")" "$uid:$gid"; }
for f in f d d/g l; do
	check "... and belong to the user: $f" owned "$project/$f"
done
says "the command starts in /workspace" "/workspace" pwd
says "PWD says so" "/workspace" 'printenv PWD'
says "a file of the project can be read, changed, removed" "y" 'echo y >>f; rm d/g; tail -n 1 f'
check "... really" absent "$project/d/g"
umask 027
inside 'umask; touch masked'
umask 022
check "the umask is kept" printed 0027
check "... and works" is "$(stat -c %a "$project/masked")" 640
mkfifo "$project/fifo"
inside 'echo through >fifo & cat fifo; python3 -c "
import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"sock\"); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect(\"sock\"); print(\"connected\")"'
check "FIFOs and sockets work in the project" printed "$(printf 'through\nconnected')"
rm -f "$project"/*  2>/dev/null
rm -rf "$project/d"
wx run "$tmp/project" --network none -- sh -c 'pwd; touch given'
check "DIR can be named" printed /workspace
check "... and is what is mounted" exists "$project/given"

# --- private places ---
for d in /tmp /var/tmp /dev/shm; do
	says "$d is 1777, empty, writable" "1777 0" "stat -c %a $d | tr '\n' ' '; touch $d/x && rm $d/x; ls -A $d | wc -l"
done
touch "/tmp/wrapix-test-mark.$$" "/var/tmp/wrapix-test-mark.$$"
says "the host's /tmp and /var/tmp are not there" "" "ls -d /tmp/wrapix-test-mark.$$ /var/tmp/wrapix-test-mark.$$ 2>/dev/null; true"
rm -f "/tmp/wrapix-test-mark.$$" "/var/tmp/wrapix-test-mark.$$"
inside "touch /tmp/wrapix-test-in.$$ /var/tmp/wrapix-test-in.$$"
check "what is made in /tmp stays inside" absent "/tmp/wrapix-test-in.$$"
check "what is made in /var/tmp stays inside" absent "/var/tmp/wrapix-test-in.$$"
echo secret >"$home/secret"
says "the home is private and empty" "700 0" 'stat -c %a ~ | tr "\n" " "; ls -A ~ | wc -l'
says "... writable" "kept" 'echo kept >~/f; cat ~/f'
says "... and gone afterwards" "0" 'ls -A ~ | wc -l'
says "the user's own home is not there" "" "ls -d '$home' '$real_home/.'* 2>/dev/null; true"
says "XDG_RUNTIME_DIR is there, private, writable" "700" 'stat -c %a $XDG_RUNTIME_DIR; touch $XDG_RUNTIME_DIR/x'

inside 'echo one >~/kept' --home keep
check "--home keep: a home to write" ended 0
says "--home keep: kept for the next time" "one" 'cat ~/kept' --home keep
says "... but not by default" "" 'cat ~/kept 2>/dev/null; true'
mkdir "$tmp/other"
wx run "$tmp/other" --network none --home keep -- sh -c 'ls -A ~'
check "... nor for another project" printed ""
kept=$(find "$state/homes" -name kept)
check "... it is in the state directory" is "$(cat "$kept")" one
check "... closed for others" is "$(stat -c %a "$(dirname "$kept")")" 700
# An agent's files go into a new one, and stay as the agent changed them.
mkdir "$tmp/bin" "$tmp/third"
printf '#!/bin/sh\ncat ~/.claude/settings.json && echo mine >~/.claude/settings.json\n' >"$tmp/bin/claude"
chmod +x "$tmp/bin/claude"
PATH=$tmp/bin:$PATH wx run "$tmp/third" --network none --home keep
check "--home keep: the agent's files are there" grep -q skipDangerousModePermissionPrompt "$out"
PATH=$tmp/bin:$PATH wx run "$tmp/third" --network none --home keep
check "... and are not written over" printed mine

# --- nothing else of the host ---
cat >"$tmp/visible.py" <<'PY'
"""visible.py PLAN MOUNTS NAMES: the mounts and names inside are those of the plan, and have its rights."""
import json, os, sys
plan = json.load(open(sys.argv[1]))
bad = []
mounts = {}
for line in open(sys.argv[2], "rb").read().decode("utf-8", "surrogateescape").splitlines():
    fields = line.split()
    mounts[fields[4].encode().decode("unicode_escape")] = fields[5].split(",")
ops = {op["dest"]: op for op in plan["root"]}
mounting = {d: op for d, op in ops.items() if op["op"] in ("bind", "scratch", "proc", "devpts", "cover", "hide", "readonly")}
host_mounts = [line.split()[4] for line in open("/proc/self/mountinfo")]
below = [d for d, op in ops.items() if op["op"] == "bind"]
for path in mounts:
    # What the host has mounted below a bound directory comes along.
    if path != "/" and path not in mounting and not any(path.startswith(d + "/") for d in below):
        bad.append("mounted and not in the plan: " + path)
for path, op in mounting.items():
    if path not in mounts:
        if not op.get("optional"):
            bad.append("in the plan and not mounted: " + path)
        continue
    flags = mounts[path]
    read_only = op["op"] in ("cover", "hide", "readonly") or op.get("mode") == "ro"
    if read_only != ("ro" in flags):
        bad.append("%s is %s" % (path, "writable" if read_only else "read-only"))
    if "nosuid" not in flags:
        bad.append(path + " is not nosuid")
    if not op.get("devices") and op["op"] != "devpts" and "nodev" not in flags:
        bad.append(path + " is not nodev")
if "ro" not in mounts["/"]:
    bad.append("/ is writable")
# The names in our own root file system: those of the plan and the directories that lead to them.
wanted = {"/"}
for path in ops:
    while path != "/":
        wanted.add(path)
        path = os.path.dirname(path)
seen = set(open(sys.argv[3], "rb").read().decode("utf-8", "surrogateescape").rstrip("\0").split("\0"))
bad += ["visible and not in the plan: " + p for p in sorted(seen - wanted)]
bad += ["in the plan and not visible: " + p for p in sorted(wanted - seen) if not ops.get(p, {}).get("optional")
        and not any(p.startswith(d + "/") for d in mounting)]
print("\n".join(bad))
sys.exit(bool(bad) or len(seen) < 30)
PY
for options in "" "--home keep" "--allow-nested"; do
	# shellcheck disable=SC2086 # options are words
	wx plan --json --network none $options -- true
	cp "$out" "$tmp/plan.json"
	# shellcheck disable=SC2086
	inside 'cat /proc/self/mountinfo >mounts; find / -xdev -print0 >names 2>/dev/null; true' $options
	check "the mounts and names inside are those of the plan ($options)" \
		python3 "$tmp/visible.py" "$tmp/plan.json" "$project/mounts" "$project/names"
done
rm -f "$project/mounts" "$project/names"
says "no secrets in /etc" "" 'for f in shadow gshadow shadow- gshadow- sudoers sudoers.d ssh machine-id subuid subgid \
	ssl/private krb5.keytab NetworkManager netplan wpa_supplicant letsencrypt cron.d crontab fstab passwd- \
	docker kubernetes wireguard openvpn ppp apt sysctl.d pam.d security dbus-1 systemd init.d \
	apt/auth.conf git-credentials gitconfig npmrc; do ls -d "/etc/$f"; done 2>/dev/null; true'
says "no unreadable file in /etc either" "" 'find /etc ! -type l ! -readable 2>/dev/null'
says "other users are not in passwd" "$(printf '%s\nnobody\nroot' "$name" | sort -u)" 'cut -d: -f1 /etc/passwd | sort -u'
says "nothing of the host in / but programs" "" 'ls -d /root /boot /srv /mnt /media /lost+found /initrd* /vmlinuz* 2>/dev/null; true'
says "... and in /opt our own programs alone" "srt wrapix wrapix-notify" 'find /opt ! -type d -printf "%f\n" | sort | xargs'
says "no /sys but what programs need" "devices" 'ls /sys'
says "... the number of processors among it" "$(nproc)" nproc
says "/usr cannot be written" "Read-only" 'touch /usr/x 2>&1 | grep -o Read-only'
says "/ cannot be written" "Read-only" 'mkdir /x 2>&1 | grep -o Read-only'
says "/etc cannot be written" "Read-only" 'touch /etc/x 2>&1 | grep -o Read-only'
for options in "" --allow-nested; do
	# shellcheck disable=SC2086 # options are words
	inside 'stat -c %d:%i / /.. /../.. /workspace/../.. /proc/self/root/.. /proc/1/root/.. 2>/dev/null | sort -u | wc -l' $options
	check "/.. is / by every name ($options)" is "$(cat "$out")" 1
done
for ns in user mnt pid ipc uts cgroup net; do
	host_ns=$(readlink "/proc/self/ns/$ns")
	inside "readlink /proc/self/ns/$ns"
	check "a $ns namespace of its own" isnt "$(cat "$out")" "$host_ns"
done
says "no capability in any set, no new privileges" "0000000000000000 1" \
	'grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb)|^NoNewPrivs" /proc/self/status | cut -f2 | sort -u | tr "\n" " " | sed "s/ $//"'
says "a seccomp filter is on" "2" 'grep ^Seccomp: /proc/self/status | cut -f2'

# --- environment ---
inside 'env -0 >environment' --env NAMED=value --env FROM_HOST
env -i PATH="$PATH" HOME="$HOME" LANG=C.UTF-8 LC_TIME=C LANGUAGE=en TERM=screen COLORTERM=truecolor TZ=Europe/Paris NO_COLOR=1 \
	GIT_AUTHOR_NAME="A U" GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org \
	FROM_HOST="of the host" SSH_AUTH_SOCK=/x DISPLAY=:0 AWS_SECRET_ACCESS_KEY=k LD_PRELOAD= GITHUB_TOKEN=t EDITOR=vi PAGER=more \
	DBUS_SESSION_BUS_ADDRESS=unix:path=/x http_proxy=http://x USER=somebody ANTHROPIC_API_KEY=k GIT_DIR=/x SHELLOPTS=x \
	"$wrapix" run --network none --env NAMED=value --env FROM_HOST --env UNSET_ON_HOST --env EMPTY= --env 'ODD=a=b c' -- \
	env -0 >"$tmp/env" 2>"$tmp/log/err"
tr '\0' '\n' <"$tmp/env" | sort >"$tmp/log/out"
cat >"$tmp/want" <<END
COLORTERM=truecolor
EMPTY=
FROM_HOST=of the host
GIT_AUTHOR_EMAIL=a@example.org
GIT_AUTHOR_NAME=A U
GIT_COMMITTER_EMAIL=c@example.org
GIT_COMMITTER_NAME=C
HOME=/home/wrapix
LANG=C.UTF-8
LANGUAGE=en
LC_TIME=C
LOGNAME=$name
NAMED=value
NO_COLOR=1
ODD=a=b c
PATH=/opt/wrapix/bin:/home/wrapix/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
PWD=/workspace
SHELL=$("$wrapix" plan -- true | sed -n 's/^env *SHELL=//p')
TERM=screen
TMPDIR=/tmp
TZ=Europe/Paris
USER=$name
WRAPIX=1
XDG_RUNTIME_DIR=/run/user/$uid
END
check "the environment is exactly the allow-list and what was named" diff "$tmp/want" "$tmp/log/out"
check "... without a word" empty "$tmp/log/err"
says "a later --env wins" "2" 'echo $A' --env A=1 --env A=2
says "no environment of ours in PID 1" "" 'cat /proc/1/environ 2>/dev/null; true'
says "the command line of wrapix is not in PID 1" "wrapix-init" "tr -d '\\0' </proc/1/cmdline" --env SECRET=word
for v in HOME=/x USER=x LOGNAME=x PWD=/x 1A=b =b A-B=c; do
	wx run --network none --env "$v" -- true
	check "--env $v is refused" refused 2 "env"
done
TZ=Asia/Tokyo inside 'date +%Z'
check "TZ" printed JST
says "the time zone is the host's" "$(date +%Z)" 'date +%Z'
LC_ALL=C.UTF-8 inside 'locale charmap'
check "the locale" printed UTF-8
finish
