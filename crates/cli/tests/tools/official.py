"""A tool server made with the official library."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("official")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


server.run()
