import assert from "node:assert/strict";
import { test } from "node:test";

import { memoryStorage, type State } from "@authservice/client";
import { Counted, URL, client, expire, kept, newUser, totp, useToken } from "./service.js";

test("an expired token is refreshed, and the request is sent again with its body", async () => {
  const counted = new Counted();
  const { auth, storage } = await newUser({ fetch: counted.fetch });
  const before = await kept(storage);
  await expire(storage);

  const changed = await auth.answer(auth.api.PATCH("/profile", { body: { name: "Ann" } }));

  assert.ok(changed.status === "ok");
  assert.equal(changed.data.name, "Ann");
  assert.equal(counted.to("/profile").length, 2);
  assert.notEqual((await kept(storage)).refresh_token, before.refresh_token);
});

test("ten requests at once make one refresh", async () => {
  const counted = new Counted();
  const { auth, storage } = await newUser({ fetch: counted.fetch });
  await expire(storage);

  const answers = await Promise.all(Array.from({ length: 10 }, () => auth.me()));

  assert.deepEqual(new Set(answers.map((one) => one.status)), new Set(["ok"]));
  assert.equal(counted.to("/refresh").length, 1);
});

test("ten clients that share a storage make one refresh", async () => {
  const counted = new Counted();
  const { storage } = await newUser();
  await expire(storage);
  const clients = Array.from({ length: 10 }, () => client({ storage, fetch: counted.fetch }));

  const answers = await Promise.all(clients.map((one) => one.me()));

  assert.deepEqual(new Set(answers.map((one) => one.status)), new Set(["ok"]));
  assert.equal(counted.to("/refresh").length, 1);
});

test("a client whose refresh came too late uses the tokens of the other one", async () => {
  const { storage } = await newUser();
  await expire(storage);
  let arrived = 0;
  let release: () => void = () => undefined;
  const both = new Promise<void>((resolve) => (release = resolve));
  const together = (async (request: Request) => {
    if (request.url.endsWith("/refresh")) {
      arrived += 1;
      if (arrived === 2) release();
      await both;
    }
    return globalThis.fetch(request);
  }) as typeof globalThis.fetch;
  // Two names of one service, so that the clients do not wait for each other.
  const names = [URL, URL.replace("localhost", "127.0.0.1")];
  const clients = names.map((baseUrl) => client({ baseUrl, storage, fetch: together }));

  const answers = await Promise.all(clients.map((one) => one.me()));

  assert.deepEqual(answers.map((one) => one.status), ["ok", "ok"]);
  assert.equal(arrived, 2);
});

test("a stolen and replayed token leads to signed out, for its owner and the thief", async () => {
  const { auth, storage } = await newUser();
  const states: State[] = [];
  auth.onChange((state) => states.push(state));
  const thief = await useToken(await useToken((await kept(storage)).refresh_token));
  await expire(storage);

  assert.deepEqual(await auth.me(), { status: "signed_out", reason: "session_ended" });

  assert.equal(await storage.get("session"), null);
  assert.deepEqual(states, ["signed_out"]);
  assert.deepEqual(await auth.me(), { status: "signed_out", reason: "not_signed_in" });
  const stolen = memoryStorage();
  await stolen.set("session", JSON.stringify({ access_token: "", refresh_token: thief }));
  assert.equal((await client({ storage: stolen }).me()).status, "signed_out");
});

test("a refresh without an answer keeps the tokens for the next one", async () => {
  let lost = true;
  const flaky = (async (request: Request) => {
    if (lost && request.url.endsWith("/refresh")) throw new TypeError("connection lost");
    return globalThis.fetch(request);
  }) as typeof globalThis.fetch;
  const { auth, storage } = await newUser({ fetch: flaky });
  await expire(storage);

  assert.equal((await auth.me()).status, "failed");
  lost = false;
  assert.equal((await auth.me()).status, "ok");
});

test("a session that was ended elsewhere leads to signed out", async () => {
  const { auth, storage } = await newUser();
  const other = client({ storage: memoryStorage() });
  const { access_token } = await kept(storage);
  await other.fetch(`${URL}/logout`, {
    method: "POST",
    headers: { Authorization: `Bearer ${access_token}` },
  });

  assert.deepEqual(await auth.me(), { status: "signed_out", reason: "session_ended" });
});

test("a request that asks for a step-up is not answered with a refresh", async () => {
  const counted = new Counted();
  const { auth, storage } = await newUser({ fetch: counted.fetch });
  // With a second factor the export asks for both, and this session has proven the password only.
  const set = await auth.answer(auth.api.POST("/2fa/setup"));
  assert.ok(set.status === "ok");
  const code = totp(set.data.secret);
  assert.equal((await auth.answer(auth.api.POST("/2fa/verify", { body: { code } }))).status, "ok");
  const before = await kept(storage);
  const states: State[] = [];
  auth.onChange((state) => states.push(state));

  const refused = await auth.answer(auth.api.GET("/me/export"));

  assert.ok(refused.status === "refused");
  assert.deepEqual([refused.code, refused.acr], ["STEP_UP_REQUIRED", "aal2"]);
  assert.equal(counted.to("/me/export").length, 1);
  assert.equal(counted.to("/refresh").length, 0);
  assert.deepEqual(await kept(storage), before);
  assert.deepEqual(states, []);

  const asked = await auth.stepUp(refused.acr);
  assert.ok(asked.status === "ok");
  const [backup = ""] = set.data.backup_codes;
  const done = await auth.confirm({ temp_token: asked.data.temp_token, code: backup });
  assert.equal(done.status, "ok");
  assert.equal((await auth.api.GET("/me/export")).response.status, 200);
  assert.equal((await kept(storage)).refresh_token, before.refresh_token);
  assert.equal(counted.to("/refresh").length, 0);
});
