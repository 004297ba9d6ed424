/** Typed client of authservice. */

export { AuthClient } from "./client.js";
export type { Arrival, AuthOptions, SecondStep, SignedIn, SignIn, State } from "./client.js";
export { never } from "./outcomes.js";
export type { Answer, Challenge, ErrorCode, Failed, Level, Ok, Refused, SignedOut, User } from "./outcomes.js";
export type { components, paths } from "./schema.js";
export { memoryStorage, webStorage } from "./storage.js";
export type { AuthStorage, Item } from "./storage.js";
