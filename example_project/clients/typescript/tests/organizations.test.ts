import assert from "node:assert/strict";
import { test } from "node:test";

import type { AuthClient } from "@authservice/client";
import { Counted, expire, kept, newUser } from "./service.js";

async function found(auth: AuthClient): Promise<string> {
  const made = await auth.answer(auth.api.POST("/org", { body: { name: "Acme" } }));
  assert.ok(made.status === "ok");
  return made.data.id;
}

function claims(token: string): { org_id?: string } {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as object;
}

test("a switch sends the refresh token, and its tokens are stored", async () => {
  const { auth, storage } = await newUser();
  const org_id = await found(auth);
  const before = await kept(storage);

  assert.equal((await auth.switchOrganization(org_id)).status, "ok");

  const after = await kept(storage);
  assert.equal(claims(after.access_token).org_id, org_id);
  assert.notEqual(after.refresh_token, before.refresh_token);
  await expire(storage);
  assert.equal((await auth.me()).status, "ok");
});

test("a switch with an expired token is sent again after one refresh", async () => {
  const counted = new Counted();
  const { auth, storage } = await newUser({ fetch: counted.fetch });
  const org_id = await found(auth);
  await expire(storage);

  assert.equal((await auth.switchOrganization(org_id)).status, "ok");

  assert.equal(counted.to("/refresh").length, 1);
  assert.equal(claims((await kept(storage)).access_token).org_id, org_id);
});

test("a switch and ten requests with an expired token keep the session", async () => {
  const { auth, storage } = await newUser();
  const org_id = await found(auth);
  await expire(storage);

  const switched = auth.switchOrganization(org_id);
  const answers = await Promise.all([switched, ...Array.from({ length: 10 }, () => auth.me())]);

  assert.deepEqual(new Set(answers.map((one) => one.status)), new Set(["ok"]));
  await expire(storage);
  assert.equal((await auth.me()).status, "ok");
});

test("a refused switch changes nothing", async () => {
  const { auth, storage } = await newUser();
  const before = await kept(storage);

  const refused = await auth.switchOrganization("0198c2a4-6f3e-7c51-9d0b-2f4a8e6b1c37");

  assert.ok(refused.status === "refused");
  assert.equal(refused.code, "ORG_NOT_FOUND");
  assert.deepEqual(await kept(storage), before);
});
