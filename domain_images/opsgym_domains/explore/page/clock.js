// The clock of the database.

import { changeClock, readClock } from "./api.js";
import { h } from "./dom.js";
import { failure, heading } from "./view.js";

const UNITS = { minutes: 60, hours: 3600, days: 86400 };

/** Shows the clock, sets it, moves it. */
export async function clock() {
  const now = h("p", { class: "time", role: "status" });
  const problem = h("div");
  const time = h("input", { type: "datetime-local", id: "time", step: "1", required: true });
  const amount = h("input", { type: "number", id: "amount", min: "0", step: "any", value: "1", required: true });
  const unit = h("select", { id: "unit", "aria-label": "Unit" }, Object.keys(UNITS).map((name) => h("option", { selected: name === "days" }, name)));

  function show({ time: at, set }) {
    now.replaceChildren(h("strong", {}, at.replace("T", " ")), ` UTC · ${set ? "clock is set" : "real time"}`);
    time.value = at;
  }

  const changes = (change) => async (event) => {
    event.preventDefault();
    try {
      show(await changeClock(change()));
      problem.replaceChildren();
    } catch (error) {
      problem.replaceChildren(failure(error));
    }
  };

  show(await readClock());
  return {
    title: "Clock",
    content: [
      heading("Clock"),
      h("p", {}, "Tools, defaults and queries of this database read this clock. It stands at the time of its seed, or follows real time if the seed states none; a set clock changes only when you move it."),
      now,
      problem,
      h("form", { submit: changes(() => ({ time: time.value })) },
        h("p", { class: "actions" }, h("label", { for: "time" }, "Time (UTC)"), time, h("button", {}, "Set"))),
      h("form", { submit: changes(() => ({ advance_seconds: Number(amount.value) * UNITS[unit.value] })) },
        h("p", { class: "actions" }, h("label", { for: "amount" }, "Move forward by"), amount, unit, h("button", {}, "Move"))),
      h("form", { submit: changes(() => ({ time: null })) }, h("p", {}, h("button", {}, "Back to real time"))),
    ],
  };
}
