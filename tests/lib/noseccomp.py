# SPDX-License-Identifier: MIT
"""noseccomp.py COMMAND...: runs it on a kernel that has no seccomp(2), as far as it can tell (ENOSYS)."""
import ctypes
import os
import platform
import struct
import sys

CALL = {"x86_64": 317, "aarch64": 277}[platform.machine()]
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER, ENOSYS = 22, 38, 2, 38
program = [(0x20, 0, 0, 0), (0x15, 0, 1, CALL), (0x06, 0, 0, 0x00050000 | ENOSYS), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *i) for i in program))


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


libc = ctypes.CDLL(None, use_errno=True)
what = Program(len(program), ctypes.addressof(code))
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(what), 0, 0):
    sys.exit("no filter: " + os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
