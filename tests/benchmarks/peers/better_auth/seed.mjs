// Create the tables and the users: `node seed.mjs USERS PASSWORD`.
import { getMigrations } from "better-auth/db/migration";
import { auth, cheapHash, pool } from "./auth.mjs";

const [users, password] = process.argv.slice(2);
const { runMigrations } = await getMigrations(auth.options);
await runMigrations();
await pool.query(
  `INSERT INTO "user" (id, name, email, "emailVerified", "createdAt", "updatedAt")
   SELECT 'seed' || n, 'user' || n, 'user' || n || '@bench.example.com', false, now(), now()
   FROM generate_series(0, $1::int - 1) n ON CONFLICT DO NOTHING`,
  [users],
);
await pool.query(
  `INSERT INTO account (id, "accountId", "providerId", "userId", password, "createdAt", "updatedAt")
   SELECT 'seed' || n, 'seed' || n, 'credential', 'seed' || n, $2, now(), now()
   FROM generate_series(0, $1::int - 1) n ON CONFLICT DO NOTHING`,
  [users, cheapHash(password)],
);
await pool.end();
