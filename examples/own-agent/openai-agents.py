#!/usr/bin/env python3
"""An agent of the OpenAI Agents SDK (pip install openai-agents), by Responses."""

import asyncio
import json
import os
from contextlib import AsyncExitStack
from pathlib import Path

from agents.mcp import MCPServerStreamableHttp

from agents import Agent, Runner

task = json.loads(Path("task.json").read_text())
access = {"Authorization": f"Bearer {os.environ['OPSGYM_KEY']}"}


async def answer() -> str:
    """Plays the task."""
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(
                MCPServerStreamableHttp({"url": server["url"], "headers": access}, name=server["name"])
            )
            for server in task["mcpServers"]
        ]
        agent = Agent(name="agent", instructions=task["systemPrompt"], model=task["model"], mcp_servers=servers)
        done = await Runner.run(agent, task["userPrompt"], max_turns=task["maxSteps"])
        return str(done.final_output)


Path("answer.txt").write_text(asyncio.run(answer()))
