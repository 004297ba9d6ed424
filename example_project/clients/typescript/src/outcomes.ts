/** What requests lead to, as unions that a `switch` over `status` tells apart. */

import type { components } from "./schema.js";

type Schemas = components["schemas"];
export type User = Schemas["User"];
/** Every code that the service may refuse with. */
export type ErrorCode = Schemas["ErrorCode"];
export type Challenge = Schemas["Challenge"];
export type Level = Schemas["StepUpData"]["acr"];

export interface Ok<Data> {
  status: "ok";
  data: Data;
}

/**
 * There is no valid session (any more), and the tokens were removed from the storage.
 *
 * `session_ended`: the service refused the refresh token. The session expired or was ended, also
 * because the token had been used before: then somebody else may have a copy of it.
 * `not_signed_in`: this client had no tokens.
 */
export interface SignedOut {
  status: "signed_out";
  reason: "session_ended" | "not_signed_in";
}

/** The service refused the request. Programs compare `code`; `message` is for people. */
export interface Refused {
  status: "refused";
  code: ErrorCode;
  message: string;
  httpStatus: number;
  /** Seconds to wait before the next attempt, if the service named them. */
  retryAfter: number | null;
  /** The errors of each field, if the service sends them. */
  details: Record<string, string[]>;
  /** The level that a step-up must prove, if that is the reason (`STEP_UP_REQUIRED`). */
  acr: Level | null;
}

/** No answer of the service: no connection, or a proxy answered in its place. */
export interface Failed {
  status: "failed";
  httpStatus: number | null;
  cause: unknown;
}

export type Answer<Data> = Ok<Data> | SignedOut | Refused | Failed;

/** What openapi-fetch returns. */
interface Fetched<Data> {
  data?: { data: Data };
  error?: unknown;
  response: Response;
}

export function failed(cause: unknown, httpStatus: number | null = null): Failed {
  return { status: "failed", httpStatus, cause };
}

/** Convert a response of openapi-fetch; `Failed` if it is not in the shape of the service. */
export function read<Data>({ data, error, response }: Fetched<Data>): Ok<Data> | Refused | Failed {
  if (response.ok && data !== undefined) return { status: "ok", data: data.data };
  const body = (error as Schemas["Refusal"] | undefined)?.data;
  if (typeof body?.code !== "string") return failed(error, response.status);
  const seconds = response.headers.get("Retry-After");
  return {
    status: "refused",
    code: body.code,
    message: body.message,
    httpStatus: response.status,
    retryAfter: seconds === null ? null : Number(seconds),
    details: body.details ?? {},
    acr: (body.acr_values as Level | undefined) ?? null,
  };
}

/** The error code of a response, whose body stays unread; null for other responses. */
export async function codeOf(response: Response): Promise<ErrorCode | null> {
  if (response.ok) return null;
  try {
    const body = (await response.clone().json()) as Schemas["Refusal"];
    return body.data.code as ErrorCode;
  } catch {
    return null;
  }
}

/** For the last case of a `switch` over a union: compiles only if no case is missing. */
export function never(value: never): never {
  throw new Error(`No case for ${JSON.stringify(value)}`);
}
