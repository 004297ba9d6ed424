"use strict";
const page = document.getElementById("page");
SwaggerUIBundle({
  url: page.dataset.schema,
  domNode: page,
  deepLinking: true,
  displayRequestDuration: true,
  // Without this, a badge sends the URL of this description to the server of Swagger.
  validatorUrl: null,
  // Keep tokens in memory only: in local storage they would remain after the page is closed.
  persistAuthorization: false,
});
