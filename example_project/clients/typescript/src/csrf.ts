/**
 * CSRF tokens: fetched once, shared by all tabs, sent with each request that changes something.
 *
 * A token belongs to the session of the cookies, so signing in or out ends it.
 */

import { alone } from "./locks.js";
import { codeOf } from "./outcomes.js";
import type { AuthStorage } from "./storage.js";

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

export class Csrf {
  constructor(
    private readonly baseUrl: string,
    private readonly storage: AuthStorage,
    private readonly header: string,
    private readonly fetch: typeof globalThis.fetch,
  ) {}

  /** Send a request with a token. If the service refuses the token, try once with another one. */
  async send(request: Request): Promise<Response> {
    if (SAFE.has(request.method)) return this.fetch(request);
    const token = (await this.storage.get("csrf")) ?? (await this.renew(null));
    const response = await this.with(token, request.clone());
    if ((await codeOf(response)) !== "INVALID_CSRF") return response;
    return this.with(await this.renew(token), request);
  }

  async forget(): Promise<void> {
    await this.storage.set("csrf", null);
  }

  private with(token: string, request: Request): Promise<Response> {
    request.headers.set(this.header, token);
    return this.fetch(request);
  }

  /** A token other than `refused`. The cookie has the latest token, so tabs must share it. */
  private renew(refused: string | null): Promise<string> {
    return alone(`authservice:csrf:${this.baseUrl}`, async () => {
      const shared = await this.storage.get("csrf");
      if (shared !== null && shared !== refused) return { value: shared, wrote: false };
      const response = await this.fetch(`${this.baseUrl}/csrf-token`, { credentials: "include" });
      if (!response.ok) throw new Error(`GET /csrf-token was answered ${response.status}`);
      const { data } = (await response.json()) as { data: { csrf_token: string } };
      await this.storage.set("csrf", data.csrf_token);
      return { value: data.csrf_token, wrote: true };
    });
  }
}
