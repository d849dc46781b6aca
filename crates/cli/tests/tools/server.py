"""A tool server over pipes, by hand: a message a line. What it is asked goes into $LOG."""

import json
import os
import sys

TOOLS = {
    "echo": "Gives back what it is called with",
    "text": "Says what it is told as text",
    "many": "Says several things",
    "picture": "Shows something",
    "fail": "Fails",
    "env": "A variable of its environment",
    "hang": "Never answers",
    "die": "Leaves without an answer",
}


def log(line):
    with open(os.environ["LOG"], "a") as out:
        out.write(line + "\n")


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}


def called(name, args):
    log(f"call {name}")
    if name == "echo":
        return {"content": [], "structuredContent": args}
    if name == "text":
        return text(args["say"])
    if name == "many":
        return {"content": [{"type": "text", "text": one} for one in args["say"]]}
    if name == "picture":
        return {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}
    if name == "fail":
        return text("it is broken", isError=True)
    if name == "env":
        sys.stderr.write("the variable is " + os.environ.get(args["name"], "") + "\n")
        return text(os.environ.get(args["name"], ""))
    if name == "die":
        sys.stderr.write("no way to go on\n")
        sys.stderr.flush()
        os._exit(3)
    return None


def answer(message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        info = {"name": "by-hand", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        schema = {"type": "object"}
        return {"tools": [{"name": name, "description": about, "inputSchema": schema} for name, about in TOOLS.items()]}
    if method == "tools/call":
        return called(params["name"], params.get("arguments", {}))
    return {}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "notifications/cancelled":
            log("cancelled: " + message["params"].get("reason", ""))
        if "id" not in message or "method" not in message:
            continue
        result = answer(message)
        if result is not None:
            send({"id": message["id"], "result": result})
    if "QUIET" not in os.environ:
        log("closed")


main()
