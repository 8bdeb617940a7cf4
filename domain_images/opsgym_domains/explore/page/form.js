// A form for a JSON schema of a tool's arguments.
//
// Invariant: untouched fields are not sent, and values are not corrected: the server must refuse a wrong value as it
// would refuse an agent's.

import { h } from "./dom.js";

const LONG_TEXT = 200;
const NOT_GIVEN = "not given";
let fields = 0;

/** Fields for the properties of an object schema: `element`, `read()` and `write(values)`. */
export function objectForm(schema) {
  const required = schema.required ?? [];
  const parts = Object.entries(schema.properties ?? {}).map(([name, property]) => [name, field(name, property, required.includes(name))]);
  return {
    element: h("div", { class: "fields" }, parts.map(([, part]) => part.element)),
    read() {
      const given = parts.map(([name, part]) => [name, part.read()]).filter(([, value]) => value !== undefined);
      return Object.fromEntries(given);
    },
    write(values) {
      for (const [name, part] of parts) part.write(values[name]);
    },
  };
}

const types = (schema) => [schema.type].flat();

function field(name, schema, required) {
  if (types(schema).includes("object") && schema.properties) return group(name, schema, required);
  if (schema.type === "array" && schema.items?.enum) return checkboxes(name, schema, required);
  const id = `field-${++fields}`;
  const control = controlOf(schema, { id, "aria-required": String(required), "aria-describedby": `${id}-hint` });
  return {
    element: h("div", { class: "field" },
      h("label", { for: id }, name, required ? h("span", { class: "required" }, " required") : null),
      control.element,
      h("p", { class: "hint", id: `${id}-hint` }, hint(schema))),
    read: control.read,
    write: control.write,
  };
}

function hint(schema) {
  const kind = types(schema).filter((type) => type !== "null" && type !== "string").join(" or ");
  const facts = [
    schema.items ? `list of ${schema.items.type}, one a line` : schema.format ?? kind,
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
    schema.minLength && `at least ${schema.minLength} characters`,
    schema.maxLength && `at most ${schema.maxLength} characters`,
    schema.minimum !== undefined && `at least ${schema.minimum}`,
    schema.pattern && `matches ${schema.pattern}`,
  ];
  const constraints = facts.filter(Boolean).join(", ");
  return `${schema.description ?? ""}${constraints && ` (${constraints})`}`;
}

function controlOf(schema, attributes) {
  const kinds = types(schema);
  if (schema.enum) return choice(schema.enum, kinds, attributes);
  if (kinds.includes("boolean")) return choice([true, false], kinds, attributes);
  if (kinds.includes("array") && schema.items?.type === "string") return lines(attributes);
  if (kinds.includes("array") || kinds.includes("object")) return json(attributes);
  const typed = kinds.includes("integer") || kinds.includes("number") ? numeric(attributes) : text(schema, attributes);
  return kinds.includes("null") ? nullable(typed) : typed;
}

/** One of some values; also null where the schema allows it. */
function choice(allowed, kinds, attributes) {
  const values = kinds.includes("null") && !allowed.includes(null) ? [...allowed, null] : allowed;
  const element = h("select", attributes, h("option", { value: "" }, NOT_GIVEN),
    values.map((value, at) => h("option", { value: at }, String(value))));
  return {
    element,
    read: () => (element.value === "" ? undefined : values[Number(element.value)]),
    write(value) {
      const at = values.indexOf(value);
      element.value = at < 0 ? "" : String(at);
    },
  };
}

function text(schema, attributes) {
  const long = (schema.maxLength ?? 0) > LONG_TEXT;
  const element = long ? h("textarea", { ...attributes, rows: "2" }) : h("input", { ...attributes, type: "text", autocomplete: "off" });
  return typed(element, (given) => given, (value) => value);
}

function numeric(attributes) {
  const element = h("input", { ...attributes, type: "text", inputmode: "decimal", autocomplete: "off" });
  return typed(element, (given) => (Number.isFinite(Number(given)) ? Number(given) : given), String);
}

function lines(attributes) {
  const element = h("textarea", { ...attributes, rows: "2" });
  return typed(element, (given) => given.split("\n").filter(Boolean), (value) => value.join("\n"));
}

function json(attributes) {
  const element = h("textarea", { ...attributes, rows: "3", spellcheck: "false", placeholder: "JSON" });
  return typed(element, parsed, (value) => JSON.stringify(value));
}

function parsed(given) {
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

/** A control whose empty text means that the argument is not given. */
function typed(element, toValue, toText) {
  return {
    element,
    read: () => (element.value === "" ? undefined : toValue(element.value)),
    write(value) {
      element.value = value === undefined || value === null ? "" : toText(value);
    },
  };
}

/** A control with a box for null beside it. */
function nullable(control) {
  const box = h("input", { type: "checkbox", change: () => { control.element.disabled = box.checked; } });
  return {
    element: h("span", { class: "nullable" }, control.element, h("label", {}, box, " null")),
    read: () => (box.checked ? null : control.read()),
    write(value) {
      box.checked = value === null;
      control.element.disabled = box.checked;
      control.write(value);
    },
  };
}

function group(name, schema, required) {
  const form = objectForm(schema);
  return {
    element: h("fieldset", {},
      h("legend", {}, name, required ? h("span", { class: "required" }, " required") : null),
      h("p", { class: "hint" }, schema.description ?? ""), form.element),
    read() {
      const value = form.read();
      return required || Object.keys(value).length ? value : undefined;
    },
    write: (value) => form.write(value ?? {}),
  };
}

function checkboxes(name, schema, required) {
  const boxes = schema.items.enum.map((value) => h("input", { type: "checkbox", value }));
  return {
    element: h("fieldset", {},
      h("legend", {}, name, required ? h("span", { class: "required" }, " required") : null),
      h("p", { class: "hint" }, schema.description ?? ""),
      h("p", { class: "choices" }, boxes.map((box) => h("label", {}, box, ` ${box.value}`)))),
    read() {
      const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
      return chosen.length ? chosen : undefined;
    },
    write(value) {
      for (const box of boxes) box.checked = (value ?? []).includes(box.value);
    },
  };
}
