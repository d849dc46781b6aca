"""A whole hosted workflow by the official client for Python.

client.py MODE pipes PROGRAM ARGS…   or   client.py MODE http URL TOKEN

MODE: `legacy` keeps a session, `auto` speaks the newest version there is; `asked` and `asked-legacy` have a person behind them.
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
import mcp_types as types

mode, way, *rest = sys.argv[1:]
asks = mode.startswith("asked")


async def person(context, params):
    return types.ElicitResult(action="accept", content={"decision": "edit", "value": "a better plan"})


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.structured_content


async def whole(client):
    tools = await client.list_tools()
    assert "submit" in [tool.name for tool in tools.tools]
    picture = await call(client, "start", workflow="relay", task="a house")
    run = picture["run"]
    while True:
        if picture["ready"]:
            step = picture["ready"][0]
            if asks and step["step"] == "build":
                assert step["prompt"].startswith("Build a better plan in 7 lines"), step["prompt"]
            picture = await call(
                client, "submit", run=run, step=step["path"], attempt=step["attempt"], output="done"
            )
        elif picture["status"] == "awaiting-approval":
            assert not asks, picture
            picture = await call(client, "answer", run=run, decision="approve")
        else:
            break
    assert (await call(client, "output", run=run, step="built"))["value"] == "done"
    resource = await client.read_resource(f"longhaul://run/{run}/output/built")
    assert resource.contents[0].text == "done", resource
    prompt = await client.get_prompt("relay", {"task": "x"})
    assert "`start`" in prompt.messages[0].content.text, prompt
    print(picture["status"])


async def main():
    behind = {"elicitation_callback": person} if asks else {}
    lifecycle = "legacy" if mode.endswith("legacy") else "auto"
    if way == "pipes":
        server = StdioServerParameters(command=rest[0], args=rest[1:], env=dict(os.environ))
        async with Client(server, mode=lifecycle, **behind) as client:
            await whole(client)
    else:
        url, token = rest
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=lifecycle, **behind) as client:
                await whole(client)


asyncio.run(main())
