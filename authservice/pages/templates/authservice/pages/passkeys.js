{% comment %}Passkeys on the pages of the service. All data are in the page: see `passkey_forms.py`. The policy
of the page allows this text by its digest.{% endcomment %}"use strict";
(async () => {
  const keys = window.PublicKeyCredential;
  if (!keys?.parseRequestOptionsFromJSON || !keys.parseCreationOptionsFromJSON) return;
  const begun = Date.now();
  const again = "authservice_passkey";
  const find = (selector) => document.querySelector(selector);
  const form = find("form[data-passkey]");
  let waiting; // a browser answers one request at a time

  {# The options are valid for some time only. Then a new page asks at once. #}
  function isOld() {
    return form.dataset.autofill && Date.now() - begun > JSON.parse(form.dataset.options).timeout - 5000;
  }

  function renew() {
    sessionStorage.setItem(again, "1");
    location.replace(form.dataset.autofill);
  }

  async function ask(mediation) {
    if (isOld()) return renew();
    waiting?.abort();
    waiting = new AbortController();
    const { signal } = waiting;
    const options = JSON.parse(form.dataset.options);
    const answer = await (form.dataset.passkey === "create"
      ? navigator.credentials.create({ publicKey: keys.parseCreationOptionsFromJSON(options), signal })
      : navigator.credentials.get({ publicKey: keys.parseRequestOptionsFromJSON(options), mediation, signal }));
    if (isOld()) return renew();
    form.elements.credential.value = JSON.stringify(answer.toJSON());
    {# Such as "Keep me signed in", which is in the other form. #}
    for (const { name, form: other } of document.querySelectorAll("input[type=checkbox]:checked")) {
      const copy = Object.assign(document.createElement("input"), { type: "hidden", name, value: "on" });
      if (other !== form) form.append(copy);
    }
    form.submit();
  }

  function show(error) {
    for (const text of form.querySelectorAll("[data-failed]")) text.hidden = true;
    {# The user closed the dialogue, or another request took its place. #}
    if (["AbortError", "NotAllowedError"].includes(error.name)) return;
    const own = form.querySelector(`[data-failed="${error.name}"]`);
    (own ?? form.querySelector('[data-failed=""]')).hidden = false;
  }

  if (form) {
    for (const text of document.querySelectorAll("[data-without]")) text.hidden = true;
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      ask("optional").catch(show);
    });
    if (form.dataset.autofill && sessionStorage.getItem(again)) {
      sessionStorage.removeItem(again);
      ask("optional").catch(show);
    } else if (form.dataset.autofill && (await keys.isConditionalMediationAvailable?.())) {
      ask("conditional").catch(() => {});
    }
  }

  const able = find("input[data-able]");
  if (able && (await keys.isUserVerifyingPlatformAuthenticatorAvailable?.())) able.value = "on";

  {# The signal API: the browser forgets passkeys that no account has any more. #}
  const quietly = (name, data) => keys[name]?.(data).catch(() => {});
  const unknown = find("[data-unknown]");
  if (unknown) await quietly("signalUnknownCredential", JSON.parse(unknown.dataset.unknown));
  const known = find("[data-signals]");
  if (known) {
    const [accepted, details] = JSON.parse(known.dataset.signals);
    await quietly("signalAllAcceptedCredentials", accepted);
    await quietly("signalCurrentUserDetails", details);
  }
})();
