#!/usr/bin/env python3
"""mini-swe-agent as the agent (pip install mini-swe-agent). It has but a shell, in which this file is `./tool`."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx

task = json.loads(Path("task.json").read_text())
HOW = """
You act by commands of a shell. A tool of the task is called by ./tool NAME 'ARGUMENTS AS A JSON OBJECT'; the tools are
{tools}
When everything is done, run: echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo 'YOUR ANSWER'
"""


def ask(url: str, method: str, **params: Any) -> Any:
    """The result of a method of an MCP server, or the error that it answers."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"Authorization": f"Bearer {os.environ['OPSGYM_KEY']}", "Accept": "application/json, text/event-stream"}
    reply = httpx.post(url, json=body, headers=headers, timeout=60).json()
    return reply.get("result", reply.get("error", reply))


if len(sys.argv) > 1:
    _, name, arguments = sys.argv
    urls = [server["url"] for server in task["mcpServers"] if name in server["tools"]]
    if not urls:
        sys.exit(f"unknown tool: {name}")
    sys.stdout.write(json.dumps(ask(urls[0], "tools/call", name=name, arguments=json.loads(arguments))))
    sys.exit()

from minisweagent.agents.default import DefaultAgent  # noqa: E402 a call of a tool needs none of it
from minisweagent.environments.local import LocalEnvironment  # noqa: E402
from minisweagent.models.litellm_model import LitellmModel  # noqa: E402

Path("tool").symlink_to(Path(__file__).resolve())
tools = [tool for server in task["mcpServers"] for tool in ask(server["url"], "tools/list")["tools"]]
agent = DefaultAgent(
    LitellmModel(model_name=f"openai/{task['model']}"),
    LocalEnvironment(),
    system_template="{{system_prompt}}",
    instance_template="{{task}}",
    step_limit=task["maxSteps"],
    cost_limit=0,
)
system_prompt = task["systemPrompt"] + HOW.format(tools="\n".join(map(json.dumps, tools)))
done = agent.run(task["userPrompt"], system_prompt=system_prompt)
if done["exit_status"] != "Submitted":
    sys.exit(f"mini-swe-agent ended with {done['exit_status']}")
Path("answer.txt").write_text(done["submission"])
