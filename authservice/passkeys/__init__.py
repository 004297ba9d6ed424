"""Login with passkeys (WebAuthn), and passkeys and security keys as a second factor."""
