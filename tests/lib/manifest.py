# SPDX-License-Identifier: MIT
"""manifest.py check FORM < TEXT: validates it against the schemas, and prints the kinds of its objects, or what is wrong.
manifest.py get FORM KIND PATH < TEXT: one value, as JSON. PATH is dotted, with numbers for elements."""
import json
import os
import re
import sys

import jsonschema
import yaml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema"))
import kube


class Strict(yaml.SafeLoader):
    """A key that stands twice is a mistake, too."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key) for key, _ in node.value]
        if len(keys) != len(set(keys)):
            raise ValueError(f"a key stands twice at {node.start_mark}")
        return super().construct_mapping(node, deep)


def load(form):
    text = sys.stdin.read()
    if form == "devcontainer":
        return [json.loads(re.sub(r"(?m)^//.*$", "", text))]
    if form == "oci":
        return [json.loads(text)]
    return [one for one in yaml.load_all(text, Strict) if one is not None]


def schema_of(form, document):
    if form == "kube":
        return kube.KINDS[document["kind"]]
    return {"compose": kube.COMPOSE, "devcontainer": kube.DEVCONTAINER}[form]


def main():
    what, form = sys.argv[1:3]
    documents = load(form)
    if what == "check":
        for document in documents:
            jsonschema.validate(document, schema_of(form, document))
        print(" ".join(document.get("kind", form) for document in documents))
        return
    kind, path = sys.argv[3:5]
    value = next(d for d in documents if d.get("kind", form) == kind)
    for step in path.split("."):
        value = value[int(step)] if isinstance(value, list) else value[step.replace("~", ".")]
    print(json.dumps(value))


try:
    main()
except (jsonschema.ValidationError, ValueError, KeyError) as wrong:
    sys.exit(f"manifest: {type(wrong).__name__}: {getattr(wrong, 'message', wrong)} at {list(getattr(wrong, 'absolute_path', []))}")
