"""Calls one function: {"callable", "kwargs", "session_id"} on stdin, {"success", ...} on stdout."""

import contextlib
import importlib
import json
import os
import sys
import traceback


def called(asked):
    module, _, name = asked["callable"].rpartition(".")
    return getattr(importlib.import_module(module), name)(**asked["kwargs"])


def answer(asked):
    try:
        return json.dumps({"success": True, "value": called(asked)})
    except Exception as error:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        sys.stderr.write(text)
        return json.dumps({"success": False, "error": f"{type(error).__name__}: {error}", "traceback": text})


def main():
    asked = json.loads(sys.stdin.readline())
    os.environ["WORK_BUDDY_SESSION_ID"] = asked["session_id"]
    # Whatever the function prints is talk; the answer is the one line on stdout.
    with contextlib.redirect_stdout(sys.stderr):
        line = answer(asked)
    print(line)


main()
