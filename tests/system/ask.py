#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ask.py SOCKET COMMAND: has a line run by 'wrapix exec --server', with our own descriptors; its status is ours."""
import sys

import server

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(server.run({"command": sys.argv[2]}, (0, 1, 2), sys.argv[1])[0])
