"""An agent of Inspect's on a suite of opsgym.

inspect eval opsgym/opsgym -T suite=quickstart --solver examples/inspect_agent.py@office_agent --model openai/gpt-5
"""

from inspect_ai.agent import Agent, agent, react

from opsgym.inspect_tasks import gym_tools


@agent
def office_agent() -> Agent:
    """Inspect's ReAct agent with the tools of the task at hand."""
    return react(prompt=None, tools=[gym_tools()])
