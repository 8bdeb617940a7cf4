#!/usr/bin/env python3
"""Claude Code as the agent (npm install -g @anthropic-ai/claude-code): the task's tools, and none of its own."""

import json
import subprocess
import sys
from pathlib import Path

task = json.loads(Path("task.json").read_text())
Path("system.md").write_text(task["systemPrompt"])
command = ["claude", "--print", "--model", task["model"], "--append-system-prompt-file", "system.md"]
command += ["--mcp-config", "mcp.json", "--strict-mcp-config"]  # no other server that it finds
command += ["--tools", "", "--allowedTools", ",".join(f"mcp__{server['name']}" for server in task["mcpServers"])]
done = subprocess.run(command, input=task["userPrompt"], stdout=subprocess.PIPE, text=True, check=False)
sys.stdout.write(done.stdout)
if done.returncode == 0:  # else what it printed is an error
    Path("answer.txt").write_text(done.stdout)
sys.exit(done.returncode)
