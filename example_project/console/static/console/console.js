// The console: each form with `data-call` is one request to the API, and the log shows it.
//
// Attributes of a form: `data-call` is method and path, with fields in braces; `data-show` the id
// of an element that shows the data, `data-list` that of a list; `data-then` the ids of forms to
// send next, `data-clears` that of an element to hide, `data-keep` a field to keep in `state`. Parts
// with `data-when` are shown as `views` says.
//
// Without cookies, tokens are kept in `state` alone: never in a storage of the browser. With them,
// `page.session` says that the browser sent one with the request for this page.
"use strict";

const page = document.body.dataset;
const EMPTY = { in: false, setup: false, access_token: "", refresh_token: "", temp_token: "", org_id: "", token: "" };
const state = { ...EMPTY };
const ENDED = new Set(["INVALID_TOKEN", "UNAUTHORIZED"]);
let csrf = "";
let refreshing = null;

const byId = (id) => document.getElementById(id);
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// Requests

async function call(method, path, body, again = true) {
  const url = location.origin + page.api + path;
  const headers = {};
  if (body) headers["Content-Type"] = "application/json";
  if (state.access_token) headers["Authorization"] = `Bearer ${state.access_token}`;
  if (page.csrf && method !== "GET") headers["X-CSRF-Token"] = await csrfToken();
  const options = { method, headers, body: body && JSON.stringify(body) };
  let status = 0, text = "", data = null;
  try {
    const answer = await fetch(url, options);
    status = answer.status;
    text = await answer.text();
    const json = JSON.parse(text);
    data = json.data;
    text = JSON.stringify(json, null, 2);
  } catch (error) {
    text ||= String(error);
  }
  log(`${method} ${page.api}${path}`, status, command(url, options), text);
  if (again && status === 401 && expired(data?.code) && (await refresh()))
    return call(method, path, renewed(body), false);
  if (again && data?.code === "INVALID_CSRF") {
    csrf = "";
    return call(method, path, body, false);
  }
  if (status === 401 && state.in && ENDED.has(data?.code)) {
    signedOut();
    banner("This session has ended.");
  }
  return { ok: status >= 200 && status < 300, status, data, message: data?.message ?? "" };
}

// A request that continues the session sends its refresh token, which the refresh has replaced.
function renewed(body) {
  return body?.refresh_token ? { ...body, refresh_token: state.refresh_token } : body;
}

// The browser deletes the cookie of an access token when it expires, so the request had no token.
function expired(code) {
  return code === "TOKEN_EXPIRED" || (code === "UNAUTHORIZED" && (page.session || (page.cookies && state.in)));
}

// Another tab may have fetched another token, and all tabs share the cookie.
async function csrfToken() {
  if (!csrf || !document.cookie.includes(csrf)) {
    const answer = await fetch(`${page.api}csrf-token`);
    csrf = (await answer.json()).data.csrf_token;
  }
  return csrf;
}

// Requests that find the token expired at the same time share one refresh.
function refresh() {
  if (!state.refresh_token && !page.cookies) return false;
  const body = page.cookies ? undefined : { refresh_token: state.refresh_token };
  refreshing ??= call("POST", "refresh", body, false).then((result) => {
    refreshing = null;
    if (result.ok) keep(result.data);
    else if (state.in) signedOut();
    delete page.session;
    return result.ok;
  });
  return refreshing;
}

function command(url, { method, headers, body }) {
  const parts = [`curl -sS -X ${method} ${quoted(url)}`];
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (headers["X-CSRF-Token"]) {
    const pair = document.cookie.split("; ").find((one) => one.includes("__service_csrf="));
    if (pair) parts.push(`-b ${quoted(pair)}`);
  }
  if (body) parts.push(`-d ${quoted(body)}`);
  return parts.join(" \\\n  ");
}

function log(call, status, command, response) {
  const row = filled("log-row", { call, status: status || "failed", command, response });
  row.querySelector(".copy").addEventListener("click", () => copy(command));
  byId("log").prepend(row);
  byId("log-state").textContent = `${call}: ${status || "failed"}`;
}

async function copy(text) {
  await navigator.clipboard.writeText(text);
  byId("log-state").textContent = "Copied.";
}

// Forms

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.call) return;
  event.preventDefault();
  if (form.ariaBusy) return;  // until the response to the request before
  form.ariaBusy = "true";
  if (event.submitter) banner("");  // not by this script
  try {
    await send(form);
  } finally {
    form.ariaBusy = null;
  }
});

async function send(form) {
  for (const field of form.querySelectorAll("[data-state]")) field.value = state[field.dataset.state];
  const entries = [...new FormData(form)].filter(([, value]) => value !== "");
  const values = Object.fromEntries(entries);
  const [method, pattern] = form.dataset.call.split(" ");
  const path = pattern.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name] ?? state[name];
    delete values[name];
    return encodeURIComponent(value);
  });
  const body = method === "GET" || !Object.keys(values).length ? undefined : values;
  const result = await call(method, path, body);
  say(form, result);
  if (!result.ok) return;
  if (form.dataset.uses) {
    state.token = "";
    banner(result.message);  // since the form disappears
  }
  if (form.dataset.keep) state[form.dataset.keep] = values[form.dataset.keep];
  arrived(result.data);
  if (form.dataset.ends) {
    signedOut();
    banner(result.message);
  }
  if (form.dataset.clears) byId(form.dataset.clears).hidden = true;
  if (form.dataset.goes) location.assign(result.data[form.dataset.goes]);
  if (form.dataset.show) show(byId(form.dataset.show), result.data);
  if (form.dataset.list) list(byId(form.dataset.list), result.data);
  for (const field of form.querySelectorAll("[type=password], [name=code]")) field.value = "";
  views();
  for (const id of (form.dataset.then ?? "").split(" ").filter(Boolean)) byId(id).requestSubmit();
}

function say(form, result) {
  const place = form.querySelector(".result");
  place.classList.toggle("failed", !result.ok);
  place.textContent = result.message || (result.ok ? "Done." : `The service answered ${result.status}.`);
  place.textContent += result.data?.code ? ` (${result.data.code})` : "";
}

// Signing in and out

function arrived(data) {
  const [challenge] = data?.challenges ?? [];
  if (data?.access_token) signedIn(data);
  else if (challenge) challenged(challenge.type, challenge.data.temp_token);
}

function keep(data) {
  csrf = "";
  if (page.cookies) return;
  state.access_token = data.access_token;
  state.refresh_token = data.refresh_token ?? state.refresh_token;
}

function signedIn(data) {
  const before = state.in;
  keep(data);
  state.in = true;
  state.temp_token = "";
  views();
  if (before) return;
  byId("account-title").focus();
  byId("me").requestSubmit();
}

function signedOut() {
  Object.assign(state, EMPTY);
  csrf = "";
  delete page.session;
  for (const part of document.querySelectorAll("[data-when] .entries, [data-when] .result")) part.replaceChildren();
  for (const id of ["user", "secret", "login-secret", "factor-state", "linked-state"]) if (byId(id)) byId(id).hidden = true;
  views();
  byId("main").focus();
}

function challenged(type, temp_token) {
  state.temp_token = temp_token;
  state.setup = type === "2fa_setup";
  views();
  byId("challenge-title").focus();
}

byId("leave").addEventListener("click", signedOut);

function views() {
  const challenge = Boolean(state.temp_token);
  const mailed = Boolean(state.token) && !challenge;
  const open = {
    in: state.in,
    out: !state.in && !challenge && !mailed,
    organization: state.in && state.org_id,
    challenge,
    mailed,
    setup: state.setup,
  };
  for (const part of document.querySelectorAll("[data-when]")) part.hidden = !open[part.dataset.when];
  // The browser would take the focus to the start of the page.
  if (document.activeElement?.closest("[hidden]")) byId("main").focus();
  if (!state.in) byId("who").textContent = "Signed out";
}

function banner(text) {
  byId("banner").textContent = text;
  byId("banner").hidden = !text;
}

// Showing data

const pick = (row, path) => path.split(".").reduce((value, name) => value?.[name], row);

const shown = (value) => (Array.isArray(value) ? value.join("\n") : value ?? "");

function show(place, row) {
  for (const part of place.querySelectorAll("[data-text]")) part.textContent = shown(pick(row, part.dataset.text));
  for (const part of place.querySelectorAll("[data-label]"))
    part.setAttribute("aria-label", `${part.textContent} ${pick(row, part.dataset.label)}`);
  for (const part of place.querySelectorAll("[data-value]")) part.value = pick(row, part.dataset.value);
  for (const part of place.querySelectorAll("[data-if]")) part.hidden = !pick(row, part.dataset.if);
  for (const part of place.querySelectorAll("[data-src]")) part.src = pick(row, part.dataset.src);
  place.hidden = false;
  if (place.id === "user") byId("who").textContent = `Signed in as ${row.email || row.username}`;
}

function filled(template, row) {
  const piece = byId(template).content.firstElementChild.cloneNode(true);
  show(piece, row);
  return piece;
}

function list(place, data) {
  const rows = Array.isArray(data) ? data : data.list;
  place.tabIndex = -1;
  const focused = place.contains(document.activeElement);
  place.replaceChildren(...rows.map((row) => filled(place.dataset.row, row)));
  if (focused) place.focus();
  if (!rows.length) place.append(Object.assign(document.createElement("li"), { textContent: "None." }));
}

// The mailbox

const seen = new Set();

async function readMailbox() {
  if (document.hidden) return;
  const answer = await fetch(page.mailbox);
  if (!answer.ok) {
    byId("mailbox-state").textContent = await answer.text();
    clearInterval(reading);
    return;
  }
  const unseen = (await answer.json()).mails.filter((mail) => !seen.has(mail.id)).reverse();
  for (const mail of unseen) {
    seen.add(mail.id);
    const row = filled("mail-row", mail);
    row.querySelector(".text").append(...linked(mail.text));
    byId("mailbox").prepend(row);
  }
  const newest = unseen.at(-1);
  if (newest) {
    byId("mailbox-state").textContent = `New: ${newest.subject}`;
    byId("mailbox").querySelector("details").open = true;
  }
}

// Links open in a new tab, since this one would forget its tokens.
function linked(text) {
  return text.split(/(https?:\/\/\S+)/).map((part, index) => {
    if (index % 2 === 0) return part;
    const link = document.createElement("a");
    return Object.assign(link, { href: part, textContent: part, target: "_blank", rel: "noopener" });
  });
}

const reading = page.mailbox && setInterval(readMailbox, 1000);
if (page.mailbox) readMailbox();

// Where a mailed link or a provider leads: its result is in the query or the fragment.

const VERIFIED = {
  success: "The address is verified.",
  error: "The link is not valid, or it has expired.",
};

function start() {
  const given = new URLSearchParams(location.search);
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) given.set(name, value);
  if (location.search || location.hash.includes("=")) history.replaceState(null, "", page.start);
  state.token = given.get("token") ?? "";
  state.email = given.get("email") ?? "";
  views();
  if (given.has("error")) banner(given.get("error_description") || given.get("error"));
  else if (given.has("access_token") || (page.cookies && given.get("status") === "signed_in")) signedIn(Object.fromEntries(given));
  else if (given.has("linked")) banner("The provider is linked. Log in with it.");
  else if (given.has("challenge")) challenged(given.get("challenge"), given.get("temp_token"));
  else if (page.view === "verified") banner(VERIFIED[given.get("status")] ?? "");
  // Not without cookies: the browser would report the refused request as an error.
  if (page.session && !state.in && !state.temp_token)
    call("GET", "me").then((result) => result.ok && signedIn({}));
}

start();
