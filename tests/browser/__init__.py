"""The console as a person uses it: Debian's Chromium, driven by Playwright."""
