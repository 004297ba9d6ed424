"use strict";
const page = document.getElementById("page");
const { schema, guard, token } = page.dataset;

/* Adds the header that the service requires of requests that change something (CSRF). */
async function withToken(request) {
  if (guard && !["GET", "HEAD", "OPTIONS"].includes(request.method || "GET")) {
    const answer = await fetch(token);
    request.headers[guard] = (await answer.json()).data.csrf_token;
  }
  return request;
}

SwaggerUIBundle({
  url: schema,
  domNode: page,
  deepLinking: true,
  displayRequestDuration: true,
  requestInterceptor: withToken,
  // Without this, a badge sends the URL of this description to the server of Swagger.
  validatorUrl: null,
  // Keep tokens in memory only: in local storage they would remain after the page is closed.
  persistAuthorization: false,
});
