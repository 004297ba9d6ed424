// Two processes that share one port: `node server.mjs PORT`.
import cluster from "node:cluster";
import { createServer } from "node:http";
import { toNodeHandler } from "better-auth/node";
import { auth } from "./auth.mjs";

const WORKERS = 2;

if (cluster.isPrimary) {
  for (let number = 0; number < WORKERS; number++) cluster.fork();
  process.on("SIGTERM", () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill("SIGTERM");
    process.exit(0);
  });
} else {
  createServer(toNodeHandler(auth)).listen(Number(process.argv[2]), "127.0.0.1");
}
