"use strict";
const page = document.getElementById("page");
Redoc.init(page.dataset.schema, { hideDownloadButton: false }, page);
