# SPDX-License-Identifier: MIT
"""without.py CALL[,CALL...][=ERRNO] COMMAND...: runs it on a kernel that lacks these system calls, as far as it can tell:
they fail with ENOSYS, or with the error that is given by name (EPERM: as some containers do it). 'addfd' is an ioctl() of
seccomp's listeners (Linux 5.9; with an answer 5.14)."""
import ctypes
import errno
import os
import platform
import struct
import sys

NUMBERS = {  # the same on both since 424; the older ones by machine
    "x86_64": {"seccomp": 317, "memfd_create": 319, "statx": 332, "renameat2": 316, "getrandom": 318, "copy_file_range": 326,
               "name_to_handle_at": 303, "keyctl": 250, "addfd": 16},
    "aarch64": {"seccomp": 277, "memfd_create": 279, "statx": 291, "renameat2": 276, "getrandom": 278,
                "copy_file_range": 285, "name_to_handle_at": 264, "keyctl": 219, "addfd": 29},
}[platform.machine()]
NUMBERS.update({
    "pidfd_send_signal": 424, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "pidfd_open": 434, "clone3": 435, "close_range": 436, "openat2": 437, "pidfd_getfd": 438, "faccessat2": 439,
    "mount_setattr": 442, "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
    "fchmodat2": 452, "statmount": 457, "listmount": 458,
})
SECOND = {"addfd": 0x40182103}  # where the second argument tells which call it is
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 22, 38, 2
ALLOW, ERROR = 0x7FFF0000, 0x00050000

calls, _, name = sys.argv[1].partition("=")
number = getattr(errno, name or "ENOSYS")
program = [(0x20, 0, 0, 0)]
for call in calls.split(","):
    second = [(0x20, 0, 0, 24), (0x15, 0, 1, SECOND[call])] if call in SECOND else []
    program += [(0x15, 0, 1 + len(second), NUMBERS[call]), *second, (0x06, 0, 0, ERROR | number)]
    program += [(0x20, 0, 0, 0)] if second else []
program.append((0x06, 0, 0, ALLOW))
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *i) for i in program))


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


libc = ctypes.CDLL(None, use_errno=True)
what = Program(len(program), ctypes.addressof(code))
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(what), 0, 0):
    sys.exit("no filter: " + os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[2], sys.argv[2:])
