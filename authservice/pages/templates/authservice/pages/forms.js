// What a script can add to the forms of the pages, which work without it. The policy of a page allows
// this text by its digest.
"use strict";
(() => {
  const find = (selector, within = document) => [...within.querySelectorAll(selector)];

  function show(button, shown) {
    button.setAttribute("aria-pressed", shown);
    document.getElementById(button.dataset.shows).type = shown ? "text" : "password";
  }

  for (const button of find("[data-shows]")) {
    button.hidden = false;
    button.addEventListener("click", () => show(button, button.getAttribute("aria-pressed") !== "true"));
  }

  // The rules of a new password, as it is typed. The server decides.
  for (const list of find(".rules")) {
    const input = list.closest(".field").querySelector("input");
    const check = () => {
      for (const rule of find("[data-rule]", list)) {
        rule.classList.toggle("kept", new RegExp(rule.dataset.rule, "su").test(input.value));
      }
    };
    input.addEventListener("input", check);
    check();
  }

  function rest() {
    for (const busy of find("[aria-busy]")) busy.removeAttribute("aria-busy");
  }

  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (event.defaultPrevented) return;
    if (form.hasAttribute("aria-busy")) return event.preventDefault(); // pressed twice
    // Browsers suggest what was typed as text, but not passwords.
    for (const button of find("[data-shows]", form)) show(button, false);
    for (const busy of [form, submitter]) busy?.setAttribute("aria-busy", "true");
    // The answer may be a file, after which the page stays.
    setTimeout(rest, 10000);
  });
  // The back button shows the page as it was left.
  addEventListener("pageshow", rest);
})();
