"""opsgym's suites as tasks of Inspect: `inspect eval opsgym/opsgym -T suite=quickstart --model …`.

Inspect calls the models and runs any solver; gym servers, databases and verifiers are opsgym's. Needs
the extra `inspect` of this package.
"""

from opsgym.inspect_tasks.task import gym_tools, opsgym

__all__ = ["gym_tools", "opsgym"]
