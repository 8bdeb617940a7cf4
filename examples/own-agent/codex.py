#!/usr/bin/env python3
"""Codex CLI as the agent (npm install -g @openai/codex): the task's tools, no shell, no web search."""

import json
import os
import subprocess
import sys
from pathlib import Path

task = json.loads(Path("task.json").read_text())
settings = f"""
model = "{task["model"]}"
model_provider = "opsgym"
web_search = "disabled"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.opsgym]
name = "opsgym"
base_url = "{os.environ["OPENAI_BASE_URL"]}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""
for server in task["mcpServers"]:
    settings += f"""
[mcp_servers."{server["name"]}"]
url = "{server["url"]}"
bearer_token_env_var = "OPSGYM_KEY"
default_tools_approval_mode = "approve"
"""
Path(".codex").mkdir()
Path(".codex/config.toml").write_text(settings)
command = ["codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", "--disable", "shell_tool"]
command += ["--output-last-message", "last.txt", "-"]
done = subprocess.run(command, input=Path("prompt.md").read_text(), text=True, check=False)
if done.returncode == 0:
    Path("last.txt").rename("answer.txt")
sys.exit(done.returncode)
