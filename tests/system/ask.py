#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ask.py SOCKET COMMAND [SETTINGS]: has a line run by 'wrapix exec --server', with our own descriptors, here; its status is ours."""
import os
import sys

import server

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    request = {"command": sys.argv[2], "cwd": os.getcwd(), **({"settings": sys.argv[3]} if sys.argv[3:] else {})}
    sys.exit(server.run(request, (0, 1, 2), sys.argv[1])[0])
