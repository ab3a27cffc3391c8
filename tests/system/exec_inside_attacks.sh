#!/bin/sh
# SPDX-License-Identifier: MIT
# The process that a sandbox is lent for 'wrapix exec', attacked from inside: it has no filter, and nobody may share
# that. Each attempt has something beside it that does work. Prints TAP.
#
# shellcheck disable=SC1091,SC2015,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
cp "$top/tests/lib/lentattack.py" a.py
mkfifo "$project/said"

settings() { # settings FILE [NETWORK] [FILESYSTEM] [MORE]
	printf '{"network":{"allowedDomains":[],"deniedDomains":[]%s},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]%s}%s}\n' \
		"${2-}" "${3-}" "${4-}" >"$1"
}
nest() { # nest SCRIPT [OPTION...]: 'sleeps' is for what was just begun to be there
	nest_script="PATH=/bin2:\$PATH; sleeps() { until grep -qx sleep /proc/\$!/comm; do :; done; }; $1"
	shift
	inside "$nest_script" --mount "$wrapix:/bin2/wrapix:ro" "$@"
}
gives() { # gives NAME WANT SCRIPT [OPTION...]
	gives_name=$1 gives_want=$2
	shift 2
	nest "$@"
	check "$gives_name" is "$(xargs <"$out")" "$gives_want"
}
settings s.json

# --- the lent process ---

gives "anybody inside may ask" "hi" 'python3 a.py run echo hi'
gives "what runs there is out of sight" "0 0" 'wrapix exec -- sh -c "echo go >said; exec sleep 4311.0" & read x <said; python3 a.py seen sleep 4311.0; python3 a.py seen wrapix-lent; kill $!'
gives "... where a process of one's own is not" "1" 'sleep 4312.0 & sleeps; python3 a.py seen sleep 4312.0; kill $!'
gives "... nor can the command see those outside" "0" 'sleep 4313.0 & sleeps; wrapix exec -- python3 a.py seen sleep 4313.0; kill $!'
gives "a descriptor that stands for it is of no use" "EPERM EINVAL" 'python3 a.py peer'
gives "... nor with --allow-nested, where there is no Landlock for files" "EPERM EINVAL" 'python3 a.py peer' --allow-nested
gives "... one of a process of one's own is" "done done" 'python3 a.py control'
gives "a directory is not passed on" "descriptor 9 is a directory, and would lead past the file rules" 'python3 a.py directory'
gives "nonsense harms nobody" "sent hi" 'python3 a.py garbage; wrapix exec -- echo hi'
gives "nor do 200 that say nothing" "200 hi" 'python3 a.py flood 200; wrapix exec -- echo hi'
gives "the name that it goes by starts nothing" "125 hi" 'sh -c "exec -a wrapix-lent wrapix 1 nested" 2>/dev/null || bash -c "exec -a wrapix-lent /bin2/wrapix 1 nested"; echo $?; wrapix exec -- echo hi'
# What it runs, it runs under the filter: also what it looks for on a PATH of ours.
mkdir evil
for name in bash sh git pasta busctl systemd-run getent newuidmap rg bwrap socat; do
	printf '#!/bin/dash\ngrep ^Seccomp: /proc/self/status >>/workspace/ran\nexec /usr/bin/%s "$@"\n' $name >evil/$name
done
chmod +x evil/*
nest 'PATH=/workspace/evil:$PATH wrapix exec -c "echo a; echo b" </dev/null; LD_PRELOAD=/workspace/none.so wrapix exec -- true; cat ran'
check "a program of ours runs under the filter there" is "$(sort -u ran 2>/dev/null)" "Seccomp:	2"

# ... and on no platform that we say it is: a Mac's programs would be started as they are.
printf '#!/bin/sh\ngrep ^Seccomp: /proc/self/status >>/workspace/belt\n' >evil/sandbox-exec
cp evil/sandbox-exec evil/log
chmod +x evil/*
gives "another platform is none of ours to choose" "hi" 'WRAPIX_PLATFORM=darwin PATH=/workspace/evil:$PATH wrapix exec -- echo hi; cat belt 2>/dev/null'
# What the host has by an abstract name, where the network is the host's: by a socket that the lent process connects.
name=wrapix-test-$$
python3 -c "
import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('\0$name'); s.listen()
open('$project/said', 'w').write('x\n')
while True: s.accept()[0].sendall(b'mine')" &
service=$!
hear said
gives "the host's abstract sockets are out of reach" "PermissionError" "python3 a.py abstract $name" --network host
python3 -c "
import socket; s = socket.socket(socket.AF_UNIX); s.connect('\0$name'); print(s.recv(9).decode())" >"$out"
check "... which is there" has "$out" mine
kill $service

# --- the door, from the commands ---

gives "a command does not reach the door" "refused" 'wrapix exec -s s.json -- python3 a.py run echo hi 2>/dev/null || echo refused'
settings door.json ',"allowUnixSockets":["/etc/wrapix/exec"]'
gives "... not when its settings list it" "refused" 'wrapix exec -s door.json -- python3 a.py run echo hi 2>/dev/null || echo refused'
settings all.json ',"allowAllUnixSockets":true'
gives "... and when they allow all sockets it is not heard" "1" 'wrapix exec -s all.json -- python3 a.py run echo hi | grep -c "only processes of the same user"'
gives "... but other sockets of the outer one's are" "told" 'python3 -c "
import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"sock\"); s.listen(); open(\"said\", \"w\").write(\"x\\n\"); s.accept()[0].sendall(b\"told\")" & read x <said
	wrapix exec -s all.json -- python3 -c "
import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"sock\"); print(s.recv(9).decode())"; rm sock'

# --- settings that ask for more ---

settings nested.json "" "" ', "allowNestedUserNamespaces": true'
gives "allowNestedUserNamespaces is refused" "125" 'wrapix exec -s nested.json -- true; echo $?'
check "... with the reason" has "$err" "the sandbox around allows none"
gives "... and works where the outer one allows it" "0" 'wrapix exec -s nested.json -- unshare -Ur id -u' --allow-nested
gives "... and makes nobody more than he was" "1 1" 'wrapix exec -s nested.json -- unshare -Urm sh -c "mount --bind /workspace /usr; echo x >/usr/x" 2>/dev/null; [ -e /usr/x ]; echo $?; wrapix exec -s nested.json -- sh -c "echo x >/etc/x" 2>/dev/null; [ -e /etc/x ]; echo $?' --allow-nested
settings disabled.json "" ',"disabled":true'
gives "filesystem.disabled: as the outer one has it" "1 ok" 'wrapix exec -s disabled.json -- sh -c "echo x >/etc/x; echo x >/usr/x; echo ok >here"; [ -e /etc/x ] || [ -e /usr/x ]; echo $?; cat here'
settings proc.json "" "" ', "enableWeakerNestedSandbox": true'
gives "enableWeakerNestedSandbox: nothing of the outer one's processes" "0" 'sleep 4314.0 & sleeps; wrapix exec -s proc.json -- python3 a.py seen sleep 4314.0; kill $!'
gives "... nor a way into the lent ones" "closed" 'wrapix exec -s proc.json -- sh -c "cat /proc/1/environ /proc/1/mem /proc/1/maps 2>/dev/null | head -c 1; ls /proc/1/fd /proc/1/root/ 2>/dev/null; echo closed"'
settings sys.json "" "" ""
sed -i 's|"allowWrite":\[\]|"allowWrite":["/proc","/sys","/dev","/"]|' sys.json
gives "/proc/sys stays closed" "closed" 'wrapix exec -s sys.json -- sh -c "echo x >/proc/sys/kernel/core_pattern || echo closed" 2>/dev/null'
gives "namespaces stay so" "1" 'wrapix exec -s sys.json -- unshare -Ur true 2>/dev/null; echo $?'

# --- an outer sandbox that is asked about files ---

mkdir -p .claude keys && echo key >keys/k
echo '{"sandbox":{"enabled":true,"filesystem":{"denyRead":["keys"]}}}' >.claude/settings.json
wx run --network none --settings-from claude --mount "$wrapix:/bin2/wrapix:ro" -- sh -c 'cat keys/k; /bin2/wrapix exec -s s.json -- cat keys/k; echo $?'
check "rules that its supervisor holds hold for a lent process, too" is "$(cat "$out")" 1
check "... and nothing was read" lacks "$out" key
wx run --network none --mount "$wrapix:/bin2/wrapix:ro" -- sh -c 'cat keys/k; /bin2/wrapix exec -s s.json -- cat keys/k; echo $?'
check "... where there are none both may" is "$(xargs <"$out")" "key key 0"

# What only a pattern covers is no mount's, but a question: also where it is named as settings, or stands where they do.
mkdir -p mine/.claude them
echo '{"sandbox":{"enabled":true,"filesystem":{"denyRead":["**/.env","**/settings.local.json"]}}}' >.claude/settings.json
settings .env "" "" ', "s3cret_key": 1'
cp .env them/other && cp .env mine/.claude/settings.local.json && cp s.json them && ln -s .env link.json
asked() { # asked SCRIPT: 'e' is exec with its words
	wx run --network none --settings-from claude --mount "$wrapix:/bin2/wrapix:ro" -- sh -c "e() { /bin2/wrapix exec \"\$@\" -- echo ran; echo \$?; }; $1"
}
asked 'e -s them/s.json; e -s /dev/stdin <them/s.json; e -s .env; e -s link.json; e -s /workspace/them/../.env; cd mine; HOME=$PWD e --settings-from claude'
check "settings that the outer rules deny by a pattern are not read" is "$(xargs <"$out")" "ran 0 ran 0 2 2 2 2"
check "... nothing of them is told" lacks "$err" s3cret_key
check "... but the reason" has "$err" ".env could not be read (EACCES)"
asked 'e -s them/other'
check "... as it is of others" has "$err" s3cret_key
sed 's|"allowWrite":\[\]|"allowWrite":["/"]|' s.json >them/wide.json
asked 'timeout 120 /bin2/wrapix exec -d -s them/s.json -- sh -c "until echo y >grown; do sleep 0.02; done; echo grew" 2>them/err & until grep -q started them/err || ! kill -0 $!; do sleep 0.02; done; mv them/wide.json them/s.json; wait'
check "... and others are read again while the command runs" is "$(cat "$out")" grew
rm -r .claude keys mine them .env link.json grown

# The project's files are changed by the outer supervisor alone, and what git obeys it makes private or not at all.
settings wide.json
sed -i 's|"allowWrite":\[\]|"allowWrite":["/"]|' wide.json
mkdir -p plant && cat >plant.sh <<-'EOF'
	cd /workspace/plant
	mkdir plain && echo x >plain/file && mv plain moved && chmod 700 moved && ln -s file moved/link && echo control
	mkdir .git a a/.git; echo 'gitdir: /tmp' >b.git; mv b.git .git; ln -s /tmp .git; mkdir .GIT
	mkdir bare; echo 'ref: refs/heads/x' >bare/HEAD; mkdir bare/objects bare/refs
	true
EOF
gives "exec plants no repository, whatever its settings are" "control 0" 'wrapix exec -s wide.json -- sh plant.sh 2>/dev/null; wrapix exec -s disabled.json -- sh plant.sh >/dev/null 2>&1; echo $?'
check "... the host has none" is "$(find plant -iname .git; [ -e plant/bare/HEAD ] && [ -e plant/bare/objects ] && [ -e plant/bare/refs ] && echo bare)" ""
check "... and the rest" is "$(cat plant/moved/link) $(stat -c %a plant/moved)" "x 700"
rm -r plant plant.sh

# --- limits ---

bomb='import os, sys, time
for name in sys.argv[1:]: # ours, and the other, which is to be there before either takes what there is
    open(sys.argv[1], "w").close()
    while not os.path.exists(name): time.sleep(0.01)
n = 0
try:
    while n < 300:
        if os.fork() == 0:
            os.read(0, 1)
            os._exit(0)
        n += 1
except OSError: pass
print("bounded" if n < 80 else n)'
printf '%s' "$bomb" >bomb.py
gives "processes count for the outer sandbox" "bounded" 'mkfifo hold; exec 7<>hold; wrapix exec -- python3 bomb.py <&7; rm hold' --pids 80
gives "... which has room for more without that limit" "300" 'mkfifo hold; exec 7<>hold; wrapix exec -- python3 bomb.py <&7; rm hold' --pids 2000
gives "... also when two have it together" "bounded bounded together" 'mkfifo hold; exec 7<>hold; wrapix exec -- python3 bomb.py a b <&7 >1 & wrapix exec -- python3 bomb.py b a <&7 >2; wait; cat 1 2; echo together; rm hold' --pids 80

# --- keys ---

if command -v ssh-add >/dev/null; then
	wx key add site >/dev/null
	git init -q .
	git config user.name n && git config user.email n@example.org
	gives "the agent of the deploy key is out of reach" "0 2" 'ssh-add -l >/dev/null; echo $?; wrapix exec -s s.json -- ssh-add -l >/dev/null; echo $?' --deploy-key site
	settings agent.json ',"allowUnixSockets":["/etc/wrapix/ssh/agent"]'
	gives "... unless it is listed" "2" 'wrapix exec -s agent.json -- ssh-add -l | wc -l' --deploy-key site
fi

# --- the end ---

"$wrapix" run --network none --name ended --mount "$wrapix:/wrapix:ro" -- /wrapix exec -- sh -c 'echo up >said; exec sleep 4315.0' >/dev/null 2>&1 &
pid=$!
hear said
check "the lent process is there" running ^wrapix-lent
rights() { for pid in $(pgrep -u "$(id -u)" ^wrapix-lent); do grep -qx "CapPrm:	0000000800000000" "/proc/$pid/status" && grep -qx "CapEff:	0*" "/proc/$pid/status" && return 0; done; return 1; }
check "... with a right that is of no use, and that nobody inside has: none of them may trace it" rights
await sh -c "'$wrapix' ps | grep -q ended" # which the command does not wait for
wx stop ended
wait $pid 2>/dev/null
check "stop: the command is gone" none_running "^sleep 4315.0"
check "... and what was lent" none_running ^wrapix-lent
"$wrapix" run --network none --mount "$wrapix:/wrapix:ro" -- /wrapix exec -- sh -c 'echo up >said; exec sleep 4316.0' >/dev/null 2>&1 &
pid=$!
hear said
kill -9 $pid
wait $pid 2>/dev/null
check "kill -9 of the supervisor: the command is gone" none_running "^sleep 4316.0"
check "... and what was lent" none_running ^wrapix-lent
"$wrapix" run --network none --mount "$wrapix:/wrapix:ro" -- sh -c '/wrapix exec -- sh -c "echo up >said; exec sleep 4317.0"; echo $?; echo down >said; /wrapix exec -- echo again' >"$tmp/log/out" 2>"$tmp/log/err" &
pid=$!
hear said
running ^wrapix-lent | xargs kill -9
check "kill -9 of the lent process: the command is gone" none_running "^sleep 4317.0"
hear said
wait $pid
check "... is told, and the next one finds another" is "$(xargs <"$tmp/log/out")" "125 again"
check "... with a word about it" has "$tmp/log/err" "the outer sandbox ended the command"
finish
