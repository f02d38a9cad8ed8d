// The document names what the key may call, so it is loaded with the key, and again when that changes.
// The key stays in this tab: sessionStorage ends with it, and no other site can read it.
const DOCUMENT = "/openapi.json";
// What became of calls, which is no tool.
const JOBS = "/v1/jobs";
const REMEMBERED = "contract-gateway.key";
let key = "";

function remembered() {
  try {
    return sessionStorage.getItem(REMEMBERED) ?? "";
  } catch {
    return "";
  }
}

function remember(given) {
  key = given;
  try {
    if (given) sessionStorage.setItem(REMEMBERED, given);
    else sessionStorage.removeItem(REMEMBERED);
  } catch {
    // Where storage is turned off, the key is asked for again after a reload.
  }
}

function say(text, isError = false) {
  const status = document.getElementById("key-status");
  status.textContent = text;
  status.classList.toggle("is-error", isError);
  document.getElementById("key-forget").hidden = key === "";
}

// The paths that a key may use, or why the gateway does not accept it.
async function pathsOf(given) {
  const headers = given ? { Authorization: `Bearer ${given}` } : {};
  const answer = await fetch(DOCUMENT, { headers });
  const found = await answer.json();
  if (answer.status === 401) throw new Error("The gateway does not accept this key.");
  if (!answer.ok) throw new Error(`The gateway answered ${answer.status}: ${found.detail}`);
  return Object.keys(found.paths);
}

function described(paths) {
  const count = paths.filter((path) => path.startsWith("/v1/") && !path.startsWith(JOBS)).length;
  const tools = `${count} ${count === 1 ? "tool" : "tools"}`;
  if (key) return `With this key you may call ${tools}.`;
  return count > 0 ? `${tools}. Enter a key to call them.` : "Enter a key to see its tools.";
}

// Takes a key, or the empty text to forget the last. What was shown stays where it is refused.
async function use(given) {
  try {
    const paths = await pathsOf(given);
    remember(given);
    say(described(paths));
    document.body.classList.toggle("is-empty", paths.length === 0);
    return true;
  } catch (error) {
    say(error.message, true);
    return false;
  }
}

async function change(given) {
  if (!(await use(given))) return;
  if (given) window.ui.preauthorizeApiKey("key", given);
  else window.ui.authActions.logout(["key"]);
  window.ui.specActions.download(DOCUMENT);
}

// What is given and taken back in the window behind "Authorize" is the same key.
const SameKey = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (original) => (given) => {
          if (given.key && given.key.value !== key) return change(given.key.value.trim());
          return original(given);
        },
        logout: (original) => (names) => {
          if (names.includes("key") && key) return change("");
          return original(names);
        },
      },
    },
  },
});

const BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

// Without the bounds that JavaScript cannot hold, such as those of int64: it rounds them to numbers
// beyond them, and the page would fill those into examples.
function exact(value) {
  if (Array.isArray(value)) return value.map(exact);
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).filter(
    ([name, each]) => !(BOUNDS.includes(name) && Number.isInteger(each) && !Number.isSafeInteger(each)),
  );
  return Object.fromEntries(kept.map(([name, each]) => [name, exact(each)]));
}

const ExactNumbers = () => ({
  statePlugins: {
    spec: { wrapActions: { updateJsonSpec: (original) => (json) => original(exact(json)) } },
  },
});

function show() {
  let isNew = true;
  window.ui = SwaggerUIBundle({
    url: DOCUMENT,
    dom_id: "#swagger-ui",
    deepLinking: true,
    // A box that keeps the groups whose name holds its text: sheets, avinode, ….
    filter: true,
    plugins: [SameKey, ExactNumbers],
    requestInterceptor: (request) => {
      const isOwn = new URL(request.url, window.location.href).origin === window.location.origin;
      if (key && isOwn && !request.headers.Authorization) {
        request.headers.Authorization = `Bearer ${key}`;
      }
      return request;
    },
    onComplete: () => {
      if (isNew && key) window.ui.preauthorizeApiKey("key", key);
      isNew = false;
    },
    // The default asks a server on the internet to validate the document.
    validatorUrl: null,
  });
}

window.addEventListener("load", async () => {
  const field = document.getElementById("key");
  document.getElementById("key-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = field.value.trim();
    field.value = "";
    if (given) await change(given);
  });
  document.getElementById("key-forget").addEventListener("click", () => change(""));
  if (!(await use(remembered()))) remember("");
  show();
});
