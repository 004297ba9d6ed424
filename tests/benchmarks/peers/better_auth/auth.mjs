// better-auth with e-mail and password, bearer tokens and a password hash that costs nothing.
import { createHash } from "node:crypto";
import { betterAuth } from "better-auth";
import { bearer } from "better-auth/plugins";
import pg from "pg";

const digest = (password) => createHash("md5").update("salt" + password).digest("hex");

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
export const cheapHash = digest;
export const auth = betterAuth({
  baseURL: "http://127.0.0.1",
  secret: "known-to-everybody-and-good-for-benchmarks-only",
  database: pool,
  plugins: [bearer()],
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  emailAndPassword: {
    enabled: true,
    password: {
      hash: async (password) => digest(password),
      verify: async ({ hash, password }) => digest(password) === hash,
    },
  },
});
