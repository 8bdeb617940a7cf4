#!/usr/bin/env python3
"""OpenCode as the agent (npm install -g opencode-ai): the task's tools, and none of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

task = json.loads(Path("task.json").read_text())
servers = json.loads(Path("mcp.json").read_text())["mcpServers"]
settings = {
    "model": f"opsgym/{task['model']}",
    "small_model": f"opsgym/{task['model']}",
    "provider": {
        "opsgym": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": os.environ["OPENAI_BASE_URL"], "apiKey": os.environ["OPENAI_API_KEY"]},
            "models": {task["model"]: {}},
        }
    },
    "mcp": {
        name: {"type": "remote", "url": server["url"], "headers": server["headers"], "oauth": False}
        for name, server in servers.items()
    },
    "agent": {"office": {"prompt": task["systemPrompt"], "mode": "primary", "steps": task["maxSteps"]}},
    "permission": {"*": "deny", **{f"{name}_*": "allow" for name in servers}},
    "share": "disabled",
    "autoupdate": False,
}
Path("opencode.json").write_text(json.dumps(settings))
command = ["opencode", "run", "--agent", "office"]
done = subprocess.run(command, input=task["userPrompt"], stdout=subprocess.PIPE, text=True, check=False)
sys.stdout.write(done.stdout)
if done.returncode == 0:
    Path("answer.txt").write_text(done.stdout)
sys.exit(done.returncode)
