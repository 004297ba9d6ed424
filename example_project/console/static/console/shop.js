// The shop works without this script. It closes the menu, and in development it keeps the drawer
// current: new requests and mails appear in it, and a mail as a toast.
"use strict";

const { news, mailbox } = document.body.dataset; // addresses, for a browser that may read them
const drawer = document.getElementById("drawer");
const toasts = document.getElementById("toasts");
const ICON = '<svg viewBox="0 0 24 24" aria-hidden="true"><rect x="3" y="5" width="18" height="14" rx="2"/><path d="M3 7l9 6 9-6"/></svg>';
document.documentElement.classList.add("scripted");

// The menu

const menu = document.querySelector(".menu");
document.addEventListener("click", (event) => {
  if (menu?.open && !menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu?.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// Rows of requests and mails

document.addEventListener("click", (event) => {
  if (event.target.matches(".copy")) copy(event.target);
});

async function copy(button) {
  const command = button.previousElementSibling;
  getSelection().selectAllChildren(command);
  // Browsers have no clipboard for pages of other machines without https; the text is selected.
  await navigator.clipboard?.writeText(command.textContent);
  button.textContent = navigator.clipboard ? "Copied" : "Selected";
}

function localize(rows) {
  for (const time of rows.querySelectorAll("time"))
    time.textContent = new Date(time.dateTime).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

// The drawer

function show(panel, mail) {
  drawer.open = true;
  document.getElementById(`show-${panel}`).checked = true;
  read();
  const details = mail && document.getElementById(`mail-${mail}`);
  if (details) details.open = true;
  (details || drawer).querySelector("summary").focus();
}

// "Look at the mailbox" leads to a page of its own where there is no script.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-show]");
  if (!link || !drawer) return;
  event.preventDefault();
  show(link.dataset.show, link.dataset.mail);
});

// The newest mail whose toast was closed, or that was shown otherwise. A toast that was not closed
// is there on the next page too: a mail often arrives while the browser leaves a page.
const closed = {
  get: () => localStorage.getItem("plum-mail") ?? "",
  set: (id) => localStorage.setItem("plum-mail", id),
};

function close() {
  closed.set(newest("mails"));
  toasts.replaceChildren();
}

function announce(row) {
  if (!row || row.dataset.id <= closed.get()) return;
  if (!drawer) return closed.set(row.dataset.id); // the page of the mailbox
  document.getElementById("mails-count").classList.add("new");
  if (drawer.open) return read(); // it is in the list already
  const toast = document.createElement("div");
  toast.className = "toast";
  toast.innerHTML = `${ICON}<p><strong></strong><span></span></p><a data-show="mails">Open</a><button type="button" aria-label="Close">×</button>`;
  toast.querySelector("strong").textContent = row.querySelector("strong").textContent;
  toast.querySelector("span").textContent = row.querySelector(".to").textContent;
  const link = toast.querySelector("a");
  link.href = mailbox;
  link.dataset.mail = row.dataset.id;
  toast.querySelector("button").addEventListener("click", close);
  toasts.replaceChildren(toast);
}

// The number is marked until its user looks at the mails.
function read() {
  if (drawer.open && document.getElementById("show-mails").checked)
    document.getElementById("mails-count").classList.remove("new");
}

function add(name, html) {
  const list = document.getElementById(name);
  if (!list || !html.trim()) return;
  list.insertAdjacentHTML("afterbegin", html);
  list.previousElementSibling.hidden = true;
  localize(list);
  if (drawer) document.getElementById(`${name}-count`).textContent = list.children.length;
}

const newest = (name) => document.querySelector(`#${name} > li`)?.dataset.id ?? "";

async function refresh() {
  if (document.hidden) return;
  const query = new URLSearchParams({ call: newest("calls"), mail: newest("mails") });
  const response = await fetch(`${news}?${query}`).catch(() => null);
  // The service stopped, or it was started again with another key.
  if (!response?.ok) return clearInterval(refreshing);
  const { calls, mails } = await response.json();
  add("calls", calls);
  add("mails", mails);
  if (mails.trim()) announce(document.querySelector("#mails > li"));
  const last = document.querySelector("#calls summary");
  if (!drawer || !last) return;
  const [status, what] = last.children;
  document.getElementById("last").replaceChildren(status.cloneNode(true), ` ${what.textContent}`);
}

localize(document);
const refreshing = news && setInterval(refresh, 1000);
if (news) announce(document.querySelector("#mails > li[data-recent]"));
if (drawer) {
  drawer.open = sessionStorage.getItem("plum-drawer") === "open";
  drawer.addEventListener("toggle", () => {
    sessionStorage.setItem("plum-drawer", drawer.open ? "open" : "closed");
    if (drawer.open) close();
    read();
  });
  drawer.addEventListener("change", read);
}
