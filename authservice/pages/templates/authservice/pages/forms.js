{% comment %}What a script can add to the forms of the pages, which work without it. The policy of a page allows
this text by its digest.{% endcomment %}"use strict";
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

  {# The rules of a new password, as it is typed. The server decides. #}
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

  {# Codes to keep. Browsers have a clipboard on https and localhost only. #}
  for (const button of find("[data-keeps]")) {
    const { copied } = button.dataset;
    button.hidden = copied && !navigator.clipboard;
    button.addEventListener("click", () => {
      if (!copied) return print();
      const list = document.getElementById("codes");
      getSelection().selectAllChildren(list); {# if the browser forbids the rest #}
      navigator.clipboard.writeText(list.innerText).then(() => (button.textContent = copied), () => {});
    });
  }

  {# A code is sent with its last digit, as its label says. #}
  for (const input of find("[data-sends]")) {
    input.labels[0].append(` (${input.dataset.sends})`);
    input.addEventListener("input", () => {
      if (/^\d{6}$/.test(input.value)) input.form.requestSubmit(find("button", input.form)[0]);
    });
  }

  function rest() {
    for (const busy of find("[aria-busy]")) busy.removeAttribute("aria-busy");
  }

  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (event.defaultPrevented) return;
    if (form.hasAttribute("aria-busy")) return event.preventDefault(); // pressed twice
    {# Browsers suggest what was typed as text, but not passwords. #}
    for (const button of find("[data-shows]", form)) show(button, false);
    for (const busy of [form, submitter]) busy?.setAttribute("aria-busy", "true");
    {# The answer may be a file, after which the page stays. #}
    setTimeout(rest, 10000);
  });
  {# The back button shows the page as it was left. #}
  addEventListener("pageshow", rest);
})();
