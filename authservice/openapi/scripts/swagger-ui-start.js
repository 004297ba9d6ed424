"use strict";
const page = document.getElementById("page");
SwaggerUIBundle({
  url: page.dataset.schema,
  domNode: page,
  deepLinking: true,
  displayRequestDuration: true,
  // Else a badge would send the address of this description to its makers' server.
  validatorUrl: null,
  // Kept in memory alone: a token in local storage would outlive the page.
  persistAuthorization: false,
});
