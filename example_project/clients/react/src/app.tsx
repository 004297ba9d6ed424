/** One page: sign up, log in, a second factor, the signed-in user, and a logout in all tabs. */

import { never, type AuthClient, type SignIn, type User } from "@authservice/client";
import { useCallback, useEffect, useState, type FormEvent } from "react";

type View =
  | { name: "loading" }
  | { name: "signed_out" }
  | { name: "challenge"; tempToken: string }
  | { name: "signed_in"; user: User };

export function App({ auth }: { auth: AuthClient }) {
  const [view, setView] = useState<View>({ name: "loading" });
  const [notice, setNotice] = useState("");

  const load = useCallback(async () => {
    const me = await auth.me();
    if (me.status === "ok") setView({ name: "signed_in", user: me.data });
    else if (me.status === "signed_out") setView({ name: "signed_out" });
    else setNotice(me.status === "refused" ? me.message : "The service did not answer.");
  }, [auth]);

  useEffect(() => {
    void load();
    return auth.onChange(() => void load());
  }, [auth, load]);

  function show(outcome: SignIn): void {
    setNotice("");
    switch (outcome.status) {
      case "signed_in":
        return setView({ name: "signed_in", user: outcome.user });
      case "challenge":
        return setView({ name: "challenge", tempToken: outcome.challenges[0]?.data.temp_token ?? "" });
      case "verification_required":
      case "sent":
      case "refused":
        return setNotice(outcome.message);
      case "failed":
        return setNotice("The service did not answer.");
      default:
        return never(outcome);
    }
  }

  return (
    <>
      <h1>authservice</h1>
      <p role="status">{notice}</p>
      {view.name === "signed_out" && <Credentials auth={auth} done={show} />}
      {view.name === "challenge" && <Code auth={auth} tempToken={view.tempToken} done={show} />}
      {view.name === "signed_in" && (
        <section>
          <p>
            Signed in as <b id="email">{view.user.email}</b>
          </p>
          <button onClick={() => void auth.logOut()}>Log out</button>
        </section>
      )}
    </>
  );
}

function Credentials({ auth, done }: { auth: AuthClient; done: (outcome: SignIn) => void }) {
  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    const form = new FormData(event.currentTarget);
    const given = { email: String(form.get("email")), password: String(form.get("password")) };
    done(await (submitter?.id === "signup" ? auth.signUp(given) : auth.logIn(given)));
  }
  return (
    <form method="post" onSubmit={(event) => void submit(event)}>
      <label>
        E-mail <input name="email" type="email" autoComplete="username" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button id="login">Log in</button>
      <button id="signup">Sign up</button>
    </form>
  );
}

interface CodeProps {
  auth: AuthClient;
  tempToken: string;
  done: (outcome: SignIn) => void;
}

function Code({ auth, tempToken, done }: CodeProps) {
  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const code = String(new FormData(event.currentTarget).get("code"));
    done(await auth.verifyCode({ temp_token: tempToken, code }));
  }
  return (
    <form method="post" onSubmit={(event) => void submit(event)}>
      <label>
        Code <input name="code" autoComplete="one-time-code" required />
      </label>
      <button>Verify</button>
    </form>
  );
}
