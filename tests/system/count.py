#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""count.py: what scripts/count makes of logs, the second run of unsteady scripts included. Prints TAP."""
import json
import os
import subprocess
import sys
import tempfile

COUNT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "count")
GOOD, BAD = "ok 1 - a\nok 2 - b\n1..2\n", "ok 1 - a\nnot ok 2 - b\n# why it failed\n1..2\n"
points = []


def program(name, text, result=None):
    return {"name": f"wrapix:system / {name}", "stdout": text, "stderr": "", "result": result or ("FAIL" if "not ok" in text else "OK")}


def run(first, *args, second=None, must_run="0"):
    """Status and output of count for the programs of a first and of a second run."""
    with tempfile.TemporaryDirectory() as where:
        paths = []
        for name, programs in (("testlog.json", first), ("again.json", second)):
            paths.append(os.path.join(where, name))
            if programs is not None:
                with open(paths[-1], "w", encoding="utf-8") as log:
                    log.writelines(json.dumps(entry) + "\n" for entry in programs)
        done = subprocess.run([COUNT, *args, "--again", paths[1], paths[0]], capture_output=True, text=True, check=False,
                              env={**os.environ, "WRAPIX_TESTS_MUST_RUN": must_run})
        return done.returncode, done.stdout


def check(what, got, status, *words, without=()):
    right = got[0] == status and all(word in got[1] for word in words) and not any(word in got[1] for word in without)
    points.append(right)
    print(f"{'' if right else 'not '}ok {len(points)} - {what}")
    if not right:
        print("\n".join(f"# {line}" for line in [f"status {got[0]}", *got[1].splitlines()]))


check("all that passed", run([program("x.sh", GOOD), program("y", "", "OK")]), 0, "3 passed, 0 failed, 0 skipped", without=["UNSTEADY"])
check("a point that failed, with its reason", run([program("x.sh", BAD)]), 1, "FAILED system/x.sh: b\n    # why it failed", "1 passed, 1 failed")
check("a plan that never came", run([program("x.sh", "ok 1 - a\n", "TIMEOUT")]), 1, "did not come to its end (TIMEOUT)", "1 passed, 1 failed")
check("points that never came", run([program("x.sh", "1..4\nok 1 - a\n", "ERROR")]), 1, "1 passed, 3 failed")
check("a skipped point", run([program("x.sh", "ok 1 - a # SKIP no b\n1..1\n")]), 0, "SKIPPED system/x.sh: a (no b)", "0 passed, 0 failed, 1 skipped")
check("... where all must run", run([program("x.sh", "ok 1 - a # SKIP no b\n1..1\n")], must_run="1"), 1, "0 failed, 1 skipped")
check("a log that is not there", run(None), 1, "was never written", "0 passed, 1 failed")

steady = program("z.sh", GOOD)
check("failed, and passes the second time", run([program("x.sh", BAD), steady], second=[program("x.sh", GOOD)]), 0,
      "UNSTEADY system/x.sh: b\n    # why it failed", "1 unsteady", "4 passed, 0 failed", without=["FAILED"])
check("failed both times", run([program("x.sh", BAD), steady], second=[program("x.sh", BAD)]), 1,
      "FAILED system/x.sh: b", "3 passed, 1 failed", without=["UNSTEADY"])
check("... elsewhere the second time", run([program("x.sh", BAD)], second=[program("x.sh", "not ok 1 - a\nok 2 - b\n1..2\n")]), 1,
      "FAILED system/x.sh: b", without=["UNSTEADY"])
check("a second run that never came", run([program("x.sh", BAD)]), 1, "FAILED system/x.sh: b", without=["UNSTEADY"])
check("a second run of what passed decides nothing", run([steady], second=[program("z.sh", BAD)]), 0, "2 passed, 0 failed", without=["UNSTEADY"])

check("failed, and passes every time after", run([program("x.sh", BAD)], second=[program("x.sh", GOOD)] * 5), 0, "1 unsteady", "2 passed, 0 failed")
check("... but once", run([program("x.sh", BAD)], second=[program("x.sh", t) for t in (GOOD, GOOD, BAD, GOOD, GOOD)]), 1, "FAILED system/x.sh: b", without=["UNSTEADY"])

LOTS = "# GIT_SEED=4\n" + BAD
check("who failed runs again, by its name", run([program("n.sh one", BAD), steady], "--to-repeat", "plain"), 0, "n.sh one\n", without=["z.sh"])
check("... also who did not come to its end", run([program("x.sh", "", "TIMEOUT")], "--to-repeat", "plain"), 0, "x.sh\n")
check("... apart from who draws lots", run([program("x.sh", LOTS), program("y.sh", BAD)], "--to-repeat", "plain"), 0, "y.sh\n", without=["x.sh"])
check("... who runs more often", run([program("x.sh", LOTS), program("y.sh", BAD)], "--to-repeat", "lots"), 0, "x.sh\n", without=["y.sh"])
check("... if a single lot was bad", run([program("x.sh", LOTS.replace("ok 1", "not ok 1"))], "--to-repeat", "lots"), 0, without=["x.sh"])
check("... and nobody when many failed", run([program(f"{i}.sh", BAD) for i in range(4)], "--to-repeat", "plain"), 0, without=[".sh"])
print(f"1..{len(points)}")
sys.exit(not all(points))
