# SPDX-License-Identifier: MIT
"""resize.py COMMAND...: runs it on a terminal of 33 by 101, which becomes 44 by 99 when it says 'ready'. Prints what is seen.

Nothing is typed, not even an end of input as script(1) does: what podman passes in when the container has ended is left unread
by conmon, and costs podman the output that it has not read (ECONNRESET)."""
import fcntl
import os
import pty
import struct
import sys
import termios


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


pid, master = pty.fork()
if pid == 0:
    resize(0, 33, 101)
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
resized = False
while True:
    try:
        data = os.read(master, 4096)
    except OSError:
        break
    seen += data
    if b"ready" in seen and not resized:
        resized = True
        resize(master, 44, 99)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
