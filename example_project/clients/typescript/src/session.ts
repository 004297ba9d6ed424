/**
 * The session of a client: adds its tokens to requests and refreshes them.
 *
 * A refresh token works once. If it is sent a second time, the service assumes that it was stolen
 * and ends the session. So however many requests of however many tabs find the access token
 * expired, one of them refreshes, and the others use its result.
 */

import { Csrf } from "./csrf.js";
import { alone, pause, tabsWait } from "./locks.js";
import { codeOf, type SignedOut } from "./outcomes.js";
import type { AuthStorage } from "./storage.js";

export interface Tokens {
  access_token: string;
  refresh_token: string;
}

export interface SessionOptions {
  baseUrl: string;
  cookies: boolean;
  /** Whether there may be a session of which the storage has nothing. */
  alwaysAsk: boolean;
  csrf: boolean;
  csrfHeader: string;
  storage: AuthStorage;
  fetch: typeof globalThis.fetch;
  signedOut: (reason: SignedOut) => void;
}

/** `again`: there are newer tokens. A `Response`: the refresh failed, and may be tried later. */
type Refreshed = "again" | SignedOut | Response;

const DEVICE = "X-Device-Token";
// An access cookie is deleted by the browser when its token expires, so the answer of the service
// is UNAUTHORIZED then. INVALID_TOKEN: the key was changed, or the session has ended.
const REFRESHABLE = new Set(["TOKEN_EXPIRED", "INVALID_TOKEN", "UNAUTHORIZED"]);
// Their INVALID_TOKEN is about the `temp_token` in the body.
const PUBLIC = /\/2fa\/(setup|verify)-login$/;
const STEP_UP = /\/step-up\/verify$/;
// Their responses have tokens of the same session, if the client has one.
const CONTINUING = /\/org\/switch$|\/invitations\/accept$/;
// In milliseconds. Without the Web Locks API, the tokens of a tab that was faster may be on their
// way.
const LATE = 500;
const PATIENCE = 30_000;

export class Session {
  private readonly csrf: Csrf;
  private refreshing: Promise<Refreshed> | undefined;
  /** The responses to requests for which there is no session any more. */
  readonly ended = new WeakMap<Response, SignedOut>();

  constructor(private readonly options: SessionOptions) {
    const { baseUrl, storage, csrfHeader, fetch } = options;
    this.csrf = new Csrf(baseUrl, storage, csrfHeader, fetch);
  }

  /**
   * `fetch` with the tokens of the session; refreshes them and tries again if they expired.
   *
   * Requests that continue the session send its refresh token, and the tokens of their responses
   * are stored: their callers need not know of either.
   */
  readonly fetch = async (request: Request): Promise<Response> => {
    const used = await this.stored();
    const response = await this.attempt(request, used);
    if (!(await refusesTokens(request, response))) return response;
    const refreshed = await this.refresh(used);
    if (refreshed instanceof Response) return refreshed;
    if (refreshed !== "again") return this.end(response, refreshed);
    const newer = await this.stored();
    const second = await this.attempt(request, newer);
    if (!(await refusesTokens(request, second))) return second;
    return this.end(second, await this.locked(() => this.drop("session_ended", newer)));
  };

  private attempt(request: Request, session: string): Promise<Response> {
    const { pathname } = new URL(request.url);
    const continues = request.method === "POST" && CONTINUING.test(pathname);
    // With the lock, so that no tab refreshes with the token that this request uses.
    return continues ? this.locked(() => this.carryOn(request)) : this.send(request.clone(), session);
  }

  private async carryOn(request: Request): Promise<Response> {
    const session = await this.stored();
    const tokens = this.tokens(session);
    const given = (await request.clone().json()) as object;
    const body = JSON.stringify({ ...given, refresh_token: tokens?.refresh_token });
    const response = await this.send(new Request(request.clone(), { body }), session);
    if (!response.ok) return response;
    const { data } = (await response.clone().json()) as { data: Partial<Tokens> };
    if (data.access_token === undefined) return response; // a challenge
    await this.csrf.forget();
    await this.write({ access_token: data.access_token, refresh_token: data.refresh_token ?? tokens?.refresh_token ?? "" });
    return response;
  }

  /** Store the tokens of a sign-in. With cookies the browser has them, and scripts need none. */
  async keep(tokens: Tokens): Promise<void> {
    await this.csrf.forget();
    await this.locked(async () => this.write(tokens));
  }

  /** Store a newer access token of this session, whose refresh token stays. */
  async renew(access_token: string): Promise<void> {
    await this.locked(async () => {
      const tokens = this.tokens(await this.stored());
      await this.write({ access_token, refresh_token: tokens?.refresh_token ?? "" });
    });
  }

  /** Remove the tokens of a session that has ended. */
  async forget(): Promise<void> {
    await this.csrf.forget();
    await this.locked(async () => this.options.storage.set("session", null));
  }

  /** Replace the tokens `used`, unless another request or tab has already done so. */
  refresh(used: string): Promise<Refreshed> {
    this.refreshing ??= this.locked(() => this.exchange(used)).finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** What is stored of the session, as one text: it changes with each refresh. "" for nothing. */
  async stored(): Promise<string> {
    return (await this.options.storage.get("session")) ?? "";
  }

  private async exchange(used: string): Promise<Refreshed> {
    const current = await this.stored();
    if (current !== used) return current ? "again" : { status: "signed_out", reason: "session_ended" };
    if (!current && !this.options.alwaysAsk) return { status: "signed_out", reason: "not_signed_in" };
    const response = await this.post(this.tokens(current)?.refresh_token);
    if (response.ok) {
      const { data } = (await response.json()) as { data: Tokens };
      await this.write(data);
      return "again";
    }
    const code = await codeOf(response);
    // Without a refresh token in a cookie, the service asks for one in the body.
    if (code === "VALIDATION_ERROR") return this.drop("not_signed_in", current);
    if (code !== "INVALID_REFRESH_TOKEN") return response;
    if (await this.anotherTabRefreshed(current)) return "again";
    return this.drop("session_ended", current);
  }

  /**
   * Whether the refused token was replaced by another tab a moment ago: the service refuses it
   * then, and keeps the session.
   */
  private async anotherTabRefreshed(refused: string): Promise<boolean> {
    if (!tabsWait()) await pause(LATE);
    if ((await this.stored()) !== refused) return true;
    if (!this.options.cookies) return false;
    return (await this.send(new Request(`${this.options.baseUrl}/me`), refused)).ok;
  }

  private post(refreshToken: string | undefined): Promise<Response> {
    const body = JSON.stringify(refreshToken === undefined ? {} : { refresh_token: refreshToken });
    const headers = { "Content-Type": "application/json" };
    // Other requests and tabs wait for this one.
    const signal = AbortSignal.timeout(PATIENCE);
    const request = new Request(`${this.options.baseUrl}/refresh`, { method: "POST", headers, body, signal });
    return this.send(request, "");
  }

  private async send(request: Request, session: string): Promise<Response> {
    const { cookies, csrf, storage } = this.options;
    const sent = new Request(request, { credentials: cookies || csrf ? "include" : "same-origin" });
    const tokens = this.tokens(session);
    if (tokens) sent.headers.set("Authorization", `Bearer ${tokens.access_token}`);
    const device = cookies ? null : await storage.get("device");
    if (device !== null) sent.headers.set(DEVICE, device);
    const response = await (csrf ? this.csrf.send(sent) : this.options.fetch(sent));
    const known = cookies ? null : response.headers.get(DEVICE);
    if (known !== null) await storage.set("device", known);
    return response;
  }

  private tokens(session: string): Tokens | undefined {
    return session && !this.options.cookies ? (JSON.parse(session) as Tokens) : undefined;
  }

  private async write({ access_token, refresh_token }: Tokens): Promise<void> {
    // With cookies only a mark, by which other tabs see that there are newer tokens.
    const mark = `${Date.now()}:${Math.random()}`;
    const session = this.options.cookies ? mark : JSON.stringify({ access_token, refresh_token });
    await this.options.storage.set("session", session);
  }

  /** Remove refused tokens, unless another tab has stored others. Call it with the lock. */
  private async drop(reason: SignedOut["reason"], refused: string): Promise<SignedOut> {
    await this.csrf.forget();
    if ((await this.stored()) === refused) await this.options.storage.set("session", null);
    return { status: "signed_out", reason };
  }

  private end(response: Response, reason: SignedOut): Response {
    this.ended.set(response, reason);
    this.options.signedOut(reason);
    return response;
  }

  private locked<Value>(task: () => Promise<Value>): Promise<Value> {
    return alone(`authservice:session:${this.options.baseUrl}`, async () => {
      const before = await this.stored();
      const value = await task();
      return { value, wrote: (await this.stored()) !== before };
    });
  }
}

async function refusesTokens(request: Request, response: Response): Promise<boolean> {
  const { pathname } = new URL(request.url);
  if (response.status !== 401 || PUBLIC.test(pathname)) return false;
  const code = (await codeOf(response)) ?? "";
  return REFRESHABLE.has(code) && !(code === "INVALID_TOKEN" && STEP_UP.test(pathname));
}
