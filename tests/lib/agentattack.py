#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attacks the ssh-agent from inside, one by one: agentattack.py NAME [ARGUMENT...]. Prints what came of it.

Messages are put together by hand, so that they can be wrong in every way."""

import hashlib
import os
import socket
import struct
import sys

FAILURE, SUCCESS, IDENTITIES, SIGNATURE = 5, 6, 12, 14
NAMES = {FAILURE: "refused", SUCCESS: "success", IDENTITIES: "identities", SIGNATURE: "signed"}


def string(data):
    data = data.encode() if isinstance(data, str) else data
    return struct.pack(">I", len(data)) + data


def take_string(data):
    size = struct.unpack(">I", data[:4])[0]
    return data[4 : 4 + size], data[4 + size :]


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect(os.environ["SSH_AUTH_SOCK"])
    return s


def read(s, n):
    data = b""
    while len(data) < n:
        more = s.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def receive(s):
    body = read(s, struct.unpack(">I", read(s, 4))[0])
    return body[0], body[1:]


def ask(s, kind, body=b""):
    s.sendall(struct.pack(">IB", len(body) + 1, kind) + body)
    return receive(s)


def outcome(s, kind, body=b""):
    try:
        kind, _ = ask(s, kind, body)
    except (EOFError, ConnectionError):
        return "closed"
    return NAMES.get(kind, str(kind))


def public(name):
    import base64

    with open(f"/etc/wrapix/ssh/{name}.pub") as f:
        return base64.b64decode(f.read().split()[1])


def sign(s, key, data):
    return outcome(s, 13, string(key) + string(data) + struct.pack(">I", 0))


def login(key, session=b"s" * 32, user="git", service="ssh-connection", method="publickey", more=b""):
    return string(session) + b"\x32" + string(user) + string(service) + string(method) + b"\1" + \
        string("ssh-ed25519") + string(key) + more


def sshsig(space, text=b"tree", hash_name="sha512"):
    return b"SSHSIG" + string(space) + string(b"") + string(hash_name) + string(hashlib.new(hash_name, text).digest())


def bind(s, host, session=b"s" * 32, signature=None, forwarded=0):
    signature = signature or string("ssh-ed25519") + string(b"x" * 64)
    return outcome(s, 27, string("session-bind@openssh.com") + string(host) + string(session) + string(signature) +
                   bytes([forwarded]))


def attack_list():
    kind, body = ask(connect(), 11)
    n, body, keys = struct.unpack(">I", body[:4])[0], body[4:], []
    for _ in range(n):
        key, body = take_string(body)
        _, body = take_string(body)
        keys.append(key)
    return "both and no other" if kind == IDENTITIES and keys == [public("deploy"), public("signing")] else "other keys"


def attack_git_message():  # the control: what is allowed
    return sign(connect(), public("signing"), sshsig("git"))


def attack_message_by_deploy_key():
    return sign(connect(), public("deploy"), sshsig("git"))


def attack_other_namespace():
    return " ".join(sign(connect(), public("signing"), sshsig(n)) for n in ("file", "", "git\0", "email", "GIT"))


def attack_message_forms():
    key, whole = public("signing"), sshsig("git")
    return " ".join(sign(connect(), key, d) for d in (
        whole + b"x", whole[:-1], whole[1:], b"", b"SSHSIG", whole.replace(b"sha512", b"sha384"), sshsig("git", hash_name="sha1"),
        b"SSHSIG" + string("git") + string("x") + string("sha512") + string(b"d" * 64)))


def attack_login_by_signing_key():
    return sign(connect(), public("signing"), login(public("signing")))


def attack_unbound():
    return sign(connect(), public("deploy"), login(public("deploy")))


def attack_raw():
    return " ".join(sign(connect(), public("deploy"), d) for d in (b"", b"x", b"\0" * 64, os.urandom(300)))


def attack_own_host(key_file):
    """A host key of ours: properly in form, and not pinned."""
    import base64

    with open(key_file) as f:
        host = base64.b64decode(f.read().split()[1])
    s = connect()
    return bind(s, host) + " " + sign(s, public("deploy"), login(public("deploy")))


def attack_pinned_host():
    """The pinned host's key, and a session that the host never signed."""
    import base64

    with open("/etc/wrapix/ssh/known_hosts") as f:
        hosts = [base64.b64decode(line.split()[2]) for line in f if not line.startswith("#")]
    said = set()
    for host in hosts:
        for signature in (None, b"", string("ssh-rsa") + string(b"x" * 256), string("rsa-sha2-256") + string(b"x" * 256),
                          string("ecdsa-sha2-nistp256") + string(string(b"\1") + string(b"\1"))):
            for forwarded in (0, 1):
                s = connect()
                said.add(bind(s, host, signature=signature, forwarded=forwarded))
                said.add(sign(s, public("deploy"), login(public("deploy"))))
                s.close()
    return " ".join(sorted(said))


def attack_other_requests():
    """Adding, removing, locking, smart cards, unknown ones."""
    key = string("ssh-ed25519") + string(b"p" * 32) + string(b"k" * 64) + string("mine")
    said = [outcome(connect(), 17, key), outcome(connect(), 25, key + b"\1\0\0\0\1"), outcome(connect(), 18, string(public("deploy"))),
            outcome(connect(), 19), outcome(connect(), 22, string("secret")), outcome(connect(), 23, string("secret")),
            outcome(connect(), 20, string("/x.so") + string("")), outcome(connect(), 26, b""),
            outcome(connect(), 27, string("query")), outcome(connect(), 27, string("x@y") + b"z")]
    said += [outcome(connect(), n) for n in range(256) if n not in (11, 13, 17, 18, 19, 20, 22, 23, 25, 26, 27)]
    return " ".join(sorted(set(said)))


def attack_lengths():
    """Messages that say more, less or nothing."""
    said = set()
    for head in (struct.pack(">I", 0), struct.pack(">I", 0xFFFFFFFF), struct.pack(">I", 9000) + b"\r" * 9000):
        s = connect()
        try:
            s.sendall(head)
            receive(s)
            said.add("answered")
        except (EOFError, ConnectionError):
            said.add("closed")
    s = connect()
    s.sendall(b"\0\0\0\5\r\0")  # and never the rest
    said.add(attack_list())
    for body in (b"\xff\xff\xff\xff", struct.pack(">I", 10) + b"x", string(public("deploy")) + b"\xff\xff\xff\xf0"):
        said.add(outcome(connect(), 13, body))
        said.add(outcome(connect(), 27, body))
    return " ".join(sorted(said))


def attack_byte_by_byte():
    s, message = connect(), struct.pack(">IB", 1, 11)
    for i in range(len(message)):
        s.sendall(message[i : i + 1])
    return NAMES[receive(s)[0]]


def attack_crowd():
    """More connections than are served at a time; each gets its turn when others go."""
    many = []
    for _ in range(200):
        s = socket.socket(socket.AF_UNIX)
        s.setblocking(False)
        try:
            s.connect(os.environ["SSH_AUTH_SOCK"])
        except BlockingIOError:
            break
        many.append(s)
    for s in many[:150]:
        s.close()
    return attack_list()


def attack_silent():
    """As many connections as are served at a time, none of which asks for anything, or says it to the end."""
    many = [connect() for _ in range(64)]
    for s in many[::2]:
        s.sendall(b"\0\0\0\5\13")
    return attack_list()


def attack_flood():
    """Wishes without waiting for each answer, of which only so many a second are granted; then it works again."""
    import time

    s, key, n = connect(), public("signing"), 20000
    body = string(key) + string(sshsig("git")) + struct.pack(">I", 0)
    said = []
    while len(said) < n and "refused" not in said:  # however slow the machine is: until they are too many
        s.sendall(100 * (struct.pack(">IB", len(body) + 1, 13) + body))
        said += [NAMES.get(receive(s)[0], "?") for _ in range(100)]
    granted = said.count("signed")

    end = time.monotonic() + 10
    while sign(s, key, sshsig("git")) != "signed" and time.monotonic() < end:
        time.sleep(0.1)
    fine = 0 < granted and set(said) <= {"signed", "refused"} and sign(s, key, sshsig("git")) == "signed"
    return "bounded" if fine and granted < n else f"{granted} of {n}, {sorted(set(said))}"


def attack_dialogs():
    """Wishes that nobody waits for: each may open a dialog on the host, which goes when its wish does. Says how many seconds that took."""
    import time

    begin = time.monotonic()
    for _ in range(30):
        s = connect()
        body = string(public("signing")) + string(sshsig("git")) + struct.pack(">I", 0)
        s.sendall(struct.pack(">IB", len(body) + 1, 13) + body)
        time.sleep(0.1)
        s.close()
    return f"done {int(time.monotonic() - begin)}"


def attack_question(user, *ssh):
    """A login of ssh's own, in whose signed data another user stands: what the question to the user says then."""
    import subprocess
    import threading

    def between(client):
        agent = connect()
        while head := client.recv(4, socket.MSG_WAITALL):
            body = read(client, struct.unpack(">I", head)[0])
            if body[0] == 13:
                key, rest = take_string(body[1:])
                data, flags = take_string(rest)
                session, rest = take_string(data)
                body = bytes([13]) + string(key) + string(string(session) + rest[:1] + string(user) + take_string(rest[1:])[1]) + flags
            agent.sendall(struct.pack(">I", len(body)) + body)
            kind, answer = receive(agent)
            client.sendall(struct.pack(">IB", len(answer) + 1, kind) + answer)

    own = socket.socket(socket.AF_UNIX)
    own.bind("/tmp/between")
    own.listen()
    threading.Thread(target=lambda: between(own.accept()[0]), daemon=True).start()
    subprocess.run(["ssh", "-o", "IdentityAgent=/tmp/between", *ssh], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return "done"


def attack_search(masked, *places):
    """Looks for a secret (masked, so that this process does not hold it in one piece) in files and in every process."""
    wanted = bytes(b ^ 0x5A for b in bytes.fromhex(masked))
    found = []

    def look(path, chunks):
        rest = b""
        for chunk in chunks:
            if wanted in rest + chunk:
                found.append(path)
                return
            rest = chunk[-len(wanted):]

    def file_chunks(path):
        try:
            with open(path, "rb", buffering=0) as f:
                while chunk := f.read(1 << 20):
                    yield chunk
        except OSError:
            return

    def memory_chunks(pid):
        try:
            with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
                for line in maps:
                    start, end = (int(x, 16) for x in line.split()[0].split("-"))
                    try:
                        mem.seek(start)
                        yield mem.read(min(end - start, 64 << 20))
                    except (OSError, ValueError, OverflowError):
                        continue
        except OSError:
            return

    seen = 0
    for place in places:
        for top, _, names in os.walk(place):
            for name in names:
                path = os.path.join(top, name)
                if os.path.isfile(path):
                    seen += 1
                    look(path, file_chunks(path))
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("environ", "cmdline", "auxv"):
            look(f"/proc/{pid}/{name}", file_chunks(f"/proc/{pid}/{name}"))
        if int(pid) != os.getpid():
            look(f"/proc/{pid}/mem", memory_chunks(pid))
    return " ".join(found) if found else "nothing" if seen else "no files"


print(globals()["attack_" + sys.argv[1]](*sys.argv[2:]))
