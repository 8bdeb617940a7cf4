"""What a person does about the conditions of an EvalRun and the reasons of trials.

Invariant: docs/on-call.md lists the same advice by reason; a test compares both with the operator's reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

RUNBOOK = "docs/on-call.md"

_FIX_SPEC = "correct the field that the message names, and apply the EvalRun again"
_ASK_PLATFORM = "choose one that the message lists, or ask the platform team to add it to the chart's values"
_LOOK_AT_STORE = "check the store's address, its Secret and its health; the run goes on when the store answers"

ADVICE: Mapping[str, str] = {
    "InvalidSpec": _FIX_SPEC,
    "NotInCluster": "name a ConfigMap, a built-in suite, an object store or a Secret instead of what one machine has",
    "ModelNotFound": "`kubectl get evalmodels` lists those of the namespace; correct the `ref`, or create one",
    "ModelInvalid": "correct the EvalModel that the message names",
    "StoreNotFound": _ASK_PLATFORM,
    "TooLarge": "split the run, or ask the platform team for larger `quotas` of the namespace",
    "SuiteNotAllowed": "use a suite that the namespace may read, or ask the platform team for access",
    "PodProfileNotFound": _ASK_PLATFORM,
    "PodsNotAllowed": "remove the label or annotation, or ask the platform team to allow its key",
    "CredentialsNotAllowed": "keep the key in a Secret that is for models, and name it in an EvalModel",
    "QueueNotFound": "`kubectl get localqueues` lists those of the namespace: correct `queueName`",
    "PriorityClassNotFound": "`kubectl get workloadpriorityclasses` lists them: correct `queuePriorityClass`",
    "StoreUnreachable": _LOOK_AT_STORE,
    "WebhookNotFound": "the run goes on without the notification; correct `notify`, or have the webhook added",
    "BaselineNotFound": "correct `gate.baseline`, or remove it; `opsgym results` lists the runs of a store",
    "PreflightFailed": "fix each problem that the message names; the preflight is repeated by itself",
    "PreflightError": "read the log of the preflight's pod: `kubectl opsgym logs RUN`",
    "SuiteFilter": "correct the filters of `spec.suite`; `opsgym tasks list SUITE` lists its tasks",
    "SecretMissing": "create the Secret, or its key, that the message names; pods start by themselves then",
    "ImageUnavailable": "check the image's name and tag, its pull Secret, and that nodes reach the registry",
    "PodNotStarting": "follow the kubelet's words in the message; `kubectl describe pod POD` shows its events",
    "PodsRefused": "raise the quota, or change what the API server's words in the message name",
    "PodLost": "repair or remove the node, or delete the pod with --force once its containers are gone",
    "ObjectRefused": "raise the quota, or change the admission rule or right that the message names",
    "InternalError": "report the fault with the operator's log; suspending the run stops its pods",
    "JobSpecMissing": "delete the Job that the message names; its trials are planned again",
    "WaitingForCapacity": "add nodes, or wait until others are done",
    "WaitingForPods": "wait while images are pulled; if it lasts, `kubectl describe pod POD` shows why",
    "Unschedulable": "add nodes that fit the pods' requests, selectors and tolerations, or lower these in the values",
    "WaitingForModel": "wait, or raise `maxConcurrency` of the EvalModel",
    "WaitingForQueue": "`kubectl get workloads` shows what Kueue waits for",
    "BreakerOpen": "fix what the attempts' errors name; `kubectl opsgym why RUN TRIAL` shows those of a trial",
    "QuotaExceeded": "wait for the other runs, suspend one, or ask the platform team for larger `quotas`",
    "QuotaExhausted": "add credit to the account of the model, or wait until its quota is renewed",
    "Suspended": "set `spec.suspend: false` to go on",
    "BudgetSpent": "raise `budget.maxUsd` to play the remaining trials",
    "NothingScored": "`kubectl opsgym why RUN TRIAL` shows why a trial was not scored; fix that, and start a new run",
    "GateFailed": "do not ship what was evaluated; `opsgym gate RUN` shows what decided",
    "GateInconclusive": "play more trials: the gate cannot decide with these; `opsgym gate --plan FILE` says how many",
    "ImageChanged": "compare no scores across the builds that the message names; use tags that do not move",
}
"""What to do by reason of a condition; reasons that are not here ask for nothing."""

_READ_STORY = "read the trial: `opsgym report RUN`, or `opsgym failures RUN --trial TRIAL` for what rules report"
_CHECK_MODEL = "`opsgym models check FILE` shows it with one tool turn; correct the model's name, key or address"
_CORRECT_ROW = "correct what the message names in the row; `opsgym tasks validate --prove PATH` finds all such rows"

TRIAL_ADVICE: Mapping[str, str] = {
    "verifiers": _READ_STORY,
    "step_limit": "read the trial: does it repeat itself? Otherwise raise `maxSteps` for every agent that is compared",
    "task_timeout": "read the times of its phases in the report; raise `limits.taskTimeoutSeconds` for every agent",
    "context_overflow": "a result of the model; fewer tools (`suite.modes`) or a longer context change the experiment",
    "content_filter": "a result of the model with its provider; another endpoint of the model may have no filter",
    "request_filter": "a result of the model with its provider; another endpoint of the model may have no filter",
    "unknown_tool": "a result of the agent; `unknownTools: answered` would show it the names of the tools",
    "malformed_reply": "`opsgym models check FILE` says whether the server's parser of tool calls fits the model",
    "conversation_refused": "read the provider's words in the message; `refusedConversations` says whether it counts",
    "agent_error": "read the end of the program's output in the transcript, and correct the program",
    "no_model_calls": "check that the program uses the address and key of its variables (docs/own-agents.md)",
    "model_auth": _CHECK_MODEL,
    "model_not_found": _CHECK_MODEL,
    "model_rate_limited": "lower `maxConcurrency` of the model",
    "model_quota": "add credit to the account, or wait until its quota is renewed",
    "model_unavailable": "look at the provider's status page; the same command, or the operator, tries again",
    "model_unreachable": "check the address, and that pods may reach it (`networkPolicy.modelPorts`)",
    "model_refused_request": "remove the parameter that the provider's words in the message name",
    "model_calls_in_text": "start the server with its parser of tool calls: `opsgym models check FILE` names it",
    "gym_lost": "look for memory of pods (`pods.resources`), evictions, or too much concurrency on one machine",
    "store_lost": "check the bucket, its address and its key; a full disk on one machine",
    "judge_failed": "check the judge as any model: `opsgym models check FILE`",
    "plan_failed": "check the planner as any model; the message has its last error",
    "hung": "read the stacks in the pod's log; a node without CPU time to give is the usual cause",
    "runner_error": "report it with the attempt's message and log",
    "invalid_row": _CORRECT_ROW,
    "unpriced_model": "give the model `prices`, or set `allowUnpriced: true`",
    "no_gold_actions": "leave such rows out, or give them `gold_actions`",
    "no_recording": "record the task, or select recorded tasks only (`suite.ids`)",
    "no_plan": "use rows with a `plan`, or an agent with `plan: model`",
    "no_judge": "name one in `spec.judge`",
    "seed_not_found": "name the folder of the seeds in `suite.seedPath`",
    "seed_refused": "correct the seed: the message has the gym server's words",
    "unknown_gym": "correct the name in the row, or install the domain: the message lists those that are known",
    "too_many_tools": "choose a smaller mode in `suite.modes`, or a provider that takes more tools",
    "unsupported": "change what the message names, or use a version or server that has it",
    "agent_not_started": "correct `command`: the message has the system's words",
    "unreadable_record": "install the newer opsgym, or restore the object that the message names",
    "held_out_seed": "give the seed that the run was started with (`OPSGYM_HELD_OUT_SEED`)",
}
"""What to do by reason of a trial or attempt."""

UNSEEN = "the operator has not seen it: check that it runs, and that it watches this namespace"
OUTDATED = "the operator has not seen the latest change of the spec yet: check that it runs"
NOTHING = "nothing is wrong"

Condition: TypeAlias = Mapping[str, Any]
"""A condition of an EvalRun as the API server writes it; a newer operator may write fields that are unknown here."""

_READ = ("Accepted", "Stalled", "Progressing", "Succeeded", "GatePassed", "MixedImages")
"""Conditions in the order in which they explain a run; the others repeat these for tools."""
_ABNORMAL = {("Accepted", "False"), ("Stalled", "True"), ("Succeeded", "False")}
"""Conditions that ask for an act whatever their reason, which may be that of a newer operator."""


def explained(evalrun: Mapping[str, Any]) -> Iterator[str]:
    """Lines that say why an EvalRun is as it is, what to do, and where the runbook says more."""
    status = evalrun.get("status") or {}
    if not status.get("conditions"):
        yield UNSEEN
        return
    if status.get("observedGeneration", 0) < evalrun["metadata"].get("generation", 0):
        yield OUTDATED
    reasons = causes(status)
    for condition in reasons:
        yield condition_text(condition)
        yield from _advice_lines(condition["reason"])
    if not reasons:
        running = [one for one in status["conditions"] if one["type"] == "Progressing" and one.get("message")]
        yield from (NOTHING, *map(condition_text, running))


def causes(status: Mapping[str, Any]) -> Sequence[Condition]:
    """The conditions of a status that a person has something to do about, each reason once."""
    by_type = {condition["type"]: condition for condition in status.get("conditions", ())}
    chosen: dict[str, Condition] = {}
    for name in _READ:
        if (condition := by_type.get(name)) is not None and _asks(condition):
            chosen.setdefault(condition["reason"], condition)
    return list(chosen.values())


def condition_text(condition: Condition) -> str:
    """A condition on one line."""
    message = condition.get("message")
    return f"{condition['type']}={condition['status']} {condition['reason']}" + (f": {message}" if message else "")


def _asks(condition: Condition) -> bool:
    state = (condition["type"], condition["status"])
    return state in _ABNORMAL or (condition["reason"] in ADVICE and state != ("Stalled", "False"))


def _advice_lines(reason: str) -> Iterator[str]:
    if reason in ADVICE:
        yield f"  do: {ADVICE[reason]}"
        yield f"  runbook: {RUNBOOK}#{reason.lower()}"
