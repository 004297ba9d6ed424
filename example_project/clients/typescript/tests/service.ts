/** The service that the tests call, and what they know of it. The environment names it. */

import { createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { env } from "node:process";

import { AuthClient, memoryStorage, type AuthOptions, type AuthStorage } from "@authservice/client";

export const PASSWORD = "plum tart 42 windows";
export const URL = given("AUTHSERVICE_URL");

function given(name: string): string {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set: see tests/clients`);
  return value;
}

let people = 0;

export function address(): string {
  people += 1;
  return `person${people}-${Date.now()}@example.com`;
}

/** Counts the requests of a client for each path. */
export class Counted {
  readonly requests: Request[] = [];
  readonly fetch = (async (request: Request, init?: RequestInit) => {
    const counted = new Request(request, init);
    this.requests.push(counted.clone());
    return globalThis.fetch(counted);
  }) as typeof globalThis.fetch;

  to(path: string): Request[] {
    return this.requests.filter((request) => request.url.endsWith(path));
  }
}

export function client(options: Partial<AuthOptions> = {}): AuthClient {
  return new AuthClient({ baseUrl: URL, ...options });
}

/** A new user who is signed in; `refreshToken` and `expire` reach into the storage. */
export async function newUser(options: Partial<AuthOptions> = {}): Promise<{
  auth: AuthClient;
  email: string;
  storage: AuthStorage;
}> {
  const storage = options.storage ?? memoryStorage();
  const auth = client({ ...options, storage });
  const email = address();
  const outcome = await auth.signUp({ email, password: PASSWORD });
  if (outcome.status !== "signed_in") throw new Error(JSON.stringify(outcome));
  return { auth, email, storage };
}

interface Kept {
  access_token: string;
  refresh_token: string;
}

export async function kept(storage: AuthStorage): Promise<Kept> {
  return JSON.parse((await storage.get("session")) ?? "null") as Kept;
}

/** Replace the stored access token by one that differs only in its time: it has expired. */
export async function expire(storage: AuthStorage): Promise<void> {
  const tokens = await kept(storage);
  const [header, payload] = tokens.access_token.split(".");
  const claims = JSON.parse(Buffer.from(payload ?? "", "base64url").toString()) as { exp: number };
  const changed = Buffer.from(JSON.stringify({ ...claims, exp: 1 })).toString("base64url");
  const key = Buffer.from(given("AUTHSERVICE_SIGNING_KEY"), "hex");
  const signed = `${header}.${changed}`;
  const signature = createHmac("sha256", key).update(signed).digest("base64url");
  await storage.set("session", JSON.stringify({ ...tokens, access_token: `${signed}.${signature}` }));
}

/** What anybody who has a refresh token does with it; returns the next one. */
export async function useToken(refreshToken: string): Promise<string> {
  const response = await fetch(`${URL}/refresh`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ refresh_token: refreshToken }),
  });
  const { data } = (await response.json()) as { data: Kept };
  return data.refresh_token;
}

/** The code of an authenticator app (RFC 6238) in this time step. */
export function totp(secret: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret].map((one) => alphabet.indexOf(one).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac("sha1", key).update(step).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

/** The code in a mail to an address, once it has arrived: the first code, or the nth. */
export async function mailedCode(to: string, nth = 1): Promise<string> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const code = codesTo(to)[nth - 1];
    if (code) return code;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`mail ${nth} to ${to} has not arrived`);
}

function codesTo(to: string): string[] {
  const folder = given("AUTHSERVICE_MAILBOX");
  const names = readdirSync(folder).filter((name) => name.endsWith(".eml"));
  const mails = names.sort().map((name) => readFileSync(join(folder, name), "utf8"));
  const found = mails.map((mail) => mail.includes(to) && /^\s*(\d{6})\s*$/m.exec(mail)?.[1]);
  return found.filter((code) => typeof code === "string");
}
