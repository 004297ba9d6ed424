import assert from "node:assert/strict";
import { test } from "node:test";

import { memoryStorage, never, type AuthClient, type SignIn } from "@authservice/client";
import { PASSWORD, Counted, client, mailedCode, newUser, totp } from "./service.js";

/** A `switch` over every outcome of a sign-in: it does not compile if one is missing. */
function summary(outcome: SignIn): string {
  switch (outcome.status) {
    case "signed_in":
      return outcome.user.email;
    case "challenge":
      return outcome.challenges.map((one) => one.type).join();
    case "verification_required":
      return `verify ${outcome.user.email}`;
    case "sent":
      return outcome.message;
    case "refused":
      return outcome.code;
    case "failed":
      return "failed";
    default:
      return never(outcome);
  }
}

test("a sign-up ends with a session, and a logout without one", async () => {
  const { auth, email } = await newUser();

  const me = await auth.me();
  assert.ok(me.status === "ok");
  assert.equal(me.data.email, email);
  assert.equal((await auth.logOut()).status, "ok");
  assert.deepEqual(await auth.me(), { status: "signed_out", reason: "not_signed_in" });
});

test("a wrong password is a refusal with its code", async () => {
  const { email } = await newUser();

  const outcome = await client().logIn({ email, password: "wrong" });

  assert.equal(summary(outcome), "INVALID_CREDENTIALS");
  assert.ok(outcome.status === "refused");
  assert.equal(outcome.httpStatus, 401);
});

test("a taken address is a refusal of the sign-up", async () => {
  const { email } = await newUser();

  assert.equal(summary(await client().signUp({ email, password: PASSWORD })), "USER_ALREADY_EXISTS");
});

/** Enable a second factor; returns the backup codes. */
async function enrol(auth: AuthClient): Promise<string[]> {
  const setup = await auth.answer(auth.api.POST("/2fa/setup", { body: {} }));
  assert.ok(setup.status === "ok");
  const code = totp(setup.data.secret);
  const enabled = await auth.answer(auth.api.POST("/2fa/verify", { body: { code } }));
  assert.equal(enabled.status, "ok");
  return setup.data.backup_codes;
}

test("a second factor is a challenge, which a code completes", async () => {
  const { auth: first, email } = await newUser();
  const [code = ""] = await enrol(first);
  const auth = client();

  const outcome = await auth.logIn({ email, password: PASSWORD });
  assert.equal(summary(outcome), "2fa");
  assert.ok(outcome.status === "challenge");
  assert.equal((await auth.me()).status, "signed_out");
  const temp_token = outcome.challenges[0]?.data.temp_token ?? "";

  assert.equal(summary(await auth.verifyCode({ temp_token, code: "wrong-code" })), "TWO_FACTOR_INVALID");
  assert.equal(summary(await auth.verifyCode({ temp_token, code })), email);
  assert.equal((await auth.me()).status, "ok");
});

test("an unknown temp_token is a refusal and leaves the session of the client alone", async () => {
  const { auth } = await newUser();

  assert.equal(summary(await auth.verifyCode({ temp_token: "unknown", code: "123456" })), "INVALID_TOKEN");
  assert.equal((await auth.me()).status, "ok");
});

async function mailCode(auth: AuthClient, email: string): Promise<void> {
  const sent = await auth.answer(auth.api.POST("/magic-link/send", { body: { email } }));
  assert.equal(sent.status, "ok");
}

test("the code of a magic-link mail signs in, or leads to the second factor", async () => {
  const { email } = await newUser();
  const auth = client();
  await mailCode(auth, email);
  // The first proof of the address removes a second factor from before, so it is enabled later.
  assert.equal(summary(await auth.verifyMagicCode({ email, code: await mailedCode(email) })), email);
  await enrol(auth);

  await mailCode(auth, email);
  const outcome = await auth.verifyMagicCode({ email, code: await mailedCode(email, 2) });

  assert.equal(summary(outcome), "2fa");
});

test("the fragment of a redirect is a sign-in, a challenge, an error or nothing", async () => {
  const { storage, email } = await newUser();
  const tokens = JSON.parse((await storage.get("session")) as string) as Record<string, string>;
  const auth = client();

  const signedIn = await auth.arrive(`#${new URLSearchParams(tokens)}`);
  assert.ok(signedIn.status === "signed_in");
  assert.equal(signedIn.user.email, email);
  assert.deepEqual(await auth.arrive("#challenge=2fa&temp_token=abc"), {
    status: "challenge",
    type: "2fa",
    temp_token: "abc",
  });
  assert.deepEqual(await auth.arrive("#error=TOKEN_EXPIRED&error_description=The+link+has+expired."), {
    status: "error",
    code: "TOKEN_EXPIRED",
    message: "The link has expired.",
  });
  assert.deepEqual(await auth.arrive(""), { status: "nothing" });
  // Only a client with cookies has tokens then.
  assert.deepEqual(await auth.arrive("#status=signed_in"), { status: "nothing" });
});

test("a client sends the token of its device with the next login", async () => {
  const counted = new Counted();
  const storage = memoryStorage();
  const { auth, email } = await newUser({ fetch: counted.fetch, storage });
  await auth.logOut();
  const device = await storage.get("device");

  await auth.logIn({ email, password: PASSWORD });

  assert.ok(device);
  assert.equal(counted.to("/login")[0]?.headers.get("X-Device-Token"), device);
});

test("no answer is an outcome too, and keeps the tokens", async () => {
  const { storage } = await newUser();
  const auth = client({ baseUrl: "http://127.0.0.1:9/auth", storage });

  assert.equal((await auth.me()).status, "failed");
  assert.equal(summary(await auth.logIn({ email: "ann@example.com", password: PASSWORD })), "failed");
  assert.ok(await storage.get("session"));
});

test("tokens are sent to the service and to origins of the options only", async () => {
  const { auth } = await newUser();

  await assert.rejects(auth.fetch("http://127.0.0.1:9/steal"), /may not get tokens/);
});

test("a step-up proves the password again, and keeps the session", async () => {
  const { auth } = await newUser();
  const asked = await auth.stepUp();
  assert.ok(asked.status === "ok");
  assert.deepEqual(asked.data.methods, ["password"]);

  const wrong = await auth.confirm({ temp_token: asked.data.temp_token, password: "wrong" });
  assert.ok(wrong.status === "refused");
  assert.equal(wrong.code, "INVALID_CREDENTIALS");
  const done = await auth.confirm({ temp_token: asked.data.temp_token, password: PASSWORD });

  assert.ok(done.status === "ok");
  assert.equal(done.data.acr, "aal1");
  assert.equal((await auth.me()).status, "ok");
});

test("a level that the user cannot reach is a refusal that names it", async () => {
  const { auth } = await newUser();

  const asked = await auth.stepUp("aal2");

  assert.ok(asked.status === "refused");
  assert.deepEqual([asked.code, asked.acr], ["STEP_UP_UNAVAILABLE", "aal2"]);
});
