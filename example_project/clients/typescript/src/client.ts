/** The client: sign-in with typed outcomes, and every route of the API with the types of it. */

import createClient, { type Client } from "openapi-fetch";

import {
  failed,
  read,
  type Answer,
  type Failed,
  type Level,
  type Refused,
  type SignedOut,
  type User,
} from "./outcomes.js";
import type { components, paths } from "./schema.js";
import { Session, type Tokens } from "./session.js";
import { memoryStorage, webStorage, type AuthStorage } from "./storage.js";

type Schemas = components["schemas"];
type JsonOf<Operation> = Operation extends {
  requestBody?: { content: { "application/json": infer Json } };
}
  ? Json
  : never;
type Body<Path extends keyof paths> = JsonOf<paths[Path]["post"]>;
/** Changes of own fields; without own fields no further ones. */
type Changes<Fields> = unknown extends Fields ? unknown : Partial<Fields>;

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
  /**
   * With cookies: whether to ask the service who is signed in if this browser has no mark of a
   * session. By default it is not asked, so that a visitor without a session causes no refused
   * requests. For sites on which users also sign in without this client.
   */
  alwaysAsk?: boolean;
  /** Further origins that `AuthClient.fetch` may send the tokens to, such as that of your views. */
  origins?: string[];
  fetch?: typeof globalThis.fetch;
}

/** The user is signed in, and the client has the tokens. */
export interface SignedIn<OfUser = User> {
  status: "signed_in";
  user: OfUser;
}

/** What a way to sign in leads to. */
export type SignIn<OfUser = User> =
  | SignedIn<OfUser>
  | Schemas["Challenged"]
  | Schemas["VerificationRequired"]
  | Schemas["Sent"]
  | Refused
  | Failed;

/** What a page of the front end finds in its address after a magic link or a provider. */
export type Arrival<OfUser = User> =
  | SignedIn<OfUser>
  | { status: "challenge"; type: Schemas["Challenge"]["type"]; temp_token: string }
  | { status: "error"; code: string; message: string }
  | { status: "nothing" }
  | SignedOut
  | Refused
  | Failed;

/** The answer to the challenge of a second factor. */
export type SecondStep = { temp_token: string; remember_device?: boolean } & (
  | { code: string }
  | { credential: Record<string, unknown> }
);

export type State = "signed_in" | "signed_out";
type Entered =
  | Schemas["InvitationAccepted"]
  | Schemas["OrgInvitationAccepted"]
  | Schemas["Challenged"];
type SignInData = Schemas["Authenticated"] | Exclude<SignIn, SignedIn | Refused | Failed>;

/**
 * `UserFields` are the fields of your project that `CORE.USER_FIELDS` adds to the user,
 * `SignUpFields` those that `CORE.SIGNUP_SERIALIZER` reads, and `ProfileFields` those of
 * `CORE.PROFILE_SERIALIZER`.
 */
export class AuthClient<UserFields = unknown, SignUpFields = unknown, ProfileFields = SignUpFields> {
  /** Every route: `api.GET("/sessions")`. Pass the result to `answer`. */
  readonly api: Client<paths>;
  private readonly session: Session;
  private readonly listeners = new Set<(state: State) => void>();
  private readonly storage: AuthStorage;
  private readonly origins: Set<string>;
  private readonly cookies: boolean;
  private readonly alwaysAsk: boolean;
  private state: State | undefined;

  constructor({ mode = "bearer", ...options }: AuthOptions) {
    const cookies = (this.cookies = mode === "cookies");
    this.alwaysAsk = cookies && (options.alwaysAsk ?? false);
    const baseUrl = options.baseUrl.replace(/\/$/, "");
    this.origins = new Set([new URL(new Request(baseUrl).url).origin, ...(options.origins ?? [])]);
    this.storage = options.storage ?? (cookies ? shared() : memoryStorage());
    this.session = new Session({
      baseUrl,
      cookies,
      alwaysAsk: this.alwaysAsk,
      csrf: options.csrf ?? cookies,
      csrfHeader: options.csrfHeader ?? "X-CSRF-Token",
      storage: this.storage,
      fetch: options.fetch ?? ((...given) => globalThis.fetch(...given)),
      signedOut: () => this.become("signed_out"),
    });
    this.api = createClient<paths>({ baseUrl, fetch: this.session.fetch });
  }

  signUp(body: Body<"/signup"> & SignUpFields): Promise<SignIn<User & UserFields>> {
    return this.signIn(this.api.POST("/signup", { body }));
  }

  logIn(body: Body<"/login">): Promise<SignIn<User & UserFields>> {
    return this.signIn(this.api.POST("/login", { body }));
  }

  /**
   * Complete a challenge with a code of the authenticator app or a backup code, or with the
   * `credential` of a passkey.
   */
  verifyCode(body: SecondStep): Promise<SignIn<User & UserFields>> {
    return this.signIn(this.api.POST("/2fa/verify-login", { body: { remember_device: false, ...body } }));
  }

  /** Begin to prove a level again, or a stronger one, after `STEP_UP_REQUIRED`. */
  async stepUp(acr: Level | null = null): Promise<Answer<Schemas["StepUpData"]>> {
    const answer = await this.answer(this.api.POST("/step-up", { body: { acr: acr ?? "own" } }));
    if (answer.status !== "ok") return answer;
    const [challenge] = answer.data.challenges;
    return challenge ? { status: "ok", data: challenge.data } : failed(answer.data);
  }

  /** Complete a step-up. Repeat the request that was refused if this is `ok`. */
  async confirm(body: Body<"/step-up/verify">): Promise<Answer<Schemas["SteppedUp"]>> {
    const answer = await this.answer(this.api.POST("/step-up/verify", { body }));
    if (answer.status === "ok") await this.session.renew(answer.data.access_token);
    return answer;
  }

  /** Complete a sign-in with the code of a magic-link mail. */
  verifyMagicCode(body: Body<"/magic-link/verify-code">): Promise<SignIn<User & UserFields>> {
    return this.signIn(this.api.POST("/magic-link/verify-code", { body }));
  }

  /** Accept an invitation to the service. A signed-in user keeps the session. */
  acceptInvitation(body: Body<"/invitations/accept">): Promise<SignIn<User & UserFields>> {
    return this.enter(this.api.POST("/invitations/accept", { body }));
  }

  /** Accept an invitation to an organization. A signed-in user keeps the session. */
  acceptOrgInvitation(body: Body<"/org/invitations/accept">): Promise<SignIn<User & UserFields>> {
    return this.enter(this.api.POST("/org/invitations/accept", { body }));
  }

  /** Make an organization the active one of the session: its next tokens have its claims. */
  switchOrganization(org_id: string): Promise<Answer<Schemas["SwitchedTokens"]>> {
    return this.answer(this.api.POST("/org/switch", { body: { org_id } }));
  }

  /**
   * Complete a sign-in by a magic link or a provider: `location.hash` of the page to which the
   * service redirected. Remove it from the address first, so that no script finds tokens there.
   */
  async arrive(fragment: string): Promise<Arrival<User & UserFields>> {
    const given = new URLSearchParams(fragment.replace(/^#/, ""));
    const { error, challenge, temp_token, status, ...tokens } = Object.fromEntries(given);
    if (error) return { status: "error", code: error, message: given.get("error_description") ?? "" };
    if (challenge && temp_token) {
      return { status: "challenge", type: challenge as Schemas["Challenge"]["type"], temp_token };
    }
    const { access_token = "", refresh_token = "" } = tokens;
    // With cookies the redirect has set them, and the fragment has no tokens.
    const arrived = this.cookies ? status === "signed_in" : access_token && refresh_token;
    if (!arrived) return { status: "nothing" };
    await this.keep({ access_token, refresh_token });
    const me = await this.me();
    return me.status === "ok" ? { status: "signed_in", user: me.data } : me;
  }

  /** The signed-in user; `signed_out` if nobody is. */
  async me(): Promise<Answer<User & UserFields>> {
    if (!this.alwaysAsk && !(await this.session.stored())) {
      this.become("signed_out");
      return { status: "signed_out", reason: "not_signed_in" };
    }
    return this.user(this.api.GET("/me"));
  }

  /** Change name, phone number, avatar or own fields of the signed-in user. */
  updateProfile(
    changes: JsonOf<paths["/profile"]["put"]> & Changes<ProfileFields>,
  ): Promise<Answer<User & UserFields>> {
    return this.user(this.api.PUT("/profile", { body: changes }));
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

  /** The API description of the package does not know the fields of the project. */
  private user(sent: Promise<{ data?: { data: User }; error?: unknown; response: Response }>) {
    return this.answer(sent) as Promise<Answer<User & UserFields>>;
  }

  private async signIn(
    sent: Promise<{ data?: { data: SignInData }; error?: unknown; response: Response }>,
  ): Promise<SignIn<User & UserFields>> {
    try {
      const answer = read(await sent);
      if (answer.status !== "ok") return answer;
      if (answer.data.status !== "signed_in") return answer.data;
      await this.keep(answer.data);
      return { status: "signed_in", user: answer.data.user as User & UserFields };
    } catch (cause) {
      return failed(cause);
    }
  }

  /** A sign-in whose tokens the session has stored. */
  private async enter(
    sent: Promise<{ data?: { data: Entered }; error?: unknown; response: Response }>,
  ): Promise<SignIn<User & UserFields>> {
    try {
      const answer = read(await sent);
      if (answer.status !== "ok") return answer;
      if (answer.data.status !== "signed_in") return answer.data;
      this.become("signed_in");
      return { status: "signed_in", user: answer.data.user as User & UserFields };
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
