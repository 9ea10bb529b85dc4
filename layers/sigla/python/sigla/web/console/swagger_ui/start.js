// Addresses are relative to the page, so that a proxy may put the registry below a path. No validator is asked: it is another site.
SwaggerUIBundle({ url: "openapi.json", dom_id: "#api", deepLinking: true, validatorUrl: null });
