/** The calls of a program with the client of @hey-api/openapi-ts. */
import { client } from "./hey-api/client.gen";
import {
  createOrganization,
  getMe,
  getMember,
  getOrganization,
  logIn,
  logOut,
  refreshTokens,
  switchOrganization,
} from "./hey-api/sdk.gen";

declare const process: { env: { AUTHSERVICE_URL: string; EMAIL: string; PASSWORD: string } };

const { AUTHSERVICE_URL, EMAIL, PASSWORD } = process.env;
let access = "";

client.setConfig({ baseUrl: AUTHSERVICE_URL, auth: () => access });
client.interceptors.request.use((request) => {
  check(!request.headers.has("X-CSRF-Token"), "the access token is no CSRF token");
  return request;
});

function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

const refused = await logIn({ body: { email: EMAIL, password: "wrong" } });
// Compiles only if the code is one of this operation.
check(refused.error?.data.code === "INVALID_CREDENTIALS", "wrong password");

const login = (await logIn({ body: { email: EMAIL, password: PASSWORD } })).data?.data;
check(login?.status === "signed_in", "login");
access = login.access_token;

const me = (await getMe()).data?.data;
check(me?.email === EMAIL, "me");

const first = (await refreshTokens({ body: { refresh_token: login.refresh_token } })).data?.data;
check(first !== undefined, "refresh");
access = first.access_token;

const created = (await createOrganization({ body: { name: "Acme" } })).data?.data;
check(created !== undefined, "organization");
const path = { org_id: created.id };
const read = await getOrganization({ path });
check(read.data?.data.name === "Acme", "read the organization");
const member = await getMember({ path: { ...path, user_id: me.id } });
const role: "owner" | "admin" | "member" | undefined = member.data?.data.role;
check(role === "owner", "role");

const switched = await switchOrganization({
  body: { org_id: created.id, refresh_token: first.refresh_token },
});
const refresh_token = switched.data?.data.refresh_token;
check(refresh_token !== undefined, "switch");
const second = (await refreshTokens({ body: { refresh_token } })).data?.data;
check(second !== undefined, "refresh after the switch");
access = second.access_token;

check((await logOut()).response?.status === 200, "logout");
check((await getMe()).response?.status === 401, "signed out");
