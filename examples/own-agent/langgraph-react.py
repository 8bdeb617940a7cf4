#!/usr/bin/env python3
"""A LangGraph graph as the agent (pip install langgraph langchain-openai langchain-mcp-adapters): Chat Completions."""

import asyncio
import json
from pathlib import Path

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

task = json.loads(Path("task.json").read_text())
servers = json.loads(Path("mcp.json").read_text())["mcpServers"]


async def answer() -> str:
    """Plays the task."""
    tools = await MultiServerMCPClient(
        {
            name: {"transport": "streamable_http", "url": server["url"], "headers": server["headers"]}
            for name, server in servers.items()
        }
    ).get_tools()
    model = ChatOpenAI(model=task["model"]).bind_tools(tools)

    async def ask(state: MessagesState) -> dict:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", tools_condition)
    graph.add_edge("tools", "ask")
    messages = [("system", task["systemPrompt"]), ("user", task["userPrompt"])]
    done = await graph.compile().ainvoke({"messages": messages}, {"recursion_limit": 2 * task["maxSteps"] + 1})
    return str(done["messages"][-1].text)


Path("answer.txt").write_text(asyncio.run(answer()))
