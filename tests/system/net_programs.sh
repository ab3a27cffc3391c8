#!/bin/sh
# SPDX-License-Identifier: MIT
# The filtered network for programs that know nothing of it: no proxy variable, no certificate of ours, an empty
# environment. Each reaches an allowed host, and is told at once that another one does not exist. Prints TAP.
#
#	net_programs.sh [queue|static|ports]
#
# shellcheck disable=SC1091,SC2016,SC2086,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
cp "$lib/netclient.c" "$lib/netclient.go" "$lib/NetClient.java" $world/keys/user $world/known_hosts "$project"
chmod 600 "$project/user"

bare() { # bare SCRIPT
	start=$(date +%s%N)
	wx run --filter-tier "$tier" --allow allowed.test --allow registry.test -- \
		sh -c 'exec env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin HOME="$HOME" sh -c "$1"' sh "$1"
	took=$((($(date +%s%N) - start) / 1000000))
}
reaches() { # reaches NAME WANT SCRIPT
	bare "$3"
	base=$took # of a program like the next one
	check "$1" has "$out" "$2"
}
# A resolver that waits for an answer waits for seconds, and then asks again.
said() { grep -qF -- "$1" "$out" "$err" || { echo "nobody said '$1'"; false; }; }
soon() { [ $took -lt $((base + 4000)) ] || { echo "it took $took ms, what succeeds $base"; false; }; }
failed_soon() { isnt "$rc" 0 && said "$1" && soon; }
misses() { # misses NAME TEXT SCRIPT: it fails, says TEXT, and soon
	# A busy machine is slow now and then, a resolver that waits each time.
	tries=8
	while bare "$3" && ! soon >/dev/null && [ $((tries -= 1)) -gt 0 ]; do :; done
	check "$1" failed_soon "$2"
	check "... with an event" event "other.test: not-allowed"
}
needs() { command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] || { skip "$1" "$1 is not installed"; false; }; }
web="hello from allowed.test at "

# --- clients of the web ---
reaches "curl" "$web" 'curl -sS http://allowed.test/'
reaches "curl: TLS" "$web" 'curl -sS --cacert ca.pem https://allowed.test/'
reaches "curl: HTTP/2 is tried, IPv4, IPv6" "$web" 'curl -sS4 --cacert ca.pem https://allowed.test/ && curl -sS6 --cacert ca.pem --http2 https://allowed.test/'
reaches "curl: an upload" "$(head -c 3000000 /dev/zero | sha256sum | cut -c1-64)" 'head -c 3000000 /dev/zero | curl -sS -T - http://allowed.test/upload'
reaches "curl: a download" "30000000" 'curl -sS http://allowed.test/bytes/30000000 | wc -c'
misses "curl: another host" "Could not resolve host: other.test" 'curl -sS http://other.test/'
misses "curl: a redirect to another host" "Could not resolve host: other.test" 'curl -sSL http://allowed.test/redirect/other.test/'
reaches "wget" "$web" 'wget -qO- http://allowed.test/'
reaches "wget: TLS" "$web" 'wget -qO- --ca-certificate=ca.pem https://allowed.test/'
misses "wget: another host" "unable to resolve host address" 'wget -O- http://other.test/'
needs busybox && {
	reaches "busybox wget" "$web" 'busybox wget -qO- http://allowed.test/'
	misses "busybox wget: another host" "bad address" 'busybox wget -qO- http://other.test/'
	reaches "busybox nslookup" "allowed.test" 'busybox nslookup allowed.test'
	misses "busybox nslookup: another host" "NXDOMAIN" 'busybox nslookup other.test'
}

# --- languages ---
reaches "python: urllib" "$web" 'python3 -c "import urllib.request as u; print(u.urlopen(\"http://allowed.test/\").read().decode())"'
reaches "python: urllib, TLS" "$web" 'SSL_CERT_FILE=ca.pem python3 -c "import urllib.request as u; print(u.urlopen(\"https://allowed.test/\").read().decode())"'
misses "python: another host" "Name or service not known" 'python3 -c "import urllib.request as u; u.urlopen(\"http://other.test/\")"'
reaches "perl" "$web" 'perl -MIO::Socket::INET -e "\$s = IO::Socket::INET->new(\"allowed.test:80\") or die; print \$s \"GET / HTTP/1.0\r\nHost: allowed.test\r\n\r\n\"; print <\$s>"'
needs node && {
	reaches "node: fetch" "$web" 'node -e "fetch(\"http://allowed.test/\").then(r => r.text()).then(console.log)"'
	reaches "node: fetch, TLS" "$web" 'NODE_EXTRA_CA_CERTS=ca.pem node -e "fetch(\"https://allowed.test/\").then(r => r.text()).then(console.log)"'
	reaches "node: c-ares" "198.18." 'node -e "require(\"dns\").resolve4(\"allowed.test\", (e, a) => console.log(e || a))"'
	misses "node: another host" "ENOTFOUND" 'node -e "fetch(\"http://other.test/\").catch(e => { console.log(e.cause.code); process.exitCode = 1 })"'
	misses "node: c-ares, another host" "ENOTFOUND" 'node -e "require(\"dns\").resolve4(\"other.test\", e => { console.log(e.code); process.exitCode = 1 })"'
}
needs go && for cgo in 0 1; do
	(cd "$project" && CGO_ENABLED=$cgo GOCACHE="$tmp/go" GO111MODULE=off go build -o go$cgo netclient.go) >"$tmp/log/why" 2>&1 || explain
	reaches "Go, cgo=$cgo" "$web" "./go$cgo allowed.test 80"
	misses "Go, cgo=$cgo: another host" "no such host" "./go$cgo other.test 80"
done
needs go && reaches "Go, cgo=1, its own resolver" "$web" 'GODEBUG=netdns=go ./go1 allowed.test 80'
needs javac && {
	(cd "$project" && javac NetClient.java) >"$tmp/log/why" 2>&1 || explain
	reaches "Java" "$web" 'java NetClient http://allowed.test/'
	misses "Java: another host" "UnknownHostException: other.test" 'java NetClient http://other.test/'
}
needs musl-gcc && {
	(cd "$project" && musl-gcc -static -o musl netclient.c) >"$tmp/log/why" 2>&1 || explain
	reaches "a static musl program" "$web" './musl allowed.test 80'
	misses "a static musl program: another host" "no such name" './musl other.test 80'
}

# --- git, ssh ---
reaches "git over https" "from git" 'GIT_SSL_CAINFO=$PWD/ca.pem git clone -q https://allowed.test/git/repo.git /tmp/r && cat /tmp/r/file'
misses "git over https: another host" "Could not resolve host" 'GIT_SSL_CAINFO=$PWD/ca.pem git clone -q https://other.test/git/repo.git /tmp/r'
reaches "git://" "from git" 'git clone -q git://allowed.test/repo.git /tmp/r && cat /tmp/r/file'
misses "git://: another host" "unable to look up other.test" 'git clone -q git://other.test/repo.git /tmp/r'
needs sshd && {
	ssh_options="-F /dev/null -i user -o IdentitiesOnly=yes -o UserKnownHostsFile=known_hosts -o BatchMode=yes"
	who=$(id -un)
	reaches "ssh" "over there" "ssh $ssh_options $who@allowed.test echo over there"
	reaches "ssh: binary, both ways" "$(head -c 5000000 /dev/zero | sha256sum | cut -c1-64)" "head -c 5000000 /dev/zero | ssh $ssh_options $who@allowed.test cat | sha256sum"
	misses "ssh: another host" "Could not resolve hostname other.test" "ssh $ssh_options $who@other.test true"
	reaches "git over ssh" "from git" "GIT_SSH_COMMAND='ssh $ssh_options' git clone -q ssh://$who@allowed.test$world/git/repo.git /tmp/r && cat /tmp/r/file"
}

# --- packages ---
[ -x /usr/lib/apt/apt-helper ] && {
	reaches "apt's http method" "$web" '/usr/lib/apt/apt-helper download-file http://allowed.test/ /tmp/f >/tmp/log 2>&1; cat /tmp/f /tmp/log'
	misses "apt: another host" "other.test" '/usr/lib/apt/apt-helper -o Acquire::Retries=0 download-file http://other.test/ /tmp/f'
}
needs npm && {
	reaches "npm" "hello from npm" 'npm --registry http://registry.test/ install --no-audit --no-fund wrapix-hello >/tmp/npm 2>&1 || cat /tmp/npm; node -p "require(\"wrapix-hello\")"'
	misses "npm: another host" "ENOTFOUND" 'npm_config_fetch_retries=0 npm --registry http://other.test/ install --no-audit --no-fund wrapix-hello'
}

# --- tools for names and ports ---
needs dig && {
	reaches "dig, by UDP" "198.18." 'dig +short allowed.test'
	reaches "dig, by TCP" "198.18." 'dig +short +tcp allowed.test'
	reaches "dig @another server" "198.18." 'dig +short @8.8.8.8 allowed.test'
	reaches "dig @another server, IPv6" "198.18." 'dig +short @2001:4860:4860::8888 allowed.test'
	reaches "dig: another host" "NXDOMAIN" 'dig other.test'
	check "... with an event" event "other.test: not-allowed"
	reaches "host, nslookup" "allowed.test" 'nslookup allowed.test'
}
needs nc && {
	reaches "nc" "$web" 'printf "GET / HTTP/1.0\r\nHost: allowed.test\r\n\r\n" | nc -w 50 allowed.test 80'
}
needs socat && reaches "socat" "$web" 'printf "GET / HTTP/1.0\r\nHost: allowed.test\r\n\r\n" | socat -t 5 - TCP:allowed.test:80'

finish
