"""TypeScript files whose types the compiler checks beside the tests of the client."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.clients import npm
from tests.snippets.blocks import everything

# Compiles only if the type has every code, and if a switch without one of them is an error.
_SWITCH = """
import { never, type ErrorCode } from "@authservice/client";

export function all(code: ErrorCode): string {
  switch (code) {
    %s
      return "known";
    default:
      return never(code);
  }
}

export function allButOne(code: ErrorCode): string {
  switch (code) {
    %s
      return "known";
    default:
      // @ts-expect-error one code is missing
      return never(code);
  }
}
"""

# Fields of the project: compiles only if they are known where they were named, and nowhere else.
_FIELDS = """
import { AuthClient } from "@authservice/client";

interface OfUser {
  full_name: string;
}
interface OfSignUp {
  full_name: string;
  newsletter?: boolean;
}
const options = { baseUrl: "https://api.example.com/auth" };
const auth = new AuthClient<OfUser, OfSignUp>(options);
const plain = new AuthClient(options);
const given = { email: "ann@example.com", password: "plum tart 42 windows" };

export async function names(): Promise<string[]> {
  const signedUp = await auth.signUp({ ...given, full_name: "Ann Lee", newsletter: true });
  const me = await auth.me();
  const changed = await auth.updateProfile({ name: "Ann", full_name: "Ann Day" });
  return [
    signedUp.status === "signed_in" ? signedUp.user.full_name : "",
    me.status === "ok" ? me.data.full_name + me.data.email : "",
    changed.status === "ok" ? changed.data.full_name : "",
  ];
}

export async function refused(): Promise<void> {
  // @ts-expect-error a required field is missing
  await auth.signUp(given);
  // @ts-expect-error of another type
  await auth.signUp({ ...given, full_name: 7 });
  // @ts-expect-error unknown
  await auth.updateProfile({ fullname: "Ann" });
  // @ts-expect-error unknown without the types of the project
  await plain.signUp({ email: "ann@example.com", password: "plum tart", full_name: "Ann Lee" });
  const me = await plain.me();
  // @ts-expect-error unknown without the types of the project
  if (me.status === "ok") console.log(me.data.full_name);
}
"""

OF_PROJECT = "./service.js"
# The part of a package for phones that an example imports.
_SECURE_STORE = """
declare module "expo-secure-store" {
  export function getItemAsync(key: string): Promise<string | null>;
  export function setItemAsync(key: string, value: string): Promise<void>;
  export function deleteItemAsync(key: string): Promise<void>;
}
"""


def write(folder: Path) -> None:
    """Write `codes.ts`, and `example0.ts` and so on, into the folder of the tests."""
    cases = [f'case "{code}":' for code in codes()]
    (folder / "codes.ts").write_text(_SWITCH % (" ".join(cases), " ".join(cases[1:])))
    (folder / "fields.ts").write_text(_FIELDS)
    (folder / "expo.d.ts").write_text(_SECURE_STORE)
    for number, example in enumerate(examples()):
        (folder / f"example{number}.ts").write_text(example)


def typescript() -> list[str]:
    """The TypeScript blocks of the docs."""
    return [block.code for block in everything() if block.language == "typescript"]


def codes() -> list[str]:
    """Every error code of the API description."""
    document = yaml.safe_load(npm.DESCRIPTION.read_text())
    found: list[str] = document["components"]["schemas"]["ErrorCode"]["enum"]
    return found


def examples() -> list[str]:
    """The TypeScript blocks of the README of the package and of the docs, but for that which needs
    the types of a project: `test_installed.py` has them."""
    blocks = (npm.CLIENTS / "typescript/README.md").read_text().split("```ts\n")[1:]
    of_docs = [block for block in typescript() if OF_PROJECT not in block]
    return [block.partition("```")[0] for block in blocks] + of_docs
