# SPDX-License-Identifier: MIT
"""Where a test that breaks things works: its files by name, in the project unless another directory is named."""
import os
import re


# Of a private git directory and of what is noted about it: what is about to be written, locked, copied to be put in place, checked.
HALF = re.compile(r"/(pending|locks|\.[^/]+\.new|wrapix-(index|config)(\.lock)?|tmp_[^/]+|[^/]+\.lock)$|/incoming/.+$")


def half_done(state):
    """What somebody who was killed left in the git directories that stay: of projects' commands, and for next sessions."""
    found = []
    for kind in ("git", "gitdirs", "gitready"):
        for root, dirs, names in os.walk(os.path.join(state, kind)):
            found += [path for name in dirs + names if HALF.search(path := os.path.join(root, name)) and not HALF.search(root)]
    return sorted(os.path.relpath(path, state) for path in found)


class Place:
    project = None

    def put(self, name, text, where=None):
        path = os.path.join(where or self.project, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def get(self, name, where=None):
        try:
            with open(os.path.join(where or self.project, name), encoding="utf-8", errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return None
