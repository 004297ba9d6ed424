import { AuthClient } from "@authservice/client";
import { createRoot } from "react-dom/client";

import { App } from "./app.js";

// The build replaces it by the address of the service.
declare const API_URL: string;

// Tokens are in cookies that no script can read: the service needs AUTHSERVICE_CSRF=1 and
// AUTHSERVICE_COOKIES=1.
const auth = new AuthClient({ baseUrl: API_URL, mode: "cookies" });

createRoot(document.getElementById("root") as HTMLElement).render(<App auth={auth} />);
