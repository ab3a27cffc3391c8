# SPDX-License-Identifier: MIT
"""Where a test that breaks things works: its files by name, in the project unless another directory is named."""
import os


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
