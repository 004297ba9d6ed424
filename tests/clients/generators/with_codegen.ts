/** The calls of a program with the client of openapi-typescript-codegen. */
import {
  AccountService,
  ApiError,
  LoginService,
  OpenAPI,
  OrganizationsService,
  type Refusal,
  Role,
} from "./codegen";

declare const process: { env: { AUTHSERVICE_URL: string; EMAIL: string; PASSWORD: string } };

const { AUTHSERVICE_URL, EMAIL, PASSWORD } = process.env;
OpenAPI.BASE = AUTHSERVICE_URL;

function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

async function codeOf(sent: PromiseLike<unknown>): Promise<string> {
  try {
    await sent;
    return "";
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return (error.body as Refusal).data.code;
  }
}

const refused = LoginService.logIn({ email: EMAIL, password: "wrong" });
check((await codeOf(refused)) === "INVALID_CREDENTIALS", "wrong password");

const login = (await LoginService.logIn({ email: EMAIL, password: PASSWORD })).data;
check("refresh_token" in login, "login");
OpenAPI.TOKEN = login.access_token;

const me = (await AccountService.getMe()).data;
check(me.email === EMAIL, "me");

const first = (await LoginService.refreshTokens({ refresh_token: login.refresh_token })).data;
OpenAPI.TOKEN = first.access_token;

const created = (await OrganizationsService.createOrganization({ name: "Acme" })).data;
const read = (await OrganizationsService.getOrganization(created.id)).data;
check(read.name === "Acme", "read the organization");
const member = (await OrganizationsService.getMember(created.id, me.id)).data;
check(member.role === Role.OWNER, "role");

const switched = await OrganizationsService.switchOrganization({
  org_id: created.id,
  refresh_token: first.refresh_token,
});
const { refresh_token } = switched.data;
check(refresh_token !== undefined, "switch");
const second = (await LoginService.refreshTokens({ refresh_token })).data;
OpenAPI.TOKEN = second.access_token;

await LoginService.logOut();
check((await codeOf(AccountService.getMe())) === "INVALID_TOKEN", "signed out");
