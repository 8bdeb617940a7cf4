#!/usr/bin/env python3
"""Inspect's react agent (pip install inspect-ai openai mcp) in an environment of its own, by Chat Completions."""

import json
import os
import sys
from pathlib import Path

import inspect_ai
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.tool import mcp_server_http

task = json.loads(Path("task.json").read_text())
servers = [
    mcp_server_http(name=server["name"], url=server["url"], authorization=os.environ["OPSGYM_KEY"])
    for server in task["mcpServers"]
]
agent = react(prompt=task["systemPrompt"], tools=servers, submit=False)
(log,) = inspect_ai.eval(
    inspect_ai.Task(dataset=[Sample(task["userPrompt"])], solver=agent),
    model=f"openai/{task['model']}",
    model_args={"responses_api": False},
    display="none",
    log_dir="logs",
)
if log.status != "success" or not log.samples:
    sys.exit(f"Inspect ended with {log.status}: {log.error}")
Path("answer.txt").write_text(log.samples[0].output.completion)
