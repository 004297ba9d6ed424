/** The client: sign-in with typed outcomes, and every route of the API with the types of it. */

import createClient, { type Client } from "openapi-fetch";

import { failed, read, type Answer, type Failed, type Refused, type SignedOut, type User } from "./outcomes.js";
import type { components, paths } from "./schema.js";
import { Session, type Tokens } from "./session.js";
import { memoryStorage, webStorage, type AuthStorage } from "./storage.js";

type Schemas = components["schemas"];
type Body<Path extends keyof paths> = paths[Path] extends {
  post: { requestBody: { content: { "application/json": infer Json } } };
}
  ? Json
  : never;

export interface AuthOptions {
  /** The address of the service with its path, such as `https://api.example.com/auth`. */
  baseUrl: string;
  /**
   * `bearer` (default): tokens are in `storage` and in the `Authorization` header. `cookies`: the
   * browser keeps them in cookies that no script can read; the service needs `COOKIES.ENABLED`.
   */
  mode?: "bearer" | "cookies";
  /** Whether the service has the csrf module. By default true with cookies, otherwise false. */
  csrf?: boolean;
  /** The header of the CSRF token, if the service has another one (`CSRF.HEADER_NAME`). */
  csrfHeader?: string;
  /** By default the memory of the page; with cookies `localStorage`, which then has no token. */
  storage?: AuthStorage;
  /** Further origins that `AuthClient.fetch` may send the tokens to, such as that of your views. */
  origins?: string[];
  fetch?: typeof globalThis.fetch;
}

/** The user is signed in, and the client has the tokens. */
export interface SignedIn {
  status: "signed_in";
  user: User;
}

/** What a way to sign in leads to. */
export type SignIn =
  | SignedIn
  | Schemas["Challenged"]
  | Schemas["VerificationRequired"]
  | Schemas["Sent"]
  | Refused
  | Failed;

/** What a page of the front end finds in its address after a magic link or a provider. */
export type Arrival =
  | SignedIn
  | { status: "challenge"; type: Schemas["Challenge"]["type"]; temp_token: string }
  | { status: "error"; code: string; message: string }
  | { status: "nothing" }
  | SignedOut
  | Refused
  | Failed;

export type State = "signed_in" | "signed_out";
type SignInData = Schemas["Authenticated"] | Exclude<SignIn, SignedIn | Refused | Failed>;

export class AuthClient {
  /** Every route: `api.GET("/sessions")`. Pass the result to `answer`. */
  readonly api: Client<paths>;
  private readonly session: Session;
  private readonly listeners = new Set<(state: State) => void>();
  private readonly storage: AuthStorage;
  private readonly origins: Set<string>;
  private state: State | undefined;

  constructor({ mode = "bearer", ...options }: AuthOptions) {
    const cookies = mode === "cookies";
    const baseUrl = options.baseUrl.replace(/\/$/, "");
    this.origins = new Set([new URL(new Request(baseUrl).url).origin, ...(options.origins ?? [])]);
    this.storage = options.storage ?? (cookies ? shared() : memoryStorage());
    this.session = new Session({
      baseUrl,
      cookies,
      csrf: options.csrf ?? cookies,
      csrfHeader: options.csrfHeader ?? "X-CSRF-Token",
      storage: this.storage,
      fetch: options.fetch ?? ((...given) => globalThis.fetch(...given)),
      signedOut: () => this.become("signed_out"),
    });
    this.api = createClient<paths>({ baseUrl, fetch: this.session.fetch });
  }

  signUp(body: Body<"/signup">): Promise<SignIn> {
    return this.signIn(this.api.POST("/signup", { body }));
  }

  logIn(body: Body<"/login">): Promise<SignIn> {
    return this.signIn(this.api.POST("/login", { body }));
  }

  /** Complete a challenge with a code of the authenticator app, or with a backup code. */
  verifyCode(body: Omit<Body<"/2fa/verify-login">, "remember_device"> & { remember_device?: boolean }): Promise<SignIn> {
    return this.signIn(this.api.POST("/2fa/verify-login", { body: { remember_device: false, ...body } }));
  }

  /** Complete a sign-in with the code of a magic-link mail. */
  verifyMagicCode(body: Body<"/magic-link/verify-code">): Promise<SignIn> {
    return this.signIn(this.api.POST("/magic-link/verify-code", { body }));
  }

  /**
   * Complete a sign-in by a magic link or a provider: `location.hash` of the page to which the
   * service redirected. Remove it from the address first, so that no script finds the tokens.
   */
  async arrive(fragment: string): Promise<Arrival> {
    const given = new URLSearchParams(fragment.replace(/^#/, ""));
    const { error, challenge, temp_token, access_token, refresh_token } = Object.fromEntries(given);
    if (error) return { status: "error", code: error, message: given.get("error_description") ?? "" };
    if (challenge && temp_token) {
      return { status: "challenge", type: challenge as Schemas["Challenge"]["type"], temp_token };
    }
    if (!access_token || !refresh_token) return { status: "nothing" };
    await this.keep({ access_token, refresh_token });
    const me = await this.me();
    return me.status === "ok" ? { status: "signed_in", user: me.data } : me;
  }

  me(): Promise<Answer<User>> {
    return this.answer(this.api.GET("/me"));
  }

  /** End the session. This client has no tokens afterwards, even if the service did not answer. */
  async logOut(): Promise<Answer<unknown>> {
    const answer = await this.answer(this.api.POST("/logout"));
    await this.session.forget();
    this.become("signed_out");
    return answer;
  }

  /** The outcome of any request: `await auth.answer(auth.api.GET("/sessions"))`. */
  async answer<Data>(
    sent: Promise<{ data?: { data: Data }; error?: unknown; response: Response }>,
  ): Promise<Answer<Data>> {
    try {
      const fetched = await sent;
      return this.session.ended.get(fetched.response) ?? read(fetched);
    } catch (cause) {
      return failed(cause);
    }
  }

  /**
   * `fetch` for views of the project, with the tokens of the session: refreshes and tries again as
   * needed. Throws for other origins than that of the service and `origins`, which must not get
   * the tokens.
   */
  async fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    if (!this.origins.has(origin)) throw new TypeError(`${origin} may not get tokens; see origins`);
    return this.session.fetch(request);
  }

  /**
   * Call `listener` when the user has signed in or out, here or in another tab that shares the
   * storage. Returns a function that ends this.
   */
  onChange(listener: (state: State) => void): () => void {
    if (this.listeners.size === 0) this.unwatch = this.watch();
    this.listeners.add(listener);
    return () => {
      if (this.listeners.delete(listener) && this.listeners.size === 0) this.unwatch();
    };
  }

  private unwatch: () => void = () => undefined;

  private watch(): () => void {
    const changed = async (item: string): Promise<void> => {
      if (item === "session") this.become((await this.session.stored()) ? "signed_in" : "signed_out");
    };
    return this.storage.watch?.((item) => void changed(item)) ?? (() => undefined);
  }

  private async signIn(
    sent: Promise<{ data?: { data: SignInData }; error?: unknown; response: Response }>,
  ): Promise<SignIn> {
    try {
      const answer = read(await sent);
      if (answer.status !== "ok") return answer;
      if (answer.data.status !== "signed_in") return answer.data;
      await this.keep(answer.data);
      return { status: "signed_in", user: answer.data.user };
    } catch (cause) {
      return failed(cause);
    }
  }

  private async keep(tokens: Tokens): Promise<void> {
    await this.session.keep(tokens);
    this.become("signed_in");
  }

  private become(state: State): void {
    if (this.state === state) return;
    this.state = state;
    for (const listener of this.listeners) listener(state);
  }
}

/** With cookies tabs share a mark and the CSRF token; without a browser there are no tabs. */
function shared(): AuthStorage {
  return typeof localStorage === "undefined" ? memoryStorage() : webStorage();
}
