window.addEventListener("load", () => {
  window.ui = SwaggerUIBundle({
    url: "/openapi.json",
    dom_id: "#swagger-ui",
    deepLinking: true,
    // The default asks a server on the internet to validate the document.
    validatorUrl: null,
  });
});
