"""Plan, then act: a planner writes a plan, and the agent's model follows it in a ReAct loop."""

from __future__ import annotations

from opsgym_runner.job import PLANNER
from opsgym_runner.orchestrators.base import AgentResult, Session, initial_messages
from opsgym_runner.orchestrators.react import act_on_days
from opsgym_runner.plans import SHOW_PLAN, WRITE_PLAN, plan_prompts
from opsgym_runner.prompting import list_tools


class PlannerReact:
    """Has the agent's planner, or its own model, write a plan for each trial, then follows the plan."""

    prompts = plan_prompts(WRITE_PLAN, SHOW_PLAN)

    async def __call__(self, session: Session) -> AgentResult:
        """Plans once, then acts until the model answers without a tool call."""
        prompt = session.prompt(
            WRITE_PLAN, policy=session.system_prompt, request=session.user_prompt, tools=list_tools(session.tools)
        )
        plan = await session.ask([{"role": "user", "content": prompt}], tools=(), by=PLANNER)
        request = session.prompt(SHOW_PLAN, request=session.user_prompt, plan=plan.text.strip())
        return AgentResult(await act_on_days(session, initial_messages(session, request)))
