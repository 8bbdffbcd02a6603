// What the page asks of its server. Streams go on after a lost connection; a run that is gone is started again.

export class Problem extends Error {
  constructor(status, detail, retryAfter = 0) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

const KEY = "cgmh-key";
let askForKey = async () => "";
/** `ask` is called where the server wants a key; it gives what the user typed. */
export const onKeyNeeded = (ask) => { askForKey = ask; };

const headers = () => {
  const key = sessionStorage.getItem(KEY);
  return { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) };
};

async function ask(path, options) {
  const answer = await fetch(path, { ...options, headers: { ...headers(), ...options.headers } });
  if (answer.ok) return answer;
  if (answer.status === 401) {
    const key = await askForKey();
    if (key) {
      sessionStorage.setItem(KEY, key);
      return ask(path, options);
    }
  }
  const problem = await answer.json().catch(() => ({}));
  throw new Problem(answer.status, problem.detail ?? `${answer.status}`, Number(answer.headers.get("Retry-After")) || 0);
}

/** Send an object, get one. */
export async function post(path, body, signal) {
  const answer = await ask(path, { method: "POST", body: JSON.stringify(body), signal });
  return answer.json();
}

export const cancel = (id) => ask(`/v1/runs/${id}`, { method: "DELETE" }).catch(() => {});

const wait = (ms, signal) => new Promise((resolve) => {
  setTimeout(resolve, ms);
  signal.addEventListener("abort", resolve, { once: true });
});

/**
 * The events of a run, one after another, to its end. `told` hears each of them; `lost` hears whether the server can be
 * reached. Gives false where the run is gone: the server was started anew, or has given it up meanwhile.
 */
export async function follow(id, told, lost, signal) {
  let last = 0;
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      const answer = await ask(`/v1/runs/${id}/events`, { headers: { "Last-Event-ID": String(last) }, signal });
      lost(false);
      for await (const event of events(answer.body, signal)) {
        tries = 0;
        if (event.id) last = event.id;
        told(event.data);
        if (event.data.event === "error" && event.data.problem.status === 503) return false;
        if (event.data.event === "end") return event.data.status !== "cancelled";
      }
    } catch (error) {
      if (signal.aborted) return true;
      if (error instanceof Problem && error.status === 404) return false;
      if (error instanceof Problem && ![429, 503].includes(error.status)) throw error;
      lost(true);
    }
    await wait(Math.min(300 * 2 ** tries, 4000), signal);
  }
  return true;
}

async function* events(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    while (!signal.aborted) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const fields = Object.fromEntries(block.split("\n").filter((line) => !line.startsWith(":"))
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
        if (fields.data) yield { id: Number(fields.id ?? 0), data: JSON.parse(fields.data) };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
