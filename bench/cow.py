# SPDX-License-Identifier: MIT
"""Copy-on-write sessions: what it takes to look at changes, to take them over, and back."""
import time

from lab import progress, summary

FILES, CHANGED = 100000, 1000


def changes(lab, rounds):
    """1000 changed files of a project of 100000."""
    progress(f"making a project of {FILES} files")
    project = lab.make_dir("cow")
    for i in range(FILES):
        if i % 100 == 0:
            directory = lab.make_dir("cow", f"d{i // 100}")
        lab.write(f"{directory}/f{i % 100}", f"int f{i}(void);\n" * 5)
    lab.run([*lab.run_words("none", project, "--workspace", "cow"), "sh", "-c",
             f"for i in $(seq 0 {CHANGED - 1}); do echo changed >>d$i/f1; done"])
    commands = {"diff": ["diff"], "diff --stat": ["diff", "--stat"], "apply": ["apply", "--yes"], "undo": ["undo"]}
    samples = {name: [] for name in commands}
    for _ in range(rounds):
        for name, words in commands.items():
            begin = time.perf_counter()
            lab.run([lab.wrapix, *words], cwd=project)
            samples[name].append((time.perf_counter() - begin) * 1e6)
    lab.run([lab.wrapix, "discard", "--yes"], cwd=project)
    return {name: summary(values) for name, values in samples.items()}
