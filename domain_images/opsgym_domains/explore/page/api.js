// Talks to the gym server through the endpoints that agents and verifiers use.

/** Database that this page shows. */
export const database = new URLSearchParams(location.search).get("database") || "explore";

/** A request that the server refused or did not answer; the message is shown to the user. */
export class Refused extends Error {}

async function request(path, body, headers = {}) {
  const answer = await reach(path, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", "x-database-id": database, ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(content.detail ?? `The server answered with HTTP ${answer.status}.`);
  return content;
}

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch {
    throw new Refused("The server does not answer. Is it still running?");
  }
}

/** Tables with keys and row counts, policy, acting users. */
export const readDomain = () => request("/explore/api/domain");

/** Rows of a read-only query. */
export const query = async (sql, dialect = "sqlite") =>
  (await request("/api/sql-runner", { query: sql, dialect })).data;

/** A value as SQL writes it. */
export const quoted = (value) => (typeof value === "number" ? String(value) : `'${String(value).replaceAll("'", "''")}'`);

/** The database's clock. */
export const readClock = () => request("/api/clock");

/** Sets (`time`, null for real time) or moves (`advance_seconds`) the clock. */
export const changeClock = (change) => request("/api/clock", change);

/** Restores the database to its seed. */
export const reset = () => request("/api/reset-database", { database_id: database });

async function rpc(method, params, headers) {
  const answer = await request("/mcp", { jsonrpc: "2.0", id: 1, method, params }, headers);
  if (answer.error) throw new Refused(answer.error.message);
  return answer.result;
}

let tools;
/** Tools with the descriptions and schemas that agents get. */
export const listTools = async () => (tools ??= (await rpc("tools/list", {})).tools);

/** Calls a tool; returns its text, whether it is an error, and the duration in milliseconds. */
export async function callTool(name, args, headers) {
  const begin = performance.now();
  const result = await rpc("tools/call", { name, arguments: args }, headers);
  return { text: result.content.map((part) => part.text).join("\n"), isError: result.isError, took: performance.now() - begin };
}
